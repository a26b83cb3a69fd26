"""Rows as the array formulas see them: masks instead of selections, lists side by side.

No shape depends on what the arrays hold, so that no length must be read back from a device and a
compiler sees one program.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Array", "Batch", "Rows", "Side", "count_up", "lists_of"]

Array = Any


class Batch(NamedTuple):
    """What a formula is put on; ``xp`` is the library of the arrays, see :mod:`.namespace`."""

    xp: Any
    scores: Array
    y: Array
    weight: Array | None = None
    groups: Array | None = None

    def working(self) -> Array:
        """Scores in float32 or float64: shorter floats have too few digits for differences."""
        xp = self.xp
        if self.scores.dtype in (xp.float32, xp.float64):
            return self.scores
        return xp.astype(self.scores, xp.float32)


class Side(NamedTuple):
    """One push: outer rows are judged by the inner rows of their list, by ``t``.

    ``first`` and ``last`` are where each row's list starts and ends, ``None`` for one list::

        t       3 1 2 | 5 4        first   0 0 0 3 3        last   3 3 3 5 5
    """

    xp: Any
    t: Array
    inner: Array
    outer: Array
    weight: Array | None
    first: Array | None
    last: Array | None

    def weighted(self, values: Array) -> Array:
        """Values times the rows' weights."""
        return values if self.weight is None else values * self.weight

    def total(self, values: Array) -> Array:
        """Sum over the list, in float64: one number, or one a row where there are lists."""
        if self.first is None:
            return self.xp.sum(values, dtype=self.xp.float64)
        sums = self.xp.cumulative_sum(values, dtype=self.xp.float64)
        zero = self.xp.zeros_like(sums[:1])
        sums = self.xp.concat([zero, sums])
        return sums[self.last] - sums[self.first]

    def lowest(self, values: Array) -> Array:
        """Least of the list: one number, or one a row where there are lists."""
        if self.first is None:
            return self.xp.min(values)
        return self.ascending(values)[0][self.first]

    def ascending(self, values: Array) -> tuple[Array, Array]:
        """Values in ascending order within each list, and that order."""
        if self.first is None:
            return self.xp.in_order(values)
        order = self.xp.in_order(values)[1]
        order = order[self.xp.argsort(self.first[order], stable=True)]
        return values[order], order

    def gaps(self, ascending: Array) -> Array:
        """Distance from the row before, 0 where a list starts."""
        xp = self.xp
        steps = ascending[1:] - ascending[:-1]
        if self.first is not None:
            steps = xp.where(self.first[1:] == self.first[:-1], steps, 0.0)
        steps = xp.maximum(steps, xp.zeros_like(steps))
        return xp.concat([xp.zeros_like(ascending[:1]), steps])

    def prefix(self, values: Array) -> Array:
        """Σ over this row and those before it in its list, in float64."""
        sums = self.xp.cumulative_sum(values, dtype=self.xp.float64)
        return sums if self.first is None else sums - (sums - values)[self.first]

    def suffix(self, values: Array) -> Array:
        """Σ over the rows behind this one in its list, in float64."""
        sums = self.xp.cumulative_sum(values, dtype=self.xp.float64)
        ends = sums[-1] if self.last is None else sums[self.last - 1]
        return ends - sums


class Rows:
    """The rows of a batch, list by list where there are lists."""

    def __init__(self, batch: Batch) -> None:
        xp = self.xp = batch.xp
        self.order = self.first = self.last = None
        if batch.groups is None:
            self.scores, self.y, weight = batch.working(), batch.y, batch.weight
        else:
            self.order = xp.argsort(batch.groups, stable=True)
            ids = batch.groups[self.order]
            self.first = xp.searchsorted(ids, ids, side="left")
            self.last = xp.searchsorted(ids, ids, side="right")
            self.scores, self.y = batch.working()[self.order], batch.y[self.order]
            weight = None if batch.weight is None else batch.weight[self.order]
        self.positive = self.y > 0
        self.negative = ~self.positive
        self.weight = None
        if weight is not None:
            self.weight = xp.astype(weight, self.scores.dtype)
            self.positive = self.positive & (weight > 0)
            self.negative = self.negative & (weight > 0)

    def side(self, sign: int) -> Side:
        """The top push (1), or the bottom push (-1) with order and classes turned round."""
        inner, outer = (self.positive, self.negative)[::sign]
        t = self.scores if sign > 0 else -self.scores
        side = Side(self.xp, t, inner, outer, self.weight, self.first, self.last)
        if self.first is None:
            return side
        # a row that has nobody to be compared with is not judged
        return side._replace(outer=outer & (side.total(inner) > 0))

    def back(self, per_row: Array) -> Array:
        """Lay rows out as the batch has them."""
        return per_row if self.order is None else self.xp.laid_back(per_row, self.order)


def count_up(xp: Any, scores: Array, stop: int) -> Array:
    """Give 0, 1, …, stop - 1 in float64, where the scores are."""
    return xp.arange(stop, dtype=xp.float64, device=getattr(scores, "device", None))


def lists_of(batch: Batch) -> tuple[list[Batch], Array]:
    """Cut a batch into its lists, and the order that lays them out; reads their lengths back."""
    xp = batch.xp
    order = xp.argsort(batch.groups, stable=True)
    scores, y = batch.scores[order], batch.y[order]
    weight = None if batch.weight is None else batch.weight[order]
    lists, start = [], 0
    for size in xp.unique_counts(batch.groups).counts.tolist():
        rows = slice(start, start + size)
        lists.append(Batch(xp, scores[rows], y[rows], None if weight is None else weight[rows]))
        start += size
    return lists, order
