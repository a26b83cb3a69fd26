"""Metrics of a list on a cluster: its rows are sorted into ranges of falling scores.

::

    chunks            a: 9 7 7 4 1      b: 8 7 3 2      each sorted on its worker
    ends of blocks       9   7   1         8   3 2      sent to the client, with sums
    ranges            9 8 | 7 7 7 4 | 3 2 1             each collected by one task

The blocks decide only how even the ranges are. A range ends at a score, and every row goes to the
range of its score, so rows of equal score are never separated. Where a metric looks only at the
head of the list, rows that cannot be in it are neither sorted nor moved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from dask import compute, delayed
from numpy.typing import NDArray
from pandas.util import hash_array  # type: ignore[import-untyped]

from toprank.integrations.dask.chunks import keep, weights_of
from toprank.metrics.driver import DECLARATIONS, judge_lists
from toprank.metrics.ranked import (
    Ranked,
    Reach,
    ScoredRows,
    are_whole,
    head_of,
    rank_sorted,
    sort_rows,
)

if TYPE_CHECKING:
    from toprank.integrations.dask.chunks import Totals
    from toprank.metrics.ranked import Floats

# Blocks of equal size in a chunk. The size of a range is known up to one block of every chunk.
_N_BLOCKS = 256


class SortedChunks(NamedTuple):
    """Sorted chunks on the cluster, and the lowest score of each range of the list."""

    chunks: tuple[Any, ...]
    splitters: Floats


def sort_chunks(chunks: Sequence[Any], reach: Reach) -> SortedChunks:
    """Sort every chunk, as far down as the reach may go, and find the ranges."""
    floor = _floor(chunks, reach)
    in_order = keep(delayed(_sorted)(rows, floor) for rows in chunks)
    blocks = compute(*(delayed(_blocks)(rows) for rows in in_order))
    return SortedChunks(in_order, _splitters(blocks, reach))


def lowest_score(chunks: Sequence[Any], reach: Reach) -> float:
    """A score at or above which rows weigh as much as the reach, or a little more."""
    return float(sort_chunks(chunks, reach).splitters[-1])


def split_chunks(in_order: SortedChunks) -> list[tuple[Any, ...]]:
    """For each range, its rows in every chunk.

    These are separate results, so that a worker that spills to disk reads each once.
    """
    n_ranges = in_order.splitters.size
    split = delayed(_split, nout=n_ranges)
    pieces = keep(piece for rows in in_order.chunks for piece in split(rows, in_order.splitters))
    return [pieces[at::n_ranges] for at in range(n_ranges)]


def rank_ranges(
    pieces: Sequence[tuple[Any, ...]], totals: Totals, gain_order: str | None
) -> tuple[Any, ...]:
    """Rank each range, from the top one down, by one task."""
    return keep(delayed(_ranked)(list(parts), totals, gain_order) for parts in pieces)


def _floor(chunks: Sequence[Any], reach: Reach) -> float:
    """A score below which no row is needed.

    The budget is reached where one chunk reaches it alone, or where each chunk reaches its share.
    """
    if math.isinf(reach.budget):
        return -math.inf
    places = reach, reach._replace(budget=reach.budget / len(chunks))
    found = compute(*(delayed(_scores_at)(rows, places) for rows in chunks))
    alone, shared = zip(*found, strict=True)
    return max(*alone, min(shared))


def _scores_at(rows: ScoredRows, places: Sequence[Reach]) -> list[float]:
    """Lowest scores that are needed for these places.

    Chunks with weights are sorted as a whole later on: they say -inf.
    """
    return [-math.inf if rows.weights is not None else one.lowest_score(rows) for one in places]


def _sorted(rows: ScoredRows, floor: float) -> ScoredRows:
    """Rows by falling score, those of equal score and gain merged into one."""
    rows = rows if math.isinf(floor) else head_of(rows, floor)
    by_score = sort_rows(rows, gain_order="descending")
    weights, starts = weights_of(rows)[by_score.order], np.flatnonzero(by_score.is_first)
    if starts.size < weights.size:
        weights = np.add.reduceat(weights, starts)
    return rows.take(by_score.order[starts])._replace(weights=weights)


class _Blocks(NamedTuple):
    """The lowest score of each block of a sorted chunk, from the top, and sums over its rows."""

    lowest: Floats
    rows: NDArray[np.intp]
    weight: Floats
    negatives: Floats


def _blocks(rows: ScoredRows) -> _Blocks:
    size, weights = rows.scores.size, weights_of(rows)
    if not size:
        return _Blocks(np.empty(0), np.empty(0, np.intp), np.empty(0), np.empty(0))
    # Short blocks at the very top, where shortlists end.
    doubling = 2 ** np.arange(size.bit_length())
    ends = np.union1d(doubling, np.linspace(1, size, _N_BLOCKS).astype(np.intp))
    starts = np.append(0, ends[:-1])
    return _Blocks(
        rows.scores[ends - 1],
        ends - starts,
        np.add.reduceat(weights, starts),
        np.add.reduceat(np.where(rows.gain > 0, 0.0, weights), starts),
    )


def _splitters(chunks: tuple[_Blocks, ...], reach: Reach) -> Floats:
    """Lowest score of each range, falling; the last is the lowest that the reach may need."""
    lowest = np.concatenate([blocks.lowest for blocks in chunks])
    order = np.argsort(-lowest)
    # All rows of the blocks up to one score at least as much as its lowest row.
    passed = np.cumsum(np.concatenate([getattr(blocks, reach.of) for blocks in chunks])[order])
    last = min(int(np.searchsorted(passed, reach.budget)), order.size - 1)
    rows = np.cumsum(np.concatenate([blocks.rows for blocks in chunks])[order[: last + 1]])
    n_ranges = -(-int(rows[-1]) // max(int(blocks.rows.sum()) for blocks in chunks))
    ends = np.searchsorted(rows, rows[-1] * np.arange(1, n_ranges) / n_ranges)
    splitters: Floats = np.unique(lowest[order[np.append(ends, last)]])[::-1]
    return splitters


def _split(rows: ScoredRows, splitters: Floats) -> list[ScoredRows]:
    ends = np.searchsorted(-rows.scores, -splitters, side="right")
    starts = np.append(0, ends[:-1])
    return [rows.take(np.arange(start, end)) for start, end in zip(starts, ends, strict=True)]


def _ranked(pieces: list[ScoredRows], totals: Totals, gain_order: str | None) -> Ranked:
    rows = ScoredRows(
        np.concatenate([piece.scores for piece in pieces]),
        np.concatenate([piece.gain for piece in pieces]),
        np.concatenate([weights_of(piece) for piece in pieces]),
        None,
        1,
    )
    by_score = sort_rows(rows, gain_order=gain_order)
    ranked = rank_sorted(rows, by_score, totals.positives, totals.negatives)
    # Weights were summed, so that only the totals know if they were whole; the rows may go.
    return ranked._replace(whole=totals.whole, source=rows.take(np.empty(0, np.intp)))


class _MissingSum(Exception):  # noqa: N818  (not an error: the client adds it up)
    """A sum over the list that is not known yet, and what this section adds to it."""

    def __init__(self, kind: str, part: float) -> None:
        super().__init__(kind, part)
        self.kind, self.part = kind, part


class _Section(Ranked):
    """Ties of one range, with those sums over all ranges that are known, in order of use."""

    def with_sums(self, sums: Iterable[float], totals: Totals) -> _Section:
        self.sums, self.totals = iter(sums), totals
        return self

    def _sum_of(self, kind: str, part: float) -> float:
        for known in self.sums:
            return known
        raise _MissingSum(kind, part)

    def above(self, values: Floats) -> Floats:
        return self._sum_of("above", values.sum()) + super().above(values)

    def below(self, values: Floats) -> Floats:
        return self._sum_of("below", values.sum()) + super().below(values)

    def beneath(self, values: Floats) -> float:
        return self._sum_of("below", values.sum())

    def scaled(self) -> _Section:
        return _Section(*super().scaled()).with_sums(self.sums, self.totals)

    def total(self, values: Floats) -> Floats:
        return np.array([self._sum_of("total", values.sum())])

    def total_of(self, values: Floats, live: NDArray[np.intp]) -> Floats:  # noqa: ARG002
        return self.total(values)

    def largest(self, values: Floats) -> Floats:
        return np.array([self._sum_of("largest", values.max())])

    def best(self) -> Ranked:
        """The best order, which follows from the totals alone."""
        falling = np.flatnonzero(self.totals.weights)[::-1]
        weight = self.totals.weights[falling]
        return Ranked(*self)._replace(gain=self.totals.worths[falling] * weight, weight=weight)


_COMBINED: dict[str, Callable[[Floats], Floats]] = {
    "above": lambda parts: np.append(0.0, np.cumsum(parts))[:-1],
    "below": lambda parts: np.append(0.0, np.cumsum(parts[::-1]))[-2::-1],
    "total": lambda parts: np.full(parts.size, parts.sum()),
    "largest": lambda parts: np.full(parts.size, parts.max()),
}


def judge_sections(
    name: str, ranges: Sequence[Any], totals: Totals, options: dict[str, Any]
) -> Floats:
    """The metric of the list with these ranked ranges, by the formula of one machine.

    A metric's formula (its judge) uses the list by four kinds of sums: over all ties, over the ties
    above each one, over those below it, and the largest value. The client evaluates the formula on
    the first tie alone. Whenever a sum is missing, the formula is evaluated on every range up to
    the same sum, and each range gives its part of it.
    """
    judge = DECLARATIONS[name].judge
    [first] = compute(delayed(_first_tie)(ranges[0]))
    sums: list[Floats] = []
    while True:
        section = _Section(*first).with_sums([known[0] for known in sums], totals)
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                return judge(section, **options)
        except _MissingSum as missing:
            part = delayed(_part)
            parts = compute(
                *(
                    part(name, ranked, [known[at] for known in sums], totals, options)
                    for at, ranked in enumerate(ranges)
                )
            )
            sums.append(_COMBINED[missing.kind](np.array(parts)))


def _first_tie(ranked: Ranked) -> Ranked:
    others = None if ranked.others is None else ranked.others[:1]
    return ranked._replace(gain=ranked.gain[:1], weight=ranked.weight[:1], others=others)


def _part(
    name: str, ranked: Ranked, sums: list[float], totals: Totals, options: dict[str, Any]
) -> float:
    """What a range adds to the first sum that is missing."""
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            DECLARATIONS[name].judge(_Section(*ranked).with_sums(sums, totals), **options)
    except _MissingSum as missing:
        return missing.part
    raise AssertionError(f"{name} used more sums on the first tie than on its range.")


# Many lists: the rows of each list are sent to one task -------------------------------------------


class JudgedLists(NamedTuple):
    """One value per list, whether the metric is defined there, and the id of the list."""

    values: Floats
    defined: NDArray[np.bool_]
    names: NDArray[Any]


class _Part(NamedTuple):
    """Rows, and the ids of their lists."""

    rows: ScoredRows
    names: NDArray[Any]


def judge_every_list(
    name: str, chunks: Sequence[Any], ties: str, options: dict[str, Any]
) -> JudgedLists:
    """Send the rows of a list to one task, by a hash of its id, and measure them there."""
    n_parts = len(chunks)
    split = delayed(_split_by_list, nout=n_parts)
    pieces = keep(piece for rows in chunks for piece in split(rows, n_parts))
    parts = keep(delayed(_whole_lists)(list(pieces[at::n_parts])) for at in range(n_parts))
    del pieces
    longest, whole = zip(*compute(*(delayed(_extent)(part) for part in parts)), strict=True)
    # The second one has a weight that is not whole, and is not longer than the longest list.
    placeholders = np.array(
        [max(longest)] if all(whole) else [max(longest), min(max(longest), 0.5)]
    )
    judge = delayed(_judge)
    judged = compute(*(judge(name, part, placeholders, ties, options) for part in parts))
    columns = [np.concatenate(column) for column in zip(*judged, strict=True)]
    order = np.argsort(columns[-1], kind="stable")
    return JudgedLists(*(column[order] for column in columns))


def _split_by_list(rows: ScoredRows, n_parts: int) -> list[ScoredRows]:
    ids = np.asarray(rows.codes)
    # pandas hashes text as objects only; the hash is the same in every process, unlike Python's.
    hashes = hash_array(ids.astype(object) if ids.dtype.kind in "SU" else ids, categorize=False)
    home = (hashes % n_parts).astype(np.intp)
    ends = np.cumsum(np.bincount(home, minlength=n_parts))
    return [rows.take(part) for part in np.split(np.argsort(home, kind="stable"), ends[:-1])]


def _whole_lists(pieces: list[ScoredRows]) -> _Part:
    scores, gain, ids = (
        np.concatenate([getattr(piece, name) for piece in pieces])
        for name in ("scores", "gain", "codes")
    )
    names, codes = np.unique(ids, return_inverse=True)
    weights = np.concatenate([weights_of(piece) for piece in pieces])
    return _Part(ScoredRows(scores, gain, weights, codes.astype(np.intp), names.size), names)


def _extent(part: _Part) -> tuple[float, bool]:
    """Weight of the longest list, and whether all weights are whole."""
    return part.rows.per_list().max(initial=0.0), are_whole(weights_of(part.rows))


def _judge(
    name: str, part: _Part, placeholders: Floats, ties: str, options: dict[str, Any]
) -> JudgedLists:
    """Measure the lists of a part, together with placeholders for the lists of other parts.

    Whether k is too large and whether a share is rounded depend on all lists. Lists of one row with
    these weights stand for those of other tasks; their values are dropped.
    """
    rows, n_lists = part.rows, part.rows.n_lists
    if not n_lists:
        return JudgedLists(np.empty(0), np.empty(0, np.bool_), part.names)
    with_placeholders = ScoredRows(
        np.append(rows.scores, np.zeros(placeholders.size)),
        np.append(rows.gain, np.ones(placeholders.size, rows.gain.dtype)),
        np.append(weights_of(rows), placeholders),
        np.append(cast("NDArray[np.intp]", rows.codes), n_lists + np.arange(placeholders.size)),
        n_lists + placeholders.size,
    )
    values, defined = judge_lists(DECLARATIONS[name], with_placeholders, ties, options)
    return JudgedLists(values[:n_lists], defined[:n_lists], part.names)
