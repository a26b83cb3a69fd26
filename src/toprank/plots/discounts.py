"""How much a place in the list is worth: the discount factors behind three measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toprank.plots.style import dress, one_axes, series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["discount_factors"]


def discount_factors(*, max_rank: float = 10.0, ax: Axes | None = None) -> Axes:
    """Draw the three discount factors of Rudin (2009), Figure 3, against the rank z.

    ::

        1/ln(1 + z)    discounted cumulative gain
        1/z            average reciprocal rank
        −ln(1 + z)     the IR Push

    All three fall and are convex. A sum of the first two is to be maximised, and its negation is
    not convex; the negation of the third is what the IR Push minimises with a convex loss inside.

    Parameters
    ----------
    max_rank : float, default=10
        Where the picture ends on the right.
    ax : Axes or None
        Where to draw.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from toprank.plots import discount_factors
    >>> discount_factors().lines[2].get_label()
    '−ln(1 + z): IR Push'
    """
    if not max_rank > 1:
        raise ValueError(f"max_rank={max_rank} must be above 1, the rank of the best row.")
    panel = one_axes(ax)
    ranks = np.geomspace(0.2, max_rank, 400)
    curves = {
        "1/ln(1 + z): discounted cumulative gain": 1.0 / np.log1p(ranks),
        "1/z: average reciprocal rank": 1.0 / ranks,
        "−ln(1 + z): IR Push": -np.log1p(ranks),
    }
    for number, (label, values) in enumerate(curves.items()):
        panel.plot(ranks, values, label=label, **series(number).line)
    dress(panel, x="Rank or reverse height z", y="Discount factor")
    panel.set_xlim(0.0, max_rank)
    panel.legend(frameon=False)
    return panel
