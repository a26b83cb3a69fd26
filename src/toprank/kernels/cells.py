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
from numpy.typing import NDArray

from toprank.kernels.jit import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

TERMS = 15
# Rows side by side, which fill vector registers.
LANES = 64

_NODES = np.cos(np.pi * (np.arange(TERMS) + 0.5) / TERMS)
# values at the nodes times this are a series, moments times its transpose weights of the nodes
_SERIES = 2.0 / TERMS * np.cos(np.arange(TERMS) * np.arccos(_NODES)[:, None])
_SERIES[:, 0] /= 2.0


class Cells:
    """Rows dealt out to cells, those below ``floor`` as if they were there.

    ``rows`` are in the order of their cells, ``places`` where they lie within them, from -1 to 1.
    """

    def __init__(
        self, scores: NDArray[Any], rows: Integers, floor: float, low: float, n_cells: int
    ) -> None:
        self.starts = np.zeros(n_cells + 1, dtype=np.intp)
        self.rows, self.places = np.empty_like(rows), np.empty(rows.size)
        _deal(scores, rows, floor, low, self.starts, self.rows, self.places)


@compiled
def _deal(
    scores: NDArray[Any],
    rows: Integers,
    floor: float,
    low: float,
    starts: Integers,
    dealt: Integers,
    places: Floats,
) -> None:
    last = starts.size - 2
    for row in rows:
        starts[min(int(max(scores[row], floor) - low), last) + 1] += 1
    for cell in range(last + 1):
        starts[cell + 1] += starts[cell]
    following = starts[:-1].copy()
    for row in rows:
        above = max(scores[row], floor) - low
        cell = min(int(above), last)
        place = following[cell]
        following[cell] += 1
        dealt[place], places[place] = row, 2.0 * (above - cell) - 1.0


@compiled
def _moments(places: Floats, weights: Floats, starts: Integers) -> Floats:
    """Σ a·T_n of each cell; without weights each row counts 1."""
    sums = np.zeros((starts.size - 1, TERMS))
    lanes = np.empty((TERMS, LANES))
    twice, before, now = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for cell in range(starts.size - 1):
        lanes[:] = 0.0
        for first in range(starts[cell], starts[cell + 1], LANES):
            size = min(LANES, starts[cell + 1] - first)
            for lane in range(size):
                weight = weights[first + lane] if weights.size else 1.0
                twice[lane] = 2.0 * places[first + lane]
                before[lane], now[lane] = weight, weight * places[first + lane]
            for n in range(TERMS):
                mine = lanes[n]
                for lane in range(size):
                    mine[lane] += before[lane]
                    after = twice[lane] * now[lane] - before[lane]
                    before[lane], now[lane] = now[lane], after
        for n in range(TERMS):
            sums[cell, n] = lanes[n].sum()
    return sums


@compiled
def _evaluate(places: Floats, starts: Integers, series: Floats, values: Floats) -> None:
    """Values of each cell's series where its rows lie, by Clenshaw's rule."""
    twice, after, now = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for cell in range(starts.size - 1):
        mine = series[cell]
        for first in range(starts[cell], starts[cell + 1], LANES):
            size = min(LANES, starts[cell + 1] - first)
            for lane in range(size):
                twice[lane] = 2.0 * places[first + lane]
                after[lane], now[lane] = 0.0, 0.0
            for n in range(TERMS - 1, 0, -1):
                term = mine[n]
                for lane in range(size):
                    before = twice[lane] * now[lane] - after[lane] + term
                    after[lane], now[lane] = now[lane], before
            for lane in range(size):
                values[first + lane] = 0.5 * twice[lane] * now[lane] - after[lane] + mine[0]


def smooth_sums(
    functions: Sequence[Callable[[Floats], Floats]],
    targets: Cells,
    sources: Cells,
    weights: Floats,
    *,
    adjoint: bool = False,
) -> list[Floats]:
    """Σ a·f(t - s) over the sources for every target and f; with ``adjoint`` of f(s - t).

    Weights are in the order of the sources; without any each counts 1.
    """
    moments = moments_of(sources, weights)
    return [values_of(targets, series) for series in series_of(functions, moments, adjoint=adjoint)]


def moments_of(sources: Cells, weights: Floats) -> Floats:
    """Moments of each cell; those of two sets of sources add up."""
    return _moments(sources.places, weights, sources.starts)


def series_of(
    functions: Sequence[Callable[[Floats], Floats]], moments: Floats, *, adjoint: bool
) -> list[Floats]:
    """For each function the series of all cells, from the moments of the sources."""
    n_cells = len(moments)
    at_nodes = moments @ _SERIES.T
    within = 0.5 * (_NODES[:, None] - _NODES)
    sums = np.zeros((len(functions), n_cells, TERMS))
    for distance in range(1 - n_cells, n_cells):
        apart = distance + within
        from_ = slice(max(0, -distance), n_cells - max(0, distance))
        to = slice(max(0, distance), n_cells + min(0, distance))
        for total, function in zip(sums, functions, strict=True):
            total[to] += at_nodes[from_] @ function(-apart if adjoint else apart).T
    return [total @ _SERIES for total in sums]


def values_of(targets: Cells, series: Floats) -> Floats:
    """Values of the series where the targets lie, in their order."""
    values = np.empty(targets.rows.size)
    _evaluate(targets.places, targets.starts, series, values)
    return values
