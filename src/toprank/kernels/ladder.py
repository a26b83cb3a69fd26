"""Who is compared with whom: rows stand on rungs, one ladder per list.

Rows of one list are compared when their grades differ; labels are the grades 0 and 1. The rows
that count are laid out list by list, and within a list rung by rung::

    groups   a a a b b          rows     1 2 | 0 || 3 | 4      (|| ends a list, | a rung)
    grades   2 0 0 0 1          grades   0 0   1    0   1      (numbered within each list)
    weights  1 1 1 1 1          rungs    0     2    3   4   5
                                lists    0          3       5

An *outer* row is judged by its height, a sum over the *inner* rows: those of its list on higher
rungs. Rows on the highest rung of a list are nobody's outer row, those on the lowest nobody's
inner one.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.jit import compiled
from toprank.kernels.radix import argsort_floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.inputs import Lists

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

__all__ = ["Ladder", "exponential_adjoint", "exponential_mass"]


class Ladder:
    """Rows laid out by list (one where None) and grade; rows of weight 0 are left out."""

    def __init__(
        self,
        grades: NDArray[np.integer],
        weights: NDArray[np.float64] | None,
        lists: Lists | None,
    ) -> None:
        self.n_rows = grades.size
        kept = np.arange(grades.size) if weights is None else np.flatnonzero(weights)
        keys = grades[kept].astype(np.intp) - int(grades.min())
        n_grades = int(keys.max()) + 1
        if lists is not None:
            keys += lists.codes[kept] * n_grades
        # short keys are sorted in linear time
        order = np.argsort(keys.astype(np.min_scalar_type(keys.max())), kind="stable")
        keys = keys[order]
        self.rows = kept[order]
        self.row_weights = weights
        self.weights = np.ones(self.rows.size) if weights is None else weights[self.rows]
        self.rungs, rung_keys = _runs(keys)
        first_rungs, _ = _runs(rung_keys // n_grades)
        self.lists = self.rungs[first_rungs]
        self.first_rungs = first_rungs
        self.n_rungs = np.diff(first_rungs)
        numbers = np.arange(rung_keys.size) - np.repeat(first_rungs[:-1], self.n_rungs)
        self.grades = np.repeat(numbers, np.diff(self.rungs))
        self._list_of = np.repeat(np.arange(self.n_rungs.size), np.diff(self.lists))
        self.is_outer = self.grades < self.n_rungs[self._list_of] - 1

    @cached_property
    def rung_of(self) -> Integers:
        """Rung of every row, counted over all lists."""
        return np.repeat(np.arange(self.rungs.size - 1), np.diff(self.rungs))

    @cached_property
    def outer(self) -> Integers:
        """Rows with somebody above them."""
        return np.flatnonzero(self.is_outer)

    @cached_property
    def rising_rows(self) -> Integers | None:
        """Rows that are not left out, rising; None where that is all of them."""
        return None if self.rows.size == self.n_rows else np.sort(self.rows)

    @cached_property
    def is_upper(self) -> NDArray[np.bool_]:
        """Whether each of the rising rows stands on the upper one of two rungs."""
        is_upper = np.zeros(self.n_rows, dtype=np.bool_)
        is_upper[self.rows[self.rungs[1] :]] = True
        return is_upper if self.rising_rows is None else is_upper[self.rising_rows]

    @property
    def is_two_classes(self) -> bool:
        """Whether all rows stand in one list, on two rungs."""
        return bool(self.n_rungs.size == 1 and self.n_rungs[0] == 2)

    def sort(self, scores: NDArray[Any]) -> NDArray[np.intp]:
        """Order the laid-out scores ascending within each list."""
        order = argsort_floats(scores)
        return order if self.n_rungs.size == 1 else _deal(order, self._list_of, self.lists)

    def narrowest_gap(self, scores: NDArray[Any]) -> float:
        """How far the closest pair is from a tie, negative where a pair is in wrong order."""
        laid_out = scores[self.rows].astype(np.float64, copy=False)
        return float(_narrowest_gap(laid_out, self.rungs, self.first_rungs))


def _runs(keys: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where runs of equal keys start (and the last one ends), and the key of each run."""
    is_new = np.ones(keys.size, dtype=bool)
    is_new[1:] = keys[1:] != keys[:-1]
    starts = np.flatnonzero(is_new)
    return np.append(starts, keys.size), keys[starts]


@compiled
def _deal(
    order: NDArray[np.intp], list_of: NDArray[np.intp], lists: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Deal rows that are in order out to their lists, which leaves each list in order."""
    dealt = np.empty_like(order)
    following = lists[:-1].copy()
    for row in order:
        dealt[following[list_of[row]]] = row
        following[list_of[row]] += 1
    return dealt


@compiled
def _narrowest_gap(
    scores: NDArray[np.float64], rungs: NDArray[np.intp], first_rungs: NDArray[np.intp]
) -> float:
    narrowest = np.inf
    for g in range(first_rungs.size - 1):
        lowest_above = np.inf
        for rung in range(first_rungs[g + 1] - 1, first_rungs[g] - 1, -1):
            on_rung = scores[rungs[rung] : rungs[rung + 1]]
            narrowest = min(narrowest, lowest_above - on_rung.max())
            lowest_above = min(lowest_above, on_rung.min())
    return narrowest


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
