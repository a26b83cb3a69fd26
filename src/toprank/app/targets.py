"""Which values of a target belong at the top, and which say that a row has no target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from toprank.labels import plain_label, positive_of
from toprank.tables.cell_texts import SPELLINGS
from toprank.tables.table import listing

# Of two values whose meaning is not known the rarer is the positive one, if it is clearly rarer.
RARE = 0.4
# Values of a target that can be named one by one.
MOST_NAMED = 20


class TargetValues(NamedTuple):
    """The values that belong at the top, and how many rows have each value that counts as missing.

    ``assumption`` says what was assumed, if anything, and ``notes`` what else to know.
    """

    values: tuple[str, ...]
    missing: Mapping[str, int]
    assumption: str = ""
    notes: tuple[str, ...] = ()


def choose_positives(
    counts: Mapping[str, int],
    target: str,
    named: tuple[str, ...] = (),
    unlabelled: tuple[str, ...] = (),
) -> TargetValues:
    """Choose among the values of a target, which are counted; ``named`` are the user's own.

    Rows with a value of ``unlabelled`` have no target, and so have those with a spelling of missing
    such as ``NA``, unless it is named or needed as one of two values, as none is beside fraud. Of
    pairs such as yes and no or 1 and 0 the positive one is known. Of two others it is the rarer,
    which is an assumption and must be said; where both are common the user is asked. Values that
    differ in case only are one value, and so are 1 and true.

    Examples
    --------
    >>> choose_positives({"no": 90, "yes": 10, "NA": 5}, "bought")
    TargetValues(values=('yes',), missing={'NA': 5}, assumption='', notes=())
    >>> choose_positives({"none": 990, "fraud": 10}, "kind").values
    ('fraud',)
    """
    groups: dict[str, list[str]] = {}
    for value in sorted(counts):
        groups.setdefault(_same(value), []).append(value)
    wanted = dict.fromkeys(map(_same, named))
    is_left_out = {_same(value) for value in unlabelled}
    notes = _notes_on_absent(groups, target, named, unlabelled)
    known = [each for each in groups if each not in is_left_out]
    values = [
        each for each in known if each in wanted or groups[each][0].casefold() not in SPELLINGS
    ]
    if len(values) < 2 and len(known) == 2:
        values = known
    others = groups.keys() - set(values)
    missing = {word: counts[word] for each in groups if each in others for word in groups[each]}
    alike = next((groups[each] for each in values if len(groups[each]) > 1), None)
    if alike:
        notes.append(f"{listing(alike)} of the target {target!r} are taken as one value.")
    if named:
        positives = tuple(word for each in wanted for word in groups.get(each, ()))
        notes += _note_on_negatives(groups, target, [each for each in values if each not in wanted])
        return TargetValues(positives, missing, notes=tuple(notes))
    if len(values) != 2:
        raise ValueError(
            _not_two(target, [word for each in values for word in groups[each]], values)
        )
    rows = {each: sum(counts[word] for word in groups[each]) for each in values}
    chosen = positive_of(*values)
    if chosen is not None:
        return TargetValues(tuple(groups[chosen]), missing, notes=tuple(notes))
    rare, common = sorted(values, key=lambda each: (rows[each], each))
    first, other = groups[rare][0], groups[common][0]
    if rows[rare] > RARE * sum(rows.values()):
        raise ValueError(
            f"the target {target!r} is {first!r} in {rows[rare]:,} rows and {other!r} in "
            f"{rows[common]:,}: which of them belongs at the top? Name it with "
            f"--positive {first!r} or --positive {other!r}."
        )
    assumption = (
        f"ASSUMED: {target} = {first} belongs at the top, because it is the rarer value "
        f"({rows[rare]:,} rows). If it is {other}, fit with --positive {other!r}."
    )
    return TargetValues(tuple(groups[rare]), missing, assumption, tuple(notes))


def _same(value: str) -> str:
    """What values have in common that are one: a file has 1 where another one has true."""
    plain = plain_label(value)
    return {"true": "1", "false": "0"}.get(plain, plain)


def _notes_on_absent(
    groups: Mapping[str, list[str]],
    target: str,
    named: tuple[str, ...],
    unlabelled: tuple[str, ...],
) -> list[str]:
    """Say which named values do not occur; raises where no positive one does."""
    both = [value for value in named if _same(value) in map(_same, unlabelled)]
    if both:
        raise ValueError(f"{both[0]!r} is named with --positive and --unlabelled; name it once.")
    absent = [value for value in named if _same(value) not in groups]
    if absent and len(absent) == len(named):
        values = sorted(word for words in groups.values() for word in words)
        raise ValueError(
            f"the target {target!r} is never {absent[0]!r}; its values are {listing(values)}."
        )
    absent += [value for value in unlabelled if _same(value) not in groups]
    return [f"the target {target!r} is never {listing(absent)}."] if absent else []


def _note_on_negatives(
    groups: Mapping[str, list[str]], target: str, negatives: list[str]
) -> list[str]:
    """Name the values that count as negative, where they are more than one."""
    if not negatives:
        raise ValueError(
            f"every known row of the target {target!r} is positive; ranking needs positive and "
            "negative rows."
        )
    if len(negatives) < 2:
        return []
    words = listing([groups[each][0] for each in negatives])
    note = f"the values {words} of the target {target!r} count as negative; "
    return [note + "--unlabelled VALUE leaves out rows whose outcome is not known yet."]


def _not_two(target: str, words: list[str], values: list[str]) -> str:
    """The message where there are not two values to choose from."""
    few = listing(sorted(words), most=5)
    if len(values) < 2:
        return (
            f"the target {target!r} has only one value ({few}), but ranking needs two; give a "
            "target with positive and negative rows."
        )
    remedy = (
        "name the positive ones with --positive VALUE, or leave out rows whose outcome is not "
        "known with --unlabelled VALUE"
    )
    if len(values) > MOST_NAMED:
        remedy = "add a column of yes and no, e.g. whether it is above a limit"
    found = f"the target {target!r} has {len(words):,} different values ({few})"
    return f"{found}, but ranking needs two; {remedy}."
