"""Rows with their labels: what the columns of a table are for, in memory or batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.app.formats import GROUP, LABEL
from toprank.app.targets import TargetValues, choose_positives
from toprank.blocks import Block
from toprank.inputs import rounded_up
from toprank.models.model import Roles, lists_of
from toprank.tables import Table
from toprank.tables.columns import as_row_weights
from toprank.tables.encoder import learned_encoding
from toprank.tables.parquet_blocks import StreamBlocks
from toprank.tables.parquet_stream import TableStream
from toprank.tables.table import RowBatch, check_has_column, joined, listing

if TYPE_CHECKING:
    import os

    from toprank.blocks import Total
    from toprank.tables.encoding import Encoding
    from toprank.tables.schema import Schema

# A target with more values is no target; remembering them all would fill the memory.
MOST_VALUES = 100_000
# Rows and cells of a stream, at the most, from which an encoder learns: 256 MB of numbers.
ENCODED_ROWS, ENCODED_CELLS = 200_000, 1 << 25


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
        return self._replace(
            features=self.features.rows(places),
            positives=self.positives[places],
            weights=None if self.weights is None else self.weights[places],
            groups=None if self.groups is None else self.groups[places],
            numbers=self.numbers[places],
        )


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
        table = batch.table
        is_known, is_positive = _labels(table, self.roles.target, self.chosen)
        numbers = np.flatnonzero(is_known)
        if numbers.size < table.n_rows:
            table, is_positive = table.rows(numbers), is_positive[numbers]
        return LabelledFeatures(
            table.select(self.features),
            is_positive,
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


def _labels(
    table: Table, target: str, chosen: TargetValues
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows have a target, and which are positive."""
    found = table.keys(target)
    is_known = [word not in chosen.missing for word in found.words]
    is_positive = [word in chosen.values for word in found.words]
    return np.array([*is_known, False])[found.values], np.array([*is_positive, False])[found.values]


def _weights(table: Table, weight: str | None) -> NDArray[np.float64] | None:
    return None if weight is None else as_row_weights(table.column(weight), weight)
