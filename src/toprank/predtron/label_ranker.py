"""Multilabel ranking: the labels of every row in order, those that apply first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from toprank.predtron.documentation import documented
from toprank.predtron.estimator import check_whole
from toprank.predtron.label_sets import LabelSetPredtron
from toprank.predtron.ranking_parts import ranking_problem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.predtron.problem import Problem

__all__ = ["PredtronLabelRanker"]


@documented(
    variant="loss_driven",
    reason="It needs no search and no step, and its bound lacks the factor C/c, which is large.",
    ranking=True,
)
class PredtronLabelRanker(LabelSetPredtron):
    """Ranks m labels for every row, so that those that apply come first (multilabel ranking).

    Each label has a weight vector; rankings are represented by f(position)/Z, pred(t) = the
    labels by falling score, and the loss is 1 − NDCG or 1 − precision at k. Corollaries 7 and 8
    bound its sum. Labels with equal scores keep their order; rows without any label cost nothing.
    A round costs O(non-zeros·m + m log m), but for the assignment.

    Parameters
    ----------
    {ranking}
    {shared}

    Attributes
    ----------
    classes_ : classes, or 0, ..., m - 1 for a matrix of labels
    {attributes}

    Examples
    --------
    >>> from toprank import PredtronLabelRanker
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(n_samples=300, random_state=0)
    >>> model = PredtronLabelRanker(random_state=0).fit(X[:200], Y[:200])
    >>> model.predict(X[200:202])
    array([[...]])
    >>> round(model.score(X[200:], Y[200:]), 2)
    0.96
    """

    def __init__(
        self,
        *,
        loss: Literal["ndcg", "precision_at_k"] = "ndcg",
        k: int | None = None,
        representation: Any = 1.1,
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
        self.loss = loss
        self.k = k
        self.representation = representation
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        ranking_problem(self.loss, self.k, self.representation)

    def _problem_of_labels(self, n_labels: int) -> Problem:
        problem = ranking_problem(self.loss, self.k, self.representation)
        problem.representation.heights(n_labels)
        return problem

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give the score of every label: (n_rows, n_labels)."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the ranking of every row, as :meth:`rank` does.

        After a fit on a vector of classes: the best class of every row.
        """
        return self.top(X, 1)[:, 0] if self._is_class_vector() else self.rank(X)

    def rank(self, X: Any) -> NDArray[np.intp]:
        """Give the position of every label for every row, 1 for the best: (n_rows, n_labels)."""
        order = np.argsort(-self._scores(X), axis=1, kind="stable")
        places = np.empty_like(order)
        np.put_along_axis(places, order, np.arange(1, order.shape[1] + 1)[None, :], axis=1)
        return places

    def top(self, X: Any, k: int) -> NDArray[Any]:
        """Give the ``k`` best labels of every row, best first (as entries of ``classes_``)."""
        scores = self._scores(X)
        check_whole("k", k)
        if k > scores.shape[1]:
            raise ValueError(f"k={k} is more than the {scores.shape[1]} labels; ask for fewer.")
        best: NDArray[Any] = self.classes_[np.argsort(-scores, axis=1, kind="stable")[:, :k]]
        return best

    def score(self, X: Any, y: ArrayLike) -> float:
        """Give the mean of 1 − loss over the rows (NDCG, or precision at k of what can be had)."""
        places = self.rank(X)
        grades = self._more_labels(y, places.shape[0])
        loss = self._problem.loss
        return float(np.mean([1.0 - loss(*pair) for pair in zip(places, grades, strict=True)]))
