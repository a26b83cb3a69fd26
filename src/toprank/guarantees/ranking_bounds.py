"""How well a ranking will do on new rows: the margin bounds of Rudin and Schapire (2009).

With high probability over the m training rows, for every f of a class 𝓕 and any θ > 0

    P(misrank) ≤ P_S(margin ≤ θ) + ε.

E is the share of ordered pairs of rows that are crucial, 0 < E ≤ 1/2; estimate it with
:func:`toprank.guarantees.crucial_share`. The bounds are for one list of independent rows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from toprank.guarantees.ranking_margins import crucial_share, margin_share

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "MarginBound",
    "Slack",
    "check_at_least_two",
    "check_crucial",
    "check_positive",
    "convex_slack",
    "misranking_bound",
]


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
