"""What every objective offers: a value and its derivatives with respect to the scores.

An :class:`Objective` is a formula. :meth:`Objective.on` puts it on given labels, weights and
lists, checked once; the :class:`Criterion` that comes back is a function of the scores alone,
which is all that a solver, a tree engine or a network ever needs.
"""

from __future__ import annotations

import math
import sys
import warnings
from abc import ABC, abstractmethod
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_scores
from toprank.kernels.threads import Threads
from toprank.truth import Truth


class Criterion(ABC):
    """An objective on given labels: a function of the scores alone.

    Scores are trusted here: one finite number per row, float32 or float64. Gradients come back
    in the dtype of the scores; sums are taken in float64.
    """

    n_rows: int
    # logarithm of the total weight of the rows that are priced, where a power sums over them
    log_priced_weight: float = 0.0
    threads: Threads = Threads()
    # rows below which threads that are started for one evaluation take longer than they save
    min_rows_for_threads: int = 1 << 20

    def spread_over(self, threads: Threads) -> None:
        """Share passes over the scores among ``threads``; the results are the same."""
        self.threads = threads

    @abstractmethod
    def value(self, scores: NDArray[Any]) -> float:
        """The value to minimise, on a scale that does not overflow."""

    @abstractmethod
    def risk(self, scores: NDArray[Any]) -> float:
        """The number as the papers define it."""

    @abstractmethod
    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        """Value and its derivative with respect to every score."""

    @abstractmethod
    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and the diagonal of the Hessian (boosted trees take their steps from it)."""

    def gradient_and_curvature(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient, and weights of the rows for Newton's method.

        The covariance of the weak rankers within each class under these weights is the Hessian, or
        close to it. By default the weights are the Hessian's diagonal.
        """
        return self.gradient_and_hessian(scores)

    def signed_curvature(self, scores: NDArray[Any], dtype: Any) -> NDArray[Any]:
        """Curvature of every row with the sign of its gradient, in a dtype."""
        gradient, curvature = self.gradient_and_curvature(scores)
        return np.asarray(np.copysign(curvature, gradient, out=curvature), dtype=dtype)

    def value_and_residuals(self, scores: NDArray[Any], dtype: Any) -> tuple[float, NDArray[Any]]:
        """Value and gradient, the latter in a dtype."""
        value, gradient = self.value_and_gradient(scores)
        return value, gradient.astype(dtype, copy=False)

    def line(self, scores: NDArray[np.float64], ahead: NDArray[Any]) -> ScoreLine:
        """Give value and slope along scores + step·ahead; gradients may have the dtype of ahead."""
        return ScoreLine(self, scores, ahead)

    def separates(self, scores: NDArray[Any], margin: float) -> bool:  # noqa: ARG002
        """Whether every pair is right by ``margin``, so that only infinity can be better."""
        return False


class ScoreLine:
    """Scores, and how they move along a direction: what a line search needs of a criterion.

    Scores are linear in the weights of a model, so a step t along a direction moves them to
    s + t·ahead, and a trial does not read the table. The last trial and its gradient are kept, for
    criteria that cost much. Four vectors of one number per row live at a time: the scores, their
    move, the trial and its gradient.
    """

    def __init__(
        self, criterion: Criterion, scores: NDArray[np.float64], ahead: NDArray[Any]
    ) -> None:
        self.scores = scores
        self._criterion = criterion
        self._ahead = ahead.astype(np.float64, copy=False)
        self._step = 0.0
        self._trial: NDArray[Any] = np.empty(0)
        self._gradient: NDArray[Any] = np.empty(0)

    def at(self, step: float) -> tuple[float, float]:
        """Value and slope at a step."""
        # freed before the next ones are made
        self._step, self._trial, self._gradient = step, np.empty(0), np.empty(0)
        self._trial = self._ahead * step
        self._trial += self.scores
        value, self._gradient = self._criterion.value_and_gradient(self._trial)
        return value, float(self._gradient @ self._ahead)

    def move(self, step: float) -> NDArray[Any]:
        """Let ``scores`` be those at a step, and give the gradient with respect to them.

        The scores that the line started from may be overwritten.
        """
        if step != self._step:
            self.at(step)
        self.scores, self._trial, self._ahead = self._trial, np.empty(0), np.empty(0)
        return self._gradient


TOO_LARGE = "the objective is more than a float can hold; divide sample_weight by one number."


class Adapted(Criterion):
    """scale·criterion + offset on the rows of a truth that count; the others have gradient 0.

    The risk is multiplied by ``risk_scale``.
    """

    def __init__(
        self,
        criterion: Criterion,
        scale: float = 1.0,
        offset: float = 0.0,
        *,
        risk_scale: float = 1.0,
        truth: Truth | None = None,
    ) -> None:
        self.n_rows = criterion.n_rows if truth is None else truth.n_given
        self.log_priced_weight = criterion.log_priced_weight
        self.min_rows_for_threads = criterion.min_rows_for_threads
        self._criterion = criterion
        self._scale, self._offset, self._risk_scale = scale, offset, risk_scale
        self._kept = None if truth is None else truth.kept

    def spread_over(self, threads: Threads) -> None:
        self._criterion.spread_over(threads)

    def value(self, scores: NDArray[Any]) -> float:
        return self._affine(self._criterion.value(self._counted(scores)))

    def risk(self, scores: NDArray[Any]) -> float:
        risk = self._risk_scale * self._criterion.risk(self._counted(scores))
        if math.isinf(risk):
            warnings.warn(TOO_LARGE, RuntimeWarning, stacklevel=3)
        return risk

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        value, gradient = self._criterion.value_and_gradient(self._counted(scores))
        return self._affine(value), self._spread(gradient)

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        gradient, hessian = self._criterion.gradient_and_hessian(self._counted(scores))
        return self._spread(gradient), self._spread(hessian)

    def gradient_and_curvature(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        gradient, curvature = self._criterion.gradient_and_curvature(self._counted(scores))
        return self._spread(gradient), self._spread(curvature)

    def signed_curvature(self, scores: NDArray[Any], dtype: Any) -> NDArray[Any]:
        return self._spread(self._criterion.signed_curvature(self._counted(scores), dtype))

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        return self._criterion.separates(self._counted(scores), margin)

    def loss(self, scores: NDArray[Any]) -> float:
        """Give what a surrogate bounds, where the criterion is one."""
        surrogate: Any = self._criterion
        return float(surrogate.loss(self._counted(scores)))

    def _counted(self, scores: NDArray[Any]) -> NDArray[Any]:
        return scores if self._kept is None else scores[self._kept]

    def _affine(self, value: float) -> float:
        affine = self._scale * value + self._offset
        if math.isinf(affine):
            warnings.warn(TOO_LARGE, RuntimeWarning, stacklevel=4)
        return affine

    def _spread(self, slopes: NDArray[Any]) -> NDArray[Any]:
        slopes *= self._scale
        if self._kept is None:
            return slopes
        rows = np.zeros(self.n_rows, dtype=slopes.dtype)
        rows[self._kept] = slopes
        return rows


class Relative(Adapted):
    """A criterion divided by its value when all scores are equal.

    A sum over pairs grows with the list; this ratio does not. So a penalty and a tolerance mean the
    same for a hundred rows and for a million.
    """

    def __init__(self, criterion: Criterion, unit: float | None = None) -> None:
        at_ties = criterion.value(np.zeros(criterion.n_rows)) if unit is None else unit
        super().__init__(criterion, 1.0 / at_ties)


# Scores beyond this are refused: the sum of two of them is still finite.
LARGEST_SCORE = 1e300


# Weights whose largest lies outside these are scaled or refused: powers of them overflow.
ORDINARY_WEIGHTS = (2.0**-200, 2.0**200)
LARGEST_EXPONENT = math.log(sys.float_info.max)


def are_ordinary(largest: float) -> bool:
    """Whether sums and products of weights up to ``largest`` neither overflow nor vanish."""
    return ORDINARY_WEIGHTS[0] <= largest <= ORDINARY_WEIGHTS[1]


class Degrees(NamedTuple):
    """How an objective grows with the weights: c·w makes risk c^risk and value c^value times it.

    With ``in_logs`` the value grows by value·log c instead.
    """

    value: float
    risk: float
    in_logs: bool

    def adapt(self, criterion: Criterion, log_scale: float) -> Criterion:
        """Give a criterion for weights e^log_scale times those that it was put on."""
        growth = self.value * log_scale
        scale, offset = (1.0, growth) if self.in_logs else (exponential(growth), 0.0)
        risk_scale = exponential(self.risk * log_scale)
        adapted = Adapted(criterion, scale, offset, risk_scale=risk_scale)
        adapted.log_priced_weight += log_scale
        return adapted


def exponential(exponent: float) -> float:
    """e^exponent, or infinity where that is too large for a float."""
    return math.exp(exponent) if exponent < LARGEST_EXPONENT else math.inf


def refuse_infinite(p: float) -> None:
    """Raise where a second derivative is asked for and there is none."""
    if math.isinf(p):
        raise ValueError("p=inf has no second derivative; use a large finite p such as 64.")


class RowOptions(TypedDict, total=False):
    """What may be said of the rows: their weights, and the ids of their lists."""

    sample_weight: ArrayLike | None
    groups: ArrayLike | None


class Objective(ABC):
    """A formula for how bad a scored list is.

    All methods take ``(scores, y, *, sample_weight=None, groups=None)``: one score and one label
    per row, row weights (weight 2 is the row twice), and list ids (only rows of one list are
    compared with each other).
    """

    def weight_degrees(self) -> Degrees | None:
        """Power of the weights with which value and risk grow; None if it is not a power."""
        return None

    def _largest_score(self) -> float:
        """Largest absolute score at which nothing overflows."""
        return LARGEST_SCORE

    @abstractmethod
    def _criterion(self, truth: Truth) -> Criterion:
        """Put the formula on a truth whose weights are near 1, or have no degree."""

    def criterion(self, truth: Truth) -> Criterion:
        """Apply the formula to the rows that count, after scaling weights that would overflow."""
        weights = truth.weights
        if weights is None or are_ordinary(float(weights.max())):
            return self._criterion(truth)
        self.check_largest_weight(float(weights.max()))
        degrees = self.weight_degrees()
        assert degrees is not None  # noqa: S101  (was checked)
        scaled, log_scale = truth.scaled()
        return degrees.adapt(self._criterion(scaled), log_scale)

    def check_largest_weight(self, largest: float) -> None:
        """Raise an error if weights would overflow and cannot be scaled in this formula."""
        if self.weight_degrees() is None and not are_ordinary(largest):
            raise ValueError(
                f"sample_weight reaches {largest:g}, and {type(self).__name__} depends on the size "
                "of the weights; divide them by one number, so that they are near 1."
            )

    def on(self, y: ArrayLike, **rows: Unpack[RowOptions]) -> Criterion:
        """Apply the formula to labels, weights and lists, which are checked once."""
        return self._on_all_rows(Truth.of_labels(y, **rows))

    def _on_all_rows(self, truth: Truth) -> Criterion:
        criterion = self.criterion(truth)
        return criterion if truth.kept is None else Adapted(criterion, truth=truth)

    def value(self, scores: ArrayLike, y: ArrayLike, **rows: Unpack[RowOptions]) -> float:
        """The value to minimise, on a scale that does not overflow."""
        criterion = self.on(y, **rows)
        return criterion.value(self._checked(scores, criterion))

    def risk(self, scores: ArrayLike, y: ArrayLike, **rows: Unpack[RowOptions]) -> float:
        """The number as the papers define it."""
        criterion = self.on(y, **rows)
        return criterion.risk(self._checked(scores, criterion))

    def value_and_gradient(
        self, scores: ArrayLike, y: ArrayLike, **rows: Unpack[RowOptions]
    ) -> tuple[float, NDArray[Any]]:
        """Value and its derivative with respect to every score."""
        criterion = self.on(y, **rows)
        return criterion.value_and_gradient(self._checked(scores, criterion))

    def gradient_and_hessian(
        self, scores: ArrayLike, y: ArrayLike, **rows: Unpack[RowOptions]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and the diagonal of the Hessian."""
        criterion = self.on(y, **rows)
        return criterion.gradient_and_hessian(self._checked(scores, criterion))

    def _checked(self, scores: ArrayLike, criterion: Criterion) -> NDArray[Any]:
        checked = as_scores(scores)
        if checked.size != criterion.n_rows:
            raise ValueError(
                f"scores has {checked.size} rows, but y has {criterion.n_rows}; "
                "pass one score for every label."
            )
        bound = self._largest_score()
        largest = float(np.abs(checked).max())
        if largest > bound:
            raise ValueError(
                f"scores hold {checked[np.abs(checked).argmax()]:g}, but this objective overflows "
                f"beyond ±{bound:g}; divide all scores by one number."
            )
        return checked
