"""The linear 2-norm Ranking SVM for large tables, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from toprank.guarantees.precision_mistakes import GapCertificate
from toprank.kernels.pair_blocks import PairBlocks
from toprank.objectives.pairs import PairHinge
from toprank.rankers.base import BaseRanker
from toprank.rankers.callbacks import CallbackSupportMixin, Watch, with_callbacks
from toprank.rankers.cuts import matching_intercept
from toprank.rankers.rank_svm_inputs import (
    SvmRows,
    check_stopping,
    check_values,
    graded_rows,
    is_number,
    labelled_rows,
    paired_rows,
)
from toprank.rankers.tables import check_table
from toprank.solvers.cutting_plane import GapSolution, minimize_by_cutting_planes
from toprank.solvers.truncated_newton import Sample, minimize_by_newton
from toprank.weak_rankers.symmetric import SymmetricFeatures

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.solvers import Solution
    from toprank.weak_rankers import Design

    Floats = NDArray[np.float64]

__all__ = ["LinearRankSVM"]

STEPS, PLANES = 100, 1000
# Largest values that unscaled tables may have: beyond them squares overflow or vanish.
UNSCALED = (1e-100, 1e100)
# Rows of the sample that preconditions Newton's steps: this many a feature, within limits.
ROWS_PER_FEATURE, FEWEST_ROWS, MOST_ROWS = 50, 2000, 20_000


class LinearRankSVM(CallbackSupportMixin, BaseRanker):  # type: ignore[misc]
    """Ranks by a linear score with few pairs closer than 1: the Ranking SVM, for large tables.

    Minimises the mean of max(0, 1 - (f(x_i) - f(x_j)))² over all pairs (i above j), or of the
    hinge itself, plus (alpha/2)·‖w‖². Labels, lists, grades and explicit pairs all make pairs;
    none is formed. A step costs a few products with the table and one sort, O(rows·log rows).

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The squared hinge is smooth, and Newton's method needs some six steps. The plain hinge is
        Joachims' Ranking SVM, by cutting planes; for many rows see :class:`RankSVM` with
        ``norm=2``, the same problem in terms of ν.
    alpha : float, default=1e-3
        Weight of the penalty, above 0. The loss is a mean, so it means the same at every size;
        1e-3 is little beside a loss of 1 at w = 0, yet enough for an optimum that is found fast.
    scale : bool, default=True
        Scale features to [-1, 1] by their range in the training table, since the norm compares
        weights. False leaves them as they are.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    tol : float or None, default=1e-5
        Stop when the gradient has fallen to this share of that at w = 0 (an error of about its
        square); for the plain hinge, at this relative duality gap. None never stops before
        ``max_iter``.
    max_iter : int or None, default=None
        Most steps; None is 100 for Newton's method and 1000 cutting planes.
    verbose : int, default=0
        1 prints every tenth iteration, 2 every one.

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one (after ``fit``)
    coef_, intercept_ : of shapes (1, n_features) and (1,), in the units of the table
    weak_rankers_, weights_ : the fitted scaling of the features, and the weights w on it
    certificate_ : :class:`~toprank.guarantees.GapCertificate`, bounds on the best objective; with
        the squared hinge from strong convexity, J - ‖∇J‖²/(2·alpha)
    n_iter_, converged_, objective_path_ : how the fit went

    Examples
    --------
    >>> from toprank import LinearRankSVM
    >>> from toprank.datasets import load_digits_eights
    >>> X, y = load_digits_eights(return_X_y=True)
    >>> model = LinearRankSVM().fit(X[:1000], y[:1000])
    >>> round(model.score(X[1000:], y[1000:]), 2)
    0.97
    """

    def __init__(
        self,
        loss: Literal["squared_hinge", "hinge"] = "squared_hinge",
        *,
        alpha: float = 1e-3,
        scale: bool = True,
        warm_start: bool = False,
        tol: float | None = 1e-5,
        max_iter: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.scale = scale
        self.warm_start = warm_start
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from a table and its labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, CSR matrix, pandas, polars or pyarrow table of numbers.
        y : array-like of shape (n_rows,)
            Two classes; ``classes_[1]``, the larger label, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            Weight 2 is the row twice, weight 0 no row.
        groups : array-like of shape (n_rows,), optional
            List ids: only rows of one list are compared with each other.
        """
        table = self._start(X)
        self.classes_, rows = labelled_rows(table, y, sample_weight, groups)
        return self._learn(rows, {"X": X, "y": y, "metadata": rows.metadata})

    @with_callbacks
    def fit_grades(
        self,
        X: Any,
        grades: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from graded rows: every two rows of a list with different grades are a pair.

        Time and memory of a step are O(rows·grades).

        Examples
        --------
        >>> from toprank import LinearRankSVM
        >>> model = LinearRankSVM().fit_grades([[0.0], [1.0], [2.0]], [0, 1, 3])
        >>> model.rank([[0.5], [1.5]])
        array([2, 1])
        """
        rows = graded_rows(self._start(X), grades, sample_weight, groups)
        return self._learn(rows, {"X": X, "y": grades, "metadata": rows.metadata})

    @with_callbacks
    def fit_pairs(self, X: Any, pairs: ArrayLike, pair_weight: ArrayLike | None = None) -> Self:
        """Learn from explicit pairs (better row, worse row), which may contradict each other."""
        rows = paired_rows(self._start(X), pairs, pair_weight)
        return self._learn(rows, {"X": X, "y": None, "metadata": rows.metadata})

    def _start(self, X: Any) -> Any:
        if self.loss not in ("squared_hinge", "hinge"):
            raise ValueError(f"loss must be 'squared_hinge' or 'hinge', got {self.loss!r}.")
        if not is_number(self.alpha, 0.0, np.inf) or not 0 < self.alpha < np.inf:
            raise ValueError(
                f"alpha must be above 0 and finite, got {self.alpha!r}; without a penalty "
                "separable rows have no optimum."
            )
        check_stopping(self.tol, self._steps())
        self.__dict__.pop("classes_", None)
        return check_table(self, X, SymmetricFeatures(), reset=True)

    def _steps(self) -> Any:
        if self.max_iter is not None:
            return self.max_iter
        return STEPS if self.loss == "squared_hinge" else PLANES

    def _learn(self, rows: SvmRows, data: dict[str, Any]) -> Self:
        check_values(rows.table, scale=self.scale, limits=UNSCALED)
        family = SymmetricFeatures(scale=self.scale).fit(rows.table)
        design = family.design(rows.table)

        def learned(weights: Floats) -> dict[str, Any]:
            coef, offset = family.linear(weights)
            cut = 0.0
            if rows.positives is not None:
                cut = matching_intercept(design.scores(weights), rows.positives, rows.weights)
            return {
                "weak_rankers_": family,
                "weights_": weights,
                "coef_": coef.astype(rows.table.dtype)[None, :],
                "intercept_": np.array([cut + offset]),
            }

        watch = Watch(
            self, max_iter=self._steps(), verbose=self.verbose, learned=learned, data=data
        )
        try:
            # the products are many and short: a second thread would wait more than it works
            with threadpool_limits(limits=1, user_api="blas"):
                solution = self._solve(design, rows, watch)
        finally:
            watch.close()
        for name, value in learned(solution.weights).items():
            setattr(self, name, value)
        self.n_iter_ = solution.n_iter
        self.objective_path_ = np.array(solution.path)
        self.converged_ = solution.converged
        complaint = solution.complaint()
        if complaint is not None and self.tol is not None:
            warnings.warn(f"LinearRankSVM: {complaint}", ConvergenceWarning, stacklevel=4)
        return self

    def _solve(self, design: Design, rows: SvmRows, watch: Watch) -> Solution:
        criterion = PairHinge(rows.blocks, self.loss)
        start = getattr(self, "weights_", None) if self.warm_start else None
        if start is not None and start.size != design.n_weak:
            start = None
        stopping: dict[str, Any] = {"max_iter": self._steps(), "monitor": watch}
        if self.loss == "hinge":
            planes: GapSolution = minimize_by_cutting_planes(
                design, criterion, float(self.alpha), weights=start, tol=self.tol, **stopping
            )
            self.certificate_ = GapCertificate(planes.lower, planes.upper)
            return planes
        sample = _sample(design, rows, self.loss)
        solution = minimize_by_newton(
            design,
            criterion,
            float(self.alpha),
            weights=start,
            sample=sample,
            tol=self.tol,
            **stopping,
        )
        height = solution.path[-1]
        slope = design.correlate(criterion.value_and_gradient(design.scores(solution.weights))[1])
        slope += float(self.alpha) * solution.weights
        below = float(slope @ slope) / (2.0 * float(self.alpha))
        self.certificate_ = GapCertificate(height - below, height)
        return solution

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every row of a table; higher is better, above 0 is predicted positive."""
        check_is_fitted(self, "weights_")
        table = check_table(self, X, self.weak_rankers_, reset=False)
        scores = table @ self.coef_[0].astype(table.dtype) + table.dtype.type(self.intercept_[0])
        return np.asarray(scores)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _sample(design: Design, rows: SvmRows, loss: Literal["squared_hinge", "hinge"]) -> Any:
    """Rows that stand for all: some of every grade, weighed to count as much as all of them.

    None with lists or pairs, whose sample would lose its pairs, and where features are many.
    """
    if rows.has_lists or rows.grades is None:
        return None
    size = min(max(ROWS_PER_FEATURE * design.n_weak, FEWEST_ROWS), MOST_ROWS)
    weights = np.ones(design.n_rows) if rows.weights is None else rows.weights
    order = np.argsort(rows.grades, kind="stable")
    starts = np.flatnonzero(np.diff(rows.grades[order], prepend=-1))
    if starts.size > size // 10:
        return None
    chosen, counts = [], []
    for members in np.split(order, starts[1:]):
        stride = max(1, members.size * starts.size // size)
        chosen.append(members[::stride])
        counts.append(weights[chosen[-1]] * (weights[members].sum() / weights[chosen[-1]].sum()))
    index = np.concatenate(chosen)
    dense = design.rows(index)
    if dense is None:
        return None
    blocks = PairBlocks.of_grades(rows.grades[index], np.concatenate(counts), None)
    return Sample(dense, PairHinge(blocks, loss))
