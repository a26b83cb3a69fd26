"""Weak rankers that the user brings: a transformer, functions of the table, or a learner."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import is_sparse
from toprank.kernels.numpy_scores import linear_scores
from toprank.weak_rankers.base import Design, WeakRankers
from toprank.weak_rankers.features import FeatureDesign

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads

Floats = NDArray[np.float64]


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

    def scores(self, X: Any, weights: Floats) -> Floats:
        """H·λ on a table, added up weak ranker by weak ranker."""
        return linear_scores(self._values(X), weights, 0.0)

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
        if is_sparse(values):
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


def is_learner(choice: object) -> bool:
    """Whether it is a classifier or regressor; one that transforms counts as a transformer."""
    return hasattr(choice, "predict") and not hasattr(choice, "transform")


class WeakLearner(WeakRankers):
    """A scikit-learn classifier or regressor, fitted in every round to the current weights.

    "Any weak learning algorithm can be directly used" (Rudin 2009, section 5). With residuals
    r = ∂objective/∂scores a round fits a clone to the labels 1[r < 0] with the weights |r|, and its
    output is one more weak ranker h: the probability of label 1 or, where there is none, the
    prediction, cut to [0, 1]. What a ranker promises of the best weak ranker of a round (that it
    converged, the ceiling of a certificate) holds as far as the learner finds the best of its
    class. A learner without a ``random_state`` gets the number of its round.

    Memory on training rows is 8 bytes per row and round.

    Parameters
    ----------
    estimator : classifier or regressor
        Its ``fit`` takes ``sample_weight``.
    n_rounds : int, default=100
        Most fits; rankers set it to their number of rounds. Until a weak ranker is learned it
        abstains: h = 1/2 everywhere.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from toprank import RankBoost
    >>> model = RankBoost(weak_rankers=DecisionTreeClassifier(max_depth=2), max_iter=5)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).rank([[0.0], [3.0]])
    array([2, 1])
    """

    accepts_missing = True
    accepts_sparse = True

    def __init__(self, estimator: Any, n_rounds: int = 100) -> None:
        if "sample_weight" not in signature(estimator.fit).parameters:
            raise TypeError(
                f"the weak learner {estimator!r} does not take sample_weight, which has the "
                "weights of a round; choose one that does, such as a decision tree."
            )
        self.estimator = estimator
        self.n_rounds = n_rounds
        self.estimators_: list[Any] = []

    @property
    def n_weak_(self) -> int:
        return self.n_rounds

    def fit(self, X: Any, *, threads: Threads | None = None) -> Self:  # noqa: ARG002
        """Forget what was learned; rounds do the rest."""
        self.estimators_ = []
        return self

    def learn(self, X: Any, residuals: NDArray[Any]) -> None:
        """Fit one more weak ranker."""
        from sklearn.base import clone  # noqa: PLC0415  (predictions need no scikit-learn)

        weights = np.abs(residuals)
        learner = clone(self.estimator)
        if learner.get_params().get("random_state", 0) is None:
            learner.set_params(random_state=len(self.estimators_))
        labels = (residuals < 0).astype(int)
        self.estimators_.append(learner.fit(X, labels, sample_weight=weights / weights.mean()))

    def values(self, X: Any, index: int) -> Floats:
        """h of one weak ranker on every row."""
        if index >= len(self.estimators_):
            return np.full(X.shape[0], 0.5)
        learner = self.estimators_[index]
        if hasattr(learner, "predict_proba"):
            return np.asarray(learner.predict_proba(X)[:, -1], dtype=np.float64)
        return np.clip(np.asarray(learner.predict(X), dtype=np.float64).reshape(-1), 0.0, 1.0)

    def design(self, X: Any, *, threads: Threads | None = None) -> LearnedDesign:  # noqa: ARG002
        """Put the learner before a table."""
        return LearnedDesign(self, X)

    def names(self, feature_names: NDArray[Any]) -> list[str]:  # noqa: ARG002
        """Name each weak ranker after its round."""
        return [f"{type(self.estimator).__name__} {index + 1}" for index in range(self.n_rounds)]


class LearnedDesign(Design):
    """Weak rankers of a learner on the rows of one table.

    ``correlate``, which a solver calls once per round, fits the next one first.
    """

    def __init__(self, family: WeakLearner, X: Any) -> None:
        self._family, self._X = family, X
        self._columns: dict[int, Floats] = {}
        self.n_rows, self.n_weak = X.shape[0], family.n_weak_

    def column(self, index: int) -> Floats:
        if index >= len(self._family.estimators_):
            return self._family.values(self._X, index)
        if index not in self._columns:
            self._columns[index] = self._family.values(self._X, index)
        return self._columns[index]

    def scores(self, weights: Floats) -> Floats:
        total = np.zeros(self.n_rows)
        for index in np.flatnonzero(weights):
            total += weights[index] * self.column(int(index))
        return total

    def correlate(self, residuals: NDArray[Any]) -> Floats:
        learned = len(self._family.estimators_)
        if learned < self.n_weak and residuals.any():
            self._family.learn(self._X, residuals)
            learned += 1
        found = np.full(self.n_weak, 0.5 * residuals.sum(dtype=np.float64))
        found[:learned] = [residuals @ self.column(index) for index in range(learned)]
        return found
