"""Weak rankers that the user brings: a transformer, or functions of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from toprank.weak_rankers.base import WeakRankers
from toprank.weak_rankers.features import FeatureDesign

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.kernels.threads import Threads

__all__ = ["CustomWeakRankers"]


class CustomWeakRankers(WeakRankers):
    """A transformer whose output columns are the weak rankers, or a list of functions.

    A transformer is cloned and fitted on the training table. A function takes the table and
    returns one number per row. The values are used as they are, without scaling.
    """

    accepts_missing = True
    accepts_sparse = True

    def __init__(self, source: Any) -> None:
        if not hasattr(source, "transform"):
            functions = list(source) if isinstance(source, (list, tuple)) else []
            if not functions or not all(callable(function) for function in functions):
                raise TypeError(
                    "weak_rankers must be 'features', 'stumps', a transformer, a classifier or "
                    f"regressor, or a non-empty list of functions, got {source!r}."
                )
        self._source = source
        self._fitted: Any = None
        self._n_weak = 0

    def fit(self, X: Any, *, threads: Threads | None = None) -> Self:  # noqa: ARG002
        """Fit the transformer; functions have nothing to learn."""
        self._fitted = self._source
        if hasattr(self._source, "transform"):
            from sklearn.base import clone  # noqa: PLC0415

            self._fitted = clone(self._source).fit(X)
        self._n_weak = self._values(X).shape[1]
        return self

    @property
    def n_weak_(self) -> int:
        return self._n_weak

    def design(self, X: Any, *, threads: Threads | None = None) -> FeatureDesign:
        """Evaluate the weak rankers on a table."""
        values = self._values(X)
        return FeatureDesign(values, np.zeros(values.shape[1]), np.ones(values.shape[1]), threads)

    def names(self, feature_names: NDArray[Any]) -> list[str]:
        """Name each weak ranker as the transformer or the function is named."""
        if isinstance(self._fitted, (list, tuple)):
            return [getattr(function, "__name__", repr(function)) for function in self._fitted]
        if hasattr(self._fitted, "get_feature_names_out"):
            return [str(name) for name in self._fitted.get_feature_names_out(feature_names)]
        return [f"weak ranker {index}" for index in range(self.n_weak_)]

    def _values(self, X: Any) -> Any:
        if isinstance(self._fitted, (list, tuple)):
            columns = [self._one(function, X) for function in self._fitted]
            return np.column_stack(columns)
        values = self._fitted.transform(X)
        is_sparse: bool = sparse.issparse(values)
        if is_sparse:
            return values.tocsr().astype(np.float64)
        values = np.asarray(values, dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError("weak_rankers gave a value that is not finite; impute it first.")
        return values

    @staticmethod
    def _one(function: Any, X: Any) -> NDArray[np.float64]:
        name = getattr(function, "__name__", repr(function))
        values = np.asarray(function(X), dtype=np.float64)
        if values.shape != (X.shape[0],):
            raise ValueError(
                f"weak ranker {name} returned shape {values.shape} for {X.shape[0]} rows; "
                "it must return one number per row."
            )
        if not np.isfinite(values).all():
            raise ValueError(f"weak ranker {name} returned a value that is not finite.")
        return values
