"""Learning from a table: what rankers share from the call of ``fit`` to the stored model.

Labels, grades or pairs become one truth, and every ranker fits that. Scores of most are a weighted
sum of weak rankers (:class:`LinearRanker`); where these read the table in order, it may be larger
than memory (:class:`SpoolingRanker`): blocks of rows go to a file, then as in memory.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from toprank.blocks import spool_type, spooled, survey
from toprank.inputs import check_columns, check_length, check_number
from toprank.kernels.memory import available_memory, check_room
from toprank.kernels.numpy_scores import linear_scores
from toprank.models.formula import Summand, refusal
from toprank.models.terms import Steps, Weights
from toprank.rankers.base import BaseRanker, keep_columns
from toprank.rankers.callbacks import CallbackSupportMixin, with_callbacks
from toprank.truth import Truth, binary_labels
from toprank.weak_rankers import Features, Stumps
from toprank.weak_rankers.features import check_spans

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from toprank.blocks import Blocks, Survey
    from toprank.kernels.threads import Threads
    from toprank.solvers import Solution
    from toprank.weak_rankers import WeakRankers

Floats = NDArray[np.float64]
Given = ArrayLike | None

# Measured at most, without lists and with them: scores, their moves and slopes, labels, weights,
# and what an evaluation sorts.
BYTES_PER_ROW = {False: 150, True: 260}
# What an earlier fit may have stored that the new one does not have.
STALE = ("weights_", "coef_", "support_", "classes_", "certificate_", "_training_list")


class SupervisedRanker(CallbackSupportMixin, BaseRanker):
    """A ranker that learns from labels.

    A subclass gives :meth:`_check_parameters`, :meth:`_family` and :meth:`_fit`, which receives
    the rows that count and the truth about them.
    """

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise where a parameter makes no sense."""

    @abstractmethod
    def _family(self) -> WeakRankers:
        """Make the weak rankers, not fitted yet; they say what kind of table they take."""

    @abstractmethod
    def _fit(self, table: Any, truth: Truth, given: dict[str, Any], **options: Any) -> Self:
        """Learn; ``given`` are the arguments of the user, which callbacks receive."""

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: Given = None, groups: Given = None) -> Self:
        """Fit on a table and its labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, CSR matrix, pandas, polars or pyarrow table of numbers.
        y : array-like of shape (n_rows,)
            Two classes; ``classes_[1]``, the larger label, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            A row of weight 2 counts as two rows, a row of weight 0 is ignored.
        groups : array-like of shape (n_rows,), optional
            List ids: only rows of one list are compared with each other.
        """
        return self._fit_labels(X, y, sample_weight, groups)

    def _fit_labels(
        self, X: Any, y: ArrayLike, sample_weight: Given, groups: Given, **options: Any
    ) -> Self:
        """Learn from labels; ``options`` go through to :meth:`_fit`."""
        table = self._check_table(X)
        classes, positives = binary_labels(y)
        check_length("y", positives.size, table.shape[0])
        rows: dict[str, Any] = {"sample_weight": sample_weight, "groups": groups}
        truth = Truth.of_labels(positives, classes=classes, **rows)
        return self._fit(truth.rows_of(table), truth, _given(X, y, **rows), **options)

    def _fit_grades(
        self, X: Any, grades: ArrayLike, sample_weight: Given, groups: Given, **options: Any
    ) -> Self:
        table = self._check_table(X)
        check_length("grades", np.shape(grades)[0] if np.ndim(grades) else 0, table.shape[0])
        rows: dict[str, Any] = {"sample_weight": sample_weight, "groups": groups}
        truth = Truth.of_grades(grades, **rows)
        return self._fit(truth.rows_of(table), truth, _given(X, grades, **rows), **options)

    def _fit_pairs(self, X: Any, pairs: ArrayLike, pair_weight: Given, **options: Any) -> Self:
        table = self._check_table(X)
        truth = Truth.of_pairs(pairs, table.shape[0], pair_weight=pair_weight)
        return self._fit(table, truth, _given(X, None, pair_weight=pair_weight), **options)

    def _check_table(self, X: Any) -> Any:
        """Check the parameters and the table of a new fit."""
        self._check_parameters()
        table = check_table(self, X, self._family(), reset=True)
        if self._not_in_order():
            check_room(table, type(self).__name__)
        return table

    def _not_in_order(self) -> str:
        """Say what asks for rows or columns in another order than the table's, if anything does."""
        return f"{type(self).__name__} takes them in any order"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class GradesAndPairsMixin:
    """``fit_grades`` and ``fit_pairs`` for a :class:`SupervisedRanker`."""

    @with_callbacks
    def fit_grades(
        self: Any, X: Any, grades: ArrayLike, sample_weight: Given = None, groups: Given = None
    ) -> Any:
        """Fit on graded rows: of two rows in a list, the one with the higher grade should be above.

        No pair is formed. Afterwards there are scores, ranks and shortlists, but no classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        grades : array-like of numbers, of shape (n_rows,)
        sample_weight, groups : as in :meth:`fit`
        """
        return self._fit_grades(X, grades, sample_weight, groups)

    @with_callbacks
    def fit_pairs(self: Any, X: Any, pairs: ArrayLike, pair_weight: Given = None) -> Any:
        """Fit on pairs of rows: row ``pairs[j, 0]`` should be above row ``pairs[j, 1]``.

        Pairs may contradict each other. Memory grows with the pairs given. Afterwards there are
        scores, ranks and shortlists, but no classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        pairs : array-like of row numbers, of shape (n_pairs, 2)
            A pair given twice counts twice.
        pair_weight : array-like of shape (n_pairs,), optional
            Weight of each pair.
        """
        return self._fit_pairs(X, pairs, pair_weight)


class LinearRanker(SupervisedRanker):
    """f(x) = weights_·h(x) + a cut; with features, coef_·x + intercept_ in the table's units."""

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every row of a table; higher is better, above 0 is predicted positive."""
        check_is_fitted(self, "weak_rankers_")
        return self._scores(check_table(self, X, self.weak_rankers_, reset=False))

    def _scores(self, table: Any) -> NDArray[Any]:
        """Score the rows of a checked table: equal rows have equal scores, to the last bit."""
        linear = self._linear()
        if linear is not None:
            return linear_scores(table, *linear, getattr(self, "n_jobs", None))
        return np.asarray(self.weak_rankers_.scores(table, self.weights_) + self.intercept_[0])

    def _linear(self) -> tuple[Floats, float] | None:
        """Weights of the columns and intercept, where the score is linear in the columns."""
        family, cut = self.weak_rankers_, float(self.intercept_[0])
        if hasattr(self, "coef_"):
            return self.coef_[0].astype(np.float64), cut
        if isinstance(family, Features) and hasattr(self, "weights_"):  # kernels have none
            coef, offset = family.linear(self.weights_)
            return coef, cut + offset
        return None

    def _summands(self) -> list[Summand]:
        family, linear = self.weak_rankers_, self._linear()
        if linear is not None:
            coef, cut = linear
            return [Summand(1.0, cut, Weights(coef))]
        if isinstance(family, Stumps):
            steps = Steps.of_stumps(family.thresholds_, family.doubled(), self.weights_)
            return [Summand(1.0, float(self.intercept_[0]), steps)]
        raise refusal(self)

    def _fitted_family(self, table: Any, threads: Threads) -> WeakRankers:
        """Fit the weak rankers; columns that cannot be scaled are refused."""
        family = self._family().fit(table, threads=threads)
        if isinstance(family, Features):
            check_spans(family.span_, table.dtype, getattr(self, "feature_names_in_", None))
        return family

    def _attributes(
        self,
        family: WeakRankers,
        weights: Floats,
        cut: float,
        classes: NDArray[Any] | None,
        dtype: Any,
    ) -> dict[str, Any]:
        """What a fit leaves behind."""
        attributes: dict[str, Any] = {"weak_rankers_": family, "weights_": weights}
        if isinstance(family, Features):
            coef, offset = family.linear(weights)
            attributes["coef_"] = coef.astype(dtype)[None, :]
            cut += offset
        attributes["intercept_"] = np.array([cut])
        if classes is not None:
            attributes["classes_"] = classes
        return attributes

    def _start_weights(self, n_weak: int) -> Floats | None:
        """Weights of the last fit, where ``warm_start`` asks for them and they fit."""
        start: Floats | None = getattr(self, "weights_", None) if self.warm_start else None
        return start if start is not None and start.size == n_weak else None

    def _store_solution(self, solution: Solution, attributes: dict[str, Any]) -> None:
        """Store what was learned and how the fit went."""
        for name in STALE:
            if name not in attributes:
                self.__dict__.pop(name, None)
        self.__dict__.update(attributes)
        self.n_iter_ = solution.n_iter
        self.objective_path_ = np.array(solution.path)
        self.converged_ = solution.converged

    def _warn_of(self, solution: Solution) -> None:
        """Warn of a fit that did not end as asked for; ``tol=None`` asks for ``max_iter``."""
        complaint = solution.complaint()
        if complaint is not None and self.tol is not None:
            warnings.warn(f"{type(self).__name__}: {complaint}", ConvergenceWarning, stacklevel=5)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        family = self._family()
        tags.input_tags.sparse = family.accepts_sparse
        tags.input_tags.allow_nan = family.accepts_missing
        return tags


class SpoolingRanker(LinearRanker):
    """``fit_blocks`` for a linear ranker that reads its table some rows at a time, in order."""

    def _not_in_order(self) -> str:
        return ""

    @with_callbacks
    def fit_blocks(self, blocks: Blocks, *, grades: bool = False) -> Self:
        """Fit on labelled rows in blocks, such as a table larger than memory or on a cluster.

        One pass finds the ranges of the features. For :class:`PNormPush` and :class:`IRPush` with
        ``loss="exponential"``, no ``price`` and labels in one list, the objective is a sum over
        rows: each iteration, a Newton step where there are up to 512 features, takes one more pass
        (two with :class:`IRPush`), memory does not grow with the rows, and the model is that of
        :meth:`fit`.

        All other fits compare the scores of all rows. One more pass writes the features, four bytes
        per cell, into a file in the folder for temporary files (``scratch=`` of the blocks names
        another), which is gone when the fit ends, however it ends. The fit is that of :meth:`fit`
        on this file, which it reads twice per iteration, with 150 bytes of memory per row (260 with
        lists) for any number of features. Not on clusters.

        Parameters
        ----------
        blocks : Blocks
            Such as ``toprank.tables.ParquetBlocks`` (a file larger than memory) or
            ``toprank.integrations.dask.DaskBlocks`` (a cluster). Blocks with ``groups`` contain
            rows of several lists, each of which may be spread over blocks.
        grades : bool, default=False
            Whether the labels are grades: higher ones belong above lower ones.

        Examples
        --------
        >>> import numpy as np
        >>> from toprank import PNormPush
        >>> from toprank.blocks import ArrayBlocks
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
        >>> model = PNormPush().fit_blocks(ArrayBlocks.cut(X, y, size=2))
        >>> model.rank([[0.0], [3.0]])
        array([2, 1])
        """
        self._check_parameters()
        problem = self._not_in_order()
        if problem:
            raise ValueError(f"rows in blocks are read in their order, but {problem}.")
        seen = survey(blocks, accepts_missing=False)
        classes = None if grades else binary_labels(seen.labels)[0]
        keep_columns(self, seen.low.size, blocks.feature_names)
        return self._fit_surveyed(blocks, seen, classes)

    def _fit_surveyed(self, blocks: Blocks, seen: Survey, classes: NDArray[Any] | None) -> Self:
        """Learn from blocks that were looked at; without classes their labels are grades."""
        check_spooled(blocks, seen)
        shape, dtype = (seen.n_rows, seen.low.size), spool_type(seen.low, seen.high, seen.dtype)
        positive = None if classes is None else classes[1]
        with spooled(blocks, seen.starts, shape, dtype, positive) as rows:
            given: dict[str, Any] = {"sample_weight": rows.weights, "groups": rows.groups}
            if classes is None:
                truth = Truth.of_grades(rows.y, **given)
            else:
                truth = Truth.of_labels(rows.y, classes=classes, **given)
            return self._fit(rows.X, truth, {}, scratch=blocks.scratch)


def check_table(estimator: BaseEstimator, X: Any, family: WeakRankers, *, reset: bool) -> Any:
    """Return the table as a float array (or CSR), with frames' columns looked at first."""
    check_columns(X)
    if reset:
        vars(estimator).pop("calibration_", None)  # it says nothing about the new fit
    with np.errstate(over="ignore", invalid="ignore"):  # sums of huge numbers may overflow
        return validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            accept_sparse="csr" if family.accepts_sparse else False,
            ensure_all_finite="allow-nan" if family.accepts_missing else True,
        )


def check_stopping(tol: Any, max_iter: Any) -> None:
    """Raise where a fit would not know when to stop."""
    check_number("tol", tol, 0, optional=True)
    check_number("max_iter", max_iter, 1, whole=True)


def _given(X: Any, y: Any, **metadata: Any) -> dict[str, Any]:
    """The arguments of a fit as callbacks receive them."""
    present = {name: value for name, value in metadata.items() if value is not None}
    return {"X": X, "y": y, "metadata": present or None}


def check_spooled(blocks: Blocks, seen: Survey) -> None:
    """Raise where rows are on a cluster, or the numbers kept per row do not fit into memory."""
    if blocks.is_remote:
        raise ValueError(
            "this fit compares the rows with each other, which a cluster does not do: write the "
            "collection as Parquet and fit it on one machine (toprank.tables.ParquetBlocks), or "
            "take PNormPush or IRPush with the exponential loss in one list, RankBoost or "
            "TreeRanker."
        )
    per_row, free = BYTES_PER_ROW[seen.has_groups], available_memory()
    if free is not None and seen.n_rows * per_row > free:
        raise ValueError(
            f"the scores of {seen.n_rows:,} rows need some {seen.n_rows * per_row / 1e9:.3g} GB of "
            f"memory, but {free / 1e9:.3g} are free; fit on a sample of at most "
            f"{free // per_row:,} rows, or use PNormPush with loss='exponential' and without "
            "lists, which keeps no scores."
        )
