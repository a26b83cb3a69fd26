"""PRank, the ordinal perceptron that the paper compares with (Crammer and Singer 2002)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from toprank.kernels.prank import csr_prank_stream, dense_prank_stream
from toprank.predtron.estimator import OnlineEstimator, check_whole
from toprank.predtron.labels import as_class_vector, class_codes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["PRank"]


class PRank(ClassifierMixin, OnlineEstimator):  # type: ignore[misc]
    """Predicts ordered grades by one score and ℓ − 1 thresholds: pranking with ranking.

    The grade of a row is the first r with ⟨w, x⟩ < b_r. After a wrong grade every threshold on
    the wrong side of the score moves by 1, and w by as many times the row; thresholds stay in
    order. If unit (w, b) separate the stream with margin γ̃, all distances ``|σ − y|`` together
    are at most (ℓ − 1)(R² + 1)/γ̃². A round costs O(non-zeros + ℓ), in a compiled loop.

    Parameters
    ----------
    average : bool, default=True
        Predict with the average of all rounds' weights, which wavers less than the last.
    max_iter : int, default=10
        Most passes of ``fit``; it ends after a pass without a loss. Averages settle in about ten.
    shuffle : bool, default=True
        Whether each pass of ``fit`` has an order of its own; a stream keeps its order.
    random_state : int, RandomState or None, default=None
        For the orders.

    Attributes
    ----------
    classes_ : grades in their order (numbers by size, text by alphabet)
    coef_, thresholds_ : of shapes (n_features,) and (n_classes - 1,)
    losses_ : loss of every round of the last call
    n_iter_ : passes of the last ``fit``
    n_rounds_ : rounds so far

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import PRank
    >>> X = np.linspace(-1, 1, 60)[:, None]
    >>> y = np.digitize(X[:, 0], [-0.3, 0.4])
    >>> PRank(random_state=0, max_iter=100).fit(X, y).predict([[-0.9], [0.0], [0.9]])
    array([0, 1, 2])
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        average: bool = True,
        max_iter: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from a table and its grades, in passes."""
        with self._unchanged_if_it_fails():
            check_whole("max_iter", self.max_iter)
            table = self._table(X, reset=True)
            labels = as_class_vector(y, table.shape[0])
            self._begin(np.unique(labels))
            codes = class_codes(labels, self.classes_)
            rng = check_random_state(self.random_state) if self.shuffle else None
            losses = []
            for n_iter in range(1, self.max_iter + 1):
                losses.append(self._play(table, codes, rng))
                self.n_iter_ = n_iter
                if not losses[-1].any():
                    break
            self.losses_ = np.concatenate(losses)
            return self

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn from one more batch, row by row; the first call names all ``classes``."""
        with self._unchanged_if_it_fails():
            first = not hasattr(self, "n_rounds_")
            table = self._table(X, reset=first)
            labels = as_class_vector(y, table.shape[0])
            if first:
                if classes is None:
                    raise ValueError("classes=None: name all classes at the first partial_fit.")
                self._begin(np.unique(np.asarray(classes)))
            codes = class_codes(labels, self.classes_)
            self.losses_ = self._play(table, codes, None)
            self.n_iter_ = 1
            return self

    def _begin(self, classes: NDArray[Any]) -> None:
        if classes.size < 2:
            raise ValueError(
                f"y has one class only ({classes.tolist()}); PRank needs two grades or more."
            )
        self.classes_ = classes
        self._weights = np.zeros(self.n_features_in_)
        self._cuts = np.zeros(classes.size - 1)
        self._sums = np.zeros(self.n_features_in_ + classes.size - 1)
        self.n_rounds_ = 0

    def _play(self, table: Any, codes: NDArray[np.intp], rng: Any) -> Floats:
        n_rows = table.shape[0]
        order = np.arange(n_rows) if rng is None else rng.permutation(n_rows)
        losses = np.zeros(n_rows)
        state = (order, codes, self._weights, self._cuts, self._sums, self.n_rounds_, losses)
        is_sparse: bool = sparse.issparse(table)
        if is_sparse:
            csr_prank_stream(table.data, table.indices, table.indptr, *state)
        else:
            dense_prank_stream(table, *state)
        self.n_rounds_ += n_rows
        return losses

    def _averaged(self, part: Floats, sums: Floats) -> Floats:
        return part - sums / self.n_rounds_ if self.average else part

    @property
    def coef_(self) -> Floats:
        """The direction w."""
        weights = self._learned("_weights")
        return self._averaged(weights, self._sums[: weights.size])

    @property
    def thresholds_(self) -> Floats:
        """The thresholds b, which never fall."""
        cuts = self._learned("_cuts")
        return self._averaged(cuts, self._sums[self._sums.size - cuts.size :])

    def _learned(self, name: str) -> Floats:
        if name not in vars(self):
            raise AttributeError("weights and thresholds exist after a fit only.")
        learned: Floats = vars(self)[name]
        return learned

    def _distances(self, X: Any) -> Floats:
        """⟨w, x⟩ − b_r for every row and threshold."""
        check_is_fitted(self, "n_rounds_")
        table = self._table(X, reset=False)
        scores = np.asarray(table @ self.coef_, dtype=np.float64)
        return np.subtract.outer(scores, self.thresholds_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the grade of every row."""
        distances = self._distances(X)
        predicted: NDArray[Any] = self.classes_[(distances >= 0).sum(axis=1)]
        return predicted

    def decision_function(self, X: Any) -> Floats:
        """Give a score for every grade, largest for the predicted one; for two grades one score.

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
