"""Surrogates of precision at k on a batch, see :mod:`toprank.objectives.precision`.

All of them are max_j j + S(j) - F(j), with S(j) the sum of the best negatives of weight j, and F
a sum over positives: the best k - j stay in the top (``max``: the worst j leave it). So the best
rows of each class, as far as k reaches, are all that is sorted. Where rows have weights, both sums
are broken lines, and the maximum lies at a corner of one of them; avg alone bends in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from toprank.objectives.arrays.rows import count_up, lists_of
from toprank.objectives.precision import as_top

if TYPE_CHECKING:
    from toprank.objectives.arrays.rows import Array, Batch
    from toprank.objectives.precision import Surrogate

__all__ = ["PrecisionAtK"]


@dataclass(frozen=True)
class PrecisionAtK:
    """The value of :class:`toprank.objectives.PrecisionAtK`; 0 without a pair.

    A batch, or a list of it, with fewer positives than k is judged at their number. Lists are
    taken one after the other.
    """

    k: float = 0.25
    surrogate: Surrogate = "avg"

    def value(self, batch: Batch) -> tuple[Array, tuple[Array, ...]]:
        """Value, and the gradient."""
        xp, weight = batch.xp, batch.weight
        whole = None if weight is None else xp.all(weight == xp.floor(weight))
        if batch.groups is None:
            value, gradient, _ = self._one_list(batch, whole)
            return value, (gradient,)
        lists, order = lists_of(batch)
        values, gradients, found = zip(*(self._one_list(one, whole) for one in lists), strict=True)
        count = xp.sum(xp.stack(found), dtype=xp.float64)
        count = xp.where(count > 0, count, 1.0)
        joined = xp.concat(gradients)
        joined = joined / xp.astype(count, joined.dtype)
        return xp.sum(xp.stack(values)) / count, (xp.laid_back(joined, order),)

    def gradient(self, batch: Batch, kept: tuple[Array, ...]) -> Array:  # noqa: ARG002
        """Sub-gradient with respect to every score."""
        return kept[0]

    def _one_list(self, batch: Batch, whole: Array | None) -> tuple[Array, Array, Array]:
        """Value, gradient, and whether there was a pair to compare."""
        xp, scores, surrogate = batch.xp, batch.working(), self.surrogate
        positive = batch.y > 0
        negative, weight = ~positive, batch.weight
        if weight is not None:
            weight = xp.astype(weight, xp.float64)
            positive, negative = positive & (weight > 0), negative & (weight > 0)
        counted = 1.0 if weight is None else weight
        n_positives = _amount(xp, xp.where(positive, counted, 0.0))
        n_negatives = _amount(xp, xp.where(negative, counted, 0.0))
        top, is_share = as_top(self.k)
        k = _length_of_top(xp, top, is_share, n_positives, whole)
        length = (
            scores.shape[0] if is_share or weight is not None else min(int(top), scores.shape[0])
        )
        origin, sign = scores[:1], -1.0 if surrogate == "max" else 1.0
        down = _class(xp, scores, negative, weight, origin, length)
        up = _class(xp, sign * scores, positive, weight, sign * origin, length)
        total = xp.where(positive, (scores - origin) * counted, 0.0)
        walk = _Walk(xp, surrogate, whole, down, up, k, n_positives, _amount(xp, total))
        value, j = walk.best(xp.minimum(k, n_negatives))
        if surrogate == "struct":
            value = value + origin * (k - n_positives)
        found = (k > 0) & (n_negatives > 0)
        rate = xp.astype(xp.where(found, 1.0, 0.0) / xp.where(k > 0, k, 1.0), scores.dtype)
        gradient = walk.slopes(j) * rate
        if weight is not None:
            gradient = gradient * xp.astype(weight, scores.dtype)
        value = xp.where(found, value / xp.where(k > 0, k, 1.0), 0.0)
        return value[0], gradient, found[0]


class _Class(NamedTuple):
    """Rows of one class, and the best of them in order, with a 0 before the first.

    ::

        best   · 5 4 4        held   0 1 2 4        sums   0 5 9 17       (weights 1 1 2)

    Numbers such as an amount are arrays of length one, so that they need not be read back.
    """

    xp: Any
    rows: Array  # scores, or scores negated where the worst come first
    mask: Array
    weight: Array | None
    best: Array
    values: Array  # of the best, less what all scores share
    held: Array
    sums: Array

    def place(self, amount: Array) -> Array:
        """Row that holds the last of an amount."""
        xp = self.xp
        if self.weight is None:
            return xp.astype(amount, xp.int64)
        return xp.clip(xp.searchsorted(self.held, amount), None, self.held.shape[0] - 1)

    def sum(self, amount: Array) -> Array:
        """Sum of the best rows of that weight."""
        place = self.place(amount)
        return self.sums[place] - (self.held[place] - amount) * self.values[place]

    def inside(self, amount: Array) -> Array:
        """What of every row is among the best of that weight; rows tied at its end share."""
        xp, rows = self.xp, self.rows
        end = self.best[self.place(amount)]
        counted = 1.0 if self.weight is None else self.weight
        above = xp.sum(xp.where(self.mask & (rows > end), counted, 0.0), dtype=xp.float64)
        tied = xp.sum(xp.where(self.mask & (rows == end), counted, 0.0), dtype=xp.float64)
        share = (amount - above) / xp.where(tied > 0, tied, 1.0)
        share = xp.astype(xp.where(amount > 0, share, 0.0), rows.dtype)
        whole = xp.astype((rows > end) & (amount > 0), rows.dtype)
        return xp.where(rows == end, share, whole)


def _class(
    xp: Any, rows: Array, mask: Array, weight: Array | None, origin: Array, length: int
) -> _Class:
    masked = xp.where(mask, rows, -xp.inf)
    if weight is None:
        best = xp.best(masked, length)
    else:
        best, order = xp.in_order(masked, descending=True)
    exact = xp.astype(best, xp.float64) - xp.astype(origin, xp.float64)
    values = xp.where(xp.isfinite(best), exact, 0.0)
    first = xp.zeros_like(values[:1])
    if weight is None:
        held = count_up(xp, rows, length + 1)
        sums = xp.cumulative_sum(values)
    else:
        counts = xp.where(mask, weight, 0.0)[order]
        held = xp.concat([first, xp.cumulative_sum(counts)])
        sums = xp.cumulative_sum(values * counts)
    best = xp.concat([xp.zeros_like(best[:1]), best])
    values, sums = xp.concat([first, values]), xp.concat([first, sums])
    return _Class(xp, rows, mask, weight, best, values, held, sums)


def _amount(xp: Any, values: Array) -> Array:
    return xp.sum(values, dtype=xp.float64, keepdims=True)


def _length_of_top(
    xp: Any, k: float, is_share: bool, n_positives: Array, whole: Array | None
) -> Array:
    """k as an amount, see :func:`toprank.kernels.top_k.k_of`."""
    if not is_share:
        return xp.clip(n_positives, None, k)
    rounded = xp.ceil(n_positives * (k * (1.0 - 1e-12)))
    return rounded if whole is None else xp.where(whole, rounded, k * n_positives)


class _Walk(NamedTuple):
    """j + S(j) - F(j) of one list, at many j at once."""

    xp: Any
    surrogate: Surrogate
    whole: Array | None  # whether all weights are whole numbers; None without weights
    down: _Class
    up: _Class  # worst first for "max"
    k: Array
    n_positives: Array
    total: Array  # of the positives' scores

    def best(self, limit: Array) -> tuple[Array, Array]:
        """Largest value for j up to a limit, and the smallest j that attains it."""
        xp, down, up = self.xp, self.down, self.up
        corners = down.held
        if down.weight is not None:
            rising = up.held if self.surrogate == "max" else self.k - up.held
            corners = xp.clip(xp.concat([corners, rising]), 0.0, None)
        corners = xp.minimum(corners, limit)
        if down.weight is not None and self.surrogate == "avg":
            corners = xp.concat([corners, self.bends(corners, limit)])
        values = self.at(corners)
        value = xp.max(values, keepdims=True)
        return value, xp.min(xp.where(values == value, corners, xp.inf), keepdims=True)

    def at(self, j: Array) -> Array:
        """Give j + S(j) - F(j)."""
        xp = self.xp
        raised = j + self.down.sum(j)
        if self.surrogate == "max":
            return raised + self.up.sum(j)
        lost = self.total - self.up.sum(self.k - j)
        if self.surrogate == "ramp":
            lost = self.up.sum(self.k) - self.up.sum(self.k - j)
        if self.surrogate == "avg":
            out = self.n_positives - self.k + j
            lost = lost * j / xp.where(out > 0, out, 1.0)
        return raised - lost

    def bends(self, j: Array, limit: Array) -> Array:
        """Where avg peaks between two corners, the lower of which is j.

        There it is a constant + slope·j + a·c/m with a = L(m) - p·m ≤ 0, m = c + j and a slope of
        1 + s - p, where the negative s and the positive p are the next to change sides. Where all
        weights are whole, j is: one of the two whole numbers around the peak is best.
        """
        xp, down, up = self.xp, self.down, self.up
        after = xp.clip(xp.searchsorted(down.held, j, side="right"), None, down.held.shape[0] - 1)
        leaving = up.place(self.k - j)
        c, p = self.n_positives - self.k, up.values[leaving]
        slope = 1.0 + down.values[after] - p
        a = self.total - up.sum(self.k - j) - p * (c + j)
        is_bent = (slope < 0) & (a < 0) & (c > 0)
        root = xp.sqrt(xp.where(is_bent, a * c, 0.0) / xp.where(is_bent, slope, 1.0))
        peak = xp.where(is_bent, root - c, j)
        end = xp.minimum(self.k - up.held[xp.clip(leaving - 1, 0, None)], down.held[after])
        end = xp.maximum(xp.minimum(end, limit), j)
        peaks = [xp.where(self.whole, rounded(peak), peak) for rounded in (xp.floor, xp.ceil)]
        return xp.concat([xp.minimum(xp.maximum(peak, j), end) for peak in peaks])

    def slopes(self, j: Array) -> Array:
        """Sub-gradient where j is best: +1 for the negatives taken in, - for positives."""
        xp = self.xp
        taken = self.down.inside(j)
        if self.surrogate == "max":
            lost = self.up.inside(j)
        elif self.surrogate == "ramp":
            lost = self.up.inside(self.k) - self.up.inside(self.k - j)
        else:
            out = self.n_positives - self.k + j
            is_avg = self.surrogate == "avg"
            rate = j / xp.where(out > 0, out, 1.0) if is_avg else xp.ones_like(j)
            lost = (1.0 - self.up.inside(self.k - j)) * xp.astype(rate, taken.dtype)
        return xp.where(self.up.mask, -lost, xp.where(self.down.mask, taken, 0.0))
