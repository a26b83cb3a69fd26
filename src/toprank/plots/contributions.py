"""Which pairs make the objective: a positive that stands low, a negative that stands high."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax

from toprank.inputs import as_scores
from toprank.objectives import pnorm_push
from toprank.plots.style import axes_row, percent
from toprank.truth import as_positives

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More squares than this cannot be told apart in a picture.
_MOST_PAIRS = 250_000


def pair_contributions(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    p: float | str | Sequence[float | str] = (1, 4, 16),
    pos_label: Any = None,
    ax: Axes | Sequence[Axes] | None = None,
) -> Axes | NDArray[Any]:
    """Draw the share of each positive-negative pair in the exponential push, as a heat map.

    Positives from bottom (best) to top (worst), negatives from left (best placed, hence worst) to
    right, lighter for more, as in Figures 1 and 4 of Rudin (2009). A pair's part is that of its
    negative in the sum, divided among the positives in proportion to their losses::

        P-Norm Push   (Σ_i e^(s_k − s_i))^p · e^(s_k − s_i) / Σ_i e^(s_k − s_i)
        IR Push       ln(1 + Σ_k e^(s_k − s_i)) · e^(s_k − s_i) / Σ_k e^(s_k − s_i)

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes.
    scores : array-like of shape (n_rows,)
        Higher is better.
    p : float, "ir", or a sequence of these, default=(1, 4, 16)
        Powers from 1 to inf; "ir" is the IR Push. One panel each.
    pos_label : label, default=None
        The positive label; by default the larger of the two.
    ax : Axes, as many Axes as there are panels, or None
        Where to draw.

    Returns
    -------
    Axes or array of Axes
        An array where ``p`` is a sequence.

    Examples
    --------
    >>> from toprank.plots import pair_contributions
    >>> ax = pair_contributions([1, 0, 1, 0], [4, 3, 2, 1], p=1)
    >>> ax.get_title(loc="left")
    'p = 1'
    """
    values = as_scores(scores).astype(np.float64)
    positives = as_positives(y_true, pos_label=pos_label, n_rows=values.size)
    high = np.sort(values[positives])[::-1]
    low = np.sort(values[~positives])[::-1]
    if not high.size or not low.size:
        raise ValueError("y_true must hold positives and negatives: a pair is one of each.")
    if high.size * low.size > _MOST_PAIRS:
        raise ValueError(
            f"{high.size} positives and {low.size} negatives make too many pairs for one picture "
            f"(at most {_MOST_PAIRS:,}); pass a sample of the rows, or the top of the list."
        )
    is_one = isinstance(p, str) or not isinstance(p, Sequence)
    powers: list[Any] = [p] if is_one else list(p)  # type: ignore[arg-type]
    if not powers:
        raise ValueError("p is empty; name at least one power.")
    panels, titles = axes_row(ax, len(powers)), {"ir": "IR Push", np.inf: "p = ∞"}
    for panel, power in zip(panels, powers, strict=True):
        parts = shares(high, low, power)
        _draw(panel, parts, titles.get(power) or f"p = {power:g}")
    panels[0].set_ylabel("Positives, best at the bottom")
    return panels[0] if is_one else panels


def shares(high: NDArray[np.float64], low: NDArray[np.float64], power: Any) -> NDArray[np.float64]:
    """Share of each pair in the objective: one row per positive, one column per negative."""
    if power == "ir":
        losses = logsumexp(low[None, :] - high[:, None], axis=1)
        parts = np.logaddexp(0.0, losses)[:, None] * softmax(low)[None, :]
        return np.asarray(parts / parts.sum())
    if isinstance(power, bool) or not isinstance(power, Real) or not float(power) >= 1:
        raise ValueError(f"p={power!r} must be a power from 1 to inf, or 'ir'.")
    labels = np.arange(high.size + low.size) < high.size
    _, slopes = pnorm_push(float(power)).value_and_gradient(np.append(high, low), labels)
    return np.outer(-slopes[labels], slopes[~labels])  # what each class is pushed with adds up to 1


def _draw(panel: Axes, parts: NDArray[np.float64], title: str) -> None:
    n_positives, n_negatives = parts.shape
    picture = panel.imshow(
        parts,
        cmap="cividis",
        origin="lower",
        extent=(0.5, n_negatives + 0.5, 0.5, n_positives + 0.5),
        aspect="auto",
        vmin=0.0,
    )
    panel.set_title(title, loc="left", fontsize="medium")
    panel.set_xlabel("Negatives, highest on the left")
    for axis, size in ((panel.xaxis, n_negatives), (panel.yaxis, n_positives)):
        few = FixedLocator(list(range(1, size + 1)))
        axis.set_major_locator(few if size <= 12 else MaxNLocator(8, integer=True))
    bar = panel.figure.colorbar(picture, ax=panel, format=FuncFormatter(percent), shrink=0.85)
    bar.outline.set_visible(False)
