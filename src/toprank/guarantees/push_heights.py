"""Heights as counted and as a loss bounds them, and what a price makes of them, in logarithms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from toprank.inputs import as_lists, as_positives, as_scores, as_weights
from toprank.kernels.ladder import Ladder
from toprank.metrics import height
from toprank.objectives.heights import ladder_of
from toprank.objectives.losses import LOSSES
from toprank.objectives.prices import Price

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "ROUNDING",
    "PricedHeights",
    "PushPrice",
    "check_price",
    "log_price",
    "log_sum",
    "priced_heights",
]

# Sums of up to 1e8 rounded terms differ from the exact ones by less than this.
ROUNDING = 1e-9

End = Literal["top", "bottom"]
PushPrice = float | Literal["identity", "exponential", "log1p"] | Price

# ln(1 + e^{-z}) bounds the 0-1 loss once divided by ln 2 (section 3.1 of the paper).
_LOG_UNIT = {"logistic": math.log(math.log(2.0))}


class PricedHeights(NamedTuple):
    """Heights of the rows that are priced: negatives at the top, positives at the bottom.

    ``log_counted`` are logarithms of the heights with the 0-1 loss, ties counted as errors;
    ``log_bounded`` of those with the loss, in units that bound the 0-1 loss. Each comes in an
    order of its own, with the weights of its rows. ``most`` is the largest height that a list
    allows, ``opponents`` the weight of the other class, ``clear`` the share of it that wins
    against every priced row of its list, and ``worst`` is R_max.
    """

    log_counted: Floats
    weight: Floats
    log_bounded: Floats
    bounded_weight: Floats
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
) -> PricedHeights:
    """Count and bound the heights of all rows that have an opponent in their list.

    One sort: O(n log n) time, O(n) memory.
    """
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}; got {loss!r}.")
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
    bounded = ladder_of(LOSSES[loss], ladder).at(checked).heights
    with np.errstate(divide="ignore"):
        log_counted = np.log(counted[outer])
    own = positives.astype(np.float64) if weights is None else positives * weights
    codes = np.zeros(checked.size, dtype=np.intp) if lists is None else lists.codes
    totals, worst = _per_list(codes, own, counted, outer)
    return PricedHeights(
        log_counted,
        ladder.weights[ladder.is_outer],
        bounded.log() - _LOG_UNIT.get(loss, 0.0),
        bounded.weight,
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


def log_price(price: PushPrice, log_heights: Floats) -> Floats:
    """Logarithm of g(u), from the logarithm of u: powers of large heights do not overflow."""
    if price == "exponential":
        with np.errstate(over="ignore"):
            return np.exp(log_heights)
    if price == "log1p":
        with np.errstate(divide="ignore"):
            return np.log(np.logaddexp(0.0, log_heights))
    if isinstance(price, Price):
        with np.errstate(divide="ignore", over="ignore"):
            return np.log(np.asarray(price.value(np.exp(log_heights)), dtype=np.float64))
    power = 1.0 if isinstance(price, str) else float(price)
    return np.asarray(power * log_heights)


def log_sum(log_terms: Floats, weight: Floats) -> float:
    """Give log Σ weight·e^term, -inf where every term is 0."""
    largest = float(log_terms.max())
    if math.isinf(largest):
        return largest
    return largest + math.log(float(weight @ np.exp(log_terms - largest)))


def check_price(price: PushPrice) -> None:
    """Refuse what is no price of a push."""
    if isinstance(price, Price) or price in ("identity", "exponential", "log1p"):
        return
    if isinstance(price, (str, bool)) or not price >= 1:
        raise ValueError(
            "price must be a power ≥ 1 (inf too), 'identity', 'exponential', 'log1p' or a Price, "
            f"got {price!r}."
        )
