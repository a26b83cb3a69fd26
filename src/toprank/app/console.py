"""Messages of the commands: progress, results and notes."""

from __future__ import annotations

import collections
import contextlib
import json
import math
import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from toprank.app.options import Config, Json, Quiet

if TYPE_CHECKING:
    import polars as pl

# Without a terminal, a fit of a hundred quick passes would fill the log with lines.
_SECONDS_PER_LINE = 5.0


# Characters that would move the cursor or colour the screen; line ends and tabs stay.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def echo(text: str, *, err: bool = False) -> None:
    """Print a text whose control characters, from a table or a model file, are spelled out."""
    typer.echo(_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text), err=err)


@dataclass(eq=False)
class Console:
    """Prints text on stdout, notes and progress on stderr; nothing if quiet, JSON if asked.

    Where stdout is for a table, all goes ``to_stderr``.
    """

    _config: Config = None
    quiet: Quiet = False
    as_json: Json = False
    to_stderr: bool = field(default=False, init=False)
    _n_passes: int = field(default=0, init=False)
    # a terminal has room for one display, which nested bars share
    _bars: Any = field(default=None, init=False)

    def say(self, *lines: str) -> None:
        """Print lines on stdout, unless the result is printed as JSON."""
        for text in lines:
            if not self.quiet and not self.as_json:
                echo(text, err=self.to_stderr)

    def note(self, *notes: str) -> None:
        """Print notes on stderr."""
        for text in notes:
            if not self.quiet:
                echo(f"toprank: note: {text}", err=True)

    def result(self, values: dict[str, Any]) -> None:
        """Print the result as JSON, if that was asked for."""
        if self.as_json:
            text = json.dumps(json_value(values), ensure_ascii=False, indent=2, default=str)
            echo(text, err=self.to_stderr)

    def table(self, headings: list[str], rows: list[list[str]]) -> None:
        """Print aligned columns: numbers to the right, except in the first column."""
        if self.quiet or self.as_json or not rows:
            return
        columns: list[list[str]] = []
        for heading, *cells in zip(headings, *rows, strict=True):
            width = max(map(len, (heading, *cells)))
            are_numbers = all(cell[:1] in "+-−0123456789" and ": " not in cell for cell in cells)
            to_right = are_numbers and bool(columns)
            columns.append(
                [cell.rjust(width) if to_right else cell.ljust(width) for cell in (heading, *cells)]
            )
        for line in zip(*columns, strict=True):
            echo("  ".join(line).rstrip())

    def rows(self, columns: pl.DataFrame) -> None:
        """Print rows of a table, as many of its columns as fit on the screen."""
        width, used = shutil.get_terminal_size((100, 24)).columns, 0
        names: list[str] = []
        cells: list[list[str]] = []
        for name in columns.columns:
            texts = [_cell(value) for value in columns[name].to_list()]
            used += 2 + max(map(len, (name, *texts)))
            if used > width + 2 and len(names) > 2:
                break
            names.append(name)
            cells.append(texts)
        self.table(names, [list(row) for row in zip(*cells, strict=True)])

    @contextlib.contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """Show a progress bar on a terminal, elsewhere a line every few seconds."""
        if self.quiet:
            yield lambda _done, _total: None
        elif self._bars is not None:
            task = self._bars.add_task(what, total=None)
            yield lambda done, total: self._bars.update(task, completed=done, total=total)
        elif (console := _terminal()) is not None:
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed}/{task.total}"),
                TimeRemainingColumn(),
            )
            with Progress(*columns, console=console, transient=True) as bars:
                self._bars = bars
                try:
                    with self.progress(what) as step:
                        yield step
                finally:
                    self._bars = None
        else:
            # work of a few seconds needs no line
            yield _lines(lambda done, total: f"{what}: {done} of {total}", time.monotonic())

    @contextlib.contextmanager
    def passes(self, source: Any) -> Iterator[None]:
        """Show how far each pass over a stream has come: a bar, or lines without a terminal."""
        if not hasattr(source, "watch"):  # a table in memory
            yield
            return
        is_bar = self.quiet or _terminal() is not None

        def words(done: int, total: int) -> str:
            if done < total:
                return ""
            self._n_passes += 1
            return f"pass {self._n_passes} over {total:,} rows is done"

        lines = contextlib.nullcontext(_lines(words, -math.inf))
        with self.progress("rows of this pass") if is_bar else lines as step:
            source.watch = step
            try:
                yield
            finally:
                source.watch = None

    @contextlib.contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Turn warnings of a fit into notes, each once."""
        import warnings

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        self.note(*dict.fromkeys(" ".join(str(each.message).split()) for each in caught))


def _lines(words: Callable[[int, int], str], last: float) -> Callable[[int, int], None]:
    """A callback that prints a line of progress every few seconds, unless ``words`` is empty."""

    def line(done: int, total: int) -> None:
        nonlocal last
        text = words(done, total)
        if text and time.monotonic() - last >= _SECONDS_PER_LINE:
            last = time.monotonic()
            echo(f"toprank: {text}", err=True)

    return line


def json_value(value: Any) -> Any:
    """A value as JSON has it, which knows no NaN and no infinity: these become null.

    Examples
    --------
    >>> json_value({"value": float("nan"), "counts": (1, 2.5)})
    {'value': None, 'counts': [1, 2.5]}
    """
    if isinstance(value, dict):
        return {key: json_value(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    return " ".join(str(value).split())


def _terminal() -> Any:
    """Rich's console on stderr, or None if that is no terminal."""
    from rich.console import Console as RichConsole

    console = RichConsole(stderr=True)
    return console if console.is_terminal else None


def format_budget(budget: float, *, of_lists: bool = False) -> str:
    """A budget in words.

    Examples
    --------
    >>> format_budget(1000), format_budget(0.01), format_budget(5, of_lists=True)
    ('1,000 rows', '1 % of the rows', '5 rows of each list')
    """
    words = f"{budget:,.0f} rows" if budget >= 1 else f"{100 * budget:g} % of the rows"
    return f"{words} of each list" if of_lists else words


# What is said after an interrupt, once: by the command or, if it is too busy, beside it.
_last_words: collections.deque[str] = collections.deque(maxlen=1)


def after_interrupt(words: str) -> None:
    """Say this if the command is interrupted from now on."""
    _last_words.append(words)


def say_interrupted() -> None:
    """Say that the command was interrupted, unless that was said."""
    for words in [_last_words.pop()] if _last_words else []:
        echo(f"toprank: interrupted; {words}", err=True)
