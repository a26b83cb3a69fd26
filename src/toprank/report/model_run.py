"""A model on a table as the report tells it: plain values, everything already computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toprank.report.picture import Picture

__all__ = ["Curve", "ModelRun", "Reliability", "Truth"]


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Points along a ranked list: rows taken, positives among them, and the band of precision."""

    rows: tuple[int, ...]
    found: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """One tenth of the list: its mean predicted chance, if there is one, and what was observed."""

    label: str
    predicted: float | None
    observed: float


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is known where the table has labels: positives, metrics, curve and calibration."""

    n_positives: int
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
    n_rows, budget : int
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
    positive: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    drivers: tuple[tuple[str, float, str], ...]
    row_drivers: tuple[tuple[tuple[str, str, float], ...], ...] = ()
    certificate: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    truth: Truth | None = None
