"""SoftRankBoost: boosting with bounded weights, for labels that are partly wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from toprank.guarantees.boosting_certificates import SoftMarginCertificate
from toprank.inputs import scaled_weights
from toprank.rankers.boosting import check_number
from toprank.rankers.boosting_supervision import LearnsFromPairs
from toprank.rankers.callbacks import with_callbacks
from toprank.rankers.cuts import matching_intercept
from toprank.solvers.boosting_columns import ColumnArena
from toprank.solvers.boosting_truth import Labels
from toprank.solvers.soft_boosting import CappedClasses, CappedPairs, soft_boost

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from toprank.kernels.threads import Threads
    from toprank.rankers.boosting import Lesson
    from toprank.solvers.boosting import Boosted, BoostMonitor
    from toprank.solvers.boosting_truth import Truth
    from toprank.weak_rankers import WeakRankers

__all__ = ["SoftRankBoost"]


class SoftRankBoost(LearnsFromPairs):
    """Ranks by boosting whose weights stay bounded, so that no wrong label gets all of them.

    Maximises the soft margin of f/‖λ‖₁: the mean of the lowest ν⁺·p positives minus that of the
    highest ν⁻·n negatives, with ν⁺·ν⁻ = ν (after ``fit_pairs``: the mean of the smallest pair
    margins, a share ν of them). A row never weighs more than 1/(ν⁺p) or 1/(ν⁻n) of its class. The
    fit ends when the soft margin is within a share ``delta`` of the best possible, after at most
    ln(1/ν)/(delta·ρ*)² rounds; then at least (1 - ν⁺)(1 - ν⁻) of the pairs, (1 - √ν)² with the
    default ν⁺, have that margin (Corollary 4 of Suehiro, Hatano and Takimoto 2018). The proof
    is in the documentation of :mod:`toprank.solvers.soft_boosting`. A round costs some sorts and
    a pass over the table.

    Parameters
    ----------
    nu : float, default=0.2
        Share of the pairs that may be wrong, above 0 and at most 1: about twice the share of
        wrong labels. The smaller, the closer to RankBoost.
    nu_plus : float or None, default=None
        ν⁺, the share of positives to average over, from ν to 1; None is √ν, the same for both
        classes.
    delta : float, default=0.1
        How close to the best soft margin to go; rounds grow like 1/delta².
    weak_rankers : {"stumps", "features"}, transformer, list of functions or Stumps, \
default="stumps"
        What f is built from, as in :class:`RankBoost`.
    directions : {"both", "increasing"}, default="both"
        "increasing" allows positive weights only.
    max_iter : int, default=1000
        Most rounds.
    tol : float, default=1e-8
        Stop when no weak ranker has an edge above it: then the best soft margin is 0.
    early_stopping : bool, default=False
        Keep the round at which held-out rows were ranked best.
    scoring : str, scorer or None, default=None
        What the held-out rows are judged by, as in :class:`RankBoost`.
    validation_fraction : float, default=0.1
        Share to hold out.
    n_iter_no_change : int, default=200
        Rounds without a better score after which to stop; a fifth of the default rounds.
    n_jobs : int or None, default=None
        Threads for binning. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the rows held out.
    verbose : int, default=0
        1 prints every tenth round, 2 every one.

    Attributes
    ----------
    certificate_ : SoftMarginCertificate(soft_margin, ceiling, share)
    soft_margin_path_ : soft margin of f/‖λ‖₁ after each round
    classes_, weak_rankers_, weights_, intercept_, selected_, steps_, intercepts_, n_iter_, \
converged_, objective_path_, validation_path_ : as in :class:`RankBoost`; the path is of S

    Examples
    --------
    >>> from toprank import SoftRankBoost
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> SoftRankBoost(nu=0.5).fit(X, y).rank([[0.0], [3.0]])
    array([2, 1])
    """

    def __init__(
        self,
        nu: float = 0.2,
        *,
        nu_plus: float | None = None,
        delta: float = 0.1,
        weak_rankers: Any = "stumps",
        directions: Literal["both", "increasing"] = "both",
        max_iter: int = 1000,
        tol: float = 1e-8,
        early_stopping: bool = False,
        scoring: Any = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 200,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.nu = nu
        self.nu_plus = nu_plus
        self.delta = delta
        self.weak_rankers = weak_rankers
        self.directions = directions
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn from a table and its labels; the bound is on rows of one list.

        The arguments are those of :meth:`RankBoost.fit`.
        """
        return self._fit_labels(X, y, sample_weight, None, validation)

    def _nus(self) -> tuple[float, float]:
        plus = float(np.sqrt(self.nu)) if self.nu_plus is None else float(self.nu_plus)
        return plus, float(self.nu) / plus

    def _run(
        self,
        family: WeakRankers,
        lesson: Lesson,
        threads: Threads,  # noqa: ARG002  (sorts take the time, not columns)
        monitor: BoostMonitor,
    ) -> Boosted:
        truth = lesson.truth
        if truth.weights is not None:  # the criterion does not depend on their size
            truth = truth._replace(weights=scaled_weights(truth.weights))
        criterion = self._criterion(truth, lesson.table.shape[0])
        arena = ColumnArena(family.design(lesson.table), criterion)

        def intercept() -> float:
            if not isinstance(truth, Labels):
                return 0.0
            return matching_intercept(arena.scores, truth.positives, truth.weights)

        result = soft_boost(
            arena,
            criterion,
            delta=float(self.delta),
            both=self.directions == "both",
            max_iter=self.max_iter,
            tol=float(self.tol),
            intercept=intercept,
            monitor=monitor,
        )
        self._soft = (result.soft_margins, result.ceiling, self._promise(truth))
        return result.rounds

    def _criterion(self, truth: Truth, n_rows: int) -> CappedClasses | CappedPairs:
        if isinstance(truth, Labels):
            return CappedClasses(truth.positives, truth.weights, *self._nus())
        return CappedPairs(truth.pairs, truth.weights, float(self.nu), n_rows)  # type: ignore[union-attr]

    def _promise(self, truth: Any) -> float:
        if not isinstance(truth, Labels):
            return 1.0 - float(self.nu)
        plus, minus = self._nus()
        return (1.0 - plus) * (1.0 - minus)

    def _keep(self, run: Boosted, n_weak: int) -> Self:
        super()._keep(run, n_weak)
        margins, ceiling, share = self._soft
        del self._soft
        self.soft_margin_path_ = np.array(margins[: run.n_iter])
        reached = float(self.soft_margin_path_[-1]) if run.n_iter else 0.0
        self.certificate_ = SoftMarginCertificate(reached, ceiling, share)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("nu", self.nu, 0.0, 1.0)
        if not self.nu > 0:
            raise ValueError(f"nu must be above 0, got {self.nu!r}; for no bound use RankBoost.")
        if self.nu_plus is not None:
            check_number("nu_plus", self.nu_plus, float(self.nu), 1.0)
        check_number("delta", self.delta, 0.0, 1.0)
        if not 0 < self.delta < 1:
            raise ValueError(f"delta must lie between 0 and 1, got {self.delta!r}.")
