"""Which value of a target belongs at the top of the list."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from toprank.inputs import positive_of
from toprank.tables.table import listing

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PositiveValues", "choose_positives"]

# Of two texts whose meaning is not known the rarer is the positive one, if it is clearly rarer.
RARE = 0.4


class PositiveValues(NamedTuple):
    """The values that belong at the top; what was assumed, if anything; what else to know."""

    values: tuple[str, ...]
    assumption: str = ""
    note: str = ""


def choose_positives(
    counts: Mapping[str, int], target: str, named: tuple[str, ...] = ()
) -> PositiveValues:
    """Choose among the values of a target, which are counted; ``named`` are the user's own.

    Of two numbers the larger is positive, of words such as yes and no the known one. Of two other
    texts it is the rarer, which is an assumption and must be said; where both are common the user
    is asked. Values that differ in case only are one value.

    Examples
    --------
    >>> choose_positives({"no": 90, "yes": 10}, "bought")
    PositiveValues(values=('yes',), assumption='', note='')
    >>> choose_positives({"legit": 990, "fraud": 10}, "kind").values
    ('fraud',)
    """
    if named:
        _check_named(counts, target, named)
        return PositiveValues(named)
    spellings: dict[str, list[str]] = {}
    for value in sorted(counts):
        spellings.setdefault(value.casefold(), []).append(value)
    if len(spellings) != 2:
        few = listing(sorted(counts), most=5)
        found = "only one value" if len(spellings) == 1 else f"{len(counts):,} different values"
        raise ValueError(
            f"the target {target!r} has {found} ({few}), but ranking needs two; name the positive "
            "ones with --positive VALUE."
        )
    rows = {word: sum(counts[value] for value in same) for word, same in spellings.items()}
    note = ""
    if len(counts) > 2:
        alike = next(same for same in spellings.values() if len(same) > 1)
        note = f"{listing(alike)} of the target {target!r} differ in case only: taken as one value."
    known = positive_of(*rows)
    if known is not None:
        return PositiveValues(tuple(spellings[known]), note=note)
    rare, common = sorted(rows, key=lambda word: (rows[word], word))
    if rows[rare] > RARE * sum(rows.values()):
        both = [spellings[word][0] for word in (rare, common)]
        raise ValueError(
            f"the target {target!r} is {both[0]!r} in {rows[rare]:,} rows and {both[1]!r} in "
            f"{rows[common]:,}: which of them belongs at the top? Name it with "
            f"--positive {both[0]!r} or --positive {both[1]!r}."
        )
    assumption = _assumption(target, spellings[rare][0], spellings[common][0], rows[rare])
    return PositiveValues(tuple(spellings[rare]), assumption, note)


def _assumption(target: str, rare: str, common: str, n_rows: int) -> str:
    return (
        f"ASSUMED: {target} = {rare} belongs at the top, because it is the rarer value "
        f"({n_rows:,} rows). If it is {common}, fit with --positive {common!r}."
    )


def _check_named(counts: Mapping[str, int], target: str, named: tuple[str, ...]) -> None:
    """Raise if a positive value never comes, or if nothing else does."""
    unknown = [value for value in named if value not in counts]
    if unknown:
        raise ValueError(
            f"the target {target!r} is never {unknown[0]!r}; its values are "
            f"{listing(sorted(counts))}."
        )
    if set(counts) <= set(named):
        raise ValueError(
            f"every known row of the target {target!r} is positive; "
            "ranking needs positive and negative rows."
        )
