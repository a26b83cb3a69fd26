"""SoftRankBoost: boosting with bounded weights, for labels that are partly wrong."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.guarantees.ranking_margins import SoftMarginCertificate
from toprank.inputs import check_number
from toprank.rankers.boosting import BoostedPairsMixin, BoostedRanker, OneListMixin, shared_docs
from toprank.solvers.boosting_columns import ColumnState
from toprank.solvers.cuts import matching_intercept
from toprank.solvers.soft_boosting import CappedClasses, CappedPairs, SoftBoosted, soft_boost

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads
    from toprank.solvers.boosting import Boosted, BoostMonitor
    from toprank.truth import Truth
    from toprank.weak_rankers import WeakRankers


@shared_docs(patience=200)
@dataclass(eq=False, repr=False)
class SoftRankBoost(BoostedPairsMixin, OneListMixin, BoostedRanker):
    """Ranks by boosting with bounded row weights, so that wrong labels cannot dominate.

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
    {weak_rankers}
    max_iter : int, default=1000
        Most rounds.
    tol : float, default=1e-8
        Stop when no weak ranker has an edge above it: then the best soft margin is 0.
    {early_stopping}

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

    nu: float = 0.2
    _: KW_ONLY
    nu_plus: float | None = None
    delta: float = 0.1
    max_iter: int = 1000
    n_iter_no_change: int = 200

    def _nus(self) -> tuple[float, float]:
        plus = float(np.sqrt(self.nu)) if self.nu_plus is None else float(self.nu_plus)
        return plus, float(self.nu) / plus

    def _state(self, family: WeakRankers, table: Any, truth: Truth, threads: Threads) -> Any:
        truth, _ = truth.scaled()  # the criterion does not depend on the size of the weights
        criterion: CappedClasses | CappedPairs
        if truth.pairs is None:
            criterion = CappedClasses(truth.positives, truth.weights, *self._nus())
        else:
            criterion = CappedPairs(truth.pairs, truth.pair_weights, float(self.nu), truth.n_rows)
        return ColumnState(family.design(table, threads=threads), criterion)

    def _boost(self, state: Any, monitor: BoostMonitor) -> Boosted:
        intercept = None
        if isinstance(state.criterion, CappedClasses):
            intercept = partial(
                matching_intercept,
                positives=state.criterion.positives,
                weights=state.criterion.weights,
            )
        return soft_boost(
            state, delta=float(self.delta), intercept=intercept, monitor=monitor, **self._rules()
        )

    def _store_run(self, family: WeakRankers, classes: NDArray[Any] | None, run: Boosted) -> None:
        super()._store_run(family, classes, run)
        assert isinstance(run, SoftBoosted)  # noqa: S101  (what _boost gives)
        plus, minus = self._nus()
        share = 1.0 - float(self.nu) if classes is None else (1.0 - plus) * (1.0 - minus)
        self.soft_margin_path_ = np.array(run.soft_margins)
        reached = float(self.soft_margin_path_[-1]) if run.n_iter else 0.0
        self.certificate_ = SoftMarginCertificate(reached, run.ceiling, share)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("nu", self.nu, 0.0, 1.0)
        if not self.nu > 0:
            raise ValueError(f"nu must be above 0, got {self.nu!r}; for no bound use RankBoost.")
        check_number("nu_plus", self.nu_plus, float(self.nu), 1.0, optional=True)
        check_number("delta", self.delta, 0.0, 1.0, inside=True)
