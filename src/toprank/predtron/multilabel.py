"""Several labels per row: what learners of labels share, and subsets as predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from toprank.inputs import check_choice, class_codes
from toprank.predtron.base import RowPredtron, documented
from toprank.predtron.losses import ErrorSetSize, Hamming, SubsetLoss, SubsetZeroOne
from toprank.predtron.problem import SubsetProblem
from toprank.predtron.representations import Indicators
from toprank.rankers.base import LabelSets

if TYPE_CHECKING:
    from toprank.predtron.models import StreamInputs

CLASSES = "classes_ : classes, or 0, ..., m - 1 for a matrix of labels\n"
LOSSES: dict[str, type[SubsetLoss]] = {
    "hamming": Hamming,
    "subset": SubsetZeroOne,
    "error_set_size": ErrorSetSize,
}


class LabelSetPredtron(LabelSets, RowPredtron):
    """Learning from rows with any number of m labels."""

    def _stream(self, table: Any, labels: NDArray[Any]) -> tuple[StreamInputs, Any]:
        if (labels.ndim == 1) != self._one_class_per_row:
            raise ValueError(
                "y changed between a matrix of labels and a vector of classes; "
                "keep to what the first call had, or fit again."
            )
        return super()._stream(table, self._matrix(labels))

    def _matrix(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """One column of True and False for each entry of ``classes_``."""
        if labels.ndim == 1:
            codes = class_codes(labels, self.classes_)
            return np.equal.outer(codes, np.arange(self.classes_.size))
        if labels.shape[1] != self.classes_.size:
            raise ValueError(
                f"y has {labels.shape[1]} labels, but the first call had {self.classes_.size}; "
                "a label that is new needs its column from the first call on."
            )
        return labels


@documented(classes=CLASSES)
@dataclass(kw_only=True, eq=False, repr=False)
class PredtronMultilabel(ClassifierMixin, LabelSetPredtron):  # type: ignore[misc]
    """Predicts any subset of m labels, under one of three losses.

    Subsets are represented by ±1/√m, pred(t) = sign(t), and the loss-augmented subset has a
    closed form: O(m) per round for the Hamming and the subset loss, O(m log m) for the error set
    size, in a compiled loop. A label with a score of 0 is not predicted, but counts as wrong
    while learning (else nothing would ever be learned from W = 0 under the error set size, where
    the empty set costs nothing).

    Parameters
    ----------
    loss : {"hamming", "subset", "error_set_size"}, default="hamming"
        Labels that are wrong; 1 unless all are right; pairs of a missed and a false label. The
        Hamming loss is the only one that every wrong label adds to.
    {shared}

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import PredtronMultilabel
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> Y = X[:, :3] + X[:, 1:] > 0.5
    >>> model = PredtronMultilabel(random_state=0).fit(X[:200], Y[:200])
    >>> bool((model.predict(X[200:]) == Y[200:]).mean() > 0.9)
    True
    """

    loss: Literal["hamming", "subset", "error_set_size"] = "hamming"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("loss", self.loss, tuple(LOSSES))

    def _make_problem(self) -> tuple[SubsetProblem, int]:
        n_labels = self.classes_.size
        return SubsetProblem(LOSSES[self.loss](), Indicators(n_labels)), n_labels

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the subset of every row as 0 and 1 (n_rows, n_labels).

        After a fit on a vector of classes: the class with the largest score.
        """
        scores = self._scores(X)
        if self._one_class_per_row:
            predicted: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
            return predicted
        return (scores > 0).astype(np.int64)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of every label: (n_rows, n_labels), or (n_rows,) for two classes."""
        return self._decisions(self._scores(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        # a class alone may be missed for nothing under this loss
        tags.classifier_tags.poor_score = self.loss == "error_set_size"
        return tags
