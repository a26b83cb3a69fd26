"""Multilabel classification: a subset of labels for every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from toprank.predtron.documentation import documented
from toprank.predtron.label_sets import LabelSetPredtron
from toprank.predtron.losses import ErrorSetSize, Hamming, SubsetLoss, SubsetZeroOne
from toprank.predtron.problem import Problem, Subsets
from toprank.predtron.representations import Indicators

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PredtronMultilabel"]

LOSSES: dict[str, type[SubsetLoss]] = {
    "hamming": Hamming,
    "subset": SubsetZeroOne,
    "error_set_size": ErrorSetSize,
}


@documented()
class PredtronMultilabel(ClassifierMixin, LabelSetPredtron):  # type: ignore[misc]
    """Predicts any subset of m labels, under one of three losses.

    Subsets are represented by ±1/√m, pred(t) = sign(t), and the loss-augmented subset has a
    closed form: O(m) a round for the Hamming and the subset loss, O(m log m) for the error set
    size, in a compiled loop. A label with a score of 0 is not predicted, but counts as wrong
    while learning (else nothing would ever be learned from W = 0 under the error set size, where
    the empty set costs nothing).

    Parameters
    ----------
    loss : {"hamming", "subset", "error_set_size"}, default="hamming"
        Labels that are wrong; 1 unless all are right; pairs of a missed and a false label. The
        Hamming loss is the only one that every wrong label adds to.
    {shared}

    Attributes
    ----------
    classes_ : classes, or 0, ..., m - 1 for a matrix of labels
    {attributes}

    Examples
    --------
    >>> from toprank import PredtronMultilabel
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(n_samples=300, random_state=0)
    >>> model = PredtronMultilabel(random_state=0).fit(X[:200], Y[:200])
    >>> round(float((model.predict(X[200:]) == Y[200:]).mean()), 2)
    0.8
    """

    def __init__(
        self,
        *,
        loss: Literal["hamming", "subset", "error_set_size"] = "hamming",
        variant: Literal["standard", "loss_driven"] = "standard",
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
        if self.loss not in LOSSES:
            raise ValueError(
                f"loss must be 'hamming', 'subset' or 'error_set_size', got {self.loss!r}."
            )

    def _problem_of_labels(self, n_labels: int) -> Problem:
        return Subsets(LOSSES[self.loss](), Indicators(n_labels))

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the subset of every row as 0 and 1 (n_rows, n_labels).

        After a fit on a vector of classes: the class with the largest score.
        """
        scores = self._scores(X)
        if self._one_class_a_row:
            predicted: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
            return predicted
        return (scores > 0).astype(np.int64)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give the score of every label: (n_rows, n_labels), or (n_rows,) for two classes."""
        scores = self._scores(X)
        if self._one_class_a_row and scores.shape[1] == 2:
            difference: NDArray[np.float64] = scores[:, 1] - scores[:, 0]
            return difference
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        # a class alone may be missed for nothing under this loss
        tags.classifier_tags.poor_score = self.loss == "error_set_size"
        return tags
