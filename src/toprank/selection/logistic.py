"""Logistic regression as a ranker: the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from toprank.rankers.base import BaseRanker, binary_labels, counted_rows
from toprank.rankers.supervised import check_table
from toprank.weak_rankers.standard import StandardFeatures

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["LogisticRanker"]


class LogisticRanker(BaseRanker):
    """scikit-learn's LogisticRegression on standardised features, with what a ranker can do.

    It learns probabilities, not an order, and lists (``groups``) mean nothing to it; it is here
    because it is hard to beat.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty, as in scikit-learn.
    max_iter : int, default=1000
        Most iterations of L-BFGS; enough for standardised features.

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one
    coef_, intercept_ : of shapes (1, n_features) and (1,), in the units of the table
    n_iter_ : iterations done

    Examples
    --------
    >>> from toprank.selection import LogisticRanker
    >>> model = LogisticRanker().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.rank([[1.0], [3.0], [2.0]])
    array([3, 1, 2])
    """

    def __init__(self, C: float = 1.0, *, max_iter: int = 1000) -> None:
        self.C = C
        self.max_iter = max_iter

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,  # noqa: ARG002
    ) -> Self:
        """Learn from a table and its labels; ``groups`` is taken and not used."""
        family = StandardFeatures()
        table = check_table(self, X, family, reset=True)
        self.classes_, positives = binary_labels(y)
        if positives.size != table.shape[0]:
            raise ValueError(f"y has {positives.size} rows, but X has {table.shape[0]}.")
        weights, kept = counted_rows(sample_weight, table.shape[0])
        if kept is not None:
            table, positives = table[kept], positives[kept]
        family.fit(table, weights)
        is_dense = isinstance(table, np.ndarray)
        scaled = (table - family.low_) / family.span_ if is_dense else table
        model = LogisticRegression(C=self.C, max_iter=self.max_iter)
        model.fit(scaled, positives, sample_weight=weights)
        weights_found = model.coef_[0].astype(np.float64)
        coef, offset = family.linear(weights_found) if is_dense else (weights_found, 0.0)
        self.coef_ = coef[None, :]
        self.intercept_ = np.array([float(model.intercept_[0]) + offset])
        self.n_iter_ = int(model.n_iter_[0])
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every row: the logarithm of the odds."""
        check_is_fitted(self, "coef_")
        table = check_table(self, X, StandardFeatures(), reset=False)
        return np.asarray(table @ self.coef_[0] + self.intercept_[0])

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Give the probability of each class."""
        positive = expit(self.decision_function(X))
        return np.column_stack([1.0 - positive, positive])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
