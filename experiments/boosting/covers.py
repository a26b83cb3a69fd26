"""The margin bound of Rudin and Schapire (2009), and the covering numbers behind it.

With high probability over m training rows (one list of independent ones), for every f of a class 𝓕
and every θ > 0

    P(misrank) ≤ P_S(margin ≤ θ) + ε.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from toprank.guarantees import margin_share
from toprank.kernels.ladder import Ladder
from toprank.truth import Truth

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "convex_cover",
    "convex_slack",
    "cover_confidence",
    "crucial_share",
    "finite_slack",
    "misranking_bound",
]


def convex_cover(n_weak: float, theta: float, epsilon: float) -> float:
    """Bound on ln N(𝓕, θ, ε), 𝓕 the convex combinations of binary weak rankers (Lemma 3).

    ln N ≤ ln|H|·ln(2/ε) / (2θ²): logarithm of the size of a θ-sloppy ε-cover.

    Examples
    --------
    >>> round(convex_cover(100, 0.1, 0.05), 2)
    849.4
    """
    check_positive(theta=theta, epsilon=epsilon)
    check_at_least_two(n_weak)
    return math.log(n_weak) * math.log(2.0 / epsilon) / (2.0 * theta**2)


def cover_confidence(log_cover: float, n_rows: int, crucial: float, epsilon: float) -> float:
    """Probability of Theorem 2: at least 1 - 2N·e^{-m(εE)²/8}, and 0 where that is negative.

    N is the sloppy covering number N(𝓕, θ/4, ε/8) of Theorem 2, for instance
    ``convex_cover(n_weak, theta / 4, epsilon / 8)`` (Corollary 4), or the covering number
    N_∞(𝓕, θ/4) in the largest difference (Corollary 5); its logarithm is passed, as it is large.

    Examples
    --------
    >>> round(cover_confidence(convex_cover(100, 0.25 / 4, 0.3 / 8), 100_000, 0.25, 0.3), 6)
    0.0
    >>> round(cover_confidence(convex_cover(100, 0.25 / 4, 0.3 / 8), 10_000_000, 0.25, 0.3), 6)
    1.0
    """
    check_positive(n_rows=n_rows, epsilon=epsilon)
    check_crucial(crucial)
    exponent = math.log(2.0) + log_cover - n_rows * (epsilon * crucial) ** 2 / 8.0
    return max(0.0, -math.expm1(min(exponent, 0.0)))


def finite_slack(n_rows: int, crucial: float, n_functions: float, delta: float) -> float:
    """ε for a class of finitely many functions: √(8/(mE²)·(ln 2|𝓕| + ln 1/δ)) (after Corollary 5).

    Examples
    --------
    >>> round(finite_slack(100_000, 0.25, 1000, 0.05), 4)
    0.1165
    """
    check_positive(n_rows=n_rows, n_functions=n_functions, delta=delta)
    check_crucial(crucial)
    logs = math.log(2.0 * n_functions) + math.log(1.0 / delta)
    return math.sqrt(8.0 / (n_rows * crucial**2) * logs)


def crucial_share(y_true: ArrayLike, *, groups: ArrayLike | None = None) -> float:
    """E estimated from the sample: the share of ordered pairs of rows that are crucial.

    Σ π(x_i, x_k) / (m(m-1)), at most 1/2; with two classes in one list about the product of their
    shares.

    Examples
    --------
    >>> crucial_share([0, 0, 1, 1])
    0.3333333333333333
    """
    truth = Truth.of_grades(y_true, groups=groups)
    ladder = Ladder(truth.grades, None, truth.lists)
    above = np.repeat(ladder.lists[1:], ladder.n_rungs) - ladder.rungs[1:]
    crucial = float(np.diff(ladder.rungs) @ above)
    return crucial / (ladder.n_rows * (ladder.n_rows - 1))


class Slack(NamedTuple):
    """ε, and whether the condition under which it was derived holds."""

    epsilon: float
    holds: bool


class MarginBound(NamedTuple):
    """P(misrank) ≤ ``misranking`` = ``share`` + ``epsilon``, if ``holds``; above 1 it is empty."""

    misranking: float
    share: float
    epsilon: float
    holds: bool


def convex_slack(n_rows: int, crucial: float, theta: float, n_weak: float, delta: float) -> Slack:
    """ε of equation (2), with probability 1 - δ, and its condition m·θ² ≥ 64·ln|H| / E².

    ε² = 4/(mE²)·[ 8·ln|H|/θ²·ln(4mE²θ²/ln|H|) + 2·ln(2/δ) ]. Where the condition fails the value
    is given (NaN where the logarithm has none), but promises nothing.

    Examples
    --------
    >>> slack = convex_slack(10_000_000, 0.25, 0.25, 1000, 0.05)
    >>> round(slack.epsilon, 3), slack.holds
    (0.238, True)
    """
    check_positive(n_rows=n_rows, theta=theta, delta=delta)
    check_crucial(crucial)
    check_at_least_two(n_weak)
    log_weak, rows = math.log(n_weak), n_rows * crucial**2
    inside = 4.0 * rows * theta**2 / log_weak
    squared = (
        4.0 / rows * (8.0 * log_weak / theta**2 * math.log(inside) + 2.0 * math.log(2.0 / delta))
    )
    holds = n_rows * theta**2 >= 64.0 * log_weak / crucial**2
    return Slack(math.sqrt(squared) if squared >= 0 else math.nan, holds)


def misranking_bound(
    y_true: ArrayLike,
    scores: ArrayLike,
    theta: float,
    *,
    norm: float,
    n_weak: float,
    delta: float = 0.05,
) -> MarginBound:
    """Bound on the share of new crucial pairs that a model misranks (Corollary 4).

    The share of training pairs with a margin of at most θ, plus ε; with probability 1 - δ, for
    a θ chosen before the scores were seen. ``norm`` is ‖λ‖₁ and ``n_weak`` the number of weak
    rankers, twice that where weights may have both signs. δ = 0.05 is the usual one in twenty.

    Examples
    --------
    >>> import numpy as np
    >>> bound = misranking_bound([0, 1] * 50, np.arange(100) / 100.0, 0.1, norm=1.0, n_weak=10)
    >>> bound.holds
    False
    """
    crucial = crucial_share(y_true)
    share = margin_share(y_true, scores, theta, norm=norm)
    slack = convex_slack(np.asarray(y_true).shape[0], crucial, theta, n_weak, delta)
    return MarginBound(share + slack.epsilon, share, slack.epsilon, slack.holds)


def check_positive(**values: float) -> None:
    """Refuse numbers that are not above 0, by their names."""
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"{name} must be above 0, got {value!r}.")


def check_crucial(crucial: float) -> None:
    """Refuse what is no share of crucial pairs."""
    if not 0 < crucial <= 0.5:
        raise ValueError(f"crucial must lie between 0 and 1/2, got {crucial!r}; see crucial_share.")


def check_at_least_two(n_weak: float) -> None:
    """Refuse fewer than two weak rankers."""
    if not n_weak >= 2:
        raise ValueError(f"n_weak must be at least 2, got {n_weak!r}.")
