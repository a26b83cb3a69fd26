"""Covering numbers behind the margin bound of Rudin and Schapire (2009), Lemma 3 and Theorem 2."""

from __future__ import annotations

import math

from toprank.guarantees.ranking_margins import check_at_least_two, check_crucial, check_positive

__all__ = ["convex_cover", "cover_confidence", "finite_slack"]


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
