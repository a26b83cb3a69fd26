"""Logistic regression as a ranker: the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from toprank.inputs import check_number
from toprank.rankers.supervised import LinearRanker
from toprank.weak_rankers.features import StandardFeatures

if TYPE_CHECKING:
    from toprank.truth import Truth


class LogisticRanker(LinearRanker):
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

    def _check_parameters(self) -> None:
        check_number("C", self.C, 0.0)
        check_number("max_iter", self.max_iter, 1, whole=True)

    def _family(self) -> StandardFeatures:
        return StandardFeatures()

    def _fit(self, table: Any, truth: Truth, given: dict[str, Any], **_: Any) -> Self:  # noqa: ARG002
        family = self._family().fit(table, truth.weights)
        if isinstance(table, np.ndarray):
            scaled = (table - family.low_) / family.span_
        else:  # a sparse table stays sparse, so it is not scaled
            scaled = table
            family.low_, family.span_ = np.zeros_like(family.low_), np.ones_like(family.span_)
        model = LogisticRegression(C=self.C, max_iter=self.max_iter)
        model.fit(scaled, truth.positives, sample_weight=truth.weights)
        weights, cut = model.coef_[0].astype(np.float64), float(model.intercept_[0])
        for name, value in self._attributes(
            family, weights, cut, truth.classes, np.dtype(np.float64)
        ).items():
            setattr(self, name, value)
        self.n_iter_ = int(model.n_iter_[0])
        return self

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Give the probability of each class."""
        return self._probabilities(X, 1.0)
