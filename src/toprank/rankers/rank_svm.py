"""Ranking SVMs as a scikit-learn estimator (Suehiro, Hatano and Takimoto 2018)."""

from __future__ import annotations

import math
import warnings
from contextlib import closing
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from threadpoolctl import threadpool_limits

from toprank.guarantees.svm import SvmCertificate, margin_slack, ranking_bound, share_at_margin
from toprank.inputs import as_dense, check_choice, check_number
from toprank.kernels.pair_blocks import PairBlocks
from toprank.objectives.margin import ClassMargin, PairMargin, SoftMargin, TangentMargin
from toprank.rankers.callbacks import Watch
from toprank.rankers.supervised import GradesAndPairsMixin, LinearRanker, check_stopping
from toprank.solvers.cuts import matching_intercept
from toprank.solvers.margin_ball import lower_by_tangents, maximize_on_ball
from toprank.solvers.nearest_point import GramRows, nearest_point
from toprank.weak_rankers.features import SymmetricFeatures, check_ranges, ranges_of

if TYPE_CHECKING:
    from toprank.guarantees.svm import RankingBound
    from toprank.solvers.base import Monitor
    from toprank.solvers.margin_ball import MarginSolution
    from toprank.truth import Truth
    from toprank.weak_rankers import Design

Floats = NDArray[np.float64]

# Largest values that unscaled tables may have: beyond them the linear problems have coefficients
# that HiGHS takes for 0 or infinity.
UNSCALED = (1e-6, 1e12)
# Tangents are solved no finer than this: they only choose ν⁺, near which γ̂ is flat. Coarser ones
# leave a ν⁺ that other roundings change in the third digit, and weights with it.
TANGENT_TOL = 1e-4


@dataclass(eq=False, repr=False)
class RankSVM(GradesAndPairsMixin, LinearRanker):
    """Ranks with the largest margin between positives and negatives, and tolerates wrong labels.

    The margin of a pair is (f(x⁺) - f(x⁻))/2. ``form="exact"`` maximises the mean of the ν·p·n
    smallest margins of all p·n pairs, over ‖w‖₁ ≤ 1 (``norm=1``: OP 3, sparse weights) or less a
    penalty ½‖w‖² (``norm=2``: OP 11, kernels). No pair is ever formed: a step costs one sort and
    two products with the table, and the distance to the optimum is known (``gap_``).
    ``form="product"`` is the paper's simplification: the mean of the lowest ν⁺·p positives less
    that of the highest (ν/ν⁺)·n negatives.

    Parameters
    ----------
    norm : {1, 2}, default=1
        1 gives few non-zero weights, by linear programming; 2 gives dense ones, takes kernels,
        and is faster (a million rows of 100 features in seconds).
    margin : {"soft", "hard"}, default="soft"
        "hard" maximises the smallest margin of all (OP 1 and OP 6, which are equal).
    nu : float, default=0.2
        ν, the share of the pairs that may fall short of the margin, above 0 and at most 1. Choose
        it above twice the share of wrong labels; below that the best weights are 0. The default,
        the largest value of the paper's experiments, suits up to a tenth of wrong labels.
    nu_plus : float or None, default=None
        ν⁺ of ``form="product"``, from ν to 1: the share of the positives to average over (with
        ``norm=2``, as the paper has it, of the negatives). None finds it to two digits, from √ν on,
        by the paper's iteration (section 6); a number solves OPT_soft(ν⁺).
    nu_plus_start : float or None, default=None
        Where ``nu_plus`` is to be found, the initial guess of the iteration, from ν to 1. None is
        √ν, the paper's.
    nu_plus_tol : float or None, default=None
        Precision of that iteration: it ends when the margin falls by no more than this share, and
        solves its problems to this gap. None is the larger of ``tol`` and 1e-4 and gives ν⁺ to two
        digits, which suffice, as the margin is flat there; a number keeps all digits.
    n_starts : int, default=1
        How many starts the iteration has: the initial guess, then values spread from ν to 1. It
        ends in one valley of a function that may have several; more starts find the deepest, at
        their multiple of the time.
    form : {"exact", "product", "classification"}, default="exact"
        "classification" is the ν-SVM for classes, on ν·m/2 rows of each, for comparison.
    signed : bool, default=True
        Weights of both signs, the paper's x ↦ (x, -x). False, with ``norm=1`` only, keeps them
        at 0 or above: each feature is known to be higher for positives.
    constant : bool, default=True
        Whether the constant is among the hypotheses, as in the paper: then weights may add up to
        less than 1, and are 0 where ν is below the label noise. False, with ``signed=False``
        only (signed weights can cancel), makes them add up to 1, with a negative margin if need
        be: there is a ranking then, but its certificate is vacuous. A column that hardly varies
        does what the constant would do; leave such columns out.
    scale : bool, default=True
        Scale features to [-1, 1] by their range in the training table, since norms compare
        weights. False leaves them as they are.
    kernel : str or callable, default="linear"
        With ``norm=2``, any kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels` on the
        scaled features. Needs memory for rows × rows numbers.
    gamma, degree, coef0 : float, default=None, 3, 1
        Parameters of the kernel, as there.
    kernel_params : dict or None, default=None
        Parameters of a callable kernel.
    delta : float, default=0.05
        Chance with which Theorem 1's bound in ``certificate_`` may fail.
    tol : float or None, default=1e-4
        Stop at this gap, relative to the soft margin (to 0.01 where it is smaller). 1e-4 changes
        no digit that a ranking would show; None never stops before ``max_iter``.
    max_iter : int, default=10000
        Most cuts or vertices; some hundreds are usual.
    verbose : int, default=0
        1 prints every tenth iteration, 2 every one.

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one
    coef_, intercept_ : of shapes (1, n_features) and (1,), in the units of the table
    weak_rankers_, weights_ : the fitted scaling of the features, and the weights w on it
    n_nonzero_ : how many weights are not 0
    support_, support_vectors_, dual_coef_ : with a kernel, instead: rows that f is a sum over
    rho_ : the margin ρ̂
    nu_plus_ : ν⁺ of a product form, else nan
    gap_ : duality gap: what the objective of the form can gain at most
    certificate_ : :class:`~toprank.guarantees.SvmCertificate`
    n_iter_, converged_, objective_path_ : how the fit went; the path is of the soft margin, for
        ``norm=2`` of ‖w/ν‖²

    Examples
    --------
    >>> from toprank import RankSVM
    >>> from toprank.datasets import load_digits_eights
    >>> X, y = load_digits_eights(return_X_y=True)
    >>> model = RankSVM(nu=0.05).fit(X[:1000], y[:1000])
    >>> model.n_nonzero_, model.certificate_.holds
    (28, True)
    >>> int(y[1000:][model.top(X[1000:], 40)].sum())
    38
    """

    norm: int = 1
    _: KW_ONLY
    margin: Literal["soft", "hard"] = "soft"
    nu: float = 0.2
    nu_plus: float | None = None
    nu_plus_start: float | None = None
    nu_plus_tol: float | None = None
    n_starts: int = 1
    form: Literal["exact", "product", "classification"] = "exact"
    signed: bool = True
    constant: bool = True
    scale: bool = True
    kernel: Any = "linear"
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1
    kernel_params: dict[str, Any] | None = None
    delta: float = 0.05
    tol: float | None = 1e-4
    max_iter: int = 10_000
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_choice("norm", self.norm, (1, 2))
        check_choice("margin", self.margin, ("soft", "hard"))
        check_choice("form", self.form, ("exact", "product", "classification"))
        _check_share("nu", self.nu)
        if self.nu_plus is not None:
            if self.form != "product" or self.margin == "hard":
                raise ValueError(
                    f"nu_plus={self.nu_plus!r} belongs to form='product' with margin='soft', got "
                    f"form={self.form!r} and margin={self.margin!r}; leave it None."
                )
            _check_share("nu_plus", self.nu_plus)
            if self.nu_plus < self.nu:
                raise ValueError(
                    f"nu_plus must lie between nu={self.nu} and 1, got {self.nu_plus!r}; "
                    "the square root of nu treats both classes alike."
                )
        check_number("n_starts", self.n_starts, 1, whole=True)
        check_number("nu_plus_start", self.nu_plus_start, self.nu, 1.0, optional=True)
        check_number("nu_plus_tol", self.nu_plus_tol, 0.0, optional=True)
        if self.norm == 2 and not self.signed:
            raise ValueError("signed=False needs norm=1; with norm=2 weights have both signs.")
        if self.signed and not self.constant:
            raise ValueError(
                "constant=False needs signed=False; weights of both signs can cancel each other, "
                "which is what the constant hypothesis does."
            )
        self._check_kernel()
        check_number("delta", self.delta, 0.0, 1.0, inside=True)
        check_stopping(self.tol, self.max_iter)

    def _check_kernel(self) -> None:
        known = sorted(PAIRWISE_KERNEL_FUNCTIONS)
        if not callable(self.kernel) and self.kernel not in known:
            raise ValueError(
                f"kernel must be a function of two rows or one of {', '.join(known)}; "
                f"got {self.kernel!r}."
            )
        if self.kernel != "linear" and self.norm == 1:
            raise ValueError(
                f"kernel={self.kernel!r} needs norm=2; a 1-norm is of the features' weights."
            )

    def _check_form(self, truth: Truth) -> None:
        """Raise where the form cannot be had on these rows."""
        if self.form == "exact":
            return
        if not truth.is_labels:
            raise ValueError(
                f"form={self.form!r} needs two classes, but grades or pairs were given; "
                "use form='exact'."
            )
        if truth.lists is not None:
            raise ValueError(
                f"form={self.form!r} averages over the classes of one list, but groups were given; "
                "use form='exact'."
            )
        share = float(np.average(truth.positives, weights=truth.weights))
        most = 2.0 * min(share, 1.0 - share)
        if self.form == "classification" and self.margin == "soft" and self.nu > most:
            # a class has fewer than the ν·m/2 rows to average over, and the margin no limit
            raise ValueError(
                f"nu={self.nu} is more than 2·min(p, n)/m = {most:.4g}, where the classification "
                f"SVM has no optimum; choose nu up to {most:.4g}, or form='product'."
            )

    def _check_constants(self, ranges: tuple[NDArray[Any], NDArray[Any]]) -> None:
        """Raise where the constant hypothesis is left out and yet among the columns."""
        if self.constant:
            return
        same = np.flatnonzero(np.isinf(SymmetricFeatures().fit_ranges(*ranges).span_))
        if same.size:
            raise ValueError(
                f"constant=False, but column {same[0]} has one value in all rows, which is the "
                "constant hypothesis again; drop the column."
            )

    def _family(self) -> SymmetricFeatures:
        return SymmetricFeatures(scale=self.scale)

    def _fit(self, table: Any, truth: Truth, given: dict[str, Any], **_: Any) -> Self:
        truth, _scale = truth.scaled()
        self._check_form(truth)
        ranges = ranges_of(table)
        self._check_constants(ranges)
        check_ranges(*ranges, scale=self.scale, limits=UNSCALED)
        family = self._family().fit_ranges(*ranges)
        is_linear = self.kernel == "linear"
        design = family.design(table) if is_linear else GramRows(self._gram(family, table))
        problem = SvmProblem(self, truth, design)

        def learned(weights: Floats) -> dict[str, Any]:
            return self._model(family, table, truth, problem.scale * weights, 0.0)

        watch = Watch(self, self.max_iter, self.verbose, learned, given)
        # the products are many and short: a second thread would wait more than it works
        with threadpool_limits(limits=1, user_api="blas"), closing(watch):
            solved = problem.solve(watch)
        cut = _cut(problem, solved)
        self._store_solution(
            solved.solution, self._model(family, table, truth, solved.weights, cut)
        )
        self.gap_ = problem.gap(solved.solution)
        self.nu_plus_ = solved.nu_plus
        self.certificate_ = self._certify(table, problem, solved)
        self.rho_ = self.certificate_.rho
        self._warn_of(solved.solution)
        self._warn_of_zero_weights(problem, solved)
        return self

    def _gram(self, family: SymmetricFeatures, table: Any, other: Any = None) -> Floats:
        parameters = self.kernel_params or {}
        if not callable(self.kernel):
            parameters = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        scaled = _scaled(family, table)
        gram = pairwise_kernels(
            scaled,
            scaled if other is None else other,
            metric=self.kernel,
            filter_params=not callable(self.kernel),
            **parameters,
        )
        return np.asarray(gram, dtype=np.float64)

    def _model(
        self, family: SymmetricFeatures, table: Any, truth: Truth, weights: Floats, cut: float
    ) -> dict[str, Any]:
        """What a fit leaves behind; a linear model speaks in the units of the table."""
        if self.kernel == "linear":
            attributes = self._attributes(family, weights, cut, truth.classes, table.dtype)
            return attributes | {"n_nonzero_": int(np.count_nonzero(weights))}
        support = np.flatnonzero(weights)
        attributes = {
            "weak_rankers_": family,
            "support_": support if truth.kept is None else truth.kept[support],
            "support_vectors_": _scaled(family, table[support]),
            "dual_coef_": weights[None, support],
            "intercept_": np.array([cut]),
        }
        return attributes if truth.classes is None else attributes | {"classes_": truth.classes}

    def _certify(self, table: Any, problem: SvmProblem, solved: Solved) -> SvmCertificate:
        """Measure the final scores, those that ``decision_function`` gives for the table."""
        scores = self._scores(table)
        found = solved.margin.at(scores)
        slack = margin_slack(scores)
        share = share_at_margin(problem.blocks, scores, found.rho - slack)
        promised, theorem = problem.promise(solved.nu_plus)
        return SvmCertificate(
            rho=found.rho,
            share=share,
            promised=promised,
            theorem=theorem,
            soft_margin=found.value,
            ceiling=problem.scale * solved.solution.ceiling,
            is_zero=not solved.weights.any(),
            bound=self._bound(table, problem, solved.weights, share, found.rho),
            one_pair=problem.blocks.lightest_pair / problem.blocks.pair_weight,
            slack=slack,
        )

    def _bound(
        self, table: Any, problem: SvmProblem, weights: Floats, share: float, rho: float
    ) -> RankingBound | None:
        """Theorem 1, on the weights scaled to ‖w‖₁ = 1 and the features to [-1, 1]."""
        truth = problem.truth
        if not (truth.is_labels and truth.is_one_list) or self.kernel != "linear":
            return None
        reach = 1.0 if self.scale else max(1.0, float(abs(table).max()))
        norm = float(np.abs(weights).sum()) * reach
        return ranking_bound(
            share,
            rho / norm if norm > 0 else 0.0,
            n_rows=problem.effective_size,
            n_hypotheses=(2 if self.signed else 1) * weights.size + self.constant,
            positive_share=problem.positive_share,
            delta=self.delta,
        )

    def _warn_of_zero_weights(self, problem: SvmProblem, solved: Solved) -> None:
        if solved.weights.any():
            return
        remedy = (
            "use margin='soft'"
            if problem.hard
            else f"raise nu (from about {problem.smallest_nu():.2g} on there is a margin)"
        )
        if self.norm == 2 and not self.scale and solved.solution.ceiling > 0:
            # the gap is closed beside the largest features, and may be wide beside the rest
            remedy += "; where features differ much in size, set scale=True or lower tol first"
        told = "these rows" if problem.hard else f"nu={self.nu}, less than the label noise,"
        warnings.warn(
            f"RankSVM: no weights have a positive margin for {told} so the best are w = 0 "
            f"and every row has the same score; {remedy}.",
            UserWarning,
            stacklevel=5,
        )

    def _scores(self, table: Any) -> NDArray[Any]:
        if hasattr(self, "coef_"):
            return super()._scores(table)
        if not self.support_.size:
            return np.full(table.shape[0], self.intercept_[0])
        gram = self._gram(self.weak_rankers_, table, self.support_vectors_)
        return np.asarray(gram @ self.dual_coef_[0] + self.intercept_[0])


def _cut(problem: SvmProblem, solved: Solved) -> float:
    """Where to cut the scores: the form's own threshold or, for pairs, that of the class sizes."""
    truth = problem.truth
    if not truth.is_labels:
        return 0.0
    scores = problem.design.scores(solved.weights)
    if problem.ranker.form == "exact" and not problem.hard:
        return matching_intercept(scores, truth.positives, truth.weights)
    return solved.margin.at(scores).intercept


def _scaled(family: SymmetricFeatures, table: Any) -> Floats:
    """Features on their scale, as a dense table for a kernel."""
    return np.asarray((as_dense(table) - family.low_) / family.span_, dtype=np.float64)


class Solved(NamedTuple):
    """Weights (of features, or with a kernel of rows), and how they were found."""

    weights: Floats
    solution: MarginSolution
    margin: SoftMargin
    nu_plus: float


@dataclass
class SvmProblem:
    """A soft margin on rows, and the space in which to look for the weights.

    Where the rows carry grades or pairs, only the exact form exists.
    """

    ranker: RankSVM
    truth: Truth
    design: Design | GramRows

    @property
    def hard(self) -> bool:
        """Whether no pair may fall short of the margin."""
        return self.ranker.margin == "hard"

    @cached_property
    def blocks(self) -> PairBlocks:
        """Who is compared with whom."""
        return PairBlocks.of_truth(self.truth)

    def solve(self, monitor: Monitor) -> Solved:
        """Choose ν⁺ where there is one to choose, then solve."""
        nu_plus = self._nu_plus()
        margin = self.margin(self.ranker.nu, nu_plus)
        solution = self._maximize(margin, tol=self.ranker.tol, monitor=monitor)
        return Solved(self.scale * solution.weights, solution, margin, nu_plus)

    @property
    def scale(self) -> float:
        """What turns the solver's weights into the paper's: the optimum of OP 11 is ν·x."""
        return self.ranker.nu if self.ranker.norm == 2 and not self.hard else 1.0

    def gap(self, solution: MarginSolution) -> float:
        """Duality gap: of the largest margin, or of OP 11 (½‖w‖² - ν·g)."""
        return self.scale**2 * solution.gap if self.ranker.norm == 2 else solution.gap

    def margin(self, nu: float, nu_plus: float) -> SoftMargin:
        """The soft margin of the form at a ν."""
        is_exact = self.ranker.form == "exact" or not self.truth.is_labels
        if self.hard:  # of every pair, however light
            equal = replace(self.truth, weights=None, pair_weights=None)
            if is_exact:
                return PairMargin(PairBlocks.of_truth(equal), None)
            return ClassMargin(equal.positives, None, None)
        if is_exact:
            return PairMargin(self.blocks, nu)
        return ClassMargin(self.truth.positives, self.truth.weights, self.kappa(nu, nu_plus))

    def kappa(self, nu: float, nu_plus: float) -> tuple[float, float]:
        """Shares of the positives and of the negatives to average over.

        In the 2-norm version the paper exchanges the classes' roles. The classification SVM
        averages over ν·m/2 rows of each class.
        """
        if self.ranker.form == "classification":
            share = self.positive_share
            return nu / (2.0 * share), nu / (2.0 * (1.0 - share))
        return (nu_plus, nu / nu_plus) if self.ranker.norm == 1 else (nu / nu_plus, nu_plus)

    @property
    def positive_share(self) -> float:
        """p/m, by weight."""
        return float(np.average(self.truth.positives, weights=self.truth.weights))

    @property
    def effective_size(self) -> float:
        """Number of equally weighted rows that are as much evidence: (Σw)²/Σw² (Kish)."""
        weights = self.truth.weights
        if weights is None:
            return float(self.truth.n_rows)
        return float(weights.sum() ** 2 / (weights @ weights))

    def promise(self, nu_plus: float) -> tuple[float, str]:
        """The share of pairs that must reach ρ̂, and who says so."""
        if self.hard:
            return 1.0, "hard margin"
        if self.ranker.form == "exact":
            return (
                1.0 - self.ranker.nu,
                "equation (1)" if self.ranker.norm == 1 else "equation (A·1)",
            )
        above, below = (min(kappa, 1.0) for kappa in self.kappa(self.ranker.nu, nu_plus))
        theorem = "Theorem 3" if self.ranker.norm == 1 else "Theorem 5"
        if self.ranker.form == "classification":
            theorem += ", for the classification SVM's shares"
        elif np.isclose(nu_plus**2, self.ranker.nu):
            theorem = "Corollary 4" if self.ranker.norm == 1 else "Corollary 6"
        return (1.0 - above) * (1.0 - below), theorem

    def smallest_nu(self) -> float:
        """About the smallest ν at which the difference of the class means has a soft margin."""
        at_zero = self.margin(1.0, 1.0).at(np.zeros(self.truth.n_rows)).gradient
        means = self.design.correlate(at_zero)
        scores = self.design.scores(means if self.ranker.signed else np.maximum(means, 0.0))
        low, high = self.ranker.nu, 1.0
        for _ in range(12):
            middle = 0.5 * (low + high)
            if self.margin(middle, float(np.sqrt(middle))).at(scores).value > 0:
                high = middle
            else:
                low = middle
        return high

    def _nu_plus(self) -> float:
        if self.hard or self.ranker.form != "product":
            return np.nan
        if self.ranker.nu_plus is not None:
            return self.ranker.nu_plus
        precision = self.ranker.nu_plus_tol
        coarse = max(self.ranker.tol or 0.0, TANGENT_TOL) if precision is None else float(precision)

        def tangent(centre: float, weights: Floats | None) -> MarginSolution:
            margin = TangentMargin(
                self.truth.positives,
                self.truth.weights,
                self.ranker.nu,
                centre,
                swapped=self.ranker.norm == 2,
            )
            return self._maximize(margin, tol=coarse, start=weights, sparse=False)

        guess = self.ranker.nu_plus_start
        starts = [math.sqrt(self.ranker.nu) if guess is None else float(guess)]
        if self.ranker.n_starts > 1:  # valleys of γ̂ lie on both sides of √ν (Figure 2)
            starts += np.geomspace(self.ranker.nu, 1.0, int(self.ranker.n_starts) - 1).tolist()
        runs = [lower_by_tangents(self.ranker.nu, tangent, coarse, start) for start in starts]
        found = min(runs, key=lambda run: round(run[1][-1], 6))[0]  # the first of equal ones
        special = (self.ranker.nu, math.sqrt(self.ranker.nu), 1.0)  # as the search gives them
        if precision is not None or found in special:
            return found
        # further digits hang on rounding: γ̂ is flat here
        return min(max(float(f"{found:.2g}"), self.ranker.nu), 1.0)

    def _maximize(
        self,
        margin: SoftMargin,
        *,
        tol: float | None,
        start: Floats | None = None,
        monitor: Monitor | None = None,
        sparse: bool = True,
    ) -> MarginSolution:
        stopping: dict[str, Any] = {
            "max_iter": self.ranker.max_iter,
            "tol": tol,
            "monitor": monitor,
        }
        if isinstance(self.design, GramRows) or self.ranker.norm == 2:
            return nearest_point(self.design, margin, **stopping)
        return maximize_on_ball(
            self.design,
            margin,
            signed=self.ranker.signed,
            constant=self.ranker.constant,
            start=start,
            sparse=sparse,
            **stopping,
        )


def _check_share(name: str, value: Any) -> None:
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    if not is_real or not 0 < float(value) <= 1:
        raise ValueError(f"{name} must lie above 0 and at most at 1, got {value!r}.")
