"""AdaBoost as a ranker: with the constant classifier it ranks as RankBoost does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.rankers.boosting import BoostedRanker, OneListMixin, ProbabilityMixin, shared_docs
from toprank.solvers.boosting import boost
from toprank.solvers.boosting_setup import state_on

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.kernels.threads import Threads
    from toprank.solvers.boosting import Boosted, BoostMonitor
    from toprank.truth import Truth
    from toprank.weak_rankers import WeakRankers

__all__ = ["AdaBoostRanker"]


@shared_docs(patience=20)
@dataclass(kw_only=True, eq=False, repr=False)
class AdaBoostRanker(ProbabilityMixin, OneListMixin, BoostedRanker):
    """Classifies with AdaBoost and ranks by its score.

    Minimises F = Σ e^{-y_i·f(x_i)} over rows with y = ±1, with weak classifiers 2h - 1 for weak
    rankers h, and the constant one among them. Then F-skew, F₊ - F₋, goes to 0 and AdaBoost
    minimises RankBoost's loss as well (Rudin and Schapire 2009, Corollary 11): run long enough
    both have the same ROC AUC. Stopped early AdaBoost is ahead in classification, RankBoost in
    ranking. A round costs what it costs in :class:`RankBoost`.

    Parameters
    ----------
    {weak_rankers}
    max_iter : int, default=100
        Most rounds, a budget as in :class:`RankBoost`.
    tol : float or None, default=1e-8
        Stop when no weak classifier has a larger rate, or when all rows are right and the loss is
        below e^-30 of its start; None stops at ``max_iter`` only.
    {early_stopping}

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

    def _state(self, family: WeakRankers, table: Any, truth: Truth, threads: Threads) -> Any:
        return state_on(family, table, truth, classify=True, threads=threads)

    def _boost(self, state: Any, monitor: BoostMonitor) -> Boosted:
        constant = state.n_weak - 1
        run = boost(state, selection="steepest", free=constant, monitor=monitor, **self._rules())
        steps, is_constant = np.array(run.steps), np.array(run.indices, dtype=np.intp) == constant
        run.intercepts = np.cumsum(np.where(is_constant, steps, -steps)).tolist()
        self._exponent = round(state.log_unit / math.log(2.0))
        return run

    def _store_run(self, family: WeakRankers, classes: NDArray[Any] | None, run: Boosted) -> None:
        super()._store_run(family, classes, run)
        skews = [np.exp(positives) - np.exp(negatives) for positives, negatives in run.class_losses]
        with np.errstate(over="ignore"):  # in the units of the weights that were given
            self.f_skew_path_ = np.ldexp(skews, self.__dict__.pop("_exponent"))
