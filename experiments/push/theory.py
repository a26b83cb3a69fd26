"""Curves of the theory: what a place in the list is worth, and how far two roots are apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from toprank.plots.style import dress, one_axes, series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["discount_factors", "root_bounds"]


def discount_factors(*, max_rank: float = 10.0, ax: Axes | None = None) -> Axes:
    """Draw the three discount factors of Rudin (2009), Figure 3, against the rank z.

    ::

        1/ln(1 + z)    discounted cumulative gain
        1/z            average reciprocal rank
        −ln(1 + z)     the IR Push

    All three fall and are convex. A sum of the first two is to be maximised, and its negation is
    not convex; the negation of the third is what the IR Push minimises with a convex loss inside.
    ``max_rank`` is where the picture ends on the right, ``ax`` where to draw.

    Examples
    --------
    >>> from experiments.push.theory import discount_factors
    >>> discount_factors().lines[2].get_label()
    '−ln(1 + z): IR Push'
    """
    if not max_rank > 1:
        raise ValueError(f"max_rank={max_rank} must be above 1, the rank of the best row.")
    ranks = np.geomspace(0.2, max_rank, 400)
    curves = {
        "1/ln(1 + z): discounted cumulative gain": 1.0 / np.log1p(ranks),
        "1/z: average reciprocal rank": 1.0 / ranks,
        "−ln(1 + z): IR Push": -np.log1p(ranks),
    }
    panel = _draw(one_axes(ax), ranks, curves)
    dress(panel, x="Rank or reverse height z", y="Discount factor")
    panel.set_xlim(0.0, max_rank)
    return panel


def root_bounds(*, p: float = 4.0, a: float = 0.4, ax: Axes | None = None) -> Axes:
    """Draw Lemma 7 of Rudin (2009), its Figure 8, against b from 0 to 1.

    ::

        |a^{1/p} − b^{1/p}|  ≤  min( |a − b|·a^{1/p−1}, |a − b|^{1/p} )

    The second bound alone gives Theorem 2; the first is the better one nearly everywhere and
    gives Theorem 3. The power ``p`` is at least 1 and finite, ``a`` above 0 and at most 1.

    Examples
    --------
    >>> from experiments.push.theory import root_bounds
    >>> [line.get_label() for line in root_bounds().lines]
    ['$|a - b|^{1/p}$', 'smaller of both bounds', '$|a^{1/p} - b^{1/p}|$']
    """
    if not 1 <= p < math.inf:
        raise ValueError(f"p={p} must be at least 1 and finite.")
    if not 0 < a <= 1:
        raise ValueError(f"a={a} must be above 0 and at most 1.")
    # fine near 0, where the root is steep, and near a, where all three come to a point
    b = np.unique(np.concatenate([np.geomspace(1e-6, 1.0, 300), np.linspace(0.0, 1.0, 501), [a]]))
    gap = np.abs(a - b)
    curves = {
        "$|a - b|^{1/p}$": gap ** (1.0 / p),
        "smaller of both bounds": np.minimum(gap * a ** (1.0 / p - 1.0), gap ** (1.0 / p)),
        "$|a^{1/p} - b^{1/p}|$": np.abs(a ** (1.0 / p) - b ** (1.0 / p)),
    }
    panel = _draw(one_axes(ax), b, curves)
    dress(panel, x="b", y="Difference of the roots", title=f"p = {p:g}, a = {a:g}")
    panel.set_xlim(0.0, 1.0)
    panel.set_ylim(bottom=0.0)
    return panel


def _draw(panel: Axes, x: NDArray[np.float64], curves: dict[str, NDArray[np.float64]]) -> Axes:
    for number, (label, values) in enumerate(curves.items()):
        panel.plot(x, values, label=label, **series(number).line)
    panel.legend(frameon=False)
    return panel
