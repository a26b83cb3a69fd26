"""The linear 2-norm Ranking SVM for large tables, as a scikit-learn estimator."""

from __future__ import annotations

from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from toprank.guarantees.ranking_margins import GapCertificate
from toprank.inputs import check_choice, check_number
from toprank.kernels.threads import threads_for
from toprank.objectives import Push, Relative
from toprank.rankers.callbacks import Watch
from toprank.rankers.supervised import GradesAndPairsMixin, SpoolingRanker, check_stopping
from toprank.solvers import Penalty, minimize_by_lbfgs
from toprank.solvers.base import ROUNDING
from toprank.solvers.cuts import matching_intercept
from toprank.solvers.cutting_plane import minimize_by_cutting_planes
from toprank.weak_rankers.features import SymmetricFeatures, check_ranges, ranges_of

if TYPE_CHECKING:
    from toprank.solvers import Solution
    from toprank.truth import Truth
    from toprank.weak_rankers import Design

Floats = NDArray[np.float64]

# Largest values that unscaled tables may have: beyond them squares overflow or vanish.
UNSCALED = (1e-100, 1e100)


@dataclass(eq=False, repr=False)
class LinearRankSVM(GradesAndPairsMixin, SpoolingRanker):
    """Linear Ranking SVM for large tables: few pairs have a score difference below 1.

    Minimises the mean of max(0, 1 - (f(x_i) - f(x_j)))² over all pairs (i above j), or of the
    hinge itself, plus (alpha/2)·‖w‖². Pairs are defined by labels, lists, grades or given
    explicitly; they are never formed. A step costs a few products with the table and one sort,
    O(rows·log rows).

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The squared hinge is smooth, and L-BFGS needs about ten steps. The plain hinge is Joachims'
        Ranking SVM, by cutting planes; for many rows see :class:`RankSVM` with ``norm=2``, the same
        problem in terms of ν.
    alpha : float, default=1e-3
        Weight of the penalty, above 0. The loss is a mean, so it means the same at every size;
        1e-3 is little beside a loss of 1 at w = 0, yet enough for an optimum that is found fast.
    scale : bool, default=True
        Scale features to [-1, 1] by their range in the training table, because the penalty compares
        weights. False does not scale them.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    n_jobs : int or None, default=None
        Number of threads for the products with the table. None uses as many as this process may use
        and respects limits of ``threadpoolctl``; numbers have the same meaning as in scikit-learn.
        The model does not depend on it.
    tol : float or None, default=1e-6
        Stop when the largest derivative has fallen to this share of that at w = 0 (an error of
        about its square); for the plain hinge, at this relative duality gap. None never stops
        before ``max_iter``.
    max_iter : int, default=1000
        Maximum number of steps or cutting planes; about ten steps are usual.
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

    loss: Literal["squared_hinge", "hinge"] = "squared_hinge"
    _: KW_ONLY
    alpha: float = 1e-3
    scale: bool = True
    warm_start: bool = False
    n_jobs: int | None = None
    tol: float | None = 1e-6
    max_iter: int = 1000
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_choice("loss", self.loss, ("squared_hinge", "hinge"))
        check_number("alpha", self.alpha, 0)
        if not 0 < self.alpha < np.inf:
            raise ValueError(
                f"alpha must be above 0 and finite, got {self.alpha!r}; without a penalty "
                "separable rows have no optimum."
            )
        check_stopping(self.tol, self.max_iter)

    def _family(self) -> SymmetricFeatures:
        return SymmetricFeatures(scale=self.scale)

    def _fit(self, table: Any, truth: Truth, given: dict[str, Any], **_: Any) -> Self:
        names = getattr(self, "feature_names_in_", None)
        truth, _scale = truth.scaled()
        with threads_for(self.n_jobs) as threads:
            ranges = ranges_of(table, threads)
            check_ranges(*ranges, scale=self.scale, limits=UNSCALED, names=names)
            family = self._family().fit_ranges(*ranges)
            design = family.design(table, threads=threads)

            def learned(weights: Floats) -> dict[str, Any]:
                cut = 0.0
                if truth.is_labels:
                    scores = design.scores(weights)
                    cut = matching_intercept(scores, truth.positives, truth.weights)
                return self._attributes(family, weights, cut, truth.classes, table.dtype)

            watch = Watch(self, self.max_iter, self.verbose, learned, given)
            with closing(watch):
                solution, certificate = self._solve(design, truth, watch)
            attributes = learned(solution.weights) | {"certificate_": certificate}
            self._store_solution(solution, attributes)
        self._warn_of(solution)
        return self

    def _solve(self, design: Design, truth: Truth, watch: Watch) -> tuple[Solution, GapCertificate]:
        alpha = float(self.alpha)
        # where all scores tie every pair costs 1, so in units of that it is a mean over the pairs
        criterion = Relative(Push(self.loss, 1.0).criterion(truth))
        stopping: dict[str, Any] = {
            "weights": self._start_weights(design.n_weak),
            "max_iter": self.max_iter,
            "monitor": watch,
        }
        if self.loss == "hinge":
            planes = minimize_by_cutting_planes(design, criterion, alpha, tol=self.tol, **stopping)
            return planes, GapCertificate(planes.lower, planes.upper)

        def slopes(weights: Floats) -> Floats:
            residuals = criterion.value_and_gradient(design.scores(weights))[1]
            return design.correlate(residuals) + alpha * weights

        steepest = float(np.abs(slopes(np.zeros(design.n_weak))).max(initial=0.0))
        tol = None if self.tol is None else self.tol * steepest
        solution = minimize_by_lbfgs(design, criterion, Penalty(alpha), tol=tol, **stopping)
        if solution.status == "stalled" and solution.slope <= ROUNDING * steepest:
            solution.status = "converged"
        slope, height = slopes(solution.weights), solution.path[-1]
        return solution, GapCertificate(height - float(slope @ slope) / (2.0 * alpha), height)
