"""Smooth margin ranking: boosting towards the largest margin of all crucial pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.guarantees.certificates import MarginCertificate
from toprank.rankers.boosting import PairBoostedRanker, shared_docs
from toprank.solvers.boosting import POSITIVE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.solvers.boosting import Boosted
    from toprank.weak_rankers import WeakRankers

__all__ = ["SmoothMarginRanker"]


@shared_docs(patience=200)
@dataclass(kw_only=True, eq=False, repr=False)
class SmoothMarginRanker(PairBoostedRanker):
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
    {weak_rankers}
    max_iter : int, default=1000
        Most rounds. Ten times those of RankBoost, since the margin is found slowly.
    tol : float or None, default=1e-2
        Stop when the best margin is known to be within ``tol`` of G̃: no edge falls below it. A
        hundredth of the largest margin there is; rounds can grow like 1/tol².
    {early_stopping}

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

    max_iter: int = 1000
    tol: float | None = 1e-2
    n_iter_no_change: int = 200

    def _rules(self) -> dict[str, Any]:
        return {"selection": "steepest", "smooth": True, **super()._rules()}

    def _store_run(self, family: WeakRankers, classes: NDArray[Any] | None, run: Boosted) -> None:
        super()._store_run(family, classes, run)
        self.smooth_margin_path_ = np.array(run.smooth_margins)
        self.edges_ = np.array(run.edges)
        self.silent_shares_ = np.array(run.silent)
        reached = run.smooth_margins[-1] if run.n_iter else -np.inf
        ceiling = min(run.edges, default=1.0)
        self.certificate_ = MarginCertificate(reached, ceiling, reached > POSITIVE)
