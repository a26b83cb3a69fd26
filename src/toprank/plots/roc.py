"""True against false positives, whole and at its left end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.plots.lists import ranked_lists
from toprank.plots.style import GREY, axes_row, dress, series

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        number of them. None draws the whole curve only. 0.1 because a shortlist lives there.
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
        rows, true = each.climb()
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
    if any(each.name for each in lists):
        panels[0].legend(loc="lower right", frameon=False)
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
