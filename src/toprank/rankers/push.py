"""P-Norm Push and IR Push as scikit-learn estimators (Rudin 2009)."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from toprank.guarantees import push_certificate
from toprank.inputs import check_choice, check_number
from toprank.kernels.threads import threads_for
from toprank.objectives import ir_push, pnorm_push
from toprank.objectives.exponential import PushFormula
from toprank.objectives.push import focus_constants
from toprank.rankers.base import documented
from toprank.rankers.callbacks import Watch
from toprank.rankers.supervised import GradesAndPairsMixin, SpoolingRanker
from toprank.solvers import Penalty
from toprank.solvers.push import ScoredProblem, SummedProblem, minimize_by_continuation
from toprank.weak_rankers import Features, Stumps, WeakLearner, weak_rankers_from
from toprank.weak_rankers.features import check_spans

if TYPE_CHECKING:
    from toprank.blocks import Blocks, Survey
    from toprank.guarantees import PushCertificate
    from toprank.objectives import Push
    from toprank.objectives.losses import LossName
    from toprank.solvers import Solution
    from toprank.solvers.push import PushProblem
    from toprank.truth import Truth
    from toprank.weak_rankers import WeakRankers

Floats = NDArray[np.float64]
Given = ArrayLike | None

# Beyond this many rows the sort behind a certificate would cost more than a step of the fit.
CERTIFIED_ROWS = 100_000
MAX_ROUNDS = 100  # of coordinate descent, as in the paper

PARAMETERS = """
weak_rankers : {"features", "stumps"}, transformer, learner or functions, default="features"
    What f is built from: features scaled to [0, 1], thresholds on them (missing values
    abstain), the output columns of a transformer, a list of functions of the table, or a
    classifier or regressor, fitted in every round to the current weights.
solver : {"auto", "lbfgs", "coordinate"}, default="auto"
    "lbfgs" moves all weights at once; "coordinate" is the paper's boosting-style algorithm,
    one weak ranker per round, sparse when stopped early. "auto" takes "coordinate" for stumps,
    of which there are many, and for learners; "lbfgs" otherwise.
alpha : float, default=1e-3
    Weight of the penalty. Small, but above 0, so that separable data have an optimum; the
    paper has none (``alpha=0``).
l1_ratio : float, default=0
    Share of the penalty that is ‖λ‖₁, which makes weights exactly zero; the rest is ‖λ‖²/2.
max_iter : int or None, default=None
    Maximum number of iterations, at ``p=inf`` of all powers together. None is 1000 for "lbfgs",
    which needs about ten, and 100 for "coordinate", as in the paper.
tol : float or None, default=1e-4
    Stop when no partial derivative is larger (each is at most 1 to begin with); None never
    stops before ``max_iter``. Below 1e-4 the first hundred rows of a list no longer change (see
    :doc:`/experiments/tolerance`); 1e-8 gives the optimum to about 1e-13.
warm_start : bool, default=False
    Start from the weights of the last fit.
n_jobs : int or None, default=None
    Number of threads for the passes over the table. None uses as many as this process may use and
    respects limits of ``threadpoolctl``; numbers have the same meaning as in scikit-learn. The
    model does not depend on it.
verbose : int, default=0
    1 prints every tenth iteration, 2 every one.
"""


@dataclass(kw_only=True, eq=False, repr=False)
class PushRanker(GradesAndPairsMixin, SpoolingRanker):
    """A weighted sum of weak rankers that minimises a push."""

    loss: LossName = "exponential"
    weak_rankers: Any = "features"
    solver: Literal["auto", "lbfgs", "coordinate"] = "auto"
    alpha: float = 1e-3
    l1_ratio: float = 0.0
    max_iter: int | None = None
    tol: float | None = 1e-4
    warm_start: bool = False
    n_jobs: int | None = None
    verbose: int = 0

    @abstractmethod
    def _objective(self) -> Any:
        """Give the objective."""

    @abstractmethod
    def _priced_end(self) -> tuple[Any, Literal["top", "bottom", "both"]]:
        """Give the price and the end of the list that it is put on."""

    def _family(self) -> WeakRankers:
        if isinstance(self.weak_rankers, str) and self.weak_rankers == "features":
            return Features()
        n_rounds = MAX_ROUNDS if self.max_iter is None else int(self.max_iter)
        return weak_rankers_from(self.weak_rankers, n_rounds)

    def _fit(self, table: Any, truth: Truth, given: dict[str, Any], **_: Any) -> Self:
        with threads_for(self.n_jobs) as threads:
            family = self._fitted_family(table, threads)
            design = family.design(table, threads=threads)
            solver = self._solver_name()
            problem = ScoredProblem(design, truth, self._objective(), solver, threads)
            self._solve(problem, family, truth.classes, table.dtype, given)
            if not self.weights_.any() and problem.is_constant():
                self._warn_of_ties()
            if truth.is_labels and truth.n_rows <= CERTIFIED_ROWS:
                codes = None if truth.lists is None else truth.lists.codes
                scores = design.scores(self.weights_)
                self._training_list = truth.positives, scores, truth.weights, codes
        return self

    def _fit_surveyed(self, blocks: Blocks, seen: Survey, classes: NDArray[Any] | None) -> Self:
        objective = self._objective()
        objective.check_largest_weight(seen.largest_weight)
        # the exponential loss with a power as its price, or the IR push: a sum over the rows
        is_sum = self.loss == "exponential" and getattr(self, "price", None) is None
        if not is_sum or seen.has_groups or classes is None:
            return super()._fit_surveyed(blocks, seen, classes)
        names = None if blocks.feature_names is None else np.array(blocks.feature_names)
        check_spans(seen.span, seen.dtype, names)
        if not (seen.high > seen.low).any():
            self._warn_of_ties()
        family = Features()
        family.low_, family.span_ = seen.low, seen.span
        formula = None if objective.power is None else _formula(objective)
        problem = SummedProblem(family, blocks, classes[1], formula, seen.largest_weight)
        self._solve(problem, family, classes, seen.dtype, {})
        return self

    def _not_in_order(self) -> str:
        if not isinstance(self._family(), Features):
            return (
                f"weak_rankers={self.weak_rankers!r} are columns of their own; use "
                "weak_rankers='features', or RankBoost for stumps"
            )
        if self.solver == "coordinate":
            return "solver='coordinate' reads columns; use solver='auto' or 'lbfgs'"
        return ""

    def _solve(
        self,
        problem: PushProblem,
        family: WeakRankers,
        classes: NDArray[Any] | None,
        dtype: Any,
        given: dict[str, Any],
    ) -> None:
        """Find the weights, by growing powers where the power is infinite, and store the model."""

        def learned(weights: Floats) -> dict[str, Any]:
            cut = 0.0 if classes is None else self._cut(problem, weights)
            return self._attributes(family, weights, cut, classes, dtype)

        watch = Watch(self, self._rounds(), self.verbose, learned, given)
        options: dict[str, Any] = {
            "weights": self._start_weights(problem.n_weak),
            "max_iter": self._rounds(),
            "tol": self.tol,
            "monitor": watch,
        }
        penalty = Penalty(float(self.alpha), float(self.l1_ratio))
        with closing(watch):
            if self._priced_end()[0] == math.inf:
                solution = minimize_by_continuation(problem, penalty, **options)
            else:
                solution = problem.minimize(None, penalty, **options)
        self._store_solution(solution, learned(solution.weights))
        self._warn_of(solution)

    def _cut(self, problem: PushProblem, weights: Floats) -> float:
        """Cut at probability 1/2 where theory knows it, else at as many rows as positives."""
        objective = self._objective()
        if objective.one_end_power is not None:
            return problem.probability_cut(weights, _formula(objective))
        return problem.matching_cut(weights)

    def _warn_of(self, solution: Solution) -> None:
        # rounds of boosting are a budget, kept as asked for
        if not (solution.status == "max_iter" and self._solver_name() == "coordinate"):
            super()._warn_of(solution)

    def _warn_of_ties(self) -> None:
        warnings.warn(
            f"{type(self).__name__}: every row gets the same score, since the columns of X are "
            "constant; check how X was made.",
            UserWarning,
            stacklevel=5,
        )

    def _solver_name(self) -> Literal["lbfgs", "coordinate"]:
        if self.solver != "auto":
            return self.solver
        return "coordinate" if isinstance(self._family(), Stumps | WeakLearner) else "lbfgs"

    def _rounds(self) -> int:
        if self.max_iter is not None:
            return int(self.max_iter)
        return {"lbfgs": 1000, "coordinate": MAX_ROUNDS}[self._solver_name()]

    @cached_property
    def certificate_(self) -> PushCertificate:
        """The ranking quality measured on the training list, and what the objective promises.

        It costs a sort, so it is computed on first access; the list is kept until then.
        """
        if "_training_list" not in self.__dict__:
            raise AttributeError(
                f"this {type(self).__name__} has no certificate_: it learned from labels of more "
                f"than {CERTIFIED_ROWS} rows, from blocks, grades or pairs, or not at all; certify "
                "makes one for any labelled list."
            )
        return self._certificate(*self.__dict__.pop("_training_list"))

    def __getstate__(self) -> Any:
        if "_training_list" in self.__dict__:
            self.certificate_  # noqa: B018  (the list does not go along)
        return super().__getstate__()

    def certify(
        self, X: Any, y: ArrayLike, sample_weight: Given = None, groups: Given = None
    ) -> PushCertificate:
        """Compare the measured ranking quality of a list with the bound of the objective.

        For the training rows :meth:`fit` stores the result in ``certificate_`` if they are at most
        100,000; it needs a sort, which fits on longer lists avoid.
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

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, 0)
        check_number("l1_ratio", self.l1_ratio, 0, 1)
        check_number("max_iter", self.max_iter, 0, optional=True)
        check_number("tol", self.tol, 0, optional=True)
        check_choice("solver", self.solver, ("auto", "lbfgs", "coordinate"))
        if isinstance(self._family(), WeakLearner):
            self._check_learner()
        self._objective()

    def _check_learner(self) -> None:
        """Refuse options that a learner, which makes one weak ranker per round, cannot have."""
        if self.solver == "lbfgs":
            raise ValueError(
                "a weak learner makes one weak ranker per round, so it needs solver='auto' or "
                "'coordinate', got 'lbfgs'."
            )
        if self.warm_start:
            raise ValueError(
                "a weak learner starts from scratch in every fit; set warm_start=False."
            )


def _formula(push: Push) -> PushFormula:
    """How tilted masses make up a push with a power."""
    return PushFormula(push.power or 1.0, focus_constants(push.focus, push.bottom_weight))


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


@documented(shared=PARAMETERS)
@dataclass(eq=False, repr=False)
class PNormPush(PushRanker):
    """Ranks so that few negatives come near the top: the P-Norm Push.

    Minimises (1/p)·log Σ_k ( Σ_i e^{-(f(x_i) - f(x̃_k))} )^p over positives i and negatives k,
    plus a penalty on the weights, for f a weighted sum of weak rankers. With other losses it is the
    p-th root of the sum, divided by its value when all scores are equal. p = 1 asks for a good list
    as a whole (RankBoost's objective); the larger p is, the more the top of the list counts. A pass
    costs O(rows·features), independent of the number of pairs.

    Parameters
    ----------
    p : float, default=4
        How hard to push, from 1 to inf. On most tables 4 improves the top and still uses the whole
        list; larger values need more rows to generalise.
    loss : {"exponential", "logistic", "hinge", "squared_hinge"}, default="exponential"
        Loss of a pair. The exponential loss is that of the paper, the fastest, and the only one
        with probabilities.
    price : None or a price, default=None
        Price of a negative, as a function of the sum of its pair losses over the positives; None is
        the power ``p``.
    focus : {"top", "bottom", "both"}, default="top"
        The end of the list to get right; "both" adds ``bottom_weight`` times the bottom push.
    bottom_weight : float, default=1
        Weight of the bottom where ``focus="both"``.
    {shared}

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one
    coef_, intercept_ : of shapes (1, n_features) and (1,), for ``weak_rankers="features"``
    weak_rankers_, weights_ : the fitted weak rankers and their weights
    n_iter_, converged_, objective_path_ : how the fit went; the path starts before iteration 1.
        ``p=inf`` is reached by growing powers, whose means are lower bounds: the path holds them
        and ends with the objective itself, and a converged fit is within max(tol, 1e-4) of the
        last bound
    certificate_ : the quality measured on the training list, and what the objective promises, for
        lists of up to 100,000 rows; :meth:`certify` makes it for any list

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

    p: float = 4
    _: KW_ONLY
    price: Any = None
    focus: Literal["top", "bottom", "both"] = "top"
    bottom_weight: float = 1.0

    def _priced_end(self) -> tuple[Any, Literal["top", "bottom", "both"]]:
        return (float(self.p) if self.price is None else self.price), self.focus

    def _objective(self) -> Any:
        return pnorm_push(
            self.p,
            loss=self.loss,
            price=self.price,
            focus=self.focus,
            bottom_weight=self.bottom_weight,
        )

    @property
    def _slope(self) -> float | None:
        return 1.0 + self.p if hasattr(self, "predict_proba") else None

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Give the probability of each class: P(y=1|x) = 1/(1 + e^{-(1+p)·decision_function(x)}).

        Exact for a saturated exponential push; wrap the ranker in CalibratedClassifierCV where the
        weak rankers are few or the penalty strong.
        """
        return self._probabilities(X)


@documented(shared=PARAMETERS)
@dataclass(kw_only=True, eq=False, repr=False)
class IRPush(PushRanker):
    """Ranks so that positives come near the top, as in discounted gain: the IR Push.

    Minimises the mean over positives i of ln(1 + Σ_k e^{-(f(x_i) - f(x̃_k))}) (Rudin 2009,
    equation 2), a convex relative of the discounted cumulative gain. Parameters and attributes are
    the same as those of :class:`PNormPush`, as far as they apply.

    Parameters
    ----------
    loss : {"exponential", "logistic", "hinge", "squared_hinge"}, default="exponential"
        Loss of a pair; the exponential loss is that of the paper. With the others the objective is
        not convex, and a fit ends in one of its local minima.
    {shared}

    Examples
    --------
    >>> from toprank import IRPush
    >>> model = IRPush().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> model.rank([[0.0], [3.0]])
    array([2, 1])
    """

    def _priced_end(self) -> tuple[Any, Literal["top", "bottom", "both"]]:
        return "log1p", "bottom"

    def _objective(self) -> Any:
        return ir_push(loss=self.loss)
