"""What every objective offers: a value and its derivatives with respect to the scores.

An :class:`Objective` is a formula. :meth:`Objective.on` puts it on given labels, weights and
lists, checked once; the :class:`Criterion` that comes back is a function of the scores alone,
which is all that a solver, a tree engine or a network ever needs.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.inputs import as_scores, scaled_weights
from toprank.truth import Truth

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Criterion", "Objective", "Relative"]


class Criterion(ABC):
    """An objective on given labels: a function of the scores alone.

    Scores are trusted here: one finite number a row, float32 or float64. Gradients come back
    in the dtype of the scores; sums are taken in float64.
    """

    n_rows: int
    # logarithm of the total weight of the rows that are priced, where a power sums over them
    log_priced_weight: float = 0.0

    @abstractmethod
    def value(self, scores: NDArray[Any]) -> float:
        """What is minimised, on a scale that does not overflow."""

    @abstractmethod
    def risk(self, scores: NDArray[Any]) -> float:
        """Give the papers' number itself."""

    @abstractmethod
    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        """Value and its derivative with respect to every score."""

    @abstractmethod
    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and the diagonal of the Hessian (boosted trees take their steps from it)."""

    def gradient_and_curvature(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient, and weights of the rows for Newton's method.

        The covariance of the weak rankers within each class under these weights is the Hessian,
        or near it. Where nothing better is known they are the Hessian's diagonal.
        """
        return self.gradient_and_hessian(scores)

    def separates(self, scores: NDArray[Any], margin: float) -> bool:  # noqa: ARG002
        """Whether every pair is right by ``margin``, so that only infinity can be better."""
        return False


class Relative(Criterion):
    """A criterion in units of what it is where all scores tie: (value - offset) / unit.

    A sum over pairs grows with the list; this does not. So a penalty and a tolerance mean the
    same on a hundred rows and on a million.

    Parameters
    ----------
    criterion : Criterion
    unit : float or None, default=None
        None is the value where all scores tie.
    offset : float, default=0
        Subtracted first.
    """

    def __init__(
        self, criterion: Criterion, unit: float | None = None, offset: float = 0.0
    ) -> None:
        self.n_rows = criterion.n_rows
        self._criterion = criterion
        self._unit = criterion.value(np.zeros(criterion.n_rows)) if unit is None else unit
        self._offset = offset

    def value(self, scores: NDArray[Any]) -> float:
        return (self._criterion.value(scores) - self._offset) / self._unit

    def risk(self, scores: NDArray[Any]) -> float:
        return self._criterion.risk(scores)

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        value, gradient = self._criterion.value_and_gradient(scores)
        gradient /= self._unit
        return (value - self._offset) / self._unit, gradient

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        gradient, hessian = self._criterion.gradient_and_hessian(scores)
        gradient /= self._unit
        hessian /= self._unit
        return gradient, hessian

    def gradient_and_curvature(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        gradient, curvature = self._criterion.gradient_and_curvature(scores)
        gradient /= self._unit
        curvature /= self._unit
        return gradient, curvature

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        return self._criterion.separates(scores, margin)


# Scores beyond this are refused: the sum of two of them is still finite.
LARGEST_SCORE = 1e300


# Weights whose largest lies outside these are scaled or refused: powers of them overflow.
ORDINARY_WEIGHTS = (2.0**-200, 2.0**200)


class Degrees(NamedTuple):
    """How an objective grows with the weights: c·w makes risk c^risk and value c^value times it.

    With ``in_logs`` the value grows by value·log c instead.
    """

    value: float
    risk: float
    in_logs: bool


class ScaledWeights(Criterion):
    """A criterion for weights e^log_scale times those that it was put on."""

    def __init__(self, criterion: Criterion, degrees: Degrees, log_scale: float) -> None:
        self.n_rows = criterion.n_rows
        self.log_priced_weight = criterion.log_priced_weight + log_scale
        self._criterion, self._degrees = criterion, degrees
        self._log_scale = log_scale

    def value(self, scores: NDArray[Any]) -> float:
        return self._scaled(self._criterion.value(scores))

    def risk(self, scores: NDArray[Any]) -> float:
        risk = self._criterion.risk(scores)
        return times_exponential(risk, self._degrees.risk * self._log_scale)

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        value, gradient = self._criterion.value_and_gradient(scores)
        return self._scaled(value), self._slopes(gradient)

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        gradient, hessian = self._criterion.gradient_and_hessian(scores)
        return self._slopes(gradient), self._slopes(hessian)

    def gradient_and_curvature(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        gradient, curvature = self._criterion.gradient_and_curvature(scores)
        return self._slopes(gradient), self._slopes(curvature)

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        return self._criterion.separates(scores, margin)

    def _scaled(self, value: float) -> float:
        growth = self._degrees.value * self._log_scale
        return value + growth if self._degrees.in_logs else times_exponential(value, growth)

    def _slopes(self, slopes: NDArray[Any]) -> NDArray[Any]:
        if not self._degrees.in_logs and self._degrees.value:
            slopes *= times_exponential(1.0, self._degrees.value * self._log_scale)
        return slopes


class WholeList(Criterion):
    """A criterion on the rows that count, for scores of all rows; the others have gradient 0."""

    def __init__(self, criterion: Criterion, truth: Truth) -> None:
        self.n_rows = truth.n_given
        self.log_priced_weight = criterion.log_priced_weight
        self._criterion, self._kept = criterion, truth.kept

    def value(self, scores: NDArray[Any]) -> float:
        return self._criterion.value(scores[self._kept])

    def risk(self, scores: NDArray[Any]) -> float:
        return self._criterion.risk(scores[self._kept])

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        value, gradient = self._criterion.value_and_gradient(scores[self._kept])
        return value, self._spread(gradient)

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        gradient, hessian = self._criterion.gradient_and_hessian(scores[self._kept])
        return self._spread(gradient), self._spread(hessian)

    def separates(self, scores: NDArray[Any], margin: float) -> bool:
        return self._criterion.separates(scores[self._kept], margin)

    def _spread(self, counted: NDArray[Any]) -> NDArray[Any]:
        rows = np.zeros(self.n_rows, dtype=counted.dtype)
        rows[self._kept] = counted
        return rows


def times_exponential(value: float, exponent: float) -> float:
    """value·e^exponent for a value ≥ 0, or infinity with a warning."""
    if value == 0:
        return 0.0
    log = math.log(value) + exponent
    try:
        return math.exp(log)
    except OverflowError:
        warnings.warn(
            f"the objective is e^{log:.6g}, more than a float can hold; divide sample_weight by "
            "one number.",
            RuntimeWarning,
            stacklevel=4,
        )
        return math.inf


class Objective(ABC):
    """A formula for how bad a scored list is.

    All methods take ``(scores, y, *, sample_weight=None, groups=None)``: one score and one label
    a row, row weights (weight 2 is the row twice), and list ids (only rows of one list are
    compared with each other).
    """

    def weight_degrees(self) -> Degrees | None:
        """How value and risk grow with the weights; None where by no power of them."""
        return None

    def _largest_score(self) -> float:
        """Largest absolute score at which nothing overflows."""
        return LARGEST_SCORE

    @abstractmethod
    def _criterion(self, truth: Truth) -> Criterion:
        """Put the formula on a truth whose weights are near 1, or have no degree."""

    def criterion(self, truth: Truth) -> Criterion:
        """Put the formula on the rows that count; weights that would overflow are scaled first."""
        weights = truth.weights
        if weights is None or ORDINARY_WEIGHTS[0] <= weights.max() <= ORDINARY_WEIGHTS[1]:
            return self._criterion(truth)
        degrees = self.weight_degrees()
        if degrees is None:
            raise ValueError(
                f"sample_weight reaches {weights.max():g}, and {type(self).__name__} depends on "
                "the size of the weights; divide them by one number, so that they are near 1."
            )
        scaled = scaled_weights(weights)
        log_scale = math.log(weights.max()) - math.log(scaled.max())
        return ScaledWeights(self._criterion(replace(truth, weights=scaled)), degrees, log_scale)

    def on(
        self,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Criterion:
        """Put the formula on labels, weights and lists, checked once."""
        return self._on_all_rows(Truth.of_labels(y, sample_weight=sample_weight, groups=groups))

    def _on_all_rows(self, truth: Truth) -> Criterion:
        criterion = self.criterion(truth)
        return criterion if truth.kept is None else WholeList(criterion, truth)

    def value(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> float:
        """What is minimised, on a scale that does not overflow."""
        checked, criterion = self._checked(scores, y, sample_weight, groups)
        return criterion.value(checked)

    def risk(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> float:
        """Give the papers' number itself."""
        checked, criterion = self._checked(scores, y, sample_weight, groups)
        return criterion.risk(checked)

    def value_and_gradient(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> tuple[float, NDArray[Any]]:
        """Value and its derivative with respect to every score."""
        checked, criterion = self._checked(scores, y, sample_weight, groups)
        return criterion.value_and_gradient(checked)

    def gradient_and_hessian(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and the diagonal of the Hessian."""
        checked, criterion = self._checked(scores, y, sample_weight, groups)
        return criterion.gradient_and_hessian(checked)

    def _checked(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
    ) -> tuple[NDArray[Any], Criterion]:
        checked = as_scores(scores)
        criterion = self.on(y, sample_weight=sample_weight, groups=groups)
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
        return checked, criterion
