"""Fitting a weighted sum of weak rankers to a push: what PNormPush and IRPush share."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from toprank.guarantees import push_certificate
from toprank.inputs import check_number, scaled_weights
from toprank.kernels.threads import threads_for
from toprank.objectives import Relative, SoftTop
from toprank.rankers.base import BaseRanker, binary_labels, counted_lists, counted_rows
from toprank.rankers.callbacks import CallbackSupportMixin, Watch, with_callbacks
from toprank.rankers.cuts import matching_intercept
from toprank.rankers.tables import check_table
from toprank.solvers import (
    Penalty,
    Solution,
    minimize_by_continuation,
    minimize_by_coordinates,
    minimize_by_lbfgs,
)
from toprank.weak_rankers import Features, Stumps, weak_rankers_from
from toprank.weak_rankers.features import check_spans

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from toprank.guarantees import PushCertificate
    from toprank.kernels.threads import Threads
    from toprank.objectives import Criterion
    from toprank.weak_rankers import Design, WeakRankers

__all__ = ["PushRanker"]

# Beyond this many rows the sort behind a certificate would cost more than a step of the fit.
CERTIFIED_ROWS = 100_000

SOLVERS = {"lbfgs": minimize_by_lbfgs, "coordinate": minimize_by_coordinates}


class PushRanker(CallbackSupportMixin, BaseRanker):  # type: ignore[misc]
    """Fitting a weighted sum of weak rankers to a push."""

    @abstractmethod
    def _priced_end(self) -> tuple[Any, Literal["top", "bottom", "both"]]:
        """Give the price and the end of the list that it is put on."""

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
        given, kept = counted_rows(sample_weight, table.shape[0])
        weights = self._scaled(given)
        lists = counted_lists(groups, table.shape[0], kept)
        _check_rows("y", positives.size, table.shape[0])
        if kept is not None:
            table, positives = table[kept], positives[kept]
        with threads_for(self.n_jobs) as threads:
            design = self._design(family, table, threads)

            def learned(solution_weights: NDArray[np.float64]) -> dict[str, Any]:
                intercept = self._intercept(design.scores(solution_weights), positives, weights)
                attributes = self._attributes(family, solution_weights, intercept, table.dtype)
                return {"classes_": classes, **attributes}

            metadata = _present(sample_weight=sample_weight, groups=groups)
            self._learn(
                design,
                lambda objective: objective.on(positives, sample_weight=weights, groups=lists),
                learned,
                {"X": X, "y": y, "metadata": metadata},
                one_list=lists is None,
            )
            if design.n_rows <= CERTIFIED_ROWS:
                scores = design.scores(self.weights_)
                self.certificate_ = self._certificate(positives, scores, given, lists)
        return self

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
        given, kept = counted_rows(sample_weight, table.shape[0])
        weights = self._scaled(given)
        lists = counted_lists(groups, table.shape[0], kept)
        levels = np.asarray(grades)
        _check_rows("grades", levels.shape[0], table.shape[0])
        if kept is not None:
            table, levels = table[kept], levels[kept]
        metadata = _present(sample_weight=sample_weight, groups=groups)
        with threads_for(self.n_jobs) as threads:
            return self._learn(
                self._design(family, table, threads),
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
        n_rows = table.shape[0]
        with threads_for(self.n_jobs) as threads:
            return self._learn(
                self._design(family, table, threads),
                lambda objective: objective.on_pairs(pairs, n_rows, pair_weight=pair_weight),
                lambda solution: self._attributes(family, solution, 0.0, table.dtype),
                {"X": X, "metadata": _present(pair_weight=pair_weight)},
            )

    def _table(self, X: Any) -> tuple[WeakRankers, Any]:
        self._check_parameters()
        family = weak_rankers_from(self.weak_rankers)
        return family, check_table(self, X, family, reset=True)

    def _design(self, family: WeakRankers, table: Any, threads: Threads) -> Design:
        family.fit(table, threads=threads)
        if isinstance(family, Features):
            check_spans(family.span_, table.dtype, getattr(self, "feature_names_in_", None))
        return family.design(table, threads=threads)

    def _scaled(self, weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Give weights of at most 1, where the objective is in units that do not depend on them."""
        is_free = self._is_relative() and self._objective().weight_degrees() is not None
        if weights is None or not is_free:
            return weights
        scaled = scaled_weights(weights)
        return np.asarray(scaled / scaled.max())

    def _learn(
        self,
        design: Design,
        attach: Callable[[Any], Criterion],
        learned: Callable[[NDArray[np.float64]], dict[str, Any]],
        data: dict[str, Any],
        *,
        one_list: bool = False,
    ) -> Self:
        """Run the chosen solver on a table in memory."""
        solver = SOLVERS[self._solver_name()]

        exact = attach(self._objective())
        unit = exact.value(np.zeros(design.n_rows)) if self._is_relative() else 1.0

        def minimize(power: float | None, **options: Any) -> Solution:
            criterion = exact
            if power is not None:
                criterion = attach(self._objective_at(power, one_list=one_list))
            return solver(design, self._in_units(criterion, unit, power), **options)

        def largest_term(weights: NDArray[np.float64]) -> float:
            return exact.value(design.scores(weights)) / unit

        self._minimize(minimize, largest_term, design.n_weak, learned, data)
        self._warn_of_ties(design)
        return self

    def _warn_of_ties(self, design: Design) -> None:
        if self.weights_.any():
            return
        if all(np.ptp(design.column(index)) == 0 for index in range(design.n_weak)):
            warnings.warn(
                f"{type(self).__name__}: every row gets the same score, since the columns of X are "
                "constant; check how X was made.",
                UserWarning,
                stacklevel=4,
            )

    def _in_units(self, criterion: Criterion, unit: float, power: float | None) -> Criterion:
        """Give a criterion in units of a tie; at a power on the way to p = ∞ a mean, not a sum."""
        if power is None:
            return Relative(criterion, unit) if self._is_relative() else criterion
        if self.loss == "exponential":
            return Relative(criterion, unit, criterion.log_priced_weight / power)
        return Relative(criterion, unit * math.exp(criterion.log_priced_weight / power))

    def _minimize(
        self,
        minimize: Callable[..., Solution],
        largest_term: Callable[[NDArray[np.float64]], float],
        n_weak: int,
        learned: Callable[[NDArray[np.float64]], dict[str, Any]],
        data: dict[str, Any],
    ) -> Self:
        """Find the weights, by continuation where the power is infinite, and keep the model."""
        start = getattr(self, "weights_", None) if self.warm_start else None
        if start is not None and start.size != n_weak:
            start = None
        watch = Watch(
            self, max_iter=self._rounds(), verbose=self.verbose, learned=learned, data=data
        )

        penalty = Penalty(float(self.alpha), float(self.l1_ratio))

        def solve(
            power: float | None, weights: NDArray[np.float64] | None, n_done: int, max_iter: int
        ) -> Solution:
            watch.n_before = n_done
            return minimize(
                power,
                penalty=penalty,
                weights=start if weights is None else weights,
                max_iter=max_iter,
                tol=self.tol,
                monitor=watch,
            )

        try:
            if math.isinf(self._power()):
                solution = minimize_by_continuation(
                    solve,
                    lambda weights: largest_term(weights) + penalty.value(weights),
                    max_iter=self._rounds(),
                    tol=self.tol,
                )
            else:
                solution = solve(None, None, 0, self._rounds())
        finally:
            watch.close()
        return self._keep(solution, learned(solution.weights))

    def _objective_at(self, power: float | None, *, one_list: bool) -> Any:
        """Give the objective on the way to p = ∞.

        In one list the largest height belongs to the best negative; a soft maximum over the
        negatives then needs no sort.
        """
        if self.loss == "hinge" and power is not None and (not one_list or self.focus == "both"):
            return replace(self._objective(power), rounding=1.0 / power)
        if power is None or not one_list or self.loss == "exponential" or self.focus == "both":
            return self._objective(power)
        return SoftTop(self.loss, sharpness=power, focus=self.focus, lower_bound=True)

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
        for stale in {"coef_", "classes_", "certificate_"} - attributes.keys():
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

    def certify(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> PushCertificate:
        """Set what is measured on a list beside what the objective promises there.

        On the training rows this is ``certificate_``, which :meth:`fit` leaves behind for lists of
        up to 100,000 rows; it costs a sort, which a fit of a longer list does not need.
        """
        scores = self.decision_function(X)
        self._check_has_cut()
        positives = np.asarray(y) == self.classes_[1]
        return self._certificate(positives, scores, sample_weight, groups)

    def _certificate(
        self, positives: NDArray[np.bool_], scores: NDArray[Any], weights: Any, lists: Any
    ) -> PushCertificate:
        price, focus = self._priced_end()
        return push_certificate(
            positives,
            scores,
            price,
            loss=self.loss,
            focus=focus,
            sample_weight=weights,
            groups=lists,
        )

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
        check_number("alpha", self.alpha, 0)
        check_number("l1_ratio", self.l1_ratio, 0, 1)
        if self.max_iter is not None:
            check_number("max_iter", self.max_iter, 0)
        if self.tol is not None:
            check_number("tol", self.tol, 0)
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


def _check_rows(name: str, n_given: int, n_rows: int) -> None:
    if n_given != n_rows:
        raise ValueError(f"{name} has {n_given} rows, but X has {n_rows}; they must match.")


def _present(**arguments: Any) -> dict[str, Any] | None:
    return {name: value for name, value in arguments.items() if value is not None} or None
