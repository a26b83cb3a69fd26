"""What commands say while they work and when they are done."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Talk", "in_budget_words"]


class Talk:
    """Words on stdout, notes and progress on stderr; nothing where quiet, JSON where asked."""

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet = quiet
        self.as_json = as_json

    def say(self, text: str = "") -> None:
        """A line for people; not printed beside JSON."""
        if not self.quiet and not self.as_json:
            typer.echo(text)

    def note(self, text: str) -> None:
        """A line on stderr about something to know."""
        if not self.quiet:
            typer.echo(f"toprank: note: {text}", err=True)

    def result(self, values: dict[str, Any]) -> None:
        """The result as JSON, where that was asked for."""
        if self.as_json:
            typer.echo(json.dumps(values, ensure_ascii=False, indent=2, default=str))

    def table(self, headings: list[str], rows: list[list[str]]) -> None:
        """Columns as wide as their words; those of numbers, but for the first, to the right."""
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
            typer.echo("  ".join(line).rstrip())

    @contextlib.contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """A bar with the time that remains on a terminal, a line at every tenth elsewhere."""
        from rich.console import Console

        console = Console(stderr=True)
        if self.quiet:
            yield lambda _done, _total: None
        elif console.is_terminal:
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed}/{task.total}"),
                TimeRemainingColumn(),
            )
            with Progress(*columns, console=console, transient=True) as bar:
                task = bar.add_task(what, total=None)
                yield lambda done, total: bar.update(task, completed=done, total=total)
        else:
            yield self._lines(what)

    @staticmethod
    def _lines(what: str) -> Callable[[int, int], None]:
        told = 0

        def line(done: int, total: int) -> None:
            nonlocal told
            tenth = 10 * done // max(total, 1)
            if tenth > told:
                told = tenth
                typer.echo(f"toprank: {what}: {done} of {total}", err=True)

        return line

    @contextlib.contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Turn warnings of a fit into notes, each once."""
        import warnings

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for text in dict.fromkeys(" ".join(str(each.message).split()) for each in caught):
            self.note(text)


def in_budget_words(budget: float, *, of_lists: bool = False) -> str:
    """A budget as people say it.

    Examples
    --------
    >>> in_budget_words(1000), in_budget_words(0.01), in_budget_words(5, of_lists=True)
    ('1,000 rows', '1 % of the rows', '5 rows of each list')
    """
    words = f"{budget:,.0f} rows" if budget >= 1 else f"{100 * budget:g} % of the rows"
    return f"{words} of each list" if of_lists else words
