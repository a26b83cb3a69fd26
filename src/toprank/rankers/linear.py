"""Rankers whose score is a weighted sum of weak rankers: their scores and what a fit stores."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from toprank.kernels.products import linear_scores
from toprank.rankers.supervised import SupervisedRanker
from toprank.rankers.tables import check_table
from toprank.weak_rankers import Features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.solvers import Solution
    from toprank.weak_rankers import WeakRankers

    Floats = NDArray[np.float64]

__all__ = ["LinearRanker"]

# What an earlier fit may have stored that the new one does not have.
STALE = (
    "weights_",
    "coef_",
    "support_",
    "classes_",
    "certificate_",
    "_certified",
    "_training_list",
)


class LinearRanker(SupervisedRanker):
    """f(x) = weights_·h(x) + a cut; with features, coef_·x + intercept_ in the table's units."""

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every row of a table; higher is better, above 0 is predicted positive."""
        check_is_fitted(self, "weak_rankers_")
        return self._scores(check_table(self, X, self.weak_rankers_, reset=False))

    def _scores(self, table: Any) -> NDArray[Any]:
        """Score the rows of a checked table."""
        if hasattr(self, "coef_"):
            n_jobs = getattr(self, "n_jobs", None)
            return linear_scores(table, self.coef_[0], float(self.intercept_[0]), n_jobs)
        return np.asarray(self.weak_rankers_.scores(table, self.weights_) + self.intercept_[0])

    def _attributes(
        self,
        family: WeakRankers,
        weights: Floats,
        cut: float,
        classes: NDArray[Any] | None,
        dtype: Any,
    ) -> dict[str, Any]:
        """What a fit leaves behind."""
        attributes: dict[str, Any] = {"weak_rankers_": family, "weights_": weights}
        if isinstance(family, Features):
            coef, offset = family.linear(weights)
            attributes["coef_"] = coef.astype(dtype)[None, :]
            cut += offset
        attributes["intercept_"] = np.array([cut])
        if classes is not None:
            attributes["classes_"] = classes
        return attributes

    def _start_weights(self, n_weak: int) -> Floats | None:
        """Weights of the last fit, where ``warm_start`` asks for them and they fit."""
        start: Floats | None = getattr(self, "weights_", None) if self.warm_start else None
        return start if start is not None and start.size == n_weak else None

    def _store_solution(self, solution: Solution, attributes: dict[str, Any]) -> None:
        """Store what was learned and how the fit went."""
        for name in STALE:
            if name not in attributes:
                self.__dict__.pop(name, None)
        for name, value in attributes.items():
            setattr(self, name, value)
        self.n_iter_ = solution.n_iter
        self.objective_path_ = np.array(solution.path)
        self.converged_ = solution.converged

    def _warn_of(self, solution: Solution) -> None:
        """Warn of a fit that did not end as asked for; ``tol=None`` asks for ``max_iter``."""
        complaint = solution.complaint()
        if complaint is not None and self.tol is not None:
            warnings.warn(f"{type(self).__name__}: {complaint}", ConvergenceWarning, stacklevel=5)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        family = self._family()
        tags.input_tags.sparse = family.accepts_sparse
        tags.input_tags.allow_nan = family.accepts_missing
        return tags
