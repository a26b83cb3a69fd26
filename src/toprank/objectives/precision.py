"""Surrogates of precision at k (Kar, Narasimhan and Jain 2015).

prec@k is the number of negatives among the k highest scores, a loss. With s⁺ and s⁻ the scores
of the positives and negatives, best first, c = n₊ - k and L(m) the sum of the m lowest s⁺::

    struct(s) = max_j  j + Σ_{i≤j} s⁻_i - L(c + j)                       (equation 3)
    ramp(s)   = max_j  j + Σ_{i≤j} s⁻_i - L(c + j) + L(c)                (equation 4)
    max(s)    = max_j  j + Σ_{i≤j} s⁻_i - L(j)                           (equation 6)
    avg(s)    = max_j  j + Σ_{i≤j} s⁻_i - j/(c + j)·L(c + j)             (equation 7)

over j from 0 to min(k, n₋): the number of negatives that a candidate puts into the top k.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import check_choice
from toprank.kernels.top_k import AVG, MAX, RAMP, STRUCT, surrogate_of_lists
from toprank.objectives.base import Criterion, Degrees, Objective

if TYPE_CHECKING:
    from toprank.inputs import Lists
    from toprank.truth import Truth

Surrogate = Literal["avg", "max", "ramp", "struct"]
KINDS = {"struct": STRUCT, "ramp": RAMP, "max": MAX, "avg": AVG}


@dataclass(frozen=True)
class PrecisionAtK(Objective):
    """An upper bound, which can be minimised, of the number of negatives in the top k.

    ``risk`` is the surrogate as printed above (summed over lists); ``value`` is the normalised
    one of section 5, risk/k (with lists the mean over those that hold both classes). avg, max
    and struct are convex; ramp is a difference of convex functions. ramp, max and avg are at
    least prec@k, struct need not be; ramp ≤ avg ≤ max. Only struct changes when all scores are
    shifted, unless k = n₊, where struct, max and avg are the same.

    At a tie or kink the sub-gradient belongs to the smallest j that attains the maximum, and rows
    tied at a cut share it, so nothing depends on the order of the rows. The functions have no
    curvature; ``gradient_and_hessian`` gives the absolute gradient in its place, so that a leaf of
    a boosted tree moves by at most 1, the margin that the surrogates ask for.

    A row of weight 2 counts as that row twice: k and prec@k count weight, and the row at the cut
    counts in part. In avg, where j/(c + j) is not linear, j is a whole number if all weights are
    whole, and any number between 0 and min(k, n₋) otherwise (as if rows were split into ever
    smaller parts). Rows of weight 0 are absent.

    Cost for n rows: O(n + k log k) time, O(n) memory; no more than k rows of a class are sorted.

    Parameters
    ----------
    k : int or float, default=0.25
        Length of the top: a number of rows (an int), or the paper's κ, a share in (0, 1] of the
        positives of each list, rounded up to a whole row (not rounded where weights are not
        whole). The default is that of the paper. A list with fewer positives than k is evaluated at
        its own number of positives; a k above that of every list is an error.
    surrogate : {"avg", "max", "ramp", "struct"}, default="avg"
        "avg" is the tightest of the convex upper bounds.

    Examples
    --------
    One of the two best rows is a negative, and so is the third:

    >>> import numpy as np
    >>> from toprank.objectives import PrecisionAtK
    >>> scores, y = [3.0, 2.5, 2.0, 1.0, 0.5], [0, 1, 0, 1, 1]
    >>> PrecisionAtK(k=2).on(y).loss(np.array(scores))
    0.5
    >>> for name in ("ramp", "avg", "max", "struct"):
    ...     print(name, PrecisionAtK(k=2, surrogate=name).risk(scores, y))
    ramp 3.5
    avg 4.333333333333333
    max 5.5
    struct 3.0
    """

    k: float = 0.25
    surrogate: Surrogate = "avg"

    def __post_init__(self) -> None:
        as_top(self.k)
        check_choice("surrogate", self.surrogate, get_args(Surrogate))

    def weight_degrees(self) -> Degrees | None:
        return Degrees(0.0, 1.0, in_logs=False) if as_top(self.k)[1] else None

    def _criterion(self, truth: Truth) -> PrecisionCriterion:
        return PrecisionCriterion(
            self.k, self.surrogate, truth.positives, truth.weights, truth.lists
        )


class PrecisionCriterion(Criterion):
    """A surrogate of precision at k on given labels."""

    def __init__(
        self,
        k: float,
        surrogate_name: Surrogate,
        positives: NDArray[np.bool_],
        weights: NDArray[np.float64] | None,
        lists: Lists | None,
    ) -> None:
        self.n_rows = positives.size
        self._k, self._is_share = as_top(k)
        self._kind = KINDS[surrogate_name]
        self._positives, self._weights, self._lists = positives, weights, lists
        self._whole = are_whole(weights)
        self._order = np.arange(self.n_rows) if lists is None else lists.order
        self._starts = np.array([0, self.n_rows]) if lists is None else lists.starts
        self._check_k()

    def _check_k(self) -> None:
        if self._is_share:
            return
        counts = self._positives.astype(np.float64)
        if self._weights is not None:
            counts *= self._weights
        if self._lists is None:
            where, most = "there are", float(counts.sum())
        else:
            where = "the list with most of them has"
            most = float(np.bincount(self._lists.codes, weights=counts).max())
        if self._k > most:
            raise ValueError(
                f"k={self._k:.0f} is more than the positives: {where} {most:g}; pass a smaller k, "
                "or a share of the positives in (0, 1]."
            )

    def value(self, scores: NDArray[Any]) -> float:
        return self._evaluate(scores)[1]

    def risk(self, scores: NDArray[Any]) -> float:
        return self._evaluate(scores)[0]

    def loss(self, scores: NDArray[Any]) -> float:
        """prec@k/k, the share of negatives in the top k, negatives first among ties.

        With lists the mean over those that hold both classes.
        """
        return self._evaluate(scores)[2]

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        _, value, _, gradient = self._evaluate(scores)
        return value, gradient.astype(scores.dtype, copy=False)

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient, and its absolute value for the Hessian, which is 0 wherever it exists."""
        gradient = self.value_and_gradient(scores)[1]
        return gradient, np.abs(gradient)

    def _evaluate(self, scores: NDArray[Any]) -> tuple[float, float, float, NDArray[np.float64]]:
        """Risk, value, share of negatives in the top, and the gradient of the value."""
        exact = np.ascontiguousarray(scores, dtype=np.float64)
        gradient = np.empty(self.n_rows)
        risk, value, share = surrogate_of_lists(
            self._kind, exact, self._positives, self._weights, self._order, self._starts,
            self._k, self._is_share, self._whole, gradient,
        )  # fmt: skip
        return risk, value, share, gradient


def as_top(k: Any) -> tuple[float, bool]:
    """Amount and whether it is a share of the positives: an int counts rows, a float is a share."""
    if isinstance(k, bool) or not isinstance(k, Real):
        raise TypeError(
            f"k must be a number of rows (an int) or a share of the positives in (0, 1], got {k!r}."
        )
    if isinstance(k, Integral):
        if k < 1:
            raise ValueError(f"k must be at least 1 row, got {k}.")
        return float(k), False
    if not 0 < float(k) <= 1:
        raise ValueError(
            f"k={k} must be a number of rows (an int) or a share of the positives in (0, 1]; "
            "for a number of rows pass int(k)."
        )
    return float(k), True


def are_whole(weights: NDArray[np.float64] | None) -> bool:
    """Whether every weight is a whole number, so that a weight is a number of repetitions."""
    return weights is None or bool((weights == np.floor(weights)).all())
