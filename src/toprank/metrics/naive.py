"""The metrics as their definitions read, over every order of tied rows: slow, and plainly right.

Each function judges one strict order, given from the top as a list of gains (1 for a positive, 0
for a negative). :func:`over_orders` lists the orders that given scores allow. The tests hold the
fast metrics to these.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Order = Sequence[float]

__all__ = [
    "average_precision",
    "average_reciprocal_rank",
    "bedroc",
    "dcg",
    "heights",
    "hits",
    "lift",
    "ndcg",
    "orders",
    "over_orders",
    "partial_auc",
    "pnorm_error",
    "positives_at_top",
    "prbep",
    "precision_at_k",
    "price_of_heights",
    "r_max",
    "recall_at_k",
    "reverse_heights",
    "roc_auc",
    "winner_take_all",
]


def orders(gains: Sequence[float], scores: Sequence[float]) -> Iterator[tuple[float, ...]]:
    """Every order of the gains that falling scores allow, equally likely ones equally often."""
    ties = [
        [gain for gain, other in zip(gains, scores, strict=True) if other == score]
        for score in sorted(set(scores), reverse=True)
    ]
    for parts in itertools.product(*(_arrangements(tie) for tie in ties)):
        yield tuple(itertools.chain.from_iterable(parts))


def _arrangements(tie: list[float]) -> list[tuple[float, ...]]:
    """Distinct arrangements of a tie; each stands for equally many permutations of its rows."""
    found: list[tuple[float, ...]] = [()]
    for values, count in [(value, tie.count(value)) for value in sorted(set(tie))]:
        found = [
            _inserted(done, places, values)
            for done in found
            for places in itertools.combinations(range(len(done) + count), count)
        ]
    return found


def _inserted(done: tuple[float, ...], places: tuple[int, ...], value: float) -> tuple[float, ...]:
    rest = iter(done)
    return tuple(
        value if place in places else next(rest) for place in range(len(done) + len(places))
    )


def over_orders(
    judge: Callable[[Order], float],
    gains: Sequence[float],
    scores: Sequence[float],
    ties: str,
    *,
    loss: bool = False,
) -> float:
    """Mean, worst or best value over every order that the scores allow."""
    values = [judge(order) for order in orders(gains, scores)]
    if ties == "average":
        return math.fsum(values) / len(values)
    return max(values) if (ties == "pessimistic") == loss else min(values)


def heights(order: Order) -> list[int]:
    """Positives below each negative."""
    return [sum(g > 0 for g in order[at:]) for at, gain in enumerate(order) if not gain]


def reverse_heights(order: Order) -> list[int]:
    """Negatives above each positive."""
    return [sum(not g for g in order[:at]) for at, gain in enumerate(order) if gain]


def _n_positives(order: Order) -> int:
    return sum(gain > 0 for gain in order)


def _places(order: Order) -> list[int]:
    return [at + 1 for at, gain in enumerate(order) if gain]


def roc_auc(order: Order) -> float:
    """Share of pairs in the right order."""
    below = heights(order)
    return 1 - sum(below) / (len(below) * _n_positives(order))


def partial_auc(order: Order, max_fpr: float, *, standardize: bool) -> float:
    """Area under the steps of the ROC curve up to ``max_fpr``."""
    below, positives = heights(order), _n_positives(order)
    area = 0.0
    for at, height in enumerate(below):
        width = min(max(max_fpr * len(below) - at, 0.0), 1.0) / len(below)
        area += width * (1 - height / positives)
    chance = max_fpr**2 / 2
    return 0.5 * (1 + (area - chance) / (max_fpr - chance)) if standardize else area


def positives_at_top(order: Order) -> float:
    """Share of the positives above the first negative."""
    return order.index(0) / _n_positives(order)


def r_max(order: Order) -> float:
    """Largest height."""
    return max(heights(order))


def winner_take_all(order: Order) -> float:
    """Whether a negative leads."""
    return float(order[0] == 0)


def pnorm_error(order: Order, p: float, *, normalize: bool = False) -> float:
    """Σ height^p, or the normalised form."""
    below = heights(order)
    if not normalize:
        return math.fsum(height**p for height in below)
    shares = [height / _n_positives(order) for height in below]
    if math.isinf(p):
        return max(shares)
    return float((sum(share**p for share in shares) / len(shares)) ** (1 / p))


def price_of_heights(order: Order, price: Callable[[float], float], on: str) -> float:
    """Σ price of each height, reverse height or rank."""
    what = {"height": heights, "reverse_height": reverse_heights, "rank": _places}[on]
    return math.fsum(price(place) for place in what(order))


def hits(order: Order, k: float) -> float:
    """Positives among the first k rows, the last row in part."""
    return sum(gain * min(max(k - at, 0.0), 1.0) for at, gain in enumerate(order))


def precision_at_k(order: Order, k: float) -> float:
    """Share of positives in the first k rows."""
    return hits(order, k) / k


def recall_at_k(order: Order, k: float) -> float:
    """Share of the positives in the first k rows."""
    return hits(order, k) / _n_positives(order)


def lift(order: Order, k: float) -> float:
    """Precision over prevalence."""
    return precision_at_k(order, k) * len(order) / _n_positives(order)


def prbep(order: Order) -> float:
    """Precision at as many rows as positives."""
    return precision_at_k(order, _n_positives(order))


def average_precision(order: Order) -> float:
    """Mean precision at the positives."""
    places = _places(order)
    return math.fsum((found + 1) / place for found, place in enumerate(places)) / len(places)


def dcg(order: Order, k: float, log_base: float) -> float:
    """Σ gain / log(1 + place) over the first k places."""
    return math.fsum(
        gain * min(max(k - at, 0.0), 1.0) / math.log(at + 2, log_base)
        for at, gain in enumerate(order)
    )


def ndcg(order: Order, k: float, log_base: float) -> float:
    """DCG over that of the best order."""
    return dcg(order, k, log_base) / dcg(sorted(order, reverse=True), k, log_base)


def average_reciprocal_rank(order: Order, *, normalize: bool = False) -> float:
    """Σ 1/place of the positives."""
    total = math.fsum(1 / place for place in _places(order))
    return total / _n_positives(order) if normalize else total


def bedroc(order: Order, alpha: float) -> float:
    """Equation (36) of Truchon and Bayly (2007), through their RIE."""
    n_rows, n_actives = len(order), _n_positives(order)
    share = n_actives / n_rows
    observed = sum(math.exp(-alpha * place / n_rows) for place in _places(order)) / n_actives
    uniform = (1 - math.exp(-alpha)) / (n_rows * (math.exp(alpha / n_rows) - 1))
    slope = share * math.sinh(alpha / 2)
    slope /= math.cosh(alpha / 2) - math.cosh(alpha / 2 - alpha * share)
    return observed / uniform * slope + 1 / (1 - math.exp(alpha * (1 - share)))
