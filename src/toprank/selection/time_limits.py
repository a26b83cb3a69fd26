"""Fits of the chosen members in the time that is left, and by passes over a stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from toprank.selection.candidates import RANKERS

if TYPE_CHECKING:
    from toprank.blocks import Blocks
    from toprank.selection.blending import Blend, CrossFit
    from toprank.selection.judging import LabelledRows

Floats = NDArray[np.float64]

# A fit on a stream takes some passes to read it, and its iterations longer than in memory.
_PASSES, _ON_DISK = 10, 2.0


class RowStream(NamedTuple):
    """Rows in blocks, how many they are, and the seconds of one pass over them."""

    blocks: Blocks
    n_rows: int
    seconds: float


def fits_within(
    seconds: float, cross: CrossFit, weights: Floats, n_rows: int, n_jobs: int | None
) -> tuple[CrossFit, int]:
    """Members and a number of rows whose fits in memory end within so many seconds.

    First all rows; then members as they were on the folds; then fewer rows and fewer, but no
    fewer than the folds had, which were fitted in time.
    """
    least = cross.folds[0].train.size
    if _seconds_needed(cross, weights, n_rows, n_jobs) > seconds:
        cross = replace(cross, members=[member.as_on_folds() for member in cross.members])
    while _seconds_needed(cross, weights, n_rows, n_jobs) > seconds and n_rows > least:
        n_rows = max(3 * n_rows // 4, least)
    return cross, n_rows


def _seconds_needed(cross: CrossFit, weights: Floats, n_rows: int, n_jobs: int | None) -> float:
    """What fits of the chosen members on so many rows in memory will take."""
    efforts = np.array([cross.seconds(at, n_rows) for at in np.flatnonzero(weights).tolist()])
    return float(max(efforts.sum() / effective_n_jobs(n_jobs), efforts.max()))


def fit_on_stream(
    blend: Blend,
    weights: dict[str, float],
    stream: RowStream,
    data: LabelledRows,
    seconds_left: Callable[[], float] | None,
) -> None:
    """Fit by passes over a stream what can be, and the other members on the rows in memory.

    ``weights`` are those of the members of the blend, by their labels. With a time limit, all are
    fitted on the rows in memory first; what that took tells which of them can be fitted on all rows
    in the time that is left, those of the largest weights first.
    """
    labels = list(weights)
    places = [
        labels.index(label)
        for label in sorted(labels, key=lambda label: -weights[label])
        if RANKERS[label.split()[0]].is_streamed
    ]

    def in_time(seconds: float) -> bool:
        growth = stream.n_rows / data.n_rows
        needed = _PASSES * stream.seconds + _ON_DISK * growth * seconds
        return seconds_left is None or needed <= seconds_left()

    blend.fit_blocks(stream.blocks, data, places, None if seconds_left is None else in_time)
