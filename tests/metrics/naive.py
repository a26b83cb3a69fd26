"""The metrics as their definitions read, over every order of tied rows: slow, and plainly right.

A list is a row of copies: a row of weight 0.3 is three copies of weight 0.1, the ``unit``. Each
judge takes one strict order of the copies, given from the top as a list of gains (1 for a
positive, 0 for a negative); :func:`orders` lists the orders that given scores allow, and
:func:`value` is the whole call, with lists, weights, ties and undefined lists. Weights are exact
fractions here, so that no sum is rounded. The tests hold the fast metrics to these.
"""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from scipy.special import digamma

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Order = Sequence[float]
    Ties = tuple[tuple[float, ...], ...]

__all__ = ["JUDGES", "LOSSES", "Row", "orders", "value"]

LOSSES = frozenset({"pnorm_error", "r_max", "winner_take_all"})
_ANY_LIST = frozenset({"dcg", "precision_at_k", "value_at_k"})
_BOTH_CLASSES = frozenset(
    {
        "bedroc",
        "partial_auc",
        "pnorm_error",
        "positives_at_top",
        "r_max",
        "roc_auc",
        "winner_take_all",
    }
)
_SHORTLISTS = frozenset({"precision_at_k", "recall_at_k", "lift", "dcg", "ndcg", "value_at_k"})


class Row(NamedTuple):
    """What a row is worth, its score, how many copies of the unit it weighs, its list."""

    gain: float
    score: float
    copies: int
    group: int = 0


def value(
    name: str,
    rows: Sequence[Row],
    *,
    ties: str,
    unit: Fraction = Fraction(1),
    undefined: str | float = "skip",
    **options: Any,
) -> float:
    """The metric of these rows: the mean over their lists, NaN where none is defined."""
    rows, unit = _in_units([row for row in rows if row.copies], unit)
    lists = [[row for row in rows if row.group == group] for group in {row.group for row in rows}]
    sizes = [sum(row.copies for row in members) for members in lists]
    values = []
    for members, size in zip(lists, sizes, strict=True):
        own = _with_budget(name, options, size * unit, max(sizes) * unit, unit)
        if _is_defined(name, members):
            values.append(_of_ties(name, _ties(members), ties, unit, tuple(own.items())))
        elif undefined == "error":
            raise ValueError(f"{name} needs other rows in every list.")
        elif undefined != "skip":
            values.append(float(undefined))
    return math.fsum(values) / len(values) if values else math.nan


def _in_units(rows: list[Row], unit: Fraction) -> tuple[list[Row], Fraction]:
    """Copies of weight 1 where all weights are whole."""
    if any((row.copies * unit).denominator > 1 for row in rows):
        return rows, unit
    return [row._replace(copies=int(row.copies * unit)) for row in rows], Fraction(1)


def _with_budget(
    name: str, options: dict[str, Any], size: Fraction, longest: Fraction, unit: Fraction
) -> dict[str, Any]:
    """The options with the weight of the shortlist of one list."""
    if name == "enrichment_factor":
        options = {"k": options["fraction"]}
    elif name not in _SHORTLISTS:
        return options
    k = options.get("k")
    if k is None:
        return {**options, "k": size}
    if isinstance(k, int):
        if k > longest:
            raise ValueError(f"k={k} is longer than the list.")
        return {**options, "k": min(Fraction(k), size)}
    share = Fraction(k).limit_denominator(10**6) * size
    return {**options, "k": Fraction(math.ceil(share)) if unit == 1 else share}


def _is_defined(name: str, rows: list[Row]) -> bool:
    if name in _ANY_LIST:
        return True
    has_positives = any(row.gain > 0 for row in rows)
    return has_positives and (name not in _BOTH_CLASSES or any(row.gain <= 0 for row in rows))


def _ties(rows: list[Row]) -> Ties:
    """Gains of the copies of each tie, from the top."""
    scores = sorted({row.score for row in rows}, reverse=True)
    return tuple(
        tuple(sorted(row.gain for row in rows if row.score == score for _ in range(row.copies)))
        for score in scores
    )


@functools.cache
def _of_ties(
    name: str, tied: Ties, ties: str, unit: Fraction, options: tuple[tuple[str, Any], ...]
) -> float:
    """Mean, worst or best value over every order of the ties, or what stands for it."""
    if ties == "together":
        return float(_TOGETHER[name](tied, unit, **dict(options)))
    if ties == "average" and name == "partial_auc":
        return float(_area_along_diagonals(tied, **dict(options)))
    if ties == "average" and unit != 1 and name in _BETWEEN_WHOLE_WEIGHTS:
        return float(_BETWEEN_WHOLE_WEIGHTS[name](tied, unit))
    values = [_of_order(name, order, unit, options) for order in orders(tied)]
    if ties == "average":
        return math.fsum(values) / len(values)
    return max(values) if (ties == "pessimistic") == (name in LOSSES) else min(values)


@functools.cache
def _of_order(
    name: str, order: tuple[float, ...], unit: Fraction, options: tuple[tuple[str, Any], ...]
) -> float:
    return float(JUDGES[name](order, unit, **dict(options)))


def orders(tied: Ties) -> Iterator[tuple[float, ...]]:
    """Every order that the ties allow, equally likely ones equally often."""
    for parts in itertools.product(*(_arrangements(tie) for tie in tied)):
        yield tuple(itertools.chain.from_iterable(parts))


def _arrangements(tie: tuple[float, ...]) -> list[tuple[float, ...]]:
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


# One strict order ------------------------------------------------------------------------------


def _heights(order: Order, unit: Fraction) -> list[Fraction]:
    """Positives below each negative."""
    return [unit * sum(g > 0 for g in order[at:]) for at, gain in enumerate(order) if not gain]


def _places(order: Order, unit: Fraction) -> list[int]:
    """Place of each positive, which a copy holds a part of."""
    return [math.floor(at * unit) + 1 for at, gain in enumerate(order) if gain]


def _n_positives(order: Order) -> int:
    return sum(gain > 0 for gain in order)


def roc_auc(order: Order, unit: Fraction) -> float:
    """Share of pairs in the right order."""
    below = _heights(order, unit)
    return 1 - float(sum(below) / unit / (len(below) * _n_positives(order)))


def partial_auc(
    order: Order, unit: Fraction, max_fpr: float = 0.1, *, standardize: bool = True
) -> float:
    """Area under the steps of the ROC curve up to ``max_fpr``."""
    del unit  # both rates are shares
    below, positives = _heights(order, Fraction(1)), _n_positives(order)
    area = 0.0
    for at, height in enumerate(below):
        width = min(max(max_fpr * len(below) - at, 0.0), 1.0) / len(below)
        area += width * float(1 - height / positives)
    return _standardized(area, max_fpr) if standardize else area


def _standardized(area: float, max_fpr: float) -> float:
    chance = max_fpr**2 / 2
    return 0.5 * (1 + (area - chance) / (max_fpr - chance))


def positives_at_top(order: Order, unit: Fraction) -> float:
    """Share of the positives above the first negative."""
    del unit
    return order.index(0) / _n_positives(order)


def r_max(order: Order, unit: Fraction) -> Fraction:
    """Largest height."""
    return max(_heights(order, unit))


def winner_take_all(order: Order, unit: Fraction) -> float:
    """Whether a negative leads."""
    del unit
    return float(order[0] == 0)


def pnorm_error(order: Order, unit: Fraction, p: float = 4, *, normalize: bool = False) -> float:
    """Σ height^p, or the normalised form."""
    below = _heights(order, unit)
    if not normalize:
        return float(unit) * math.fsum(float(height) ** p for height in below)
    shares = [float(height / unit / _n_positives(order)) for height in below]
    if math.isinf(p):
        return max(shares)
    return float((sum(share**p for share in shares) / len(shares)) ** (1 / p))


def _taken(order: Order, unit: Fraction, k: Fraction) -> list[float]:
    """How much of each copy is among the first k, in copies."""
    return [float(min(max(k / unit - at, 0), 1)) for at in range(len(order))]


def _hits(order: Order, unit: Fraction, k: Fraction) -> float:
    """Copies of positives among the first k."""
    return math.fsum(g * part for g, part in zip(order, _taken(order, unit, k), strict=True))


def precision_at_k(order: Order, unit: Fraction, k: Fraction) -> float:
    """Share of positives in the first k rows."""
    return _hits(order, unit, k) / float(k / unit)


def recall_at_k(order: Order, unit: Fraction, k: Fraction) -> float:
    """Share of the positives in the first k rows."""
    return _hits(order, unit, k) / _n_positives(order)


def lift(order: Order, unit: Fraction, k: Fraction) -> float:
    """Precision over prevalence."""
    return precision_at_k(order, unit, k) * len(order) / _n_positives(order)


def value_at_k(
    order: Order, unit: Fraction, k: Fraction, value: float = 1.0, cost: float = 0.0
) -> float:
    """Values of the positives minus costs of all, in the first k rows."""
    return value * _hits(order, unit, k) * float(unit) - cost * float(k)


def prbep(order: Order, unit: Fraction) -> float:
    """Precision at as many rows as positives."""
    return precision_at_k(order, unit, _n_positives(order) * unit)


def _harmonic(above: Fraction, through: Fraction) -> float:
    """Sum 1/(above + 1) + … + 1/through, and what lies between whole numbers."""
    if (through - above).denominator == 1:
        return math.fsum(1 / float(above + j + 1) for j in range(int(through - above)))
    return float(digamma(float(through) + 1) - digamma(float(above) + 1))


def average_precision(order: Order, unit: Fraction) -> float:
    """Mean precision at the positives, (found + j)/(rows + j) summed over the parts j of a copy."""
    total, found = 0.0, Fraction(0)
    for at, gain in enumerate(order):
        if gain:
            others = at * unit - found
            total += float(unit) - float(others) * _harmonic(at * unit, (at + 1) * unit)
            found += unit
    return total / float(found)


def dcg(
    order: Order, unit: Fraction, k: Fraction, log_base: float = 2, gain: str = "exponential"
) -> float:
    """Σ gain / log(1 + place) over the first k places."""
    del gain  # the order holds gains
    return float(unit) * math.fsum(
        worth * part / math.log(math.floor(at * unit) + 2, log_base)
        for at, (worth, part) in enumerate(zip(order, _taken(order, unit, k), strict=True))
    )


def ndcg(
    order: Order, unit: Fraction, k: Fraction, log_base: float = 2, gain: str = "exponential"
) -> float:
    """DCG over that of the best order."""
    best = sorted(order, reverse=True)
    return dcg(order, unit, k, log_base, gain) / dcg(best, unit, k, log_base, gain)


def average_reciprocal_rank(order: Order, unit: Fraction, *, normalize: bool = False) -> float:
    """Σ 1/place of the positives."""
    total = float(unit) * math.fsum(1 / place for place in _places(order, unit))
    return total / float(unit * _n_positives(order)) if normalize else total


def bedroc(order: Order, unit: Fraction, alpha: float = 20) -> float:
    """Equation (36) of Truchon and Bayly (2007), through their RIE."""
    del unit  # ranks are shares of the list
    n_rows, n_actives = len(order), _n_positives(order)
    share = n_actives / n_rows
    places = _places(order, Fraction(1))
    observed = sum(math.exp(-alpha * place / n_rows) for place in places) / n_actives
    uniform = (1 - math.exp(-alpha)) / (n_rows * (math.exp(alpha / n_rows) - 1))
    slope = share * math.sinh(alpha / 2)
    slope /= math.cosh(alpha / 2) - math.cosh(alpha / 2 - alpha * share)
    return observed / uniform * slope + 1 / (1 - math.exp(alpha * (1 - share)))


JUDGES: dict[str, Callable[..., Any]] = {
    "average_precision": average_precision,
    "average_reciprocal_rank": average_reciprocal_rank,
    "bedroc": bedroc,
    "dcg": dcg,
    "enrichment_factor": lift,
    "lift": lift,
    "ndcg": ndcg,
    "partial_auc": partial_auc,
    "pnorm_error": pnorm_error,
    "positives_at_top": positives_at_top,
    "prbep": prbep,
    "precision_at_k": precision_at_k,
    "r_max": r_max,
    "recall_at_k": recall_at_k,
    "roc_auc": roc_auc,
    "value_at_k": value_at_k,
    "winner_take_all": winner_take_all,
}


# What is no mean over orders ---------------------------------------------------------------------


def _classes(tied: Ties, unit: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Weight of the positives and of the negatives of each tie."""
    return [
        (unit * sum(gain > 0 for gain in tie), unit * sum(not gain for gain in tie)) for tie in tied
    ]


def _area_along_diagonals(tied: Ties, max_fpr: float = 0.1, *, standardize: bool = True) -> float:
    """Area under the ROC curve that crosses each tie on its diagonal."""
    classes = _classes(tied, Fraction(1))
    positives, negatives = (sum(part) for part in zip(*classes, strict=True))
    end = Fraction(max_fpr).limit_denominator(10**6) * negatives
    area, x, y = Fraction(0), Fraction(0), Fraction(0)
    for found, missed in classes:
        if missed:
            share = min(max(end - x, Fraction(0)) / missed, Fraction(1))
            area += share * missed * (y + share * found / 2)
        x, y = x + missed, y + found
    area /= positives * negatives
    return _standardized(float(area), max_fpr) if standardize else float(area)


def _before_first_negative(tied: Ties, unit: Fraction) -> tuple[Fraction, Fraction]:
    """Positives above the first negative, and all; of n tied ones the first leaves p/(n + 1)."""
    classes = _classes(tied, unit)
    before = Fraction(0)
    for found, missed in classes:
        before += found / (missed + 1)
        if missed:
            break
    return before, sum((found for found, _ in classes), Fraction(0))


def _share_at_top(tied: Ties, unit: Fraction) -> Fraction:
    before, positives = _before_first_negative(tied, unit)
    return before / positives


def _largest_height(tied: Ties, unit: Fraction) -> Fraction:
    before, positives = _before_first_negative(tied, unit)
    return positives - before


def _mean_precision(tied: Ties, unit: Fraction) -> float:
    """(p/w) Σ_j 1 − N_j/(rows + j) over the parts j of each tie of weight w.

    N_j are the negatives above place j: those above the tie, and of the n in it half on the mean.
    """
    total, found, rows = 0.0, Fraction(0), Fraction(0)
    for p, n in _classes(tied, unit):
        w = p + n
        slope = n / (w - 1) if w >= 2 else n * max(w - 1, Fraction(0))
        before = rows - found + n / 2 - slope * (rows + (w + 1) / 2)  # and slope·(rows + j) more
        inner = float(w - slope * w) - float(before) * _harmonic(rows, rows + w)
        total += float(p / w) * inner
        found, rows = found + p, rows + w
    return total / float(found)


_BETWEEN_WHOLE_WEIGHTS: dict[str, Callable[[Ties, Fraction], Any]] = {
    "average_precision": _mean_precision,
    "positives_at_top": _share_at_top,
    "r_max": _largest_height,
}


# Tied rows enter the list at once ----------------------------------------------------------------


class _Entry(NamedTuple):
    """One tie: weights of its classes, sums down to its end, and the sum of its gains."""

    positives: Fraction
    negatives: Fraction
    found: Fraction
    rows: Fraction
    gain: float


def _entries(tied: Ties, unit: Fraction) -> list[_Entry]:
    entries, found, rows = [], Fraction(0), Fraction(0)
    for tie, (p, n) in zip(tied, _classes(tied, unit), strict=True):
        found, rows = found + p, rows + p + n
        entries.append(_Entry(p, n, found, rows, float(unit) * math.fsum(tie)))
    return entries


def _precision_together(tied: Ties, unit: Fraction) -> Fraction:
    entries = _entries(tied, unit)
    total = sum((tie.positives * tie.found / tie.rows for tie in entries), Fraction(0))
    return total / entries[-1].found


def _reciprocals_together(tied: Ties, unit: Fraction, *, normalize: bool = False) -> Fraction:
    entries = _entries(tied, unit)
    total = sum((tie.positives / tie.rows for tie in entries), Fraction(0))
    return total / entries[-1].found if normalize else total


def _dcg_together(
    tied: Ties, unit: Fraction, k: Fraction, log_base: float = 2, gain: str = "exponential"
) -> float:
    del gain
    return math.fsum(
        tie.gain / math.log(1 + float(tie.rows), log_base)
        for tie in _entries(tied, unit)
        if tie.rows <= k
    )


_TOGETHER: dict[str, Callable[..., Any]] = {
    "average_precision": _precision_together,
    "average_reciprocal_rank": _reciprocals_together,
    "dcg": _dcg_together,
}
