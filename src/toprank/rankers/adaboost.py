"""AdaBoost as a ranker: with the constant classifier it ranks as RankBoost does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from toprank.rankers.boosting import BoostedRanker, ProbabilityMixin
from toprank.rankers.callbacks import with_callbacks
from toprank.solvers.boosting import boost
from toprank.solvers.boosting_truth import arena_on

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from toprank.kernels.threads import Threads
    from toprank.rankers.boosting import Lesson
    from toprank.solvers.boosting import Boosted, BoostMonitor
    from toprank.weak_rankers import WeakRankers

__all__ = ["AdaBoostRanker"]


class AdaBoostRanker(ProbabilityMixin, BoostedRanker):
    """Classifies with AdaBoost and ranks by its score.

    Minimises F = Σ e^{-y_i·f(x_i)} over rows with y = ±1, with weak classifiers 2h - 1 for weak
    rankers h, and the constant one among them. Then F-skew, F₊ - F₋, goes to 0 and AdaBoost
    minimises RankBoost's loss as well (Rudin and Schapire 2009, Corollary 11): run long enough
    both have the same ROC AUC. Stopped early AdaBoost is ahead in classification, RankBoost in
    ranking. A round costs what it costs in :class:`RankBoost`.

    Parameters
    ----------
    weak_rankers : {"stumps", "features"}, transformer, list of functions or Stumps, \
default="stumps"
        What f is built from, as in :class:`RankBoost`.
    directions : {"both", "increasing"}, default="both"
        "increasing" allows positive weights only, but for the constant.
    max_iter : int, default=100
        Most rounds, a budget as in :class:`RankBoost`.
    tol : float or None, default=1e-8
        Stop when no weak classifier has a larger rate, or when all rows are right and the loss is
        below e^-30 of its start; None stops at ``max_iter`` only.
    early_stopping : bool, default=False
        Keep the round at which held-out rows were ranked best.
    scoring : str, scorer or None, default=None
        What the held-out rows are judged by, as in :class:`RankBoost`.
    validation_fraction : float, default=0.1
        Share to hold out.
    n_iter_no_change : int, default=20
        Rounds without a better score after which to stop.
    n_jobs : int or None, default=None
        Threads for stumps. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the rows held out.
    verbose : int, default=0
        1 prints every tenth round, 2 every one.

    Attributes
    ----------
    f_skew_path_ : F₊ - F₋ after each round; near 0, the model ranks as RankBoost would
    classes_, weak_rankers_, weights_, intercept_, selected_, steps_, intercepts_, n_iter_, \
converged_, objective_path_, validation_path_ : as in :class:`RankBoost`; ``selected_`` is the \
number of weak rankers in a round of the constant, and the path is of ln F

    Examples
    --------
    >>> from toprank import AdaBoostRanker
    >>> model = AdaBoostRanker(max_iter=20).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> model.rank([[0.0], [3.0]])
    array([2, 1])
    """

    _coefficient = 2.0  # a step moves the score of a row from -step to step

    def __init__(
        self,
        *,
        weak_rankers: Any = "stumps",
        directions: Literal["both", "increasing"] = "both",
        max_iter: int = 100,
        tol: float | None = 1e-8,
        early_stopping: bool = False,
        scoring: Any = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
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

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn from a table and its labels; rows are classified one by one, so without lists.

        The arguments are those of :meth:`RankBoost.fit`.
        """
        return self._fit_labels(X, y, sample_weight, None, validation)

    def _run(
        self, family: WeakRankers, lesson: Lesson, threads: Threads, monitor: BoostMonitor
    ) -> Boosted:
        arena, _ = arena_on(family, lesson.table, lesson.truth, classify=True, threads=threads)
        skews: list[float] = []

        def intercept() -> float:
            positives, negatives = arena.class_losses()  # type: ignore[attr-defined]
            skews.append(float(np.exp(positives) - np.exp(negatives)))
            return 0.0

        run = boost(
            arena,
            selection="steepest",
            both=self.directions == "both",
            free=arena.n_weak - 1,
            max_iter=self.max_iter,
            tol=self.tol,
            intercept=intercept,
            monitor=monitor,
        )
        # in the units of the weights that were given
        with np.errstate(over="ignore"):
            self._skews = np.ldexp(skews, round(arena.log_unit / math.log(2.0)))
        is_constant = np.array(run.indices, dtype=np.intp) == arena.n_weak - 1
        run.intercepts = np.cumsum(np.where(is_constant, run.steps, -np.array(run.steps))).tolist()
        return run

    def _keep(self, run: Boosted, n_weak: int) -> Self:
        super()._keep(run, n_weak)
        self.f_skew_path_ = self._skews[: run.n_iter]
        del self._skews
        return self
