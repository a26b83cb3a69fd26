"""Margins of Predtron, and how much a run can lose in all: Theorem 1 and its loss-driven variant.

After Jain, Natarajan and Tewari (2015). All bounds are about a stream that some reference W of
norm 1 predicts with margin γ: the similarity of every correct prediction exceeds that of every
wrong one by γ at least. R bounds the inputs, c and C are the smallest loss above 0
and the largest. The margin of scores t on a label y is the least similarity of a correct prediction
less the largest of a wrong one (section 2.2)::

    γ = min_{σ_y ∈ Σ_y} ⟨rep(σ_y), t⟩ − max_{σ ∉ Σ_y} ⟨rep(σ), t⟩

It is inf where no prediction is wrong. W has margin γ on a stream if every input has at least
that; divide by W's norm before a bound is computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from toprank.kernels.permutations import best_first, with_top

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "PredtronCertificate",
    "ndcg_margin",
    "precision_margin",
    "subset_margin",
    "table_margin",
]

# What sums of losses and the products of a bound may lose by rounding.
ROUNDING = 1e-9
# A loss below this share of the largest is 0 and rounding, as of 1 - NDCG.
NO_LOSS = 1e-12


@dataclass(frozen=True)
class PredtronCertificate:
    """What a run has lost so far, and what it could have lost at most.

    Parameters
    ----------
    cumulative_loss : float
        Σ L over all rounds.
    n_rounds, n_mistakes : int
        Rounds, and those with a loss.
    radius : float
        R, the largest input so far in the norm of the bound.
    smallest_loss, largest_loss : float
        c and C over the labels so far.
    eta : float
        The step; by default the theorem's.
    loss_driven : bool
        Whether the run was of the loss-driven variant.
    growth : float
        What the link multiplies R² with: (q − 1)·n^{2/q}; 1 without one.
    start : float
        ‖W₁‖; 0 but for a reject option.
    margin : float, optional
        γ of a reference W of norm 1, where one was given.

    Examples
    --------
    >>> from toprank.guarantees import PredtronCertificate
    >>> run = PredtronCertificate(3.0, 100, 3, 1.0, 1.0, 1.0, eta=0.25)
    >>> run.bound(margin=0.5), run.holds(margin=0.5)
    (16.0, True)
    """

    cumulative_loss: float = 0.0
    n_rounds: int = 0
    n_mistakes: int = 0
    radius: float = 0.0
    smallest_loss: float = math.inf
    largest_loss: float = 0.0
    eta: float | None = None
    loss_driven: bool = False
    growth: float = 1.0
    start: float = 0.0
    margin: float | None = None

    @property
    def step(self) -> float:
        """The step η = c/(4·R²) that Theorem 1 asks for."""
        return self.smallest_loss / (4.0 * self.radius**2 * self.growth)

    def bound(self, margin: float | None = None) -> float:
        """Most that the run could lose if a reference of norm 1 has this margin γ on the stream.

        Theorem 1: Σ L ≤ 4·R²·C²/(c·γ²). For any step η below c/(2R²) the same proof gives
        Σ L ≤ C²/(2ηγ²·(1 − 2ηR²/c)), which is least at the theorem's η; a longer step has no
        bound (inf), nor has γ ≤ 0. A run that starts at W₁ instead of 0 has (C/γ + ‖W₁‖)² in
        place of (C/γ)².

        The loss-driven variant: Σ L ≤ 4·R²·C/γ², whatever the step. Each step is
        L·(rep(σ) − rep(σ_y))·Xᵀ for the prediction σ itself, whose similarity is not below that
        of σ_y; so s·γ·Σ L ≤ (s + ‖W₁‖)²/(2η) + 2ηR²C·Σ L for every s, and s = 4ηR²C/γ gives the
        bound; η matters only if the run does not start at W₁ = 0.
        """
        if margin is None:
            margin = self.margin
        if margin is None:
            raise ValueError("margin=None: pass the margin of a reference, or call certify first.")
        if not margin > 0:
            return math.inf
        squared = self.radius**2 * self.growth
        if squared == 0 or self.largest_loss == 0:
            return 0.0
        eta = self.step if self.eta is None else self.eta
        if self.loss_driven:
            squared *= self.largest_loss
            return (4.0 * eta * squared / margin + self.start) ** 2 / (4.0 * eta**2 * squared)
        slack = 1.0 - 2.0 * eta * squared / self.smallest_loss
        if slack <= ROUNDING:
            return math.inf
        return (self.largest_loss / margin + self.start) ** 2 / (2.0 * eta * slack)

    def holds(self, margin: float | None = None) -> bool:
        """Whether the cumulative loss is within the bound, up to rounding."""
        return self.cumulative_loss <= self.bound(margin) * (1.0 + ROUNDING)


def table_margin(scores: ArrayLike, vectors: ArrayLike, losses: ArrayLike) -> float:
    """Margin of one input's scores where every prediction is a row of ``vectors``.

    Parameters
    ----------
    scores : array-like of shape (d,)
        t.
    vectors : array-like of shape (k, d)
        Unit vectors of the predictions.
    losses : array-like of shape (k,)
        What each prediction costs under the input's label; those that cost nothing, up to
        rounding (1e-12 of the largest), are correct.

    Examples
    --------
    Two classes as −1 and +1: twice the classical margin.

    >>> from toprank.guarantees import table_margin
    >>> table_margin([0.3], [[-1.0], [1.0]], [1.0, 0.0])
    0.6
    """
    similarities = np.asarray(vectors, dtype=np.float64) @ np.asarray(scores, dtype=np.float64)
    costs = np.asarray(losses, dtype=np.float64)
    correct = costs <= NO_LOSS * costs.max(initial=0.0)
    if correct.all():
        return float(np.inf)
    return float(similarities[correct].min() - similarities[~correct].max())


def subset_margin(scores: ArrayLike, truth: ArrayLike, *, error_set: bool = False) -> float:
    """Margin of one input's label scores, for subsets as ±1/√m.

    With a_j = t_j on true labels and −t_j on the others: (2/√m)·min a_j for the Hamming and the
    subset 0-1 loss, or (2/√m)·Σ a_j over the negative ones if there are any. The error set size
    only counts a miss together with a false label, so its margin is (2/√m)·(least a of the true +
    least a of the others); many subsets cost nothing there, so σ_y is the truth itself, and where
    some a_j is negative a subset without loss may come before it: there is no margin then, and
    the sum over the negative ones stands for it.

    Examples
    --------
    >>> from toprank.guarantees import subset_margin
    >>> subset_margin([2.0, -1.0, 1.5, -3.0], [1, 0, 1, 0])
    1.0
    >>> subset_margin([2.0, -1.0, 1.5, -3.0], [1, 0, 1, 0], error_set=True)
    2.5
    """
    t, mask = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=bool)
    agreement = np.where(mask, t, -t) * (2.0 / np.sqrt(t.size))
    if agreement.min() < 0:
        return float(agreement[agreement < 0].sum())
    if not error_set:
        return float(agreement.min())
    return float(agreement[mask].min(initial=np.inf) + agreement[~mask].min(initial=np.inf))


def _by_grade(scores: Floats, grades: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Items by falling grade and then score, and the places where the grade drops."""
    order = np.lexsort((-scores, -grades))
    drops = np.flatnonzero(np.diff(grades[order]) < 0) + 1
    return order, drops


def ndcg_margin(scores: ArrayLike, grades: ArrayLike, heights: ArrayLike) -> float:
    """Margin of one list's scores on its grades, for rankings as f(position)/Z.

    It serves NDCG and every loss that is 0 exactly where grades never rise along the ranking.
    Every order within a grade is correct, so what such orders differ by comes off what Lemma 4
    prints; where sorting by score breaks the grades, the margin is below 0. O(m log m).

    Examples
    --------
    >>> from toprank.guarantees import ndcg_margin
    >>> round(ndcg_margin([2.0, 2.0, 1.0], [1, 1, 0], [0.8, 0.6, 0.0]), 3)
    0.6
    >>> round(ndcg_margin([2.5, 2.0, 1.0], [1, 1, 0], [0.8, 0.6, 0.0]), 3)
    0.5
    """
    t, y = np.asarray(scores, dtype=np.float64), np.asarray(grades, dtype=np.float64)
    f = np.asarray(heights, dtype=np.float64)
    order, drops = _by_grade(t, y)
    if not drops.size:
        return float(np.inf)
    worst = np.lexsort((t, -y))
    best = best_first(t)
    if (np.diff(y[best]) > 0).any():
        highest_wrong = float(f @ t[best])
    else:
        ranked = t[order]
        lost = (f[drops - 1] - f[drops]) * (ranked[drops - 1] - ranked[drops])
        highest_wrong = float(f @ ranked - lost.min())
    return float(f @ t[worst]) - highest_wrong


def precision_margin(scores: ArrayLike, grades: ArrayLike, heights: ArrayLike, *, k: int) -> float:
    """Margin of one list's scores for precision at k, where items of a grade above 0 are relevant.

    Every order with as many relevant items as can be among the first k is correct, whatever
    stands elsewhere; so scores have a margin only if they hardly differ among the items that
    may change places. O(m·k).

    Examples
    --------
    >>> from toprank.guarantees import precision_margin
    >>> round(precision_margin([2.0, 2.0, 1.0], [1, 1, 0], [0.8, 0.6, 0.0], k=2), 3)
    0.6
    """
    t, f = np.asarray(scores, dtype=np.float64), np.asarray(heights, dtype=np.float64)
    relevant = np.asarray(grades) > 0
    top = min(k, t.size)
    reachable = min(top, int(relevant.sum()))
    if reachable - max(0, top - int((~relevant).sum())) <= 0:
        return float(np.inf)
    upwards = np.argsort(t, kind="stable")
    inside = np.concatenate(
        [upwards[relevant[upwards]][:reachable], upwards[~relevant[upwards]][: top - reachable]]
    )
    inside = inside[np.argsort(t[inside], kind="stable")]
    outside = upwards[~np.isin(upwards, inside)]
    lowest_correct = float(f @ t[np.concatenate([inside, outside])])
    highest_wrong = max(
        float(f @ t[with_top(best_first(t), relevant, top, wanted)])
        for wanted in range(max(0, top - int((~relevant).sum())), reachable)
    )
    return lowest_correct - highest_wrong
