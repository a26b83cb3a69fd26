"""Tilted masses of two classes: w·e^{-a·s} of the positives and w·e^{b·s} of the negatives.

One pass takes chunks of rows that stay in the second-level cache. The masses of a chunk are
in units of its own largest ones, e^{-a·lowest} and e^{b·highest}, so nothing overflows and the
largest score need not be known beforehand; sums are brought to one scale at the end. Where chunks
begin does not depend on the threads, and neither do the sums.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

# Rows at a time: their scores and masses take a quarter of a megabyte.
CHUNK = 1 << 14

# Sums and extremes are kept in so many places side by side, which fill vector registers whatever
# their width: one place alone would have to be waited for, row by row.
LANES = 256


@compiled
def _chunk_edges(scores: Floats, positives: Booleans) -> tuple[float, float]:
    low, high = np.full(LANES, np.inf), np.full(LANES, -np.inf)
    for first in range(0, scores.size, LANES):
        mine, sides = scores[first : first + LANES], positives[first : first + LANES]
        for row in range(mine.size):
            falling = mine[row] if sides[row] else np.inf
            rising = -np.inf if sides[row] else mine[row]
            low[row] = min(low[row], falling)
            high[row] = max(high[row], rising)
    return low.min(), high.max()


@compiled
def class_exponent(
    score: float, positive: bool, edges: tuple[float, float], powers: tuple[float, float]
) -> float:
    """-a·(s - lowest) of a positive, b·(s - highest) of a negative."""
    below, above = powers[0] * (edges[0] - score), powers[1] * (score - edges[1])
    return below if positive else above


@compiled
def class_exponents(
    scores: Floats,
    positives: Booleans,
    edges: tuple[float, float],
    powers: tuple[float, float],
    out: NDArray[Any],
) -> None:
    """Write :func:`class_exponent` of every row."""
    for row in range(scores.size):
        out[row] = class_exponent(scores[row], positives[row], edges, powers)


@compiled
def _chunk_sums(values: Floats, positives: Booleans) -> tuple[float, float]:
    inside, outside = np.zeros(LANES), np.zeros(LANES)
    for first in range(0, values.size, LANES):
        mine, sides = values[first : first + LANES], positives[first : first + LANES]
        for row in range(mine.size):
            inside[row] += mine[row] if sides[row] else 0.0
            outside[row] += 0.0 if sides[row] else mine[row]
    return inside.sum(), outside.sum()


@compiled
def _scale(values: NDArray[Any], positives: Booleans, factors: Floats, first: int) -> None:
    """Multiply the rows of a chunk by its two factors, from chunk ``first`` on."""
    for chunk in range(factors.shape[1]):
        start = (first + chunk) * CHUNK
        mine, sides = values[start : start + CHUNK], positives[start : start + CHUNK]
        inside, outside = factors[0, chunk], factors[1, chunk]
        for row in range(mine.size):
            mine[row] *= inside if sides[row] else outside


@compiled
def class_bends(
    slopes: NDArray[Any], positives: Booleans, powers: tuple[float, float], out: NDArray[Any]
) -> None:
    """Write power·|q|·(1 - |q|) for each slope q."""
    for row in range(slopes.size):
        share = abs(slopes[row])
        out[row] = (powers[0] if positives[row] else powers[1]) * share * (1.0 - share)


@compiled
def pull_sums(
    masses: NDArray[Any], positives: Booleans, weights: Floats, factors: Floats, first: int
) -> Floats:
    """Sums of w·σ and w·σ(1 - σ) over the positives of each chunk, from chunk ``first`` on.

    σ = x/(1 + x), where x is the mass of a row times the chunk's factor over its weight.
    """
    sums = np.zeros((factors.size, 2))
    pulls, bends = np.empty(LANES), np.empty(LANES)
    for chunk in range(factors.size):
        pulls[:], bends[:] = 0.0, 0.0
        last, factor = min((first + chunk + 1) * CHUNK, masses.size), factors[chunk]
        for start in range((first + chunk) * CHUNK, last, LANES):
            mine = slice(start, min(start + LANES, last))
            rows, sides, own = masses[mine], positives[mine], weights[mine]
            for lane in range(rows.size):
                weight = own[lane] if own.size else 1.0
                risen = factor * rows[lane]
                share = np.divide(1.0, weight + risen)  # checks no zero, so rows go side by side
                pull = weight * risen * share if sides[lane] else 0.0
                pulls[lane] += pull
                bends[lane] += pull * weight * share
        sums[chunk, 0], sums[chunk, 1] = pulls.sum(), bends.sum()
    return sums


@compiled
def pulled_rows(
    masses: NDArray[Any],
    positives: Booleans,
    weights: Floats,
    factors: Floats,
    first: int,
    totals: tuple[float, float, float],
    bends: NDArray[Any],
) -> None:
    """Turn masses into slopes of the IR push, chunk by chunk, and write its bends unless empty.

    ``factors`` are those of :func:`pull_sums`, and what turns masses of negatives into shares r.
    ``totals`` are 1/W of the positives' weight W, and the pull and bend of all of them over W::

                    slope       bend
        positives   -w·σ/W      w·σ(1 - σ)/W
        negatives   pull·r      pull·r(1 - r) + bend·r²
    """
    part, pull, bend = totals
    for chunk in range(factors.shape[1]):
        rise, share = factors[0, chunk], factors[1, chunk]
        mine = slice((first + chunk) * CHUNK, (first + chunk + 1) * CHUNK)
        rows, sides, own, bent = masses[mine], positives[mine], weights[mine], bends[mine]
        for row in range(rows.size):
            weight = own[row] if own.size else 1.0
            risen, r = rise * rows[row], share * rows[row]
            away = weight * np.divide(1.0, weight + risen)  # 1 - σ
            upper, lower = risen * away * part, pull * r
            upper_bend = upper * away
            lower_bend = r * (pull + (bend - pull) * r)
            if bent.size:
                bent[row] = upper_bend if sides[row] else lower_bend
            rows[row] = -upper if sides[row] else lower


@compiled
def floor_bends(slopes: NDArray[Any], bends: NDArray[Any], bend: float) -> None:
    """Add bend·slope² to each bend, and let none be below 0."""
    for row in range(slopes.size):
        bends[row] = max(bends[row] + bend * slopes[row] * slopes[row], 0.0)


@compiled
def bounded_steps(
    slopes: NDArray[Any],
    bends: NDArray[Any],
    scale: float,
    out: NDArray[np.float32],
    bends_out: NDArray[np.float32],
) -> None:
    """Write slopes and bends times a scale, no bend below the size of its slope."""
    for row in range(slopes.size):
        slope = np.float32(scale * slopes[row])
        out[row], bends_out[row] = slope, max(np.float32(scale * bends[row]), abs(slope))


@compiled
def chosen(values: Floats, which: Booleans) -> Floats:
    """Values of some rows, faster than ``values[which]``: without a branch to foresee wrongly."""
    out, place = np.empty(values.size + 1), 0
    for row in range(values.size):
        out[place] = values[row]
        place += which[row]
    return out[:place]


class Line(NamedTuple):
    """Scores moved by a step along a direction."""

    ahead: NDArray[Any]
    step: float


class Tilted(NamedTuple):
    """Sums over the rows of each class: positives first, then negatives.

    Masses are in units of e^{-a·lowest} and e^{b·highest}; ``units`` are those of each chunk.
    ``moved`` are means of the direction of a line under the masses.
    """

    edges: tuple[float, float]
    masses: Floats
    units: Floats
    moved: Floats


class TwoClasses(NamedTuple):
    """The rows of two classes, with their weights (None for 1)."""

    positives: Booleans
    weights: Floats | None

    @property
    def n_chunks(self) -> int:
        """How many chunks the rows make up."""
        return -(-self.positives.size // CHUNK)

    def tilted(
        self,
        scores: NDArray[Any],
        powers: tuple[float, float],
        threads: Threads,
        *,
        into: NDArray[Any] | None = None,
        line: Line | None = None,
        tie: float = 0.0,
    ) -> Tilted:
        """Add up masses under the powers a and b; those of the rows are written to ``into``.

        At an infinite power only scores within the relative distance ``tie`` of the edge have a
        mass.
        """
        edges = class_edges(scores, self.positives, threads) if math.inf in powers else None
        sums = np.empty((self.n_chunks, 6))

        def add_up(first: int, last: int) -> None:
            work = _Work(self, scores, powers, edges, tie, into, line)
            for chunk in range(first, last):
                sums[chunk] = work.chunk(slice(chunk * CHUNK, (chunk + 1) * CHUNK))

        with np.errstate(over="ignore"):
            threads.over(self.n_chunks, add_up)
            lowest, highest = float(sums[:, 0].min()), float(sums[:, 1].max())
            units = np.ones((2, self.n_chunks))
            if edges is None:
                away = (lowest - sums[:, 0], sums[:, 1] - highest)
                for side in range(2):
                    if powers[side]:  # else every chunk counts in units of 1
                        units[side] = np.exp(powers[side] * away[side])
        masses = (units * sums[:, 2:4].T).sum(axis=1)
        moved = (units * sums[:, 4:6].T).sum(axis=1) / masses
        return Tilted((lowest, highest), masses, units, moved)

    def scale(self, values: NDArray[Any], factors: Floats, threads: Threads) -> None:
        """Multiply the rows of each chunk by its factors, one per class."""

        def multiply(first: int, last: int) -> None:
            mine = np.ascontiguousarray(factors[:, first:last])  # one layout, compiled once
            _scale(values, self.positives, mine, first)

        threads.over(self.n_chunks, multiply)


class _Work:
    """What one thread needs for its chunks."""

    def __init__(
        self,
        classes: TwoClasses,
        scores: NDArray[Any],
        powers: tuple[float, float],
        edges: tuple[float, float] | None,
        tie: float,
        into: NDArray[Any] | None,
        line: Line | None,
    ) -> None:
        self._positives, self._weights = classes
        self._scores, self._powers, self._edges, self._line = scores, powers, edges, line
        self._tie, self._into = tie, into
        self._writes = into is not None and into.dtype == np.float64
        self._moved, self._masses = np.empty((2, min(CHUNK, scores.size)))

    def chunk(self, rows: slice) -> tuple[float, ...]:
        """Edges, masses, and masses times the direction, of one chunk."""
        scores, positives = self._at(rows), self._positives[rows]
        edges = _chunk_edges(scores, positives) if self._edges is None else self._edges
        masses = self._masses[: scores.size]
        if self._writes and self._into is not None:
            masses = self._into[rows]
        if math.inf in self._powers:
            self._tied(scores, positives, edges, masses)
        else:
            class_exponents(scores, positives, edges, self._powers, masses)
        np.exp(masses, out=masses)
        if self._weights is not None:
            masses *= self._weights[rows]
        if self._into is not None and not self._writes:
            self._into[rows] = masses
        sums = _chunk_sums(masses, positives)
        if self._line is None:
            return *edges, *sums, 0.0, 0.0
        masses *= self._line.ahead[rows]
        return *edges, *sums, *_chunk_sums(masses, positives)

    def _at(self, rows: slice) -> Floats:
        scores = self._scores[rows]
        if self._line is None:
            return scores.astype(np.float64, copy=False)
        moved = self._moved[: scores.size]
        np.multiply(self._line.ahead[rows], self._line.step, out=moved, dtype=np.float64)
        moved += scores
        return moved

    def _tied(
        self, scores: Floats, positives: Booleans, edges: tuple[float, float], out: Floats
    ) -> None:
        """Exponents 0 at the edge of a class with infinite power, elsewhere minus infinity."""
        falling, rising = (1.0 if math.isinf(power) else power for power in self._powers)
        class_exponents(scores, positives, edges, (falling, rising), out)
        for side, power, edge in zip((positives, ~positives), self._powers, edges, strict=True):
            if math.isinf(power):
                is_tied = out[side] >= -self._tie * (1.0 + abs(edge))
                out[side] = np.where(is_tied, 0.0, -np.inf)


def class_edges(scores: NDArray[Any], positives: Booleans, threads: Threads) -> tuple[float, float]:
    """Lowest score of the positives and highest of the negatives."""
    edges = threads.chunks(
        scores.size,
        CHUNK,
        lambda rows: _chunk_edges(scores[rows].astype(np.float64, copy=False), positives[rows]),
    )
    lows, highs = zip((math.inf, -math.inf), *edges, strict=True)
    return min(lows), max(highs)
