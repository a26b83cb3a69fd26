"""P-Norm Push and IR Push as scikit-learn estimators (Rudin 2009)."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from toprank.objectives import Price, Relative, SoftTop, ir_push, pnorm_push
from toprank.rankers.base import BaseRanker, binary_labels, counted_lists, counted_rows
from toprank.rankers.callbacks import CallbackSupportMixin, Watch, with_callbacks
from toprank.rankers.cuts import matching_intercept, push_intercept
from toprank.rankers.tables import check_table
from toprank.solvers import (
    Penalty,
    Solution,
    minimize_by_continuation,
    minimize_by_coordinates,
    minimize_by_lbfgs,
)
from toprank.weak_rankers import Features, Stumps, weak_rankers_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from toprank.objectives import Criterion
    from toprank.objectives.losses import LossName
    from toprank.weak_rankers import Design, WeakRankers

__all__ = ["IRPush", "PNormPush"]

SOLVERS = {"lbfgs": minimize_by_lbfgs, "coordinate": minimize_by_coordinates}


class _PushRanker(CallbackSupportMixin, BaseRanker):  # type: ignore[misc]
    """Fitting a weighted sum of weak rankers to a push."""

    @abstractmethod
    def _objective(self, p: float | None = None) -> Any:
        """Give the objective, with another power if one is named."""

    def _power(self) -> float:
        """The power, where there is one; only infinity needs its own way to the solution."""
        return 1.0

    def _is_relative(self) -> bool:
        """Whether the value is a sum over pairs, so that a penalty needs it in units of a tie."""
        return bool(self.loss != "exponential")

    def _intercept(
        self,
        scores: NDArray[np.float64],
        positives: NDArray[np.bool_],
        weights: NDArray[np.float64] | None,
    ) -> float:
        return matching_intercept(scores, positives, weights)

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
        family, table = self._table(X)
        classes, positives = binary_labels(y)
        weights, kept = counted_rows(sample_weight, table.shape[0])
        lists = counted_lists(groups, table.shape[0], kept)
        _check_rows("y", positives.size, table.shape[0])
        if kept is not None:
            table, positives = table[kept], positives[kept]
        design = family.fit(table).design(table)

        def learned(solution_weights: NDArray[np.float64]) -> dict[str, Any]:
            intercept = self._intercept(design.scores(solution_weights), positives, weights)
            attributes = self._attributes(family, solution_weights, intercept, table.dtype)
            return {"classes_": classes, **attributes}

        metadata = _present(sample_weight=sample_weight, groups=groups)
        return self._learn(
            design,
            lambda objective: objective.on(positives, sample_weight=weights, groups=lists),
            learned,
            {"X": X, "y": y, "metadata": metadata},
            one_list=lists is None,
        )

    @with_callbacks
    def fit_grades(
        self,
        X: Any,
        grades: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from graded rows: of two rows in one list the one of higher grade belongs above.

        No pair is formed. Afterwards there are scores, ranks and shortlists, but no classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        grades : array-like of whole numbers, of shape (n_rows,)
        sample_weight, groups : as in :meth:`fit`

        Examples
        --------
        >>> from toprank import PNormPush
        >>> model = PNormPush().fit_grades([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 2])
        >>> model.rank([[1.0], [3.0], [2.0]])
        array([3, 1, 2])
        """
        family, table = self._table(X)
        weights, kept = counted_rows(sample_weight, table.shape[0])
        lists = counted_lists(groups, table.shape[0], kept)
        levels = np.asarray(grades)
        _check_rows("grades", levels.shape[0], table.shape[0])
        if kept is not None:
            table, levels = table[kept], levels[kept]
        design = family.fit(table).design(table)
        metadata = _present(sample_weight=sample_weight, groups=groups)
        return self._learn(
            design,
            lambda objective: objective.on_grades(levels, sample_weight=weights, groups=lists),
            lambda solution: self._attributes(family, solution, 0.0, table.dtype),
            {"X": X, "y": grades, "metadata": metadata},
        )

    @with_callbacks
    def fit_pairs(self, X: Any, pairs: ArrayLike, pair_weight: ArrayLike | None = None) -> Self:
        """Learn from crucial pairs: row ``pairs[j, 0]`` belongs above row ``pairs[j, 1]``.

        Any truth will do, circles included. Memory grows with the pairs given. Afterwards there
        are scores, ranks and shortlists, but no classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        pairs : array-like of row numbers, of shape (n_pairs, 2)
        pair_weight : array-like of shape (n_pairs,), optional
            What each pair counts.

        Examples
        --------
        >>> from toprank import PNormPush
        >>> model = PNormPush().fit_pairs([[0.0], [1.0], [2.0]], [[2, 0], [1, 0], [1, 2]])
        >>> model.rank([[0.0], [1.0]])
        array([2, 1])
        """
        family, table = self._table(X)
        design = family.fit(table).design(table)
        return self._learn(
            design,
            lambda objective: objective.on_pairs(pairs, table.shape[0], pair_weight=pair_weight),
            lambda solution: self._attributes(family, solution, 0.0, table.dtype),
            {"X": X, "metadata": _present(pair_weight=pair_weight)},
        )

    def _table(self, X: Any) -> tuple[WeakRankers, Any]:
        self._check_parameters()
        family = weak_rankers_from(self.weak_rankers)
        return family, check_table(self, X, family, reset=True)

    def _learn(
        self,
        design: Design,
        attach: Callable[[Any], Criterion],
        learned: Callable[[NDArray[np.float64]], dict[str, Any]],
        data: dict[str, Any],
        *,
        one_list: bool = False,
    ) -> Self:
        """Run the chosen solver, by continuation where the power is infinite."""
        solver = SOLVERS[self._solver_name()]
        penalty = Penalty(float(self.alpha), float(self.l1_ratio))
        start = getattr(self, "weights_", None) if self.warm_start else None
        if start is not None and start.size != design.n_weak:
            start = None
        watch = Watch(
            self, max_iter=self._rounds(), verbose=self.verbose, learned=learned, data=data
        )

        def solve(power: float | None, weights: NDArray[np.float64] | None) -> Solution:
            criterion = attach(self._objective_at(power, one_list=one_list))
            return solver(
                design,
                Relative(criterion) if self._is_relative() else criterion,
                penalty,
                weights=start if weights is None else weights,
                max_iter=self._rounds(),
                tol=self.tol,
                monitor=watch,
            )

        try:
            if math.isinf(self._power()):
                solution = minimize_by_continuation(solve, design.n_rows)
            else:
                solution = solve(None, None)
        finally:
            watch.close()
        return self._keep(solution, learned(solution.weights))

    def _objective_at(self, power: float | None, *, one_list: bool) -> Any:
        """Give the objective on the way to p = ∞.

        In one list the largest height belongs to the best negative; a soft maximum over the
        negatives then needs no sort.
        """
        if power is None or not one_list or self.loss == "exponential" or self.focus == "both":
            return self._objective(power)
        return SoftTop(self.loss, sharpness=power, focus=self.focus)

    def _solver_name(self) -> Literal["lbfgs", "coordinate"]:
        if self.solver != "auto":
            return self.solver  # type: ignore[no-any-return]
        return "coordinate" if isinstance(weak_rankers_from(self.weak_rankers), Stumps) else "lbfgs"

    def _rounds(self) -> int:
        if self.max_iter is not None:
            return int(self.max_iter)
        return {"lbfgs": 1000, "coordinate": 100}[self._solver_name()]

    def _attributes(
        self,
        family: WeakRankers,
        weights: NDArray[np.float64],
        intercept: float,
        dtype: Any,
    ) -> dict[str, Any]:
        """What a fit leaves behind; a linear model speaks in the units of the table."""
        attributes: dict[str, Any] = {"weak_rankers_": family, "weights_": weights}
        if isinstance(family, Features):
            coef, offset = family.linear(weights)
            attributes["coef_"] = coef.astype(dtype)[None, :]
            intercept += offset
        attributes["intercept_"] = np.array([intercept])
        return attributes

    def _keep(self, solution: Solution, attributes: dict[str, Any]) -> Self:
        for stale in {"coef_", "classes_"} - attributes.keys():
            self.__dict__.pop(stale, None)
        for name, value in attributes.items():
            setattr(self, name, value)
        self.n_iter_ = solution.n_iter
        self.objective_path_ = np.array(solution.path)
        self.converged_ = solution.converged
        complaint = solution.complaint()
        # rounds of boosting and tol=None are budgets, kept as asked for
        kept_budget = self._solver_name() == "coordinate" or self.tol is None
        if complaint is not None and not (solution.status == "max_iter" and kept_budget):
            warnings.warn(f"{type(self).__name__}: {complaint}", ConvergenceWarning, stacklevel=3)
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every row of a table; higher is better, above 0 is predicted positive."""
        check_is_fitted(self, "weights_")
        table = check_table(self, X, self.weak_rankers_, reset=False)
        if hasattr(self, "coef_"):
            scores = table @ self.coef_[0].astype(table.dtype) + table.dtype.type(
                self.intercept_[0]
            )
            return np.asarray(scores)
        scores = self.weak_rankers_.design(table).scores(self.weights_)
        return np.asarray(scores + self.intercept_[0])

    def _check_parameters(self) -> None:
        _check_real("alpha", self.alpha, 0, math.inf)
        _check_real("l1_ratio", self.l1_ratio, 0, 1)
        if self.max_iter is not None:
            _check_real("max_iter", self.max_iter, 0, math.inf)
        if self.tol is not None:
            _check_real("tol", self.tol, 0, math.inf)
        if self.solver not in ("auto", *SOLVERS):
            raise ValueError(
                f"solver must be 'auto', 'lbfgs' or 'coordinate', got {self.solver!r}."
            )
        self._objective()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        family = weak_rankers_from(self.weak_rankers)
        tags.input_tags.sparse = family.accepts_sparse
        tags.input_tags.allow_nan = family.accepts_missing
        return tags


def _has_probabilities(ranker: Any) -> bool:
    if ranker.loss == "exponential" and ranker.price is None and ranker.focus in ("top", "bottom"):
        if math.isfinite(ranker.p):
            return True
        raise AttributeError(
            "predict_proba needs a finite p; use sklearn.calibration.CalibratedClassifierCV."
        )
    raise AttributeError(
        "predict_proba is known for loss='exponential', price=None and focus 'top' or 'bottom' "
        f"only (got loss={ranker.loss!r}, price={ranker.price!r}, focus={ranker.focus!r}); "
        "use sklearn.calibration.CalibratedClassifierCV for the others."
    )


class PNormPush(_PushRanker):
    """Ranks so that few negatives come near the top: the P-Norm Push.

    Minimises (1/p)·log Σ_k ( Σ_i e^{-(f(x_i) - f(x̃_k))} )^p over positives i and negatives k,
    plus a penalty on the weights, for f a weighted sum of weak rankers. With other losses it is
    the p-th root of the sum, in units of its value where all rows tie. p = 1 asks for a good
    list as a whole (RankBoost's objective); the larger p, the more only the top counts. A pass
    costs O(rows·features), whatever the number of pairs.

    Parameters
    ----------
    p : float, default=4
        How hard to push, from 1 to inf. 4 gains at the top on most tables and still uses the
        whole list; larger values need more rows to generalise.
    loss : {"exponential", "logistic", "hinge", "squared_hinge"}, default="exponential"
        What a pair costs. The exponential loss is the paper's, the fastest, and the only one
        with probabilities.
    price : None or a price, default=None
        What a negative costs, as a function of the pair losses summed over the positives; None
        is the power ``p``.
    focus : {"top", "bottom", "both"}, default="top"
        The end of the list to get right; "both" adds ``bottom_weight`` times the bottom push.
    bottom_weight : float, default=1
        Weight of the bottom where ``focus="both"``.
    weak_rankers : {"features", "stumps"}, transformer or list of functions, default="features"
        What f is built from: features scaled to [0, 1], thresholds on them (missing values
        abstain), the output columns of a transformer, or functions of the table.
    solver : {"auto", "lbfgs", "coordinate"}, default="auto"
        "lbfgs" moves all weights at once; "coordinate" is the paper's boosting-style algorithm,
        one weak ranker a round, sparse when stopped early. "auto" takes "coordinate" for stumps,
        of which there are many, and "lbfgs" otherwise.
    alpha : float, default=1e-3
        Weight of the penalty. Small, but above 0, so that separable data have an optimum; the
        paper has none (``alpha=0``).
    l1_ratio : float, default=0
        Share of the penalty that is ‖λ‖₁, which makes weights exactly zero; the rest is ‖λ‖²/2.
    max_iter : int or None, default=None
        Most iterations. None is 1000 for "lbfgs", which needs some ten, and 100 for "coordinate",
        the paper's budget of rounds.
    tol : float or None, default=1e-8
        Stop when no partial derivative is larger (each is at most 1 to begin with); None never
        stops before ``max_iter``. 1e-8 leaves an error in the objective of about 1e-13.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    verbose : int, default=0
        1 prints every tenth iteration, 2 every one.

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one
    coef_, intercept_ : of shapes (1, n_features) and (1,), for ``weak_rankers="features"``
    weak_rankers_, weights_ : the fitted weak rankers and their weights
    n_iter_, converged_, objective_path_ : how the fit went; the path starts before iteration 1

    Examples
    --------
    >>> from toprank import PNormPush
    >>> from toprank.datasets import load_digits_eights
    >>> X, y = load_digits_eights(return_X_y=True)
    >>> model = PNormPush(p=8).fit(X[:1000], y[:1000])
    >>> model.top(X[1000:], 5)
    array([...])
    >>> int(y[1000:][model.top(X[1000:], 40)].sum())
    38
    """

    def __init__(
        self,
        p: float = 4,
        *,
        loss: LossName = "exponential",
        price: Any = None,
        focus: Literal["top", "bottom", "both"] = "top",
        bottom_weight: float = 1.0,
        weak_rankers: Any = "features",
        solver: Literal["auto", "lbfgs", "coordinate"] = "auto",
        alpha: float = 1e-3,
        l1_ratio: float = 0.0,
        max_iter: int | None = None,
        tol: float | None = 1e-8,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.p = p
        self.loss = loss
        self.price = price
        self.focus = focus
        self.bottom_weight = bottom_weight
        self.weak_rankers = weak_rankers
        self.solver = solver
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    def _power(self) -> float:
        return float(self.p) if self.price is None else 1.0

    def _is_relative(self) -> bool:
        return self.loss != "exponential" or isinstance(self.price, Price)

    def _objective(self, p: float | None = None) -> Any:
        return pnorm_push(
            self.p if p is None else p,
            loss=self.loss,
            price=self.price,
            focus=self.focus,
            bottom_weight=self.bottom_weight,
        )

    def _intercept(
        self,
        scores: NDArray[np.float64],
        positives: NDArray[np.bool_],
        weights: NDArray[np.float64] | None,
    ) -> float:
        try:
            _has_probabilities(self)
        except AttributeError:
            return matching_intercept(scores, positives, weights)
        bottom = self.focus == "bottom"
        return push_intercept(scores, positives, weights, p=float(self.p), bottom=bottom)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Give the probability of each class: P(y=1|x) = 1/(1 + e^{-(1+p)·decision_function(x)}).

        Exact for a saturated exponential push; wrap the ranker in CalibratedClassifierCV where the
        weak rankers are few or the penalty strong.
        """
        check_is_fitted(self)
        self._check_has_cut()
        positive = expit((1.0 + self.p) * self.decision_function(X))
        return np.column_stack([1.0 - positive, positive])


class IRPush(_PushRanker):
    """Pulls positives up, those near the top most: the IR Push.

    Minimises the mean over positives i of ln(1 + Σ_k e^{-(f(x_i) - f(x̃_k))}) (Rudin 2009,
    equation 2), a convex relative of the discounted cumulative gain. Parameters and attributes
    are those of :class:`PNormPush` that still have a meaning.

    Parameters
    ----------
    loss : {"exponential", "logistic", "hinge", "squared_hinge"}, default="exponential"
        What a pair costs; the exponential loss is the paper's.
    weak_rankers : {"features", "stumps"}, transformer or list of functions, default="features"
        What f is built from.
    solver : {"auto", "lbfgs", "coordinate"}, default="auto"
        As in :class:`PNormPush`.
    alpha : float, default=1e-3
        Weight of the penalty.
    l1_ratio : float, default=0
        Share of the penalty that is ‖λ‖₁.
    max_iter : int or None, default=None
        Most iterations, as in :class:`PNormPush`.
    tol : float or None, default=1e-8
        Stop when no partial derivative is larger.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    verbose : int, default=0
        1 prints every tenth iteration, 2 every one.

    Examples
    --------
    >>> from toprank import IRPush
    >>> model = IRPush().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> model.rank([[0.0], [3.0]])
    array([2, 1])
    """

    def __init__(
        self,
        *,
        loss: LossName = "exponential",
        weak_rankers: Any = "features",
        solver: Literal["auto", "lbfgs", "coordinate"] = "auto",
        alpha: float = 1e-3,
        l1_ratio: float = 0.0,
        max_iter: int | None = None,
        tol: float | None = 1e-8,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.weak_rankers = weak_rankers
        self.solver = solver
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    def _objective(self, p: float | None = None) -> Any:  # noqa: ARG002
        return ir_push(loss=self.loss)


def _check_real(name: str, value: Any, low: float, high: float) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not low <= float(value) <= high:
        raise ValueError(f"{name} must be a number between {low} and {high}, got {value!r}.")


def _check_rows(name: str, n_given: int, n_rows: int) -> None:
    if n_given != n_rows:
        raise ValueError(f"{name} has {n_given} rows, but X has {n_rows}; they must match.")


def _present(**arguments: Any) -> dict[str, Any] | None:
    return {name: value for name, value in arguments.items() if value is not None} or None
