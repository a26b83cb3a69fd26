"""Curves of ranked lists: ROC, and what a budget buys in precision and profit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import FuncFormatter
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import SLACK, check_budget, check_number, within_budget
from toprank.plots.lists import Band, ranked_lists, resampled_hits
from toprank.plots.style import GREY, axes_row, dress, one_axes, percent, series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from toprank.plots.lists import RankedList

# Enough for a smooth line on a page.
_POINTS = 400


def roc_curve(
    y_true: ArrayLike | Mapping[str, ArrayLike],
    scores: ArrayLike | Mapping[str, ArrayLike],
    *,
    sample_weight: ArrayLike | Mapping[str, ArrayLike] | None = None,
    pos_label: Any = None,
    counts: bool = False,
    zoom: float | None = 0.1,
    ax: Axes | Sequence[Axes] | None = None,
) -> Axes | NDArray[Any]:
    """Draw true positives against false positives, and again the left end where the top is.

    Tied rows make one straight step, so their order does not matter. With ``counts`` the axes
    count rows, as in Figures 5 to 7 of Rudin (2009); otherwise they are shares of the class.

    Parameters
    ----------
    y_true : array-like, or mapping of names to array-like
        Labels. A mapping (with the names of ``scores``) draws lists of different rows in one
        picture, for instance training and test rows.
    scores : array-like, or mapping of names to array-like
        One list of scores, or several by name; higher is better.
    sample_weight : array-like or mapping, default=None
        Weights of the rows.
    pos_label : label, default=None
        The positive label; by default the larger of the two.
    counts : bool, default=False
        Count rows instead of showing shares.
    zoom : float or None, default=0.1
        Where the second panel ends: a share of the negatives (at most 1) or, with ``counts``, a
        number of them. None draws only the whole curve.
    ax : Axes, two Axes, or None
        One Axes where ``zoom`` is None, otherwise two.

    Returns
    -------
    Axes or array of two Axes

    Examples
    --------
    >>> from toprank.plots import roc_curve
    >>> ax = roc_curve([1, 0, 1, 0], {"model": [4, 3, 2, 1]}, zoom=None)
    >>> ax.get_xlabel()
    'False positives (share of the negatives)'
    """
    lists = ranked_lists(y_true, scores, sample_weight, pos_label)
    curves = []
    for each in lists:
        rows, true = each.cumulative()
        unit = (1.0, 1.0) if counts else (rows[-1] - true[-1], true[-1])
        curves.append(((rows - true) / unit[0], true / unit[1]))
    panels = axes_row(ax, 1 if zoom is None else 2)
    of_negatives, of_positives = (
        ("(rows)", "(rows)") if counts else ("(share of the negatives)", "(share of the positives)")
    )
    for panel in panels:
        for number, (each, (false, true)) in enumerate(zip(lists, curves, strict=True)):
            panel.plot(false, true, label=each.name, **series(number).line)
        if not counts:
            panel.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
        dress(panel, x=f"False positives {of_negatives}", y=f"True positives {of_positives}")
        panel.margins(0.02)
    _add_legend(panels[0], lists, "lower right")
    if zoom is None:
        return panels[0]  # type: ignore[no-any-return]
    most = max(float(false[-1]) for false, _ in curves)
    if not 0 < zoom <= most:
        kind = "a number of negatives" if counts else "a share of the negatives"
        raise ValueError(f"zoom={zoom} must be {kind}, above 0 and at most {most:g}.")
    _zoom(panels[1], curves, zoom)
    panels[0].set_title("Whole list", loc="left", fontsize="medium")
    panels[1].set_title("Left end: the top of the list", loc="left", fontsize="medium")
    return panels


def _zoom(panel: Axes, curves: list[tuple[NDArray[Any], NDArray[Any]]], right: float) -> None:
    """Limits that show the curves up to ``right`` and nothing else."""
    inside = [np.interp([0.0, right], false, true) for false, true in curves]
    # All curves climb the left edge from 0; nothing can be told apart before the first leaves it.
    low = min(float(true[np.searchsorted(false, 0.0, side="right") - 1]) for false, true in curves)
    high = max(float(ends[1]) for ends in inside)
    room = 0.06 * max(high - low, 1e-12)
    panel.set_xlim(-0.02 * right, right)
    panel.set_ylim(max(low - room, -room), high + room)


def precision_curve(
    y_true: ArrayLike | Mapping[str, ArrayLike],
    scores: ArrayLike | Mapping[str, ArrayLike],
    *,
    sample_weight: ArrayLike | Mapping[str, ArrayLike] | None = None,
    pos_label: Any = None,
    max_k: float | None = None,
    level: float = 0.95,
    n_resamples: int = 200,
    random_state: int | np.random.Generator | None = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of positives among the k best rows against k, with bootstrap bands.

    The bands show how much the curve would vary on other rows of the same kind with the same
    scores; they do not include the variation of the fit. Positives and negatives are resampled
    apart, which keeps their numbers. Rows tied at k count by their share. One resample costs O(k),
    not O(rows), without weights.

    Parameters
    ----------
    y_true : array-like, or mapping of names to array-like
        Labels; a mapping (with the names of ``scores``) for lists of different rows.
    scores : array-like, or mapping of names to array-like
        One list of scores, or several by name; higher is better.
    sample_weight : array-like or mapping, default=None
        Weights of the rows; k then counts weight.
    pos_label : label, default=None
        The positive label; by default the larger of the two.
    max_k : int, float or None, default=None
        Longest shortlist shown: rows, or a share of the list; by default as many rows as there
        are positives, beyond which precision must fall.
    level : float, default=0.95
        Share of the resampled curves inside the band, point by point.
    n_resamples : int, default=200
        Number of resamples; 0 draws no band. With 200 the edge of a band is accurate to about a
        tenth of its width.
    random_state : int, Generator or None, default=0
        Seed of the bands; the default gives the same picture every time.
    ax : Axes or None
        Where to draw.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from toprank.plots import precision_curve
    >>> ax = precision_curve([1, 0, 1, 0], [4, 3, 2, 1], max_k=3)
    >>> ax.lines[0].get_ydata().round(2).tolist()
    [1.0, 0.5, 0.67]
    """
    lists = ranked_lists(y_true, scores, sample_weight, pos_label)
    longest = max(float(each.weights[each.positives].sum()) for each in lists)
    places, band = _places(max_k, lists, default=longest), Band(level, n_resamples, random_state)
    panel = _draw_curves(lists, places, band, ax, lambda hits: hits / places)
    panel.set_ylabel("Positives among them")
    panel.yaxis.set_major_formatter(FuncFormatter(percent))
    panel.set_ylim(top=1.02)
    return panel


def value_curve(
    y_true: ArrayLike | Mapping[str, ArrayLike],
    scores: ArrayLike | Mapping[str, ArrayLike],
    *,
    value: float = 1.0,
    cost: float = 0.0,
    sample_weight: ArrayLike | Mapping[str, ArrayLike] | None = None,
    pos_label: Any = None,
    max_k: float | None = None,
    level: float = 0.95,
    n_resamples: int = 200,
    random_state: int | np.random.Generator | None = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the profit of the k best rows against k, with bootstrap bands.

    ``value·hits − cost·k``, as :func:`toprank.metrics.value_at_k` has it, with a dot at the best
    length that is drawn. The other parameters are those of :func:`precision_curve`; ``max_k`` is
    by default the whole list.

    Parameters
    ----------
    value : float, default=1
        Value of a positive row.
    cost : float, default=0
        Cost of looking at a row.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from toprank.plots import value_curve
    >>> ax = value_curve([1, 0, 1, 0], [4, 3, 2, 1], value=3, cost=1)
    >>> ax.lines[0].get_ydata().tolist()
    [2.0, 1.0, 3.0, 2.0]
    """
    for name, amount in (("value", value), ("cost", cost)):
        check_number(name, amount, 0.0)
    lists = ranked_lists(y_true, scores, sample_weight, pos_label)
    longest = max(float(each.weights.sum()) for each in lists)
    places, band = _places(max_k, lists, default=longest), Band(level, n_resamples, random_state)
    panel = _draw_curves(lists, places, band, ax, lambda hits: value * hits - cost * places)
    for number, line in enumerate(list(panel.lines)[-len(lists) :]):
        xs, ys = (np.asarray(each, dtype=np.float64) for each in line.get_data())
        best = int(ys.argmax())
        panel.plot(xs[best], ys[best], marker="o", color=series(number).colour)
    panel.set_ylabel("Value of the positives minus costs")
    return panel


def _places(max_k: float | None, lists: list[RankedList], *, default: float) -> NDArray[np.float64]:
    """Lengths of the shortlist at which the curves are drawn."""
    most = max(float(each.weights.sum()) for each in lists)
    end = default
    if max_k is not None:
        check_budget("max_k", max_k)
        end = float(within_budget(max_k, most))
    shortest = min(1.0, end)
    if end <= _POINTS:
        # Thirty weights of 0.1 are three rows, however their sum is rounded.
        whole = np.arange(1.0, np.floor(end * (1.0 + SLACK)) + 1.0)
        return whole if whole.size else np.array([end])
    return np.unique(np.append(np.linspace(shortest, end, _POINTS).round(), end))


def _draw_curves(
    lists: list[RankedList],
    places: NDArray[np.float64],
    band: Band,
    ax: Axes | None,
    measure: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Axes:
    """Draw what ``measure`` makes of the positives found at the places, with a band around it."""
    panel = one_axes(ax)
    for number, each in enumerate(lists):
        look = series(number)
        hits = np.interp(places, *each.cumulative())
        panel.plot(places, measure(hits), label=each.name, **look.line)
        if band.n_resamples:
            edges = band.edges(measure(resampled_hits(each, places, band)))
            panel.fill_between(places, *edges, color=look.colour, alpha=0.15, linewidth=0)

    panel.set_xlim(0, float(places[-1]))
    dress(panel, x="Rows in the shortlist", y="")
    _add_legend(panel, lists, "lower left")
    return panel


def _add_legend(panel: Axes, lists: list[RankedList], place: Any) -> None:
    if any(each.name for each in lists):
        panel.legend(loc=place, frameon=False)
