"""Smooth margin ranking: boosting towards the largest margin of all crucial pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from toprank.guarantees.boosting_certificates import MarginCertificate
from toprank.rankers.boosting import ProbabilityMixin, RankingRounds
from toprank.rankers.boosting_supervision import LearnsFromGrades, LearnsFromPairs
from toprank.solvers.boosting import POSITIVE, boost

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads
    from toprank.rankers.boosting import Lesson
    from toprank.solvers.boosting import Boosted, BoostMonitor
    from toprank.weak_rankers import WeakRankers

__all__ = ["SmoothMarginRanker"]


class SmoothMarginRanker(ProbabilityMixin, LearnsFromGrades, LearnsFromPairs):
    """Ranks with the largest margin that a weighted sum of weak rankers can have.

    Maximises the smooth margin G̃ = -ln F̃ / ‖λ‖₁ with F̃ = Σ e^{-(f(x_i) - f(x_k))} over crucial
    pairs. It lies below the margin min (f(x_i) - f(x_k)) / ‖λ‖₁ and comes close to it as
    ‖λ‖₁ grows. Rounds are those of coordinate descent RankBoost until G̃ > 0; from then on the
    step solves g·τ = -τ' (equation 12, in a form that is stable at d₋ = 0) or, for real-valued
    weak rankers, maximises G̃ along the weak ranker (equation 10). ‖λ‖₁ counts the length of all
    steps, as the paper does, whose weak rankers and their negatives have separate weights. Weights
    of rows or pairs are relative to the smallest weight of a pair, so that G̃ stays below the
    margin, on which weights have no influence: multiplying all of them changes nothing. Where
    pairs cannot be separated G̃ never gets positive, and the model is that of ``RankBoost`` with
    ``selection="steepest"``. A round costs what it costs there (Rudin and Schapire 2009,
    section 4.2).

    Parameters
    ----------
    weak_rankers : {"stumps", "features"}, transformer, list of functions or Stumps, \
default="stumps"
        What f is built from, as in :class:`RankBoost`.
    directions : {"both", "increasing"}, default="both"
        "increasing" allows positive weights only.
    max_iter : int, default=1000
        Most rounds. Ten times those of RankBoost, since the margin is found slowly.
    tol : float or None, default=1e-2
        Stop when the best margin is known to be within ``tol`` of G̃: no edge falls below it. A
        hundredth of the largest margin there is; rounds can grow like 1/tol².
    early_stopping : bool, default=False
        Keep the round at which held-out rows were ranked best.
    scoring : str, scorer or None, default=None
        What the held-out rows are judged by, as in :class:`RankBoost`.
    validation_fraction : float, default=0.1
        Share to hold out.
    n_iter_no_change : int, default=200
        Rounds without a better score after which to stop; a fifth of the default rounds.
    n_jobs : int or None, default=None
        Threads for stumps. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the rows held out.
    verbose : int, default=0
        1 prints every tenth round, 2 every one.

    Attributes
    ----------
    smooth_margin_path_ : G̃ after each round
    certificate_ : MarginCertificate(smooth_margin, ceiling, separable)
    edges_, silent_shares_ : r and d₀ of the weak ranker of each round; where
        d₀ < ⅔(1 - r)(1 - r²), Theorem 7 promises that G̃ rises
    classes_, weak_rankers_, weights_, intercept_, selected_, steps_, intercepts_, n_iter_, \
converged_, objective_path_, validation_path_ : as in :class:`RankBoost`

    Examples
    --------
    >>> from toprank import SmoothMarginRanker
    >>> model = SmoothMarginRanker().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.certificate_.separable
    True
    """

    def __init__(
        self,
        *,
        weak_rankers: Any = "stumps",
        directions: Literal["both", "increasing"] = "both",
        max_iter: int = 1000,
        tol: float | None = 1e-2,
        early_stopping: bool = False,
        scoring: Any = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 200,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
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

    def _run(
        self, family: WeakRankers, lesson: Lesson, threads: Threads, monitor: BoostMonitor
    ) -> Boosted:
        rounds = RankingRounds(family, lesson, threads)
        return boost(
            rounds.arena,
            selection="steepest",
            smooth=True,
            both=self.directions == "both",
            max_iter=self.max_iter,
            tol=self.tol,
            intercept=rounds.intercept,
            monitor=monitor,
        )

    def _keep(self, run: Boosted, n_weak: int) -> Self:
        super()._keep(run, n_weak)
        self.smooth_margin_path_ = np.array(run.smooth_margins)
        self.edges_ = np.array(run.edges)
        self.silent_shares_ = np.array(run.silent)
        reached = run.smooth_margins[-1] if run.n_iter else -np.inf
        ceiling = min(run.edges, default=1.0)
        self.certificate_ = MarginCertificate(reached, ceiling, reached > POSITIVE)
        return self
