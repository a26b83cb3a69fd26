"""Boosted rankers of one list or several.

RankBoost, smooth margin ranking and AdaBoost (Rudin and Schapire 2009), and SoftRankBoost, whose
bounded weights are for labels that are partly wrong.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from toprank.blocks import classes_of_one_list, survey
from toprank.guarantees.ranking_margins import MarginCertificate, SoftMarginCertificate
from toprank.inputs import check_choice, check_number
from toprank.rankers.base import keep_columns
from toprank.rankers.boosting import (
    BoostedListsMixin,
    BoostedPairsMixin,
    BoostedRanker,
    ExponentialRanker,
    OneListMixin,
    RoundMonitor,
    shared_docs,
    warn_if_equal,
)
from toprank.rankers.callbacks import with_callbacks
from toprank.solvers.boosting import POSITIVE, boost, state_on
from toprank.solvers.boosting_classes import PassState, fit_stumps
from toprank.solvers.boosting_states import ColumnState
from toprank.solvers.cuts import matching_intercept
from toprank.solvers.soft_boosting import CappedMargins
from toprank.weak_rankers import Stumps, WeakLearner

if TYPE_CHECKING:
    from toprank.blocks import Blocks
    from toprank.kernels.threads import Threads
    from toprank.solvers.boosting import Boosted, BoostMonitor
    from toprank.truth import Truth
    from toprank.weak_rankers import WeakRankers


@shared_docs(patience=20)
@dataclass(eq=False, repr=False)
class RankBoost(BoostedListsMixin, ExponentialRanker):
    """Ranks by a weighted sum of weak rankers, one added in each round.

    Minimises F̃ = Σ e^{-(f(x_i) - f(x_k))} over crucial pairs (i should be above k) by coordinate
    descent: a round takes one weak ranker h_j and goes to the minimum along it. Without missing
    values a stump of which the pairs' weight d₊ goes the right way and d₋ the wrong way gets the
    step ½·ln(d₊/d₋) (equation 4). Of equal rates the first weak ranker is taken. With two classes
    weights are products, so a round costs O(rows·features) at most and memory is O(rows),
    independent of the number of pairs (Freund et al. 2003; Rudin and Schapire 2009, section 4.1).

    Parameters
    ----------
    selection : {"largest_decrease", "steepest"}, default="largest_decrease"
        The weak ranker of a round: the one that lowers the loss most, as RankBoost does
        (equation 5), or the one of largest slope, as coordinate descent does (equation 3).
        The first needs fewer rounds; for real-valued weak rankers it costs a line search each,
        and weak rankers of a learner go by their slope.
    {weak_rankers}
    max_iter : int, default=100
        Maximum number of rounds. A model of a hundred stumps can still be read.
    tol : float or None, default=1e-8
        Stop when no weak ranker has a larger rate (at most 1 to begin with), or when all pairs
        are right and the loss is below e^-30 of its start; None stops at ``max_iter`` only.
    {max_step}
    {early_stopping}

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

    selection: Literal["largest_decrease", "steepest"] = "largest_decrease"

    def _rules(self) -> dict[str, Any]:
        is_learned = isinstance(self._family(), WeakLearner)
        return {"selection": "steepest" if is_learned else self.selection, **super()._rules()}

    @with_callbacks
    def fit_blocks(self, blocks: Blocks) -> Self:
        """Fit on labelled rows in blocks, in one list: the same stumps as those of :meth:`fit`.

        Two passes find thresholds, one computes the bins, and each round is one more pass over the
        bins. Only for stumps, without early stopping. For ``blocks`` see
        :meth:`PNormPush.fit_blocks`, which has an example.
        """
        self._check_parameters()
        family = self._family()
        if not isinstance(family, Stumps):
            raise ValueError(  # noqa: TRY004  (a value of weak_rankers)
                "rows in blocks are boosted with weak_rankers='stumps' only, "
                f"got {self.weak_rankers!r}."
            )
        if self.early_stopping:
            raise ValueError(
                "early_stopping=True needs rows in memory; choose max_iter on a part of the rows."
            )
        seen = survey(blocks, accepts_missing=True)
        classes = classes_of_one_list(seen)
        keep_columns(self, seen.low.size, blocks.feature_names)
        fit_stumps(family, blocks, seen)
        family.has_missing_ = seen.missing
        with (
            closing(PassState(blocks, family, classes[1], seen.largest_weight)) as state,
            closing(RoundMonitor(self, family, None, None, {})) as monitor,
        ):
            run = self._boost(state, monitor)
        self._store_run(family, classes, run)
        warn_if_equal(self, stacklevel=4)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("selection", self.selection, ("largest_decrease", "steepest"))


@shared_docs(patience=200)
@dataclass(kw_only=True, eq=False, repr=False)
class SmoothMarginRanker(BoostedListsMixin, ExponentialRanker):
    """Ranks with the largest margin that a weighted sum of weak rankers can have.

    Maximises the smooth margin G̃ = -ln F̃ / ‖λ‖₁ with F̃ = Σ e^{-(f(x_i) - f(x_k))} over crucial
    pairs. It lies below the margin min (f(x_i) - f(x_k)) / ‖λ‖₁ and comes close to it as ‖λ‖₁
    grows. Rounds are those of coordinate descent RankBoost until G̃ > 0; from then on the step
    solves g·τ = -τ' (equation 12, in a form that is stable at d₋ = 0) or maximises G̃ along the
    weak ranker (equation 10). ‖λ‖₁ counts the length of all steps, as the paper does, whose weak
    rankers and their negatives have separate weights. Weights of rows or pairs are relative to the
    smallest weight of a pair, so that G̃ stays below the margin, on which weights have no
    influence: multiplying all of them changes nothing. Where pairs cannot be separated G̃ never
    gets positive, and the model is that of ``RankBoost`` with ``selection="steepest"``. A round
    costs what it costs there (Rudin and Schapire 2009, section 4.2).

    Parameters
    ----------
    ascent : {"approximate", "exact"}, default="approximate"
        "approximate" takes the step at which the edge has fallen to the present G̃, in closed form
        for stumps, as smooth margin ranking does; "exact" goes to the largest G̃ along the weak
        ranker (coordinate ascent), a line search that gains more per round.
    {weak_rankers}
    max_iter : int, default=1000
        Most rounds. Ten times those of RankBoost, since the margin is found slowly.
    tol : float or None, default=1e-2
        Stop when the best margin is known to be within ``tol`` of G̃: no edge falls below it. A
        hundredth of the largest margin there is; rounds can grow like 1/tol².
    {max_step}
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

    ascent: Literal["approximate", "exact"] = "approximate"
    max_iter: int = 1000
    tol: float | None = 1e-2
    n_iter_no_change: int = 200

    def _rules(self) -> dict[str, Any]:
        return {"selection": "steepest", "ascent": self.ascent, **super()._rules()}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("ascent", self.ascent, ("approximate", "exact"))

    def _store_run(self, family: WeakRankers, classes: NDArray[Any] | None, run: Boosted) -> None:
        super()._store_run(family, classes, run)
        self.smooth_margin_path_ = np.array(run.smooth_margins)
        self.edges_ = np.array(run.edges)
        self.silent_shares_ = np.array(run.silent)
        reached = run.smooth_margins[-1] if run.n_iter else -np.inf
        ceiling = min(run.edges, default=1.0)
        self.certificate_ = MarginCertificate(reached, ceiling, reached > POSITIVE)


@shared_docs(patience=20)
@dataclass(kw_only=True, eq=False, repr=False)
class AdaBoostRanker(OneListMixin, ExponentialRanker):
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
        Maximum number of rounds, as in :class:`RankBoost`.
    tol : float or None, default=1e-8
        Stop when no weak classifier has a larger rate, or when all rows are right and the loss is
        below e^-30 of its start; None stops at ``max_iter`` only.
    {max_step}
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
        return run

    def _store_run(self, family: WeakRankers, classes: NDArray[Any] | None, run: Boosted) -> None:
        super()._store_run(family, classes, run)
        skews = [np.exp(positives) - np.exp(negatives) for positives, negatives in run.class_losses]
        with np.errstate(over="ignore"):  # in the units of the weights that were given
            self.f_skew_path_ = np.ldexp(skews, round(run.log_unit / math.log(2.0)))


@shared_docs(patience=200)
@dataclass(eq=False, repr=False)
class SoftRankBoost(BoostedPairsMixin, OneListMixin, BoostedRanker):
    """Ranks by boosting with bounded row weights, so that wrong labels cannot dominate.

    Maximises the soft margin of f/‖λ‖₁: the mean of the lowest ν⁺·p positives minus that of the
    highest ν⁻·n negatives, with ν⁺·ν⁻ = ν (after ``fit_pairs``: the mean of the smallest pair
    margins, a share ν of them). A row never weighs more than 1/(ν⁺p) or 1/(ν⁻n) of its class. The
    fit ends when the soft margin is within a share ``delta`` of the best possible, after at most
    ln(1/ν)/(delta·ρ*)² rounds; then at least (1 - ν⁺)(1 - ν⁻) of the pairs, (1 - √ν)² with the
    default ν⁺, have that margin (Suehiro, Hatano and Takimoto 2018). The proof is in the
    documentation of :mod:`toprank.solvers.soft_boosting`. A round costs some sorts and a pass over
    the table.

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
        nus = self._nus() if truth.pairs is None else (float(self.nu),)
        return ColumnState(family.design(table, threads=threads), CappedMargins(truth, nus))

    def _boost(self, state: Any, monitor: BoostMonitor) -> Boosted:
        truth = state.criterion.truth

        def give_intercept(run: Boosted) -> bool:
            intercept = 0.0
            if truth.pairs is None:
                intercept = matching_intercept(state.scores, truth.positives, truth.weights)
            run.intercepts.append(intercept)
            return monitor(run)

        rules = {"selection": "steepest", "delta": float(self.delta), **self._rules()}
        return boost(state, monitor=give_intercept, **rules)

    def _store_run(self, family: WeakRankers, classes: NDArray[Any] | None, run: Boosted) -> None:
        super()._store_run(family, classes, run)
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
