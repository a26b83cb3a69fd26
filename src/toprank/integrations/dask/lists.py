"""Many lists, brought together list by list: each is then judged on one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from dask import compute, delayed
from pandas.util import hash_array  # type: ignore[import-untyped]

from toprank.integrations.dask.chunks import keep, weights_of
from toprank.metrics.driver import DECLARATIONS, judge_lists
from toprank.metrics.ranked import ScoredRows, are_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from toprank.metrics.ranked import Floats

__all__ = ["JudgedLists", "judge_every_list"]


class JudgedLists(NamedTuple):
    """One value per list, whether the metric is defined there, and the list's name."""

    values: Floats
    defined: NDArray[np.bool_]
    names: NDArray[Any]


class _Part(NamedTuple):
    """Rows and the lists that they belong to."""

    rows: ScoredRows
    names: NDArray[Any]


def judge_every_list(
    name: str, chunks: Sequence[Any], ties: str, options: dict[str, Any]
) -> JudgedLists:
    """Send the rows of a list to one task, by a hash of its name, and judge them there."""
    n_parts = len(chunks)
    split = delayed(_split, nout=n_parts)
    pieces = keep(piece for rows in chunks for piece in split(rows, n_parts))
    parts = keep(delayed(_whole_lists)(list(pieces[at::n_parts])) for at in range(n_parts))
    del pieces
    longest, whole = zip(*compute(*(delayed(_extent)(part) for part in parts)), strict=True)
    # A second one of a weight that is not whole, and not longer than the longest list.
    placeholders = np.array(
        [max(longest)] if all(whole) else [max(longest), min(max(longest), 0.5)]
    )
    judge = delayed(_judge)
    judged = compute(*(judge(name, part, placeholders, ties, options) for part in parts))
    columns = [np.concatenate(column) for column in zip(*judged, strict=True)]
    order = np.argsort(columns[-1], kind="stable")
    return JudgedLists(*(column[order] for column in columns))


def _split(rows: ScoredRows, n_parts: int) -> list[ScoredRows]:
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
    """Judge the lists of a part, beside placeholders for the lists of other parts.

    Whether k is too long and whether a share of k is rounded depends on all lists. Lists of one
    row, of these weights, stand for those that other tasks hold; their values are dropped.
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
