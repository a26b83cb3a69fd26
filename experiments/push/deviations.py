"""What a training list says about new rows (Rudin 2009, Theorems 2 and 3).

Positives and negatives are drawn independently, I and K of them. For a class F of scoring
functions the probability that any f in F has

    R^true_{p,1}(f)  ≥  R^empirical_{p,1,θ}(f) + ε

is at most

    2·N(F, εθ/8)·( exp(-2K·max{ (ε²/16)·R_min^{2(p-1)}, (ε/4)^{2p} }) + exp(-ε²·I/8 + ln K) ).

N(F, r) is the number of balls of radius r in the largest difference, with centres in F, that
cover F; R_min is the smallest R^true_{p,1} in F. Theorem 2 is the case R_min = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toprank.inputs import as_scores
from toprank.metrics import pnorm_error
from toprank.truth import as_positives

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

__all__ = [
    "PushGeneralization",
    "linear_log_covering",
    "push_deviation",
    "push_deviation_log_probability",
    "push_generalization",
]

# Bisection of ε in its logarithm ends at this relative width.
WIDTH = 1e-10


def linear_log_covering(n_weak: int, *, norm: float = 1.0) -> Callable[[float], float]:
    """Logarithm of the covering number of f = Σ_j λ_j·h_j with h_j in [0, 1] and ‖λ‖₁ ≤ norm.

    ::

        ln N(F, r) ≤ n·ln(1 + norm/r),    and 0 from r = norm/2 on

    Errors depend on differences of scores only, so h_j - 1/2, which lies in [-1/2, 1/2], may
    stand for h_j. Then ‖f_λ - f_μ‖∞ ≤ ‖λ - μ‖₁/2, and every cover of the ball of weights by balls
    of radius 2r in ‖·‖₁ is a cover of F. A largest set of points of a ball of radius B in n
    dimensions that are more than t apart is a cover with centres in it, and volumes allow at most
    (1 + 2B/t)^n of them, in any norm; put t = 2r. From r = norm/2 on, f = 0 covers all.

    The h_j must be chosen before the rows are seen. Features scaled to the range of the training
    rows bend this rule a little, stumps at the training rows' own values bend it much.

    Parameters
    ----------
    n_weak : int
        How many weak rankers there are to choose from.
    norm : float, default=1
        Bound on ‖λ‖₁; 1 is the convex combinations of the paper, with either sign.

    Returns
    -------
    callable
        From the radius r to ln N: what the functions of this module take as ``log_covering``.

    Examples
    --------
    >>> from experiments.push.deviations import linear_log_covering
    >>> round(linear_log_covering(10)(0.1), 3)
    23.979
    """
    if n_weak < 1 or not 0 < norm < math.inf:
        raise ValueError(
            f"n_weak={n_weak} must be at least 1 and norm={norm} above 0 and finite; pass the "
            "number of weak rankers and a bound on the sum of their absolute weights."
        )

    def log_covering(radius: float) -> float:
        return 0.0 if 2.0 * radius >= norm else n_weak * math.log1p(norm / radius)

    return log_covering


def push_deviation_log_probability(
    epsilon: float,
    *,
    p: float,
    margin: float,
    n_positives: int,
    n_negatives: int,
    log_covering: Callable[[float], float] | float,
    least_risk: float = 0.0,
) -> float:
    """Bound the log-probability that the margin error of some f misjudges new rows by ε.

    The formula at the head of this module. With ``least_risk=0`` it is Theorem 2, otherwise
    Theorem 3. A result of 0 or more says nothing.

    Parameters
    ----------
    epsilon : float
        By how much R^true_{p,1} exceeds R^empirical_{p,1,θ}, above 0.
    p : float
        The power, at least 1 and finite: at infinity nothing is known.
    margin : float
        θ, above 0, in the units of the scores.
    n_positives, n_negatives : int
        I and K.
    log_covering : callable or float
        ln N(F, r) as a function of the radius r, such as :func:`linear_log_covering`, or the
        number at r = εθ/8.
    least_risk : float, default=0
        R_min, between 0 and 1: a risk that no function in F can beat. Centres of the cover must
        lie in F for this to be right.

    Returns
    -------
    float
        Natural logarithm of the bound.

    Examples
    --------
    >>> from experiments.push.deviations import linear_log_covering, push_deviation_log_probability
    >>> sizes = {"n_positives": 100_000, "n_negatives": 100_000}
    >>> options = sizes | {"margin": 0.5, "log_covering": linear_log_covering(10)}
    >>> push_deviation_log_probability(0.2, p=1, **options) < -100
    True
    >>> push_deviation_log_probability(0.2, p=4, **options) > 0
    True
    """
    _check(p, margin, n_positives, n_negatives, least_risk)
    if not epsilon > 0:
        raise ValueError(f"epsilon={epsilon} must be above 0.")
    radius = epsilon * margin / 8.0
    log_number = log_covering(radius) if callable(log_covering) else float(log_covering)
    quarter = math.log(epsilon / 4.0)
    # in logarithms, and 0^0 = 1: at p = 1 both are the same
    log_gains = [2.0 * p * quarter]
    if least_risk > 0:
        log_gains.append(2.0 * quarter + 2.0 * (p - 1.0) * math.log(least_risk))
    gain = math.exp(min(max(log_gains), 700.0))
    negatives = -2.0 * n_negatives * gain
    positives = -(epsilon**2) * n_positives / 8.0 + math.log(n_negatives)
    larger, smaller = max(negatives, positives), min(negatives, positives)
    return math.log(2.0) + log_number + larger + math.log1p(math.exp(smaller - larger))


def push_deviation(
    *,
    p: float,
    margin: float,
    n_positives: int,
    n_negatives: int,
    log_covering: Callable[[float], float] | float,
    least_risk: float = 0.0,
    delta: float = 0.05,
) -> float:
    """Smallest ε that Theorem 2 or 3 guarantees with probability 1 - δ, by bisection.

    An ε of 1 or more says nothing, since no error exceeds 1; it tells how far away a promise is.

    Parameters
    ----------
    p, margin, n_positives, n_negatives, log_covering, least_risk
        As in :func:`push_deviation_log_probability`.
    delta : float, default=0.05
        Probability with which the promise may fail.

    Returns
    -------
    float

    Examples
    --------
    >>> from experiments.push.deviations import linear_log_covering, push_deviation
    >>> covering = linear_log_covering(10)
    >>> sizes = {"n_positives": 100_000, "n_negatives": 100_000}
    >>> for p in (1, 2, 4):
    ...     epsilon = push_deviation(p=p, margin=0.5, log_covering=covering, **sizes)
    ...     print(p, round(epsilon, 2))
    1 0.07
    2 0.47
    4 1.33
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta} must lie between 0 and 1.")

    def excess(log_epsilon: float) -> float:
        return push_deviation_log_probability(
            math.exp(log_epsilon),
            p=p,
            margin=margin,
            n_positives=n_positives,
            n_negatives=n_negatives,
            log_covering=log_covering,
            least_risk=least_risk,
        ) - math.log(delta)

    # both exponents and the covering number fall as ε grows, and the last reaches its floor
    low, high = 0.0, 0.0
    while excess(low) <= 0:
        low -= 1.0
    while excess(high) > 0:
        high += 1.0
    while high - low > WIDTH:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return math.exp(high)


@dataclass(frozen=True)
class PushGeneralization:
    """With probability 1 - ``delta``, R^true_{p,1} is below ``empirical`` + ``epsilon``.

    ``empirical`` is R^empirical_{p,1,θ} of the training list at the margin θ. The promise is for
    all functions of the class at once. ``vacuous`` says that it promises nothing, since no risk
    exceeds 1.
    """

    p: float
    margin: float
    delta: float
    empirical: float
    epsilon: float

    @property
    def bound(self) -> float:
        """What R^true_{p,1} stays below."""
        return self.empirical + self.epsilon

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing."""
        return self.bound >= 1.0

    def __str__(self) -> str:
        measured = (
            f"R_{{p,1}} with margin {self.margin:g} is {self.empirical:.4g} on the training list "
            f"(p = {self.p:g})"
        )
        if self.vacuous:
            return (
                f"{measured}. Theorems 2 and 3 promise nothing about new rows: their ε is "
                f"{self.epsilon:.3g}, and no error exceeds 1. More rows, a smaller p, fewer weak "
                "rankers or a wider margin would help."
            )
        return (
            f"{measured}; on new rows R_{{p,1}} is below {self.bound:.4g} with probability "
            f"{1.0 - self.delta:g}."
        )


def push_generalization(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    p: float,
    margin: float,
    log_covering: Callable[[float], float] | float,
    least_risk: float = 0.0,
    delta: float = 0.05,
    pos_label: Any = None,
) -> PushGeneralization:
    """Bound the error on new rows by the margin error of the training list (Theorems 2 and 3).

    ::

        R^true_{p,1} = ( E_k ( P_i(f(x_i) ≤ f(x_k)) )^p )^{1/p}
                     ≤ R^empirical_{p,1,θ} + ε          with probability 1 - δ

    Rows are one list of independent draws of equal weight. Margin, class and δ must be chosen
    before the rows are seen. One sort: O(n log n).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Two classes.
    scores : array-like of shape (n_rows,)
        Scores of the training rows, on the scale of the class: for
        :func:`linear_log_covering` with ``norm=1`` divide them by ‖λ‖₁.
    p, margin, log_covering, least_risk, delta
        As in :func:`push_deviation`.
    pos_label : label, optional
        The positive label; by default the larger of the two.

    Returns
    -------
    PushGeneralization
        Prints as a sentence.

    Examples
    --------
    >>> from experiments.push.deviations import linear_log_covering, push_generalization
    >>> found = push_generalization(
    ...     [0, 1, 0, 1], [0.1, 0.9, 0.3, 0.7], p=2, margin=0.1, log_covering=linear_log_covering(1)
    ... )
    >>> found.empirical, found.vacuous
    (0.0, True)
    """
    checked = as_scores(scores)
    positives = as_positives(y_true, pos_label=pos_label, n_rows=checked.size)
    n_positives = int(positives.sum())
    epsilon = push_deviation(
        p=p,
        margin=margin,
        n_positives=n_positives,
        n_negatives=positives.size - n_positives,
        log_covering=log_covering,
        least_risk=least_risk,
        delta=delta,
    )
    empirical = pnorm_error(positives, checked, p=p, margin=margin, normalize=True)
    return PushGeneralization(float(p), float(margin), float(delta), empirical, epsilon)


def _check(p: float, margin: float, n_positives: int, n_negatives: int, least_risk: float) -> None:
    if not 1 <= p < math.inf:
        raise ValueError(f"p={p} must be at least 1 and finite; for p=inf nothing is guaranteed.")
    if not 0 < margin < math.inf:
        raise ValueError(f"margin={margin} must be above 0 and finite; 0 is in no theorem.")
    if n_positives < 1 or n_negatives < 1:
        raise ValueError(
            f"n_positives={n_positives} and n_negatives={n_negatives} must both be at least 1."
        )
    if not 0 <= least_risk <= 1:
        raise ValueError(f"least_risk={least_risk} must lie between 0 and 1, as every risk does.")
