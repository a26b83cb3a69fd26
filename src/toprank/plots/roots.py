"""How far two roots are apart, and two bounds on it: where a power enters a guarantee."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from toprank.plots.style import dress, one_axes, series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["root_bounds"]


def root_bounds(*, p: float = 4.0, a: float = 0.4, ax: Axes | None = None) -> Axes:
    """Draw Lemma 7 of Rudin (2009), its Figure 8, against b from 0 to 1.

    ::

        |a^{1/p} − b^{1/p}|  ≤  min( |a − b|·a^{1/p−1}, |a − b|^{1/p} )

    The second bound alone gives Theorem 2; the first is the better one nearly everywhere and
    gives Theorem 3.

    Parameters
    ----------
    p : float, default=4
        The power, at least 1 and finite.
    a : float, default=0.4
        Above 0, at most 1.
    ax : Axes or None
        Where to draw.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from toprank.plots import root_bounds
    >>> [line.get_label() for line in root_bounds().lines]
    ['$|a - b|^{1/p}$', 'smaller of both bounds', '$|a^{1/p} - b^{1/p}|$']
    """
    if not 1 <= p < math.inf:
        raise ValueError(f"p={p} must be at least 1 and finite.")
    if not 0 < a <= 1:
        raise ValueError(f"a={a} must be above 0 and at most 1.")
    panel = one_axes(ax)
    # fine near 0, where the root is steep, and near a, where all three come to a point
    b = np.unique(np.concatenate([np.geomspace(1e-6, 1.0, 300), np.linspace(0.0, 1.0, 501), [a]]))
    gap = np.abs(a - b)
    curves = {
        "$|a - b|^{1/p}$": gap ** (1.0 / p),
        "smaller of both bounds": np.minimum(gap * a ** (1.0 / p - 1.0), gap ** (1.0 / p)),
        "$|a^{1/p} - b^{1/p}|$": np.abs(a ** (1.0 / p) - b ** (1.0 / p)),
    }
    for number, (label, values) in enumerate(curves.items()):
        panel.plot(b, values, label=label, **series(number).line)
    dress(panel, x="b", y="Difference of the roots", title=f"p = {p:g}, a = {a:g}")
    panel.set_xlim(0.0, 1.0)
    panel.set_ylim(bottom=0.0)
    panel.legend(frameon=False)
    return panel
