"""What a ranking SVM promises, and whether it holds (Suehiro, Hatano and Takimoto 2018).

With margins (h(x⁺) - h(x⁻))/2 and AUC_{S,ρ}(h) the share of the pairs of the sample S whose margin
is at least ρ:

==============================  =====================================  ========================
form                            promise for AUC_{S,ρ̂}                  stated as
==============================  =====================================  ========================
hard margin                     1                                      OP 1
exact, 1-norm and 2-norm        1 - ν                                  equations (1) and (A·1)
product                         (1 - ν⁺)·(1 - ν/ν⁺)                    Theorems 3 and 5
product with ν⁺ = √ν            (1 - √ν)²                              Corollaries 4 and 6
==============================  =====================================  ========================

All of them need no more of ρ̂ than that it is the ν-quantile of the margins (of the scores of each
class): they hold for any weights, and a pair that ties with ρ̂ counts as reaching it. So they are
measured here on the final scores and not on the solver's word.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_scores, check_number
from toprank.kernels.pair_blocks import PairBlocks, weight_below
from toprank.truth import Truth, as_positives

if TYPE_CHECKING:
    from toprank.objectives.base import RowOptions

# What rounding may take from a share of pairs.
ROUNDING = 1e-12
# What rounding may do to a margin, as a share of the range of the scores. A product with a table
# is rounded differently row by row and all at once, and where columns lie far from 0 large terms
# cancel; the square root of the precision leaves room for both.
OF_RANGE = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-8}
# A promise below one pair by more than this share of it promises nothing.
ONE_PAIR = 1e-9


def auc_at_margin(
    y_true: ArrayLike, scores: ArrayLike, rho: float, **rows: Unpack[RowOptions]
) -> float:
    """Share of the pairs with (s⁺ - s⁻)/2 ≥ ρ: AUC_{S,ρ} of section 2.

    Pairs that tie with ρ count, and so do those below it by no more than rounding: 1e-8 of the
    range of the scores (1e-4 for float32 scores). At ρ = 0 ties of scores count as right, other
    than in the ROC AUC, which counts them half. One sort and a sweep: O(rows·log rows).

    Examples
    --------
    >>> from toprank.guarantees import auc_at_margin
    >>> auc_at_margin([1, 1, 0, 0], [4.0, 2.0, 3.0, 1.0], rho=0.5)
    0.75
    """
    blocks, checked = _blocks(y_true, scores, **rows)
    return share_at_margin(blocks, checked, rho - margin_slack(checked))


def _blocks(
    y_true: ArrayLike, scores: ArrayLike, **rows: Unpack[RowOptions]
) -> tuple[PairBlocks, NDArray[Any]]:
    """Pairs of a positive and a negative, and the scores of the rows that count."""
    checked = as_scores(scores)
    positives = as_positives(y_true, n_rows=checked.size)
    truth, _ = Truth.of_labels(positives, **rows).scaled()
    return PairBlocks.of_truth(truth), truth.rows_of(checked)


def margin_slack(scores: NDArray[Any]) -> float:
    """How much the margins of these scores may differ on another machine."""
    return OF_RANGE[scores.dtype] * float(np.ptp(scores))


def share_at_margin(blocks: PairBlocks, scores: NDArray[Any], rho: float) -> float:
    """Share of the pairs of some blocks with a margin of at least ρ, to the last bit."""
    laid_out, _, _ = blocks.sort(scores)
    short = weight_below(laid_out, 2.0 * rho, False)
    return 1.0 - short / blocks.pair_weight


@dataclass(frozen=True)
class RankingBound:
    """Theorem 1: with probability 1 - delta, AUC(h) ≥ ``auc`` on rows to come."""

    auc: float
    sigma: float
    delta: float

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound says no more than that an AUC is not negative."""
        return not self.auc > 0


def ranking_bound(
    share: float,
    rho: float,
    *,
    n_rows: float,
    n_hypotheses: int,
    positive_share: float,
    delta: float = 0.05,
) -> RankingBound:
    """Theorem 1 for h = w·x with ‖w‖₁ = 1 and features in [-1, 1].

    ::

        AUC(h) ≥ AUC_{S,ρ}(h) - σ
        σ² = 4/(m·E⁴)·( (8·ln N/ρ²)·ln(4mE²ρ²/ln N) + 2·ln(2/δ) )

    with E the chance that two rows are a positive and a negative, here the sample's p·n/m². The
    theorem needs ρ > 0 and, for its logarithm, 4mE²ρ² > ln N; elsewhere nothing is promised
    (``sigma`` is inf). E⁴ is as printed; Rudin and Schapire (2009) state the bound with E².

    Parameters
    ----------
    share : float
        AUC_{S,ρ}, see :func:`auc_at_margin`.
    rho : float
        The margin ρ.
    n_rows : float
        m, positives and negatives.
    n_hypotheses : int
        N, counting (x, -x) and the constant.
    positive_share : float
        p/m.
    delta : float, default=0.05
        The chance that the bound fails.

    Examples
    --------
    >>> from toprank.guarantees import ranking_bound
    >>> few = ranking_bound(0.9, 0.1, n_rows=1000, n_hypotheses=203, positive_share=0.5)
    >>> few.is_vacuous
    True
    >>> round(ranking_bound(0.9, 0.3, n_rows=1e8, n_hypotheses=203, positive_share=0.5).auc, 3)
    0.65
    """
    check_number("delta", delta, 0.0, 1.0, inside=True)
    chance = positive_share * (1.0 - positive_share)
    log_n = math.log(max(n_hypotheses, 2))
    inside = 4.0 * n_rows * (chance * rho) ** 2 / log_n
    if not rho > 0 or inside <= 1.0:
        return RankingBound(-math.inf, math.inf, delta)
    complexity = 8.0 * log_n / rho**2 * math.log(inside) + 2.0 * math.log(2.0 / delta)
    sigma = math.sqrt(4.0 / (n_rows * chance**4) * complexity)
    return RankingBound(share - sigma, sigma, delta)


@dataclass(frozen=True)
class SvmCertificate:
    """A margin that most pairs of the training sample have, as promised and as measured.

    ``rho`` is the margin ρ̂, ``share`` the measured AUC_{S,ρ̂}, ``promised`` what it must be at
    least, by ``theorem``. ``soft_margin`` ≤ the best soft margin ≤ ``ceiling``, in the units of
    ``rho``. ``bound`` is Theorem 1's, or None where it does not apply (kernels, lists, grades).
    ``one_pair`` is the share of the lightest pair, and ``slack`` what rounding may do to a margin.
    """

    rho: float
    share: float
    promised: float
    theorem: str
    soft_margin: float
    ceiling: float
    is_zero: bool
    bound: RankingBound | None = None
    one_pair: float = 0.0
    slack: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the share is as promised, and ρ̂ at least the soft margin, as it must be.

        The soft margin is a mean of margins up to ρ̂. For product forms it is at least the best
        soft margin of the exact problem, hence ρ̂ ≥ ρ* - Σξ*/(νpn) (end of section 5).
        """
        slack = max(self.slack, ROUNDING * max(1.0, abs(self.rho)))
        return self.share >= self.promised - ROUNDING and self.rho >= self.soft_margin - slack

    @property
    def vacuous(self) -> str | None:
        """Why the certificate says nothing about new rows; None where it says something."""
        if self.is_zero:
            return "all weights are 0, every row has the same score, and all pairs tie"
        if not self.rho > self.slack:
            rho = self.rho if self.rho < -self.slack else 0.0
            return f"the margin {rho:.3g} is not positive, so pairs in wrong order reach it"
        if self.promised < self.one_pair * (1.0 - ONE_PAIR) or not self.promised > 0:
            return "the promised share of pairs is less than one pair"
        return None

    def matches(self, y_true: ArrayLike, scores: ArrayLike, **rows: Unpack[RowOptions]) -> bool:
        """Whether these scores have the stated share of pairs.

        Pairs whose margin is ρ̂ up to rounding may count or not.
        """
        blocks, checked = _blocks(y_true, scores, **rows)
        slack = max(2.0 * margin_slack(checked), self.slack)
        least, most = (share_at_margin(blocks, checked, self.rho + s) for s in (slack, -slack))
        return least - ROUNDING <= self.share <= most + ROUNDING and self.holds

    def __str__(self) -> str:
        left = max(self.ceiling - self.soft_margin, 0.0)
        lines = [
            f"{self.share:.2%} of the training pairs have a margin of {self.rho:.4g} or more.",
            f"Promised: {self.promised:.2%} ({self.theorem}).",
            f"The soft margin {self.soft_margin:.6g} is at most {left:.2g} below the best one.",
        ]
        if self.vacuous is not None:
            lines.append(f"The certificate is vacuous: {self.vacuous}.")
        if self.bound is not None:
            told = (
                "says nothing at this margin and size"
                if self.bound.is_vacuous
                else f"promises an AUC of {self.bound.auc:.3f} on new rows"
            )
            lines.append(f"Theorem 1 {told} (delta = {self.bound.delta:g}).")
        return "\n".join(lines)
