"""Ranking with a push (Rudin 2009): any loss, any price, labels, grades or crucial pairs.

Positives i, negatives k, scores s, row weights w, a loss ℓ and a price g::

    R_{g,ℓ}(s) = Σ_k w_k·g( Σ_i w_i·ℓ(s_i - s_k) )                          (section 2)
    R_p(s)     = Σ_k w_k·( Σ_i w_i·e^{-(s_i - s_k)} )^p                      (section 5)
    R_IR(s)    = Σ_i w_i·ln( 1 + Σ_k w_k·e^{-(s_i - s_k)} )                  (equation 2)
    R_pairs(s) = Σ_k w_k·g( Σ_i w_i·v_ik·π(i, k)·ℓ(s_i - s_k) )             (section 7)

The inner sum is the *height* of row k. ``focus="bottom"`` prices the reverse heights of the
positives instead: the same formula on negated scores with the classes swapped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import check_choice
from toprank.kernels.tilts import floor_bends
from toprank.objectives.base import Adapted, Criterion, Degrees, Objective, Relative, RowOptions
from toprank.objectives.exponential import ExponentialCriterion, IRCriterion, PushFormula
from toprank.objectives.heights import PairComparison, compare
from toprank.objectives.losses import LOSSES, Loss, LossName, largest_score, rounded_hinge
from toprank.objectives.prices import Aggregate, Heights, Price, Snapshot, aggregate
from toprank.objectives.top import SoftTop, TopCriterion
from toprank.truth import Truth

Focus = Literal["top", "bottom", "both"]
PriceName = Literal["identity", "exponential", "log1p"]


class PairOptions(TypedDict, total=False):
    """What may be said of pairs: what each counts, and what the rows count."""

    pair_weight: ArrayLike | None
    sample_weight: ArrayLike | None


@dataclass(frozen=True)
class Push(Objective):
    """Push with any loss for pairs and any price for heights.

    ``risk`` is R_{g,ℓ}. ``value`` is on a scale that does not overflow:

    ==================  =====================================================================
    price               value
    ==================  =====================================================================
    power p             (1/p)·log R for the exponential loss, R^{1/p} for the others; at p = ∞
                        the (logarithm of the) largest height
    e^r                 log R
    ln(1 + r), Price    R / Σ w_k, a mean over the rows that are priced
    ==================  =====================================================================

    For convex increasing prices ``value`` is convex: R^{1/p} is a norm of convex heights, and
    log R is convex where the loss is exponential (but not where it is logistic). The price
    ln(1 + r) is convex with the exponential loss only. Where ``value`` curves downwards along a
    score, the Hessian's diagonal is given as 0.

    Tied pairs cost ℓ(0). At the hinge's kink, and where all heights are 0, the sub-gradient 0 is
    taken; at p = ∞ it spreads over the largest heights in proportion to their weights.

    Cost for m rows: O(m) with the exponential loss, else one sort and O(m·grades); memory O(m).
    No pairs are formed unless you pass pairs. The exponential loss with a power accepts scores up
    to ±1e300, all others up to ±1e8; a height of more than e^690 (exponential loss with a price
    that is no power) is held there, with a warning.

    Parameters
    ----------
    loss : {"exponential", "logistic", "hinge", "squared_hinge"}, default="logistic"
        Loss of a pair, see :mod:`toprank.objectives.losses`.
    price : float, {"identity", "exponential", "log1p"} or Price, default=4.0
        Price of a height; a number p ≥ 1 (or ``inf``) is the power r^p.
    focus : {"top", "bottom", "both"}, default="top"
        ``"top"`` prices the heights of negatives, ``"bottom"`` the reverse heights of positives,
        ``"both"`` is R_top + bottom_weight·R_bottom.
    bottom_weight : float, default=1
        The constant of ``focus="both"``.
    rounding : float, default=0
        Length over which the kink of the hinge is rounded off below it; 0 keeps the kink.

    Examples
    --------
    The first illustration of the paper (Table 1, which halves the score differences):

    >>> import numpy as np
    >>> from toprank.objectives import Push
    >>> labels = [-1, 1, -1, 1, -1, -1, 1, 1]
    >>> round(Push(loss="logistic", price=4).risk(np.arange(8) / 2, labels), 2)
    430.79
    """

    loss: LossName = "logistic"
    price: float | PriceName | Price = 4.0
    focus: Focus = "top"
    bottom_weight: float = 1.0
    rounding: float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}; got {self.loss!r}.")
        _check_price(self.price)
        _check_focus(self.focus, self.bottom_weight)
        if not 0 <= self.rounding < 1:
            raise ValueError(f"rounding must be at least 0 and below 1, got {self.rounding!r}.")

    def _loss(self) -> Loss:
        is_rounded = self.loss == "hinge" and self.rounding > 0
        return rounded_hinge(self.rounding) if is_rounded else LOSSES[self.loss]

    @property
    def power(self) -> float | None:
        """Exponent p of a height, where the price is a power."""
        price = 1.0 if self.price == "identity" else self.price
        return None if isinstance(price, str | Price) else float(price)

    @property
    def one_end_power(self) -> float | None:
        """Finite p of an exponential push at one end of a list: 1 + p times scores are log-odds."""
        is_one = self.loss == "exponential" and self.focus != "both" and self.power is not None
        return self.power if is_one and self.power != math.inf else None

    def is_logarithm(self) -> bool:
        """Whether the value is a logarithm, so that its slopes do not depend on the weights."""
        return self.loss == "exponential" and not isinstance(self.price, Price)

    def bound_at(self, power: float, truth: Truth) -> Criterion:
        """Mean of this power over the priced rows: smooth, and never above the push at p = ∞."""
        is_simple = truth.is_labels and truth.is_one_list
        if is_simple and self.focus != "both" and self.loss != "exponential":
            return SoftTop(self.loss, power, self.focus, lower_bound=True).criterion(truth)
        rounding = 0.0 if self.loss == "exponential" else 1.0 / power
        smooth = Push(self.loss, power, self.focus, self.bottom_weight, rounding)
        criterion = smooth.criterion(truth)
        log_weight = criterion.log_priced_weight / power
        if self.is_logarithm():
            return Adapted(criterion, offset=-log_weight)
        return Relative(criterion, math.exp(log_weight))

    def weight_degrees(self) -> Degrees | None:
        p = self.power
        if p is None:
            return None
        risk = 1.0 if math.isinf(p) else 1.0 + p
        return Degrees(1.0 + 1.0 / p, risk, in_logs=self.loss == "exponential")

    def _largest_score(self) -> float:
        return largest_score(self.loss)

    def _criterion(self, truth: Truth) -> Criterion:
        loss, focus, p = self.loss, self.focus, self.power
        is_simple = truth.is_labels and truth.is_one_list
        if is_simple and (loss, self.price, focus) == ("exponential", "log1p", "bottom"):
            return IRCriterion(truth.positives, truth.weights, partial(self._general, truth))
        if is_simple and p is not None:
            if loss == "exponential":
                formula = PushFormula(p, focus_constants(focus, self.bottom_weight))
                return ExponentialCriterion(formula, truth.positives, truth.weights)
            if math.isinf(p) and focus != "both":
                sign = 1 if focus == "top" else -1
                return TopCriterion(self._loss(), p, sign, truth)
        return self._general(truth)

    def _general(self, truth: Truth) -> PushCriterion:
        """The criterion of any loss and price on any truth."""
        constants = focus_constants(self.focus, self.bottom_weight)
        sides = tuple(
            PushSide(sign, constant, compare(self._loss(), truth, sign))
            for sign, constant in constants.items()
        )
        summed = aggregate(self.price, in_logs=self.loss == "exponential")
        return PushCriterion(summed, sides, truth.n_rows)

    def on_grades(self, grades: ArrayLike, **rows: Unpack[RowOptions]) -> Criterion:
        """Put the formula on graded labels: π(i, k) = 1 where i has the higher grade.

        Only rows of one list are compared. No pair is formed: each grade is one bipartite
        problem against all higher grades. Cost O(rows) for the exponential loss, one sort and
        O(rows·grades) for the others.

        Examples
        --------
        >>> import numpy as np
        >>> from toprank.objectives import Push
        >>> criterion = Push(loss="hinge", price=1).on_grades([2, 1, 0])
        >>> criterion.risk(np.array([2.0, 2.0, 0.0]))
        1.0
        """
        return self._on_all_rows(Truth.of_grades(grades, **rows))

    def on_pairs(self, pairs: ArrayLike, n_rows: int, **weights: Unpack[PairOptions]) -> Criterion:
        """Put the formula on crucial pairs (section 7): π(i, k) = 1 for the pairs given.

        The truth may be non-transitive. Cost O(pairs) in time and memory.

        Parameters
        ----------
        pairs : array of shape (n_pairs, 2)
            Row numbers (better, worse); a pair given twice counts twice.
        n_rows : int
            How many rows the scores will have.
        pair_weight : array of shape (n_pairs,), optional
            v_ik, what each pair counts within its height.
        sample_weight : array of shape (n_rows,), optional
            Row weights, as everywhere: w_i within the height, w_k on its price.

        Examples
        --------
        >>> import numpy as np
        >>> from toprank.objectives import pnorm_push
        >>> circle = [[0, 1], [1, 2], [2, 0]]
        >>> round(pnorm_push(1).on_pairs(circle, 3).risk(np.zeros(3)), 4)
        3.0
        """
        return self.criterion(Truth.of_pairs(pairs, n_rows, **weights))


def focus_constants(focus: Focus, bottom_weight: float) -> dict[int, float]:
    """What the top push (1) and the bottom push (-1) count."""
    return {"top": {1: 1.0}, "bottom": {-1: 1.0}, "both": {1: 1.0, -1: bottom_weight}}[focus]


def pnorm_push(
    p: float = 4.0,
    *,
    loss: LossName = "exponential",
    price: float | PriceName | Price | None = None,
    focus: Focus = "top",
    bottom_weight: float = 1.0,
) -> Push:
    """P-Norm Push with any loss; a ``price`` replaces the power p.

    p = 1 asks for a good list as a whole (RankBoost's objective), ∞ only for the very top. With the
    exponential loss (section 5) the double sum factorises, log R_p = p·LSE(-s⁺) + LSE(p·s⁻), so the
    cost is O(rows) in time and memory.

    Examples
    --------
    >>> from toprank.objectives import pnorm_push
    >>> pnorm_push(8)
    Push(loss='exponential', price=8, focus='top', bottom_weight=1.0)
    >>> round(pnorm_push(2).risk([2.0, 0.0, 1.0], [1, 1, 0]), 4)
    9.5244
    >>> pnorm_push(1e4).value([1e300, -1e300], [1, 0])
    -2e+300
    """
    if price is None and (isinstance(p, (str, Price)) or not p >= 1):
        raise ValueError(f"p must be a number ≥ 1 or inf, got {p!r}.")
    return Push(loss, p if price is None else price, focus, bottom_weight)


def ir_push(*, loss: LossName = "exponential") -> Push:
    """IR Push: positives are moved up, most of all those with few negatives above them.

    ``risk`` is equation (2), Σ_i w_i·ln(1 + Σ_k w_k·e^{-(s_i - s_k)}), with the exponential loss;
    with others it is not convex. ``value`` is the mean, risk / Σ w_i over the positives that have a
    negative in their list. The weights are within the logarithm, so doubling all weights changes
    the problem.

    Examples
    --------
    >>> from toprank.objectives import ir_push
    >>> round(ir_push().risk([2.0, 0.0, 1.0], [1, 1, 0]), 4)
    1.6265
    """
    return Push(loss, "log1p", "bottom")


def _check_price(price: object) -> None:
    if isinstance(price, Price) or (isinstance(price, str) and price in get_args(PriceName)):
        return
    is_number = isinstance(price, int | float | np.number) and not isinstance(price, bool)
    if not is_number or not price >= 1:  # type: ignore[operator]
        raise ValueError(
            "price must be a power ≥ 1 (inf too), 'identity', 'exponential', 'log1p' or a Price, "
            f"got {price!r}."
        )


def _check_focus(focus: object, bottom_weight: float) -> None:
    check_choice("focus", focus, get_args(Focus))
    if not 0 < bottom_weight < math.inf:
        raise ValueError(f"bottom_weight must be above 0 and finite, got {bottom_weight}.")


class PushSide(NamedTuple):
    """One push: ``sign`` +1 prices worse rows, -1 better rows (on negated scores)."""

    sign: int
    constant: float
    comparison: PairComparison

    def oriented(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Scores, negated where better rows are priced."""
        return scores if self.sign > 0 else -scores


class PushCriterion(Criterion):
    """Push on given labels, grades or pairs."""

    min_rows_for_threads = 1 << 17

    def __init__(self, aggregate: Aggregate, sides: tuple[PushSide, ...], n_rows: int) -> None:
        self.n_rows = n_rows
        self._aggregate = aggregate
        self._sides = sides
        priced = sum(side.constant * side.comparison.outer_weight.sum() for side in sides)
        self.log_priced_weight = float(np.log(priced))

    def value(self, scores: NDArray[Any]) -> float:
        return self._aggregate.value(self._heights(self._snapshots(scores)))

    def risk(self, scores: NDArray[Any]) -> float:
        return self._aggregate.risk(self._heights(self._snapshots(scores)))

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        snapshots = self._snapshots(scores)
        value, first = self._aggregate.value_and_first(self._heights(snapshots))
        slopes = [snapshot.gradient(part) for snapshot, part in _by_side(snapshots, first)]
        return value, self._gradient(slopes).astype(scores.dtype, copy=False)

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and Hessian diagonal of ``value``; p = ∞ and a Price may have none."""
        snapshots = self._snapshots(scores)
        first, second, bend = self._aggregate.curvature(self._heights(snapshots))
        sides = _by_side(snapshots, first, second)
        slopes, bends = zip(
            *(one.gradient_and_hessian(*parts) for one, *parts in sides), strict=True
        )
        gradient, hessian = self._gradient(slopes), reduce(np.add, bends)
        floor_bends(gradient, hessian, bend)  # boosted trees divide by them
        return gradient.astype(scores.dtype, copy=False), hessian.astype(scores.dtype, copy=False)

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        side = self._sides[0]
        return side.comparison.narrowest_gap(side.oriented(scores)) >= margin

    def _snapshots(self, scores: NDArray[Any]) -> list[Snapshot]:
        return [side.comparison.at(side.oriented(scores), self.threads) for side in self._sides]

    def _heights(self, snapshots: list[Snapshot]) -> Heights:
        """All heights that are priced, both sides in one row."""
        parts = [
            snapshot.heights
            if side.constant == 1.0
            else snapshot.heights._replace(weight=side.constant * snapshot.heights.weight)
            for side, snapshot in zip(self._sides, snapshots, strict=True)
        ]
        if len(parts) == 1:
            return parts[0]
        shift, size, weight = map(np.concatenate, zip(*(part[:3] for part in parts), strict=True))
        return Heights(shift, size, weight)

    def _gradient(self, slopes: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Sum over the sides, of which one may have seen negated scores."""
        for side, mine in zip(self._sides, slopes, strict=True):
            if side.sign < 0:
                np.negative(mine, out=mine)
        return reduce(np.add, slopes)


def _by_side(snapshots: list[Snapshot], *per_height: NDArray[Any]) -> Iterable[Any]:
    """Each snapshot with its parts of arrays over all heights."""
    ends = np.cumsum([snapshot.heights.size.size for snapshot in snapshots])[:-1]
    return zip(snapshots, *(np.split(values, ends) for values in per_height), strict=True)
