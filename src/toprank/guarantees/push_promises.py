"""What a push measured on its training list, compared with what its objective promised."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_lists, as_scores, as_weights
from toprank.kernels.ladder import Ladder
from toprank.metrics import height
from toprank.objectives import Push
from toprank.objectives.base import exponential
from toprank.objectives.heights import RungComparison
from toprank.objectives.losses import LOSSES
from toprank.objectives.prices import Heights, Price, aggregate
from toprank.truth import as_positives

if TYPE_CHECKING:
    from toprank.objectives.losses import LossName

Floats = NDArray[np.float64]

# Sums of up to 1e8 rounded terms differ from the exact ones by less than this.
ROUNDING = 1e-9

End = Literal["top", "bottom"]
PushPrice = float | Literal["identity", "exponential", "log1p"] | Price

# ln(1 + e^{-z}) bounds the 0-1 loss once divided by ln 2 (section 3.1 of the paper).
_LOG_UNIT = {"logistic": math.log(math.log(2.0))}


@dataclass(frozen=True)
class PushCertificate:
    """Measured quality of one end of a training list, and the bounds of the objective.

    Heights are those of the negatives (``focus="top"``) or the reverse heights of the positives
    (``"bottom"``), ties counted as errors. They are summed up in the units of a height:

    ==========  ==========================================================================
    price       ``height``
    ==========  ==========================================================================
    r^p         R_{p,1}^{1/p}, the p-norm of the heights; at p = ∞ the largest
    e^r         ln R_{g,1}
    ln(1 + r)   geometric mean of 1 + r, minus 1
    a Price     mean price of a height (prices of your own have no known inverse)
    ==========  ==========================================================================

    The loss bounds the 0-1 loss (the logistic one to base 2), so ``promised_height``, the same
    of the losses, is never below ``height``, and no single height can pay more than all of them,
    so ``promised_worst`` is never below ``worst``. Both are known from the objective alone. A
    promise that every list keeps, however bad, is *vacuous*.

    Attributes
    ----------
    focus : {"top", "bottom"}
        The end of the list. ``bottom`` holds the other end where both were pushed, else None.
    loss, price : as the objective had them
    n_positives, n_negatives : float
        Weight of the rows.
    height, promised_height : float
        Measured and promised.
    worst, promised_worst : float
        R_max, measured and promised: at the top, how many positives the highest negative stands
        above; at the bottom, how many negatives stand above the lowest positive.
    clear : float
        Share of the positives above every negative; at the bottom, share of the negatives below
        every positive. With lists, above every negative of their own list.
    most : float
        The largest height that the (longest) list allows.
    """

    focus: End
    loss: str
    price: PushPrice
    n_positives: float
    n_negatives: float
    height: float
    promised_height: float
    worst: float
    promised_worst: float
    clear: float
    most: float
    bottom: PushCertificate | None = None

    @property
    def holds(self) -> bool:
        """Whether the list kept both promises, as it must, up to rounding."""
        kept = (
            _at_most(self.height, self.promised_height),
            _at_most(self.worst, self.promised_worst),
        )
        return all(kept) and (self.bottom is None or self.bottom.holds)

    @property
    def vacuous(self) -> bool:
        """Whether the promise about the worst row is one that every list keeps."""
        return self.promised_worst >= self.most * (1.0 - ROUNDING)

    def __str__(self) -> str:
        top = self.focus == "top"
        priced, others = ("negatives", "positives") if top else ("positives", "negatives")
        worst = (
            f"the highest negative stands above {_count(self.worst, 'positive')}"
            if top
            else f"the lowest positive stands below {_count(self.worst, 'negative')}"
        )
        promise = (
            f"at most {_number(self.most)}, which is true of every ranking"
            if self.vacuous
            else f"at most {_number(math.floor(self.promised_worst * (1.0 + ROUNDING)))}"
        )
        text = (
            f"Training list of {_count(self.n_positives, 'positive')} and "
            f"{_count(self.n_negatives, 'negative')}, {self.focus} of the list:\n"
            f"  {_measure(self.price, priced)}: {_number(self.height)} "
            f"(promised: at most {_number(self.promised_height)})\n"
            f"  R_max: {worst} (promised: {promise})\n"
            f"  {100.0 * self.clear:.4g} % of the {others} stand "
            f"{'above every negative' if top else 'below every positive'}\n"
        )
        if self.bottom is not None:
            return text + str(self.bottom)
        return text + "This holds for these rows only; measure the ranking on held-out rows."


def push_certificate(
    y_true: ArrayLike,
    scores: ArrayLike,
    price: PushPrice = 4.0,
    *,
    loss: LossName = "exponential",
    focus: Literal["top", "bottom", "both"] = "top",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
) -> PushCertificate:
    """Compare a list with the bounds of the objective of its push.

    ::

        R_{p,1}^{1/p} ≤ R_{p,ℓ}^{1/p}        R_max ≤ (R_{p,ℓ} / min w)^{1/p}

    The first is Theorem 1 of Rudin (2009). The second is sharper for powers than its
    R_max ≤ K^{1-1/p}·R_{p,ℓ}^{1/p}: one term of the sum is at most the sum. With
    ``focus="both"`` each end has its own R. The IR Push is ``price="log1p"`` with
    ``focus="bottom"``. One sort for each end: O(n log n) time, O(n) memory.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Two classes.
    scores : array-like of shape (n_rows,)
        Scores as in the objective: the bounds depend on their scale.
    price : float, {"identity", "exponential", "log1p"} or Price, default=4.0
        A number is the power p, from 1 to inf.
    loss : {"exponential", "logistic", "hinge", "squared_hinge"}, default="exponential"
        What a pair costs.
    focus : {"top", "bottom", "both"}, default="top"
        The end that was pushed.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.
    groups : array-like of shape (n_rows,), optional
        The list of each row.
    pos_label : label, optional
        The positive label; by default the larger of the two.

    Returns
    -------
    PushCertificate
        Prints as a few sentences.

    Examples
    --------
    >>> from toprank.guarantees import push_certificate
    >>> found = push_certificate([1, 1, 1, 0, 1, 0, 0], [9, 8, 7, 4, 3, 2, 1], price=8)
    >>> found.worst, found.holds
    (1.0, True)
    >>> print(found)
    Training list of 4 positives and 3 negatives, top of the list:
      8-norm of the heights of the negatives: 1 (promised: at most 2.793)
      R_max: the highest negative stands above 1 positive (promised: at most 2)
      75 % of the positives stand above every negative
    This holds for these rows only; measure the ranking on held-out rows.
    """
    push, ends = Push(loss, price, focus), []
    for end in get_args(End) if focus == "both" else (focus,):
        heights = priced_heights(
            y_true,
            scores,
            loss=loss,
            end=end,
            sample_weight=sample_weight,
            groups=groups,
            pos_label=pos_label,
        )
        ends.append(_of_end(push, end, heights))
    return ends[0] if len(ends) == 1 else replace(ends[0], bottom=ends[1])


class MeasuredHeights(NamedTuple):
    """Heights of the rows that are priced: negatives at the top, positives at the bottom.

    ``counted`` are those with the 0-1 loss, ties counted as errors; ``bounded`` those with the
    loss, in units that bound the 0-1 loss. Each comes in an order of its own. ``most`` is the
    largest height that a list allows, ``opponents`` the weight of the other class, ``clear`` the
    share of it that wins against every priced row of its list, and ``worst`` is R_max.
    """

    counted: Heights
    bounded: Heights
    opponents: float
    most: float
    clear: float
    worst: float


def priced_heights(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    loss: str,
    end: End = "top",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
) -> MeasuredHeights:
    """Count and bound the heights of all rows that have an opponent in their list.

    One sort: O(n log n) time, O(n) memory.
    """
    checked = as_scores(scores).astype(np.float64, copy=False)
    positives = as_positives(y, pos_label=pos_label, n_rows=checked.size, name="y")
    weights = as_weights(sample_weight, checked.size)
    lists = as_lists(groups, checked.size)
    if end == "bottom":  # the same on negated scores with the classes swapped
        checked, positives = -checked, ~positives
    if not checked.size:
        raise ValueError("y is empty; there is no row to rank.")
    ladder = Ladder(positives.astype(np.intp), weights, lists)
    outer = ladder.rows[ladder.is_outer]
    if not outer.size:
        raise ValueError("there is no positive row in one list with a negative one to compare.")
    counted = np.zeros(checked.size)
    counted[~positives] = height(
        positives, checked, sample_weight=weights, groups=None if lists is None else lists.codes
    )
    bounded = RungComparison(ladder, LOSSES[loss]).at(checked).heights
    own = positives.astype(np.float64) if weights is None else positives * weights
    codes = np.zeros(checked.size, dtype=np.intp) if lists is None else lists.codes
    totals, worst = _per_list(codes, own, counted, outer)
    return MeasuredHeights(
        Heights(np.zeros(outer.size), counted[outer], ladder.weights[ladder.is_outer]),
        bounded._replace(shift=bounded.shift - _LOG_UNIT.get(loss, 0.0)),
        opponents=float(totals.sum()),
        most=float(totals.max()),
        clear=float((totals - worst).sum() / totals.sum()),
        worst=float(worst.max()),
    )


def _per_list(
    codes: NDArray[np.intp], own: Floats, counted: Floats, outer: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Weight of the opponents and largest height of each list that has a pair."""
    totals: Floats = np.bincount(codes, weights=own).astype(np.float64)
    worst = np.full(totals.size, -1.0)
    np.maximum.at(worst, codes[outer], counted[outer])
    return totals[worst >= 0], worst[worst >= 0]


def _of_end(push: Push, end: End, heights: MeasuredHeights) -> PushCertificate:
    price, weight = push.price, float(heights.counted.weight.sum())
    # sums of powers of the exponential loss come as logarithms, as they are minimised
    in_logs = push.loss == "exponential" and push.power is not None
    measured = aggregate(price, in_logs=False).value(heights.counted)
    promised = aggregate(price, in_logs=in_logs).value(heights.bounded)
    promised = exponential(promised) if in_logs else promised
    lightest = float(heights.counted.weight.min())
    totals = (heights.opponents, weight) if end == "top" else (weight, heights.opponents)
    return PushCertificate(
        focus=end,
        loss=push.loss,
        price=price,
        n_positives=totals[0],
        n_negatives=totals[1],
        height=_expm1(measured) if price == "log1p" else measured,
        promised_height=_expm1(promised) if price == "log1p" else promised,
        worst=heights.worst,
        promised_worst=_most_for(push, promised, weight, lightest, heights.most),
        clear=heights.clear,
        most=heights.most,
    )


def _most_for(push: Push, promised: float, weight: float, lightest: float, most: float) -> float:
    """Give the largest height that the lightest row can have; for a Price at most ``most``."""
    price = push.price
    if push.power is not None:
        return float(promised * lightest ** (-1.0 / push.power))
    if price == "exponential":
        return promised - math.log(lightest)
    if price == "log1p":
        return _expm1(promised * weight / lightest)
    assert isinstance(price, Price)  # noqa: S101  (there are no others)

    def affordable(u: float) -> bool:
        return float(price.value(np.array([u]))[0]) <= promised * weight / lightest

    low, high = 0.0, most
    if affordable(most):
        return most
    while high - low > ROUNDING * most:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if affordable(middle) else (low, middle)
    return high


def _expm1(exponent: float) -> float:
    return math.expm1(exponent) if exponent < 709.0 else math.inf


def _at_most(smaller: float, larger: float) -> bool:
    return smaller <= larger * (1.0 + ROUNDING) + ROUNDING


def _count(amount: float, what: str) -> str:
    return f"{_number(amount)} {what}{'' if _number(amount) == '1' else 's'}"


def _number(amount: float) -> str:
    """Whole numbers, up to rounding, with separators, others to four digits."""
    if abs(amount) < 1e15 and abs(amount - round(amount)) <= ROUNDING * max(1.0, abs(amount)):
        return f"{round(amount):,}"
    return f"{amount:.4g}"


def _measure(price: PushPrice, rows: str) -> str:
    """What ``height`` is, in words."""
    if price == "exponential":
        return f"ln Σ e^height over the {rows}"
    if price == "log1p":
        return f"typical reverse height of the {rows} (geometric mean of 1 + height, minus 1)"
    power = Push(price=price).power
    if power is None:
        return f"mean price of the heights of the {rows}"
    if math.isinf(power):
        return f"largest height of the {rows}"
    return f"{power:g}-norm of the heights of the {rows}"
