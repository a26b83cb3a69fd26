"""A model on a table as the report tells it: plain values, everything already computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toprank.app.report.curves import Curve
    from toprank.app.report.picture import Picture

__all__ = ["ModelRun", "Reliability", "Truth"]


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """One tenth of the list: its mean predicted chance, if there is one, and what was observed."""

    label: str
    predicted: float | None
    observed: float


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is known where the table has labels: metrics, curve and calibration."""

    metrics: Mapping[str, tuple[float, float, float]]
    curve: Curve
    calibration: tuple[Reliability, ...]
    push_path: Picture | None = None


@dataclass(frozen=True, kw_only=True)
class ModelRun:
    """Everything that the page about a model and a table tells.

    Attributes
    ----------
    title : str
    table : str
        Name of the table that was ranked.
    n_rows, n_lists : int
    budget : int
        Rows of the list that can be looked at, or of the longest list.
    budget_in_words : str
    is_weighted : bool
        Whether figures count rows by their weight.
    positive : str
        What belongs at the top, in words.
    columns : tuple of str
        Headings of the shortlist.
    rows : tuple of tuples
        Its rows, best first; cells are numbers or texts.
    drivers : tuple of (column, share, parts in words)
    row_drivers : tuple of tuples of (column, value, contribution)
        For the first rows of the shortlist.
    certificate : str
    settings : mapping of str to str
    truth : Truth or None
    """

    title: str
    table: str
    n_rows: int
    budget: int
    budget_in_words: str
    positive: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    drivers: tuple[tuple[str, float, str], ...]
    row_drivers: tuple[tuple[tuple[str, str, float], ...], ...] = ()
    certificate: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    truth: Truth | None = None
    n_lists: int = 1
    is_weighted: bool = False
