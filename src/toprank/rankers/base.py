"""What every ranker can do once it is fitted: score, rank, shortlist, cut, predict."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from toprank.inputs import rows_within_budget
from toprank.metrics.ranked import best_rows, places_of
from toprank.solvers.cuts import cut_above

if TYPE_CHECKING:
    from toprank.shortlists import Calibration, Cap, Quota, Shortlist

Given = ArrayLike | None
Estimator = TypeVar("Estimator", bound="type[Any]")


class RowRanker(BaseEstimator):  # type: ignore[misc]
    """A scoring function of rows, and what people do with its scores: rank, shortlist, cut.

    Rows with equal scores are ranked in the order of the table.
    """

    @abstractmethod
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every row of a table; higher is better."""

    def rank(self, X: Any, groups: ArrayLike | None = None) -> NDArray[np.intp]:
        """Give the rank of every row: 1 is the best of its list.

        Examples
        --------
        >>> from toprank import PNormPush
        >>> model = PNormPush().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        >>> model.rank([[1.0], [3.0], [2.0]])
        array([3, 1, 2])
        """
        found = places_of(self.decision_function(X), groups)
        ranks = np.empty(found.rows.size, dtype=np.intp)
        ranks[found.rows] = found.places + 1
        return ranks

    def top(self, X: Any, k: float, groups: ArrayLike | None = None) -> NDArray[np.intp]:
        """Give the indices of the ``k`` best rows, best first.

        ``k`` is a number of rows or, below 1, a share of them; with ``groups`` the k best of every
        list, list after list in the order of the list ids (a shorter list is given whole).

        Examples
        --------
        >>> from toprank import PNormPush
        >>> model = PNormPush().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
        >>> model.top([[1.0], [3.0], [2.0]], 2)
        array([1, 2])
        """
        scores = self.decision_function(X)
        if groups is None:
            return best_rows(scores, rows_within_budget(k, scores.size, name="k"))
        found = places_of(scores, groups)
        return found.first(
            [rows_within_budget(k, size, name="k", clip=True) for size in found.sizes.tolist()]
        )

    def cutoff(self, X: Any, budget: float) -> float:
        """Give the score at which a stream like ``X`` should be cut to stay within a budget.

        ``budget`` is a number of rows of ``X`` or, below 1, a share of them. Rows of ``X`` with a
        score above the cutoff are at most that many: halfway between the last row inside and the
        first one outside or, where these are tied, between the tie and the next score above.
        """
        scores = self.decision_function(X)
        return cut_above(scores, rows_within_budget(budget, scores.size, name="budget"))


class BaseRanker(ClassifierMixin, RowRanker):  # type: ignore[misc]
    """A fitted scoring function and what people do with its scores.

    A subclass gives ``fit`` and :meth:`decision_function`; rows with a score above 0 are predicted
    positive. Rows with equal scores are ranked in the order of the table.
    """

    classes_: NDArray[Any]
    calibration_: Calibration

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class of every row: ``classes_[1]`` where the score is above 0."""
        check_is_fitted(self)
        self._check_has_cut()
        predicted: NDArray[Any] = self.classes_[(self.decision_function(X) > 0).astype(int)]
        return predicted

    def score(
        self, X: Any, y: ArrayLike, sample_weight: Given = None, groups: Given = None
    ) -> float:
        """Give the ROC AUC (with ``groups``, its mean over the lists)."""
        from toprank.metrics import roc_auc  # noqa: PLC0415

        return float(
            roc_auc(
                y,
                self.decision_function(X),
                sample_weight=sample_weight,
                groups=groups,
                pos_label=self.classes_[1],
            )
        )

    def calibrate(self, X: Any, y: ArrayLike, sample_weight: Given = None) -> Self:
        """Store scores and labels of rows that the model was not fitted on.

        :meth:`shortlist` uses them; of more than 20,000 rows a random sample is stored. A new fit
        deletes them.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Held-out rows, like those that will be ranked.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each one stands for, such as 1/propensity of an audit.
        """
        from toprank.shortlists import Calibration  # noqa: PLC0415

        self._check_has_cut()
        self.calibration_ = Calibration.of(
            self.decision_function(X), y, sample_weight=sample_weight, pos_label=self.classes_[1]
        )
        return self

    def shortlist(
        self,
        X: Any,
        k: float | None = None,
        *,
        false_alarms: float = 0.1,
        value: Given = None,
        cost: Given = None,
        at_most: Sequence[Cap] = (),
        at_least: Sequence[Quota] = (),
        confidence: float = 0.95,
    ) -> Shortlist:
        """Make a shortlist of a table, with promises about its hits.

        The promises are computed from calibration rows: held-out rows given to :meth:`calibrate`,
        or the out-of-fold scores of a :class:`toprank.TopRanker`, with which they are approximate.
        New rows must be like the calibration rows; a warning is issued if their scores are not. The
        other parameters are the same as those of :func:`toprank.shortlists.make_shortlist`: a
        length ``k``, or else a share of ``false_alarms``, or amounts ``value`` and ``cost``; caps
        ``at_most`` and quotas ``at_least``.

        Examples
        --------
        >>> from toprank import PNormPush
        >>> from toprank.datasets import load_digits_eights
        >>> X, y = load_digits_eights(return_X_y=True)
        >>> model = PNormPush().fit(X[::3], y[::3]).calibrate(X[1::3], y[1::3])
        >>> len(model.shortlist(X[2::3], k=30))
        30
        """
        from toprank.shortlists import make_shortlist  # noqa: PLC0415

        check_is_fitted(self)
        if not hasattr(self, "calibration_"):
            raise ValueError(
                f"this {type(self).__name__} has no calibration rows; pass held-out rows to "
                "calibrate(X, y), or fit a TopRanker without groups, which keeps some."
            )
        return make_shortlist(
            self.decision_function(X),
            self.calibration_,
            k=k,
            false_alarms=false_alarms,
            value=value,
            cost=cost,
            at_most=at_most,
            at_least=at_least,
            confidence=confidence,
        )

    def _probabilities(self, X: Any, slope: float) -> NDArray[Any]:
        """P = 1/(1 + e^{-slope·score}) of the positive class, in the second column."""
        check_is_fitted(self)
        self._check_has_cut()
        positive = expit(slope * self.decision_function(X))
        return np.column_stack([1.0 - positive, positive])

    def _check_has_cut(self) -> None:
        if not hasattr(self, "classes_"):
            raise AttributeError(
                f"this {type(self).__name__} learned from pairs or grades, which name no classes; "
                "use decision_function, rank or top."
            )


def keep_columns(ranker: BaseRanker, n_columns: int, names: list[str] | None) -> None:
    """Remember the columns of a fit, as scikit-learn does for tables in memory."""
    ranker.n_features_in_ = n_columns
    forget_calibration(ranker)
    if names is None:
        ranker.__dict__.pop("feature_names_in_", None)
    else:
        ranker.feature_names_in_ = np.array(names, dtype=object)


def forget_calibration(ranker: BaseRanker) -> None:
    """Drop the calibration rows of an earlier fit, which say nothing about a new one."""
    ranker.__dict__.pop("calibration_", None)


def documented(**blocks: str) -> Callable[[Estimator], Estimator]:
    """Fill blocks into the docstring of a class: ``{name}`` becomes the block of that name.

    Examples
    --------
    >>> @documented(n_jobs="n_jobs : int, default=1")
    ... class Ranker:
    ...     "Ranks in parallel. {n_jobs}"
    >>> Ranker.__doc__
    'Ranks in parallel. n_jobs : int, default=1'
    """

    def fill(estimator: Estimator) -> Estimator:
        text = estimator.__doc__ or ""
        for name, block in blocks.items():
            text = text.replace("{" + name + "}", block.strip().replace("\n", "\n    "))
        estimator.__doc__ = text
        return estimator

    return fill
