"""Sums over all pairs of a smooth function of the difference, without a sort.

For targets t, sources s with weights a and a function f, Σ_s a·f(t - s) for every target. The
scores are cut into cells of length 1. Within a cell f is a polynomial in the source's score and in
the target's, up to rounding: of the sources only the moments Σ a·T_n remain, with the Chebyshev
polynomials T_n, and of all sums in a cell of targets one series::

    sources --> moments of each cell --> series of each cell --> sums of the targets
             O(rows·TERMS)      O(cells²·TERMS²)       O(rows·TERMS)

The functions here have their poles at ±iπ, six half lengths of a cell away: a polynomial misses
them by (6.3 + √40.5)^-TERMS < 1e-16. All of them grow and fall by e or e² per cell at most, so
small sums keep their relative accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly
from numpy.typing import NDArray

from toprank.kernels.jit import compiled, side_by_side
from toprank.kernels.scratch import Scratch
from toprank.kernels.threads import Threads

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

TERMS = 15
# Rows that one thread takes at a time: sums over them do not depend on the number of threads.
PIECE = 1 << 16

_NODES = np.cos(np.pi * (np.arange(TERMS) + 0.5) / TERMS)
# values at the nodes times this are a series, moments times its transpose weights of the nodes
_SERIES = 2.0 / TERMS * np.cos(np.arange(TERMS) * np.arccos(_NODES)[:, None])
_SERIES[:, 0] /= 2.0
# a series times this are the coefficients of powers: those of T_n grow by 2.4 per n, and what
# they are multiplied with falls by 12, so that nothing is lost
_POWERS = np.zeros((TERMS, TERMS))
for _n in range(TERMS):
    _POWERS[_n, : _n + 1] = cheb2poly(np.eye(TERMS)[_n, : _n + 1])


class Cells:
    """Rows by cell; scores below ``floor`` count as ``floor``.

    ``rows`` are in the order of their cells, ``places`` where they lie within them, from -1 to 1.
    """

    def __init__(
        self,
        scores: NDArray[Any],
        rows: Integers,
        floor: float,
        low: float,
        n_cells: int,
        scratch: Scratch | None = None,
        threads: Threads | None = None,
    ) -> None:
        self.scratch, self.threads = scratch or Scratch(0), threads or Threads()
        self.rows, self.places = self.scratch.empty_like(rows), self.scratch.empty(rows.size)
        counts = np.zeros((-(-rows.size // PIECE), n_cells), dtype=np.intp)
        where = floor, low, n_cells - 1

        def count(piece: slice) -> None:
            _count(scores, rows[piece], *where, counts[piece.start // PIECE])

        def distribute(piece: slice) -> None:
            next_places = first[piece.start // PIECE].copy()
            _distribute(scores, rows[piece], *where, next_places, self.rows, self.places)

        self.threads.chunks(rows.size, PIECE, count)
        self.starts = np.append(0, np.cumsum(counts.sum(axis=0)))
        first = self.starts[:-1] + np.cumsum(counts, axis=0) - counts
        self.threads.chunks(rows.size, PIECE, distribute)


@compiled
def _count(
    scores: NDArray[Any], rows: Integers, floor: float, low: float, last: int, counts: Integers
) -> None:
    for row in rows:
        counts[min(int(max(scores[row], floor) - low), last)] += 1


@compiled
def _distribute(
    scores: NDArray[Any],
    rows: Integers,
    floor: float,
    low: float,
    last: int,
    next_places: Integers,
    rows_out: Integers,
    places: Floats,
) -> None:
    for row in rows:
        above = max(scores[row], floor) - low
        cell = min(int(above), last)
        place = next_places[cell]
        next_places[cell] += 1
        rows_out[place], places[place] = row, 2.0 * (above - cell) - 1.0


@side_by_side
def _moments(
    places: Floats, weights: Floats, starts: Integers, start: int, stop: int, sums: Floats
) -> None:
    """Σ a·T_n of each cell over the rows from start to stop; without weights each counts 1."""
    for cell in range(starts.size - 1):
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = s8 = s9 = s10 = s11 = s12 = s13 = s14 = 0.0
        for row in range(max(starts[cell], start), min(starts[cell + 1], stop)):
            t0 = weights[row] if weights.size else 1.0
            t1 = t0 * places[row]
            twice = 2.0 * places[row]
            s0, s1 = s0 + t0, s1 + t1
            t0 = twice * t1 - t0
            t1 = twice * t0 - t1
            s2, s3 = s2 + t0, s3 + t1
            t0 = twice * t1 - t0
            t1 = twice * t0 - t1
            s4, s5 = s4 + t0, s5 + t1
            t0 = twice * t1 - t0
            t1 = twice * t0 - t1
            s6, s7 = s6 + t0, s7 + t1
            t0 = twice * t1 - t0
            t1 = twice * t0 - t1
            s8, s9 = s8 + t0, s9 + t1
            t0 = twice * t1 - t0
            t1 = twice * t0 - t1
            s10, s11 = s10 + t0, s11 + t1
            t0 = twice * t1 - t0
            t1 = twice * t0 - t1
            s12, s13 = s12 + t0, s13 + t1
            s14 += twice * t1 - t0
        sums[cell] = np.array((s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14))


@side_by_side
def _evaluate(
    places: Floats, starts: Integers, powers: Floats, start: int, stop: int, values: Floats
) -> None:
    """Values of each cell's polynomial where its rows from start to stop lie, by Horner's rule."""
    for cell in range(starts.size - 1):
        mine = powers[cell]
        c0, c1, c2, c3, c4 = mine[0], mine[1], mine[2], mine[3], mine[4]
        c5, c6, c7, c8, c9 = mine[5], mine[6], mine[7], mine[8], mine[9]
        c10, c11, c12, c13, c14 = mine[10], mine[11], mine[12], mine[13], mine[14]
        for row in range(max(starts[cell], start), min(starts[cell + 1], stop)):
            x = places[row]
            value = (((((c14 * x + c13) * x + c12) * x + c11) * x + c10) * x + c9) * x + c8
            value = ((((value * x + c7) * x + c6) * x + c5) * x + c4) * x + c3
            values[row] = ((value * x + c2) * x + c1) * x + c0


def moments_of(sources: Cells, weights: Floats) -> Floats:
    """Moments of each cell; those of two sets of sources add up.

    Weights are in the order of the sources; without any each counts 1.
    """
    size = sources.rows.size
    sums = np.empty((-(-size // PIECE), sources.starts.size - 1, TERMS))

    def add_up(rows: slice) -> None:
        mine = sums[rows.start // PIECE]
        _moments(sources.places, weights, sources.starts, rows.start, rows.stop, mine)

    sources.threads.chunks(size, PIECE, add_up)
    total: Floats = sums.sum(axis=0)
    return total


def series_of(
    functions: Sequence[Callable[[Floats], Floats]], moments: Floats, *, adjoint: bool
) -> list[Floats]:
    """For each function f the series of all cells, from the moments of the sources.

    The sums are of f(t - s), with ``adjoint`` of f(s - t).
    """
    n_cells = len(moments)
    at_nodes = moments @ _SERIES.T
    within = 0.5 * (_NODES[:, None] - _NODES)
    sums = np.zeros((len(functions), n_cells, TERMS))
    for distance in range(1 - n_cells, n_cells):
        apart = distance + within
        source = slice(max(0, -distance), n_cells - max(0, distance))
        target = slice(max(0, distance), n_cells + min(0, distance))
        for total, function in zip(sums, functions, strict=True):
            total[target] += at_nodes[source] @ function(-apart if adjoint else apart).T
    return [total @ _SERIES for total in sums]


def values_of(targets: Cells, series: Floats) -> Floats:
    """Values of the series where the targets lie, in their order."""
    values = targets.scratch.empty(targets.rows.size)
    powers = series @ _POWERS

    def evaluate(rows: slice) -> None:
        _evaluate(targets.places, targets.starts, powers, rows.start, rows.stop, values)

    targets.threads.chunks(values.size, PIECE, evaluate)
    return values
