"""Messages of the commands: progress, results, notes and errors."""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import json
import math
import os
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import typer

if TYPE_CHECKING:
    import polars as pl

    from toprank.shortlists.promise import Interval

_P = ParamSpec("_P")
_R = TypeVar("_R")

_WRONG_INPUT = 2
_INTERRUPTED = 130
_SECONDS_TO_LEAVE = 1.0
# Without a terminal, a fit of a hundred quick passes would fill the log with lines.
_SECONDS_PER_LINE = 5.0


# Characters that would move the cursor or colour the screen; line ends and tabs stay.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def _echo(text: str, *, err: bool = False) -> None:
    """Print a text whose control characters, from a table or a model file, are spelled out."""
    typer.echo(_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text), err=err)


class Console:
    """Prints text on stdout, notes and progress on stderr; nothing if quiet, JSON if asked."""

    def __init__(
        self, *, quiet: bool = False, as_json: bool = False, to_stderr: bool = False
    ) -> None:
        self.quiet = quiet
        self.as_json = as_json
        self.to_stderr = to_stderr  # where stdout is for a table
        self._pass_numbers = itertools.count(1)
        self._bars: Any = None  # a terminal has room for one display, which nested bars share

    def say(self, text: str = "") -> None:
        """Print a line on stdout, unless the result is printed as JSON."""
        if not self.quiet and not self.as_json:
            _echo(text, err=self.to_stderr)

    def note(self, text: str) -> None:
        """Print a note on stderr."""
        if not self.quiet:
            _echo(f"toprank: note: {text}", err=True)

    def result(self, values: dict[str, Any]) -> None:
        """Print the result as JSON, if that was asked for."""
        if self.as_json:
            text = json.dumps(json_value(values), ensure_ascii=False, indent=2, default=str)
            _echo(text, err=self.to_stderr)

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
            _echo("  ".join(line).rstrip())

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
            return f"pass {next(self._pass_numbers)} over {total:,} rows is done"

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
        for text in dict.fromkeys(" ".join(str(each.message).split()) for each in caught):
            self.note(text)


def _lines(words: Callable[[int, int], str], last: float) -> Callable[[int, int], None]:
    """A callback that prints a line of progress every few seconds, unless ``words`` is empty."""

    def line(done: int, total: int) -> None:
        nonlocal last
        text = words(done, total)
        if text and time.monotonic() - last >= _SECONDS_PER_LINE:
            last = time.monotonic()
            _echo(f"toprank: {text}", err=True)

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


def format_hits(expected: Interval, digits: int = 0) -> str:
    """Hits to expect, in words.

    Examples
    --------
    >>> from toprank.shortlists.promise import Interval
    >>> format_hits(Interval(71.6, 65, 78))
    '72 (65 to 78)'
    """
    mean, low, high = (f"{each:,.{digits}f}" for each in expected)
    return f"{mean} ({low} to {high})"


def in_one_line(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """Turn wrong input, and files that cannot be read or written, into one line on stderr.

    Exit code 2, as for a wrong option; 130 after Ctrl-C, as shells have it. Other exceptions are
    bugs of ours and keep their traceback.
    """

    @functools.wraps(command)
    def answered(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        _running.append(answered)
        try:
            return command(*args, **kwargs)
        except BrokenPipeError:
            raise typer.Exit(0) from None  # the reader, such as head, has seen enough
        except (ValueError, TypeError, OSError, NotImplementedError, MemoryError) as error:
            _echo(f"toprank: {_line(error)}", err=True)
            raise typer.Exit(_WRONG_INPUT) from None
        except BaseException as error:
            if _is_interrupt(error):
                _say_interrupted()
                raise typer.Exit(_INTERRUPTED) from None
            if type(error).__name__ != "PanicException":
                raise
            _echo(f"toprank: polars cannot work with a value of this table ({error}).", err=True)
            raise typer.Exit(_WRONG_INPUT) from None

    return answered


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether an exception is Ctrl-C, or what compiled code made of it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


# The command that has not said yet that it was interrupted.
_running: collections.deque[Any] = collections.deque(maxlen=1)


def _say_interrupted() -> None:
    """Say once that the command was interrupted; a comparison leaves a journal to go on with."""
    for command in [_running.pop()] if _running else []:
        remedy = getattr(command, "after_interrupt", "nothing was written.")
        _echo(f"toprank: interrupted; {remedy}", err=True)


@contextlib.contextmanager
def leaving_at_once() -> Iterator[None]:
    """End the program a second after Ctrl-C, whatever it is doing.

    Python hands an interrupt to the main thread between two of its instructions, and waits for the
    other threads at its end; compiling a loop can keep either busy for many seconds. A callback of
    compiled code cannot raise it: Python reports it as ignored, which is said in one line here.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield  # no pipe can be woken there
        return
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)

    def watch() -> None:
        while signal.SIGINT not in os.read(read_end, 64):
            pass
        time.sleep(_SECONDS_TO_LEAVE)
        _say_interrupted()
        sys.stderr.flush()
        os._exit(_INTERRUPTED)

    # It is not stopped: the interpreter may wait for threads after the last line.
    threading.Thread(target=watch, daemon=True).start()
    former = sys.unraisablehook
    sys.unraisablehook = lambda ignored: (
        None if issubclass(ignored.exc_type, KeyboardInterrupt) else former(ignored)
    )
    try:
        yield
    except KeyboardInterrupt:  # before or after the command
        sys.exit(_INTERRUPTED)


def _line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}"
    if isinstance(error, MemoryError):
        return "not enough memory for this table; rank or fit a part of it."
    return " ".join(str(error).split()) or type(error).__name__
