"""A run as the report tells it: plain values, everything already computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toprank.app.report.picture import Picture
    from toprank.selection import Comparison

__all__ = ["Contestant", "Run", "Shortlist", "Subject"]


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What was ranked. All texts are shown as text, whatever they contain."""

    name: str
    positive: str
    n_rows: int
    n_features: int
    n_positives: int
    source: str = ""
    licence: str = ""


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """A ranker of the comparison: its name there, and how it was fitted, in a sentence."""

    name: str
    about: str


@dataclass(frozen=True, kw_only=True)
class Shortlist:
    """The top of a list as a table: one heading a column, one tuple of texts or numbers a row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"rows[{number}] has {len(row)} cells, but there are {len(self.columns)} "
                    "columns; give one cell a column."
                )


@dataclass(frozen=True, kw_only=True)
class Run:
    """Everything that one page tells.

    Attributes
    ----------
    title : str
        The page's heading.
    subject : Subject
        What was ranked.
    comparison : Comparison
        What each ranker placed at the top.
    contestants : tuple of Contestant
        The rankers in the order of the table; each must be in ``comparison``.
    focus : str
        The contestant whose gain over the others the page is about.
    shortlist : Shortlist
        The top of one list.
    pictures : tuple of Picture
        Drawn in this order.
    settings : mapping of str to str
        How it was made: seed, splits, parameters. Versions are added by the page.
    """

    title: str
    subject: Subject
    comparison: Comparison
    contestants: tuple[Contestant, ...]
    focus: str
    shortlist: Shortlist
    pictures: tuple[Picture, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [each.name for each in self.contestants]
        missing = [name for name in [*names, self.focus] if name not in self.comparison.names]
        if missing or self.focus not in names:
            raise ValueError(
                f"focus={self.focus!r} and contestants {names} must all be in the comparison, "
                f"which has {self.comparison.names}."
            )

    @property
    def others(self) -> tuple[str, ...]:
        """The contestants that the focus is compared with."""
        return tuple(each.name for each in self.contestants if each.name != self.focus)
