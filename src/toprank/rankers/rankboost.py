"""RankBoost: coordinate descent on the exponential loss of crucial pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from toprank.rankers.boosting import ProbabilityMixin, RankingRounds
from toprank.rankers.boosting_blocks import LearnsFromBlocks
from toprank.rankers.boosting_supervision import LearnsFromGrades, LearnsFromPairs
from toprank.solvers.boosting import boost

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads
    from toprank.rankers.boosting import Lesson
    from toprank.solvers.boosting import Boosted, BoostMonitor
    from toprank.weak_rankers import WeakRankers

__all__ = ["RankBoost"]


class RankBoost(ProbabilityMixin, LearnsFromBlocks, LearnsFromGrades, LearnsFromPairs):
    """Ranks by a weighted sum of weak rankers, one added in each round.

    Minimises F̃ = Σ e^{-(f(x_i) - f(x_k))} over crucial pairs (i belongs above k) by coordinate
    descent: a round takes one weak ranker h_j and goes to the minimum along it. Without missing
    values a stump of which the pairs' weight d₊ goes the right way and d₋ the wrong way gets the
    step ½·ln(d₊/d₋), at most 2 (it is infinite where d₋ = 0). On equal rates the first weak ranker
    wins. With two classes weights are products, so a round costs O(rows·features) at most and
    memory is O(rows), whatever the number of pairs (Freund et al. 2003; Rudin and Schapire 2009,
    section 4.1).

    Parameters
    ----------
    selection : {"largest_decrease", "steepest"}, default="largest_decrease"
        The weak ranker of a round: the one that lowers the loss most, as RankBoost does
        (equation 5), or the one of largest slope, as coordinate descent does (equation 3).
        The first needs fewer rounds; for real-valued weak rankers it costs a line search each.
    weak_rankers : {"stumps", "features"}, transformer, list of functions or Stumps, \
default="stumps"
        What f is built from: thresholds on single features, which need no scaling and take
        missing values (on the side that ranks better); features scaled to [0, 1]; the output
        columns of a transformer; functions of the table. ``Stumps(n_bins=64,
        missing="abstain")`` sets bins and missing values.
    directions : {"both", "increasing"}, default="both"
        "increasing" allows positive weights only: a larger value never lowers the score.
    max_iter : int, default=100
        Most rounds. A budget, as usual in boosting: a hundred stumps can still be read.
    tol : float or None, default=1e-8
        Stop when no weak ranker has a larger rate (at most 1 to begin with), or when all pairs
        are right and the loss is below e^-30 of its start; None stops at ``max_iter`` only.
    early_stopping : bool, default=False
        Hold out a share of the rows (of the lists, where there are groups), and keep the round
        at which they were ranked best. Off, since small tables need every row.
    scoring : str, scorer or None, default=None
        What the held-out rows are judged by: a name of ``toprank.metrics.names()``, a scorer such
        as ``toprank.metrics.scorer("precision_at_k", k=100)``; None is the ROC AUC or, for
        grades, NDCG.
    validation_fraction : float, default=0.1
        Share to hold out, as in scikit-learn.
    n_iter_no_change : int, default=20
        Rounds without a better score after which to stop; a fifth of the default rounds.
    n_jobs : int or None, default=None
        Threads for stumps, as in scikit-learn (None is 1, -1 all). The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the rows held out.
    verbose : int, default=0
        1 prints every tenth round, 2 every one.

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one
    weak_rankers_, weights_, intercept_ : f(x) = Σ weights_·h(x) + intercept_
    selected_, steps_, intercepts_ : weak ranker, step and intercept of every round
    n_iter_, converged_ : how the fit went
    objective_path_ : ln F̃ before the first round and after each one
    validation_path_ : score of the held-out rows, likewise

    Examples
    --------
    >>> from toprank import RankBoost
    >>> from toprank.datasets import load_digits_eights
    >>> X, y = load_digits_eights(return_X_y=True)
    >>> model = RankBoost(max_iter=50).fit(X[:1000], y[:1000])
    >>> int(y[1000:][model.top(X[1000:], 40)].sum())
    38
    >>> print(model.to_frame()[["weak_ranker", "weight"]].round(2).head(2))
      weak_ranker  weight
    ...
    """

    def __init__(
        self,
        selection: Literal["largest_decrease", "steepest"] = "largest_decrease",
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
        self.selection = selection
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
            selection=self.selection,
            both=self.directions == "both",
            max_iter=self.max_iter,
            tol=self.tol,
            intercept=rounds.intercept,
            monitor=monitor,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.selection not in ("largest_decrease", "steepest"):
            raise ValueError(
                f"selection must be 'largest_decrease' or 'steepest', got {self.selection!r}."
            )
