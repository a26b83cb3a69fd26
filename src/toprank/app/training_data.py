"""Rows with their labels: which are positive, and what the other columns of the table are for."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.app.formats import GROUP, LABEL
from toprank.blocks import Block, Total
from toprank.inputs import rounded_up
from toprank.models.model import Roles, lists_of
from toprank.tables import Table
from toprank.tables.cell_texts import SPELLINGS
from toprank.tables.columns import as_row_weights
from toprank.tables.parquet_blocks import StreamBlocks
from toprank.tables.parquet_stream import TableStream
from toprank.tables.table import RowBatch, check_has_column, joined, listing
from toprank.truth import plain_label, positive_of

if TYPE_CHECKING:
    from toprank.tables.encoding import Encoding
    from toprank.tables.schema import Schema

# Of two values whose meaning is not known the rarer is the positive one, if it is clearly rarer.
RARE = 0.4
# Values of a target that can be named one by one.
MOST_NAMED = 20
# A target with more values is no target; remembering them all would fill the memory.
MOST_VALUES = 100_000
# Rows and cells of a stream, at the most, from which an encoder learns: 256 MB of numbers.
ENCODED_ROWS, ENCODED_CELLS = 200_000, 1 << 25


class TargetValues(NamedTuple):
    """The values that belong at the top, and how many rows have each value that counts as missing.

    ``assumption`` says what was assumed, if anything, and ``notes`` what else to know.
    """

    values: tuple[str, ...]
    missing: Mapping[str, int]
    assumption: str = ""
    notes: tuple[str, ...] = ()


class LabelledFeatures(NamedTuple):
    """Rows that have a target, with their labels, weights and lists.

    ``numbers`` are the places of these rows in the table; ``first_row`` counts the labelled rows
    of earlier batches.
    """

    features: Table
    positives: NDArray[np.bool_]
    weights: NDArray[np.float64] | None
    groups: NDArray[Any] | None
    numbers: NDArray[np.intp]
    first_row: int = 0

    def metadata(self) -> dict[str, Any]:
        """Weights and lists, where there are any, as ``fit`` takes them."""
        named = {"sample_weight": self.weights, "groups": self.groups}
        return {name: value for name, value in named.items() if value is not None}

    def taken(self, places: NDArray[Any]) -> LabelledFeatures:
        """These rows alone."""
        arrays = {
            name: x[places] for name, x in self._asdict().items() if isinstance(x, np.ndarray)
        }
        return self._replace(features=self.features.rows(places), **arrays)


@dataclass
class _TargetSeen:
    """By value of the target the rows, their weight, and the rows of each batch."""

    counts: Counter[str]
    weights: Counter[str]
    batches: list[Counter[str]]

    def __add__(self, other: _TargetSeen) -> _TargetSeen:
        counts = self.counts + other.counts
        if len(counts) > MOST_VALUES:
            raise ValueError(
                f"the target has more than {MOST_VALUES:,} different values; give one with fewer."
            )
        weights = self.weights + other.weights
        return _TargetSeen(counts, weights, self.batches + other.batches)


@dataclass(frozen=True)
class TrainingData:
    """A table or a stream with its labels; rows without a target are left out and counted.

    ``n_rows``, ``n_positives`` and the total ``weight`` are those of the labelled rows; ``starts``
    counts, for each batch, the labelled rows before it; ``chosen`` says why the positive values are
    positive; ``whole`` are all rows, where they are in memory; ``left_out`` are columns that are of
    no use, with the reason.
    """

    source: Table | TableStream
    roles: Roles
    features: list[str]
    n_rows: int
    n_positives: int
    weight: float
    starts: NDArray[np.int64]
    chosen: TargetValues
    whole: LabelledFeatures | None = None
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def schema(self) -> Schema:
        """How the columns are read, and which are not used and why."""
        found = self.source.schema
        reasons = dict.fromkeys(self.features, "") | dict.fromkeys(self.roles.ignored, "ignored")
        changes = {
            name: replace(found[name], left_out=reason)
            for name, reason in (reasons | self.left_out).items()
            if name in found  # the features of sparse rows are not
        }
        return found.changed(**changes)

    @property
    def n_left_out(self) -> int:
        """Rows without a target, and rows that are held out."""
        return int(self.source.n_rows - self.n_rows)

    def in_memory(self) -> LabelledFeatures:
        """All rows; raises where they are read in pieces."""
        if self.whole is None:
            raise ValueError(
                f"--hold-out needs all rows in memory, but {self.source.name} is read in pieces; "
                "leave --hold-out out, or fit on a part of the rows."
            )
        return self.whole

    def rows(self, batch: RowBatch) -> LabelledFeatures:
        """The labelled rows of a batch."""
        found, table = batch.table.keys(self.roles.target), batch.table
        by_word = [
            -1 if word in self.chosen.missing else int(word in self.chosen.values)
            for word in found.words
        ]
        labels = np.array([*by_word, -1])[found.values]
        numbers = np.flatnonzero(labels >= 0)
        if numbers.size < table.n_rows:
            table = table.rows(numbers)
        return LabelledFeatures(
            table.select(self.features),
            labels[numbers] == 1,
            _weights(table, self.roles.weight),
            lists_of(table, self.roles.group),
            numbers,
            int(self.starts[batch.number]),
        )

    def divided(self, share: float, seed: int) -> tuple[TrainingData, LabelledFeatures]:
        """Rows to learn from, and a random ``share`` of the rows that is held out."""
        rows = self.in_memory()
        if rows.groups is not None:
            raise ValueError("--hold-out holds out single rows, but --group keeps rows together.")
        drawn = np.random.default_rng(seed).permutation(self.n_rows)
        n_held = int(rounded_up(share * self.n_rows))
        held, kept = rows.taken(np.sort(drawn[:n_held])), rows.taken(np.sort(drawn[n_held:]))
        for part, name in ((held, "held out"), (kept, "left to learn from")):
            if part.positives.all() or not part.positives.any():
                raise ValueError(
                    f"--hold-out {100 * share:g}%: the {part.positives.size} rows {name} are of "
                    "one class; choose another share."
                )
        weight = float(kept.positives.size if kept.weights is None else kept.weights.sum())
        n_positives = int(kept.positives.sum())
        learned = replace(
            self, n_rows=kept.positives.size, n_positives=n_positives, weight=weight, whole=kept
        )
        return learned, held

    def total(self, work: Callable[[LabelledFeatures], Total]) -> Total:
        """Add up ``work(rows)`` over all batches, in their order."""
        if self.whole is not None:
            return work(self.whole)
        return self.source.total(lambda batch: work(self.rows(batch)), self.columns)

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        given = (self.roles.target, self.roles.weight, self.roles.group)
        return [*self.features, *(name for name in given if name is not None)]

    def list_weights(self) -> NDArray[np.float64]:
        """How much the rows of each list weigh; without ``group`` there is one."""
        if self.roles.group is None:
            return np.array([self.weight])

        def look(rows: LabelledFeatures) -> Counter[str]:
            names, codes = np.unique(rows.groups, return_inverse=True)  # type: ignore[call-overload]
            sums = np.bincount(codes, rows.weights, names.size)
            return Counter(dict(zip(names.tolist(), sums.tolist(), strict=True)))

        return np.array(list(replace(self, features=[]).total(look).values()))

    @property
    def n_encoded(self) -> int:
        """Rows of a stream from which an encoder learns; all of them where they are few."""
        return min(self.n_rows, ENCODED_ROWS, max(1000, ENCODED_CELLS // len(self.features)))

    def learned_encoding(self) -> Encoding:
        """How a stream becomes numbers, learned from random rows."""
        from toprank.tables.encoder import learned_encoding

        drawn = np.random.default_rng(0).choice(self.n_rows, self.n_encoded, replace=False)
        rows = self.picked(np.sort(drawn))
        return learned_encoding(rows.features, rows.weights)

    def blocks(
        self, encoding: Encoding, scratch: str | os.PathLike[str] | None = None
    ) -> StreamBlocks:
        """Encode every batch of a stream in the thread that has read it."""
        stream: Any = self.source

        def as_block(batch: RowBatch) -> Block:
            rows = self.rows(batch)
            X = encoding.transform(rows.features)
            labels = rows.positives.astype(int)
            return Block(X, labels, rows.weights, batch.number, rows.groups)

        found = StreamBlocks(stream, self.columns, as_block, None, scratch)
        found.watch = stream.watch
        return found

    def sample(self, size: int) -> LabelledFeatures:
        """Rows at equal distances, ``size`` of them or up to twice as many, as if in memory."""
        return self.picked(np.arange(0, self.n_rows, max(1, self.n_rows // size)))

    def picked(self, numbers: NDArray[np.int64]) -> LabelledFeatures:
        """Labelled rows by their sorted numbers, as if in memory."""

        def taken(rows: LabelledFeatures) -> list[LabelledFeatures]:
            ends = rows.first_row, rows.first_row + rows.positives.size
            begin, end = np.searchsorted(numbers, ends)
            return [rows.taken(numbers[begin:end] - rows.first_row)]

        found = self.total(taken)
        if len(found) == 1:
            return found[0]._replace(groups=None, first_row=0)
        weights = [rows.weights for rows in found if rows.weights is not None]
        return LabelledFeatures(
            joined([rows.features for rows in found]),
            np.concatenate([rows.positives for rows in found]),
            np.concatenate(weights) if weights else None,
            None,
            np.concatenate([rows.numbers for rows in found]),
        )


def label_rows(
    source: Table | TableStream,
    *,
    target: str | None,
    positives: tuple[str, ...] = (),
    group: str | None = None,
    weight: str | None = None,
    ignored: tuple[str, ...] = (),
    unlabelled: tuple[str, ...] = (),
) -> TrainingData:
    """Name the columns that are features, labels, lists and weights, and check the labels.

    Where ``positives`` is empty, :func:`choose_positives` chooses; rows whose target is one of
    ``unlabelled`` are left out as those without one.
    LIBSVM and LETOR files name their target and lists. Of a stream it takes one pass over the
    columns of the target and the weights.
    """
    names = source.names
    if target is None and source.is_sparse:
        target = LABEL
    if target is None:
        raise ValueError(f"name the target with --target; {source.name} has {listing(names)}.")
    if group is None and source.is_sparse and GROUP in names:
        group = GROUP
    named = {"target": target, "group": group, "weight": weight}
    for what, name in [*named.items(), *(("--ignore option", each) for each in ignored)]:
        if name is not None:
            check_has_column(source.name, names, name, f"the {what}")
    given = [name for name in named.values() if name is not None]
    if len(set(given)) < len(given):
        name = max(given, key=given.count)
        raise ValueError(
            f"{name!r} is named more than once as target, group or weight; name different columns."
        )
    seen = _look_at_target(source, target, weight)
    chosen = choose_positives(seen.counts, target, positives, unlabelled)
    known = [_sum_of_known(counts, chosen) for counts in seen.batches]
    n_positives = sum(seen.counts[value] for value in chosen.values)
    total = float(_sum_of_known(seen.weights, chosen))
    if not total:
        raise ValueError(f"the weight {weight!r} is 0 in every row; some rows must count.")
    roles = Roles(target, chosen.values, group, weight, ignored, unlabelled)
    others = {target, group, weight, *ignored}
    features = [name for name in names if name not in others]
    if not features:
        raise ValueError(f"{source.name} has no column left to learn from besides {target!r}.")
    starts = np.concatenate([[0], np.cumsum(known)[:-1]]).astype(np.int64)
    n_rows = sum(known)
    data = TrainingData(source, roles, features, n_rows, n_positives, total, starts, chosen)
    if isinstance(source, Table):
        return replace(data, whole=data.rows(RowBatch(source.select(data.columns), 0, 0)))
    return data


def _look_at_target(source: Table | TableStream, target: str, weight: str | None) -> _TargetSeen:
    def look(batch: RowBatch) -> _TargetSeen:
        found = batch.table.keys(target)
        counts, weights = found.counted(), _weights(batch.table, weight)
        if weights is None:
            return _TargetSeen(counts, counts, [counts])
        # the first place is that of rows without a value, whose code is -1
        sums = np.bincount(found.values + 1, weights, len(found.words) + 1)[1:].tolist()
        by_word = Counter(dict(zip(found.words, sums, strict=True)))
        return _TargetSeen(counts, by_word, [counts])

    seen = source.total(look, [target] if weight is None else [target, weight])
    if not seen.counts:
        raise ValueError(f"the target {target!r} of {source.name} has no value in any row.")
    return seen


def _sum_of_known(counts: Counter[str], chosen: TargetValues) -> Any:
    """What belongs to rows that have a target."""
    return sum(count for word, count in counts.items() if word not in chosen.missing)


def _weights(table: Table, weight: str | None) -> NDArray[np.float64] | None:
    return None if weight is None else as_row_weights(table.column(weight), weight)


# Which values of the target belong at the top -------------------------------------------------


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
        negatives = [groups[each][0] for each in values if each not in wanted]
        if not negatives:
            raise ValueError(
                f"every known row of the target {target!r} is positive; ranking needs positive and "
                "negative rows."
            )
        if len(negatives) > 1:
            notes.append(
                f"the values {listing(negatives)} of the target {target!r} count as negative; "
                "--unlabelled VALUE leaves out rows whose outcome is not known yet."
            )
        return TargetValues(positives, missing, notes=tuple(notes))
    chosen, assumption = _of_two(counts, groups, target, values)
    return TargetValues(tuple(groups[chosen]), missing, assumption, tuple(notes))


def _of_two(
    counts: Mapping[str, int], groups: Mapping[str, list[str]], target: str, values: list[str]
) -> tuple[str, str]:
    """The positive one of two values, and what is assumed by that."""
    if len(values) != 2:
        words = [word for each in values for word in groups[each]]
        raise ValueError(_not_two(target, words, values))
    chosen = positive_of(*values)
    if chosen is not None:
        return chosen, ""
    rows = {each: sum(counts[word] for word in groups[each]) for each in values}
    rare, common = sorted(values, key=lambda each: (rows[each], each))
    first, other = groups[rare][0], groups[common][0]
    if rows[rare] > RARE * sum(rows.values()):
        raise ValueError(
            f"the target {target!r} is {first!r} in {rows[rare]:,} rows and {other!r} in "
            f"{rows[common]:,}: which of them belongs at the top? Name it with "
            f"--positive {first!r} or --positive {other!r}."
        )
    return rare, (
        f"ASSUMED: {target} = {first} belongs at the top, because it is the rarer value "
        f"({rows[rare]:,} rows). If it is {other}, fit with --positive {other!r}."
    )


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
