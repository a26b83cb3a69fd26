"""Ordinal regression: grades in an order, by way of classes or of thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from toprank.predtron.classifier import ClassPredtron
from toprank.predtron.documentation import documented
from toprank.predtron.problem import Table
from toprank.predtron.representations import Basis

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PredtronOrdinal"]


@documented(
    variant="loss_driven",
    reason="Its step grows with the distance, and its bound is smaller by the factor ℓ − 1.",
)
class PredtronOrdinal(ClassPredtron):
    """Predicts ordered grades so that few are off by much: loss ``|σ − y|`` in grades.

    The ℓ grades are represented by the axes of ℝ^ℓ, pred(t) = argmax t; with a margin γ the sum
    of all distances stays below 4(ℓ − 1)²R²/γ² (Theorem 1), or 4(ℓ − 1)R²/γ² for the loss-driven
    variant. One weight vector a grade needs no order in the scores; :class:`PRank` has one for
    all. A round costs O(non-zeros·ℓ), in a compiled loop.

    Parameters
    ----------
    {shared}

    Attributes
    ----------
    classes_ : grades in their order (numbers by size, text by alphabet)
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import PredtronOrdinal
    >>> X = np.linspace(-1, 1, 60)[:, None]
    >>> y = np.digitize(X[:, 0], [-0.3, 0.4])
    >>> model = PredtronOrdinal(random_state=0, max_iter=100).fit(X, y)
    >>> model.predict([[-0.9], [0.0], [0.9]])
    array([0, 1, 2])
    """

    def __init__(
        self,
        *,
        variant: Literal["standard", "loss_driven"] = "loss_driven",
        link: Literal["none", "l_r", "group", "schatten"] = "none",
        r: float | None = None,
        kernel: Any = None,
        kernel_params: dict[str, Any] | None = None,
        budget: int | None = None,
        eta: float | Literal["auto"] = "auto",
        fit_intercept: bool = True,
        average: bool = True,
        max_iter: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.variant = variant
        self.link = link
        self.r = r
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.budget = budget
        self.eta = eta
        self.fit_intercept = fit_intercept
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    def _problem_of_classes(self) -> Table:
        grades = np.arange(self.classes_.size, dtype=np.float64)
        distances: NDArray[np.float64] = np.abs(np.subtract.outer(grades, grades))
        return Table(Basis(self.classes_).table, distances)
