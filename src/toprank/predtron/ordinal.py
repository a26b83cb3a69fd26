"""Ordinal regression: ordered grades, by one score per grade or by thresholds (PRank)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from toprank.kernels.rounds import play_prank
from toprank.kernels.rows import rows_of
from toprank.predtron.classifier import ClassLearner, ClassPredtron
from toprank.predtron.documentation import documented
from toprank.predtron.inputs import class_codes
from toprank.predtron.problem import PredictionTable
from toprank.predtron.representations import Basis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@documented(
    variant="loss_driven",
    classes="grades in their order (numbers by size, text by alphabet)",
    reason="Its step grows with the distance, and its bound is smaller by the factor ℓ − 1.",
)
@dataclass(kw_only=True, eq=False, repr=False)
class PredtronOrdinal(ClassPredtron):
    """Predicts ordered grades so that few are off by much: loss ``|σ − y|`` in grades.

    The ℓ grades are represented by the axes of ℝ^ℓ, pred(t) = argmax t; with a margin γ the sum
    of all distances stays below 4(ℓ − 1)²R²/γ² (Theorem 1), or 4(ℓ − 1)R²/γ² for the loss-driven
    variant. One weight vector per grade needs no order in the scores; :class:`PRank` has one for
    all. A round costs O(non-zeros·ℓ), in a compiled loop.

    Parameters
    ----------
    {shared}

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

    variant: Literal["standard", "loss_driven"] = "loss_driven"

    def _problem_of_classes(self) -> PredictionTable:
        grades = np.arange(self.classes_.size, dtype=np.float64)
        distances: NDArray[np.float64] = np.abs(np.subtract.outer(grades, grades))
        return PredictionTable(Basis(self.classes_).table, distances, names=self.classes_)


@documented()
class PRank(ClassLearner):
    """Predicts ordered grades by one score and ℓ − 1 thresholds: pranking with ranking.

    The grade of a row is the first r with ⟨w, x⟩ < b_r. After a wrong grade every threshold on
    the wrong side of the score moves by 1, and w by as many times the row; thresholds stay in
    order. If unit (w, b) separate the stream with margin γ̃, all distances ``|σ − y|`` together
    are at most (ℓ − 1)(R² + 1)/γ̃². A round costs O(non-zeros + ℓ), in a compiled loop.

    Parameters
    ----------
    {passes}

    Attributes
    ----------
    classes_ : grades in their order (numbers by size, text by alphabet)
    coef_, thresholds_ : of shapes (n_features,) and (n_classes - 1,)
    losses_ : loss of every round of the last call
    n_iter_ : passes of the last ``fit``
    n_rounds_ : rounds so far

    Examples
    --------
    >>> from toprank import PRank
    >>> model = PRank(shuffle=False, average=False).fit([[-1], [0], [2]], ["low", "mid", "top"])
    >>> model.predict([[-3], [3]]).tolist()
    ['low', 'top']
    """

    def _start_classes(self) -> None:
        self._weights = np.zeros((self.n_features_in_, 1))
        self._cuts = np.zeros(self.classes_.size - 1)
        self._drift = np.zeros_like(self._weights), np.zeros_like(self._cuts)
        self.n_rounds_ = 0

    def _stream(self, table: Any, labels: Any) -> tuple[Any, NDArray[np.intp]]:
        return rows_of(table), class_codes(labels, self.classes_)

    def _play(self, inputs: Any, labels: Any, *, passes: int, shuffle: bool) -> Self:
        def play(order: NDArray[np.intp]) -> Floats:
            losses = np.zeros(order.size)
            learned = self._weights, self._cuts, self._drift, self.n_rounds_
            play_prank(inputs, order, labels, *learned, losses)
            return losses

        return self._run(play, labels.size, passes=passes, shuffle=shuffle)

    @property
    def coef_(self) -> Floats:
        """The direction w."""
        return self._averaged("_weights", 0).ravel()

    @property
    def thresholds_(self) -> Floats:
        """The thresholds b, which never fall."""
        return self._averaged("_cuts", 1)

    def _averaged(self, name: str, part: int) -> Floats:
        if name not in vars(self):
            raise AttributeError("weights and thresholds exist after a fit only.")
        last: Floats = vars(self)[name]
        return last - self._drift[part] / self.n_rounds_ if self.average else last

    def _distances(self, X: Any) -> Floats:
        """⟨w, x⟩ − b_r for every row and threshold."""
        check_is_fitted(self, "n_rounds_")
        table = self._table(X, reset=False)
        scores = np.asarray(table @ self.coef_, dtype=np.float64)
        return np.subtract.outer(scores, self.thresholds_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the grade of every row."""
        distances = self._distances(X)
        predicted: NDArray[Any] = self.classes_[(distances >= 0).sum(axis=1)]
        return predicted

    def decision_function(self, X: Any) -> Floats:
        """Return a score for every grade, largest for the predicted one; for two grades one score.

        Grade r has Σ_{s < r} (⟨w, x⟩ − b_s): it grows as long as thresholds are passed.
        """
        distances = self._distances(X)
        if distances.shape[1] == 1:
            return distances[:, 0]
        return np.hstack([np.zeros((distances.shape[0], 1)), np.cumsum(distances, axis=1)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on classes that have no order
        return tags
