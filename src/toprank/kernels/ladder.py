"""Who is compared with whom: rows stand on rungs, one ladder per list.

Rows of one list are compared when their grades differ; labels are the grades 0 and 1. The rows
that count are laid out list by list, and within a list rung by rung::

    groups   a a a b b          rows     1 2 | 0 || 3 | 4      (|| ends a list, | a rung)
    grades   2 0 0 0 1          grades   0 0   1    0   1      (numbered within each list)
    weights  1 1 1 1 1          rungs    0     2    3   4   5
                                lists    0          3       5

An *outer* row is judged by its height, a sum over the *inner* rows: those of its list on higher
rungs. Rows on the highest rung of a list are never outer, those on the lowest never inner.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled
from toprank.kernels.sweeps import order_of_keys, sorted_rows

if TYPE_CHECKING:
    from toprank.inputs import Lists

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


class Ladder:
    """Rows laid out by list (one where None) and grade; rows of weight 0 are left out."""

    def __init__(
        self,
        grades: NDArray[np.integer],
        weights: NDArray[np.float64] | None,
        lists: Lists | None,
    ) -> None:
        self.n_rows = grades.size
        kept = slice(None) if weights is None else np.flatnonzero(weights)
        keys = grades[kept] - grades.min()
        n_grades = int(keys.max()) + 1
        if lists is not None:
            keys = keys.astype(np.intp) + lists.codes[kept] * n_grades
        order = order_of_keys(keys)
        keys = keys[order]
        self.rows = order if isinstance(kept, slice) else kept[order]
        self.row_weights = weights
        self.rungs, rung_keys = _runs(keys)
        first_rungs, _ = _runs(rung_keys // n_grades)
        self.lists = self.rungs[first_rungs]
        self.first_rungs = first_rungs
        self.n_rungs = np.diff(first_rungs)

    @cached_property
    def weights(self) -> Floats:
        """Weights of the laid-out rows."""
        given = self.row_weights
        return np.ones(self.rows.size) if given is None else given[self.rows]

    @cached_property
    def grades(self) -> Integers:
        """Grades of the laid-out rows, numbered within each list."""
        first = np.repeat(self.first_rungs[:-1], self.n_rungs)
        return np.repeat(np.arange(first.size) - first, np.diff(self.rungs))

    @cached_property
    def _list_of(self) -> Integers:
        return np.repeat(np.arange(self.n_rungs.size), np.diff(self.lists))

    @cached_property
    def is_outer(self) -> NDArray[np.bool_]:
        """Whether a laid-out row has rows of its list on higher rungs."""
        return np.asarray(self.grades < self.n_rungs[self._list_of] - 1)

    @cached_property
    def rung_of(self) -> Integers:
        """Rung of every row, counted over all lists."""
        return np.repeat(np.arange(self.rungs.size - 1), np.diff(self.rungs))

    @cached_property
    def outer(self) -> Integers | slice:
        """Laid-out rows that have rows of their list on higher rungs."""
        if self.n_rungs.size == 1:  # all but the highest rung, which comes last
            return slice(0, int(self.rungs[-2]))
        return np.flatnonzero(self.is_outer)

    @property
    def is_two_classes(self) -> bool:
        """Whether all rows are in one list, on two rungs."""
        return bool(self.n_rungs.size == 1 and self.n_rungs[0] == 2)

    def sort(self, scores: NDArray[Any]) -> tuple[Integers, NDArray[Any]]:
        """Order of the laid-out scores, ascending within each list, and the scores in it."""
        return sorted_rows(scores, self._list_of if self.n_rungs.size > 1 else None)

    def to_rows(self, laid_out: Floats) -> Floats:
        """Values of the laid-out rows at their rows, 0 at those that are left out."""
        rows = np.zeros(self.n_rows)
        write_rows(self.rows, laid_out, rows)
        return rows

    def outer_of_rungs(self, per_rung: Floats) -> Floats:
        """Values of rungs for each of their outer rows."""
        lengths = np.diff(self.rungs)
        lengths[self.first_rungs[1:] - 1] = 0  # the highest rung of each list
        return np.repeat(per_rung, lengths)

    def narrowest_gap(self, scores: NDArray[Any]) -> float:
        """How far the closest pair is from a tie, negative where a pair is in wrong order."""
        laid_out = scores[self.rows].astype(np.float64, copy=False)
        lowest, _ = exponential_mass(laid_out, self.weights, self.rungs, self.first_rungs)
        gaps = self.outer_of_rungs(lowest) - laid_out[self.outer]
        return float(gaps.min(initial=np.inf))


def _runs(keys: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Where runs of equal keys start (and the last one ends), and the key of each run."""
    is_new = np.ones(keys.size, dtype=bool)
    is_new[1:] = keys[1:] != keys[:-1]
    starts = np.flatnonzero(is_new)
    return np.append(starts, keys.size), keys[starts]


@compiled
def write_rows(rows: Integers, values: Floats, out: Floats) -> None:
    """Write values to their rows, faster than ``out[rows] = values``."""
    for place in range(rows.size):
        out[np.uint64(rows[place])] = values[place]


@compiled
def exponential_mass(
    scores: Floats, weights: Floats, rungs: Integers, first_rungs: Integers
) -> tuple[Floats, Floats]:
    """Lowest score above each rung, and Σ a_i·e^{-(s_i - lowest)} over the rows above it.

    Sums of e^{s_outer - s_inner} over pairs factorise: the inner rows above a rung share one,
    Σ_i a_i·e^{-s_i} = e^{-lowest}·mass, kept as that pair so that no score is too large. The
    highest rung of a list has nothing above it: lowest is inf and mass 0. O(rows).
    """
    lowest = np.full(rungs.size - 1, np.inf)
    mass = np.zeros(rungs.size - 1)
    for g in range(first_rungs.size - 1):
        for rung in range(first_rungs[g + 1] - 2, first_rungs[g] - 1, -1):
            first, last = rungs[rung + 1], rungs[rung + 2]
            origin = min(lowest[rung + 1], scores[first:last].min())
            total = 0.0
            if mass[rung + 1] > 0.0:
                total = mass[rung + 1] * np.exp(origin - lowest[rung + 1])
            for row in range(first, last):
                total += weights[row] * np.exp(origin - scores[row])
            lowest[rung], mass[rung] = origin, total
    return lowest, mass


@compiled
def exponential_adjoint(
    scores: Floats,
    weights: Floats,
    rungs: Integers,
    first_rungs: Integers,
    lowest: Floats,
    power: int,
) -> Floats:
    """Give every inner row Σ_k a_k·e^{-power·(s_i - lowest_k)} over the outer rows k below it.

    ``lowest_k`` is the lowest score above the rung of k, as :func:`exponential_mass` gave it.
    """
    sums = np.zeros(scores.size)
    for g in range(first_rungs.size - 1):
        total = 0.0
        for rung in range(first_rungs[g], first_rungs[g + 1] - 1):
            # lowest never falls from rung to rung, so every factor is at most 1
            if rung > first_rungs[g]:
                total *= np.exp(power * (lowest[rung - 1] - lowest[rung]))
            for row in range(rungs[rung], rungs[rung + 1]):
                total += weights[row]
            for row in range(rungs[rung + 1], rungs[rung + 2]):
                sums[row] = total * np.exp(power * (lowest[rung] - scores[row]))
    return sums
