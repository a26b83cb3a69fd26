"""Batches: which rows they draw, how they are checked, and their rows list by list.

Rows of a class or a list are masked, not selected: no shape depends on what the tensors hold, so
that no length must be read back from a device and a compiler sees one program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.data import Sampler


class ClassAwareBatchSampler(Sampler[list[int]]):
    """Row numbers of batches with a fixed number of positives.

    A push compares positives with negatives *within* a batch, and its top is the top of the batch.
    Random batches of a rare class hold few positives or none. Here every batch holds ``positives``
    of them, and as many negatives as fill it; an epoch visits every negative once and goes round
    the positives as often as needed, in a new order each time.

    The share of positives changes what p and k mean, not what is learned from a pair: both sums of
    a push are means over their class up to a constant. The larger the batch, the closer its top is
    to that of the whole list.

    Parameters
    ----------
    y : Tensor
        Labels of all rows, positive where y > 0.
    batch_size : int, default=512
        Rows of a batch; the last negatives of an epoch wait for the next one.
    positives : int or float, default=0.25
        Positives of a batch: a number of rows, or a share of the batch.
    seed : int, default=0
        Where the random order starts; each epoch goes on from there.

    Examples
    --------
    >>> import torch
    >>> from toprank.integrations.torch import ClassAwareBatchSampler
    >>> y = torch.arange(100) % 20 == 0
    >>> sampler = ClassAwareBatchSampler(y, batch_size=20, positives=4)
    >>> len(sampler), [int(y[batch].sum()) for batch in sampler]
    (5, [4, 4, 4, 4, 4])
    """

    def __init__(
        self, y: Tensor, batch_size: int = 512, *, positives: float = 0.25, seed: int = 0
    ) -> None:
        labels = torch.as_tensor(y).reshape(-1) > 0
        self.positive, self.negative = labels.nonzero()[:, 0], (~labels).nonzero()[:, 0]
        if not self.positive.numel() or not self.negative.numel():
            raise ValueError(
                f"y has {self.positive.numel()} positive and {self.negative.numel()} negative "
                "rows; a batch needs both."
            )
        count = positives if isinstance(positives, int) else round(positives * batch_size)
        self.n_positives = max(1, int(count))
        self.n_negatives = batch_size - self.n_positives
        if not 0 < self.n_negatives <= self.negative.numel():
            raise ValueError(
                f"batch_size={batch_size} with {self.n_positives} positives leaves "
                f"{self.n_negatives} places for negatives, of which there are "
                f"{self.negative.numel()}; change batch_size or positives."
            )
        self._random = torch.Generator().manual_seed(seed)

    def __len__(self) -> int:
        return self.negative.numel() // self.n_negatives

    def __iter__(self) -> Iterator[list[int]]:
        down = self._shuffled(self.negative)
        needed = len(self) * self.n_positives
        rounds = -(-needed // self.positive.numel())
        up = torch.cat([self._shuffled(self.positive) for _ in range(rounds)])
        for batch in range(len(self)):
            ups = up[batch * self.n_positives : (batch + 1) * self.n_positives]
            downs = down[batch * self.n_negatives : (batch + 1) * self.n_negatives]
            yield torch.cat([ups, downs]).tolist()

    def _shuffled(self, rows: Tensor) -> Tensor:
        return rows[torch.randperm(rows.numel(), generator=self._random)]


class Batch(NamedTuple):
    """What a loss is computed on."""

    scores: Tensor
    y: Tensor
    weight: Tensor | None
    groups: Tensor | None

    def lists(self) -> list[tuple[Tensor, Tensor]]:
        """Scores and labels of each list; their lengths are read back from the device."""
        if self.groups is None:
            return [(self.scores, self.y)]
        order = torch.argsort(self.groups, stable=True)
        _, sizes = torch.unique_consecutive(self.groups[order], return_counts=True)
        columns = (column[order].split(sizes.tolist()) for column in (self.scores, self.y))
        return list(zip(*columns, strict=True))

    def sides(self, signs: tuple[int, ...]) -> list[Side]:
        """The top push (1), the bottom push (-1) with order and classes turned round, or both."""
        scores, y, weight, groups = self
        first = last = None
        if groups is not None:
            order = torch.argsort(groups, stable=True)
            ids = groups[order]
            first = torch.searchsorted(ids, ids, side="left")
            last = torch.searchsorted(ids, ids, side="right")
            scores, y = scores.gather(0, order), y[order]
            weight = None if weight is None else weight[order]
        positive = y > 0
        negative = ~positive
        if weight is not None:
            positive, negative = positive & (weight > 0), negative & (weight > 0)
            weight = weight.to(scores.dtype)
        sides = []
        for sign in signs:
            inner, outer = (positive, negative)[::sign]
            side = Side(scores if sign > 0 else -scores, inner, outer, weight, first, last)
            if first is not None:  # a row that has nobody to be compared with is not judged
                side = side._replace(outer=outer & (side.total(inner) > 0))
            sides.append(side)
        return sides


class Side(NamedTuple):
    """One push: outer rows are judged by the inner rows of their list, by ``t``.

    ``first`` and ``last`` are where each row's list starts and ends, ``None`` for one list::

        t       3 1 2 | 5 4        first   0 0 0 3 3        last   3 3 3 5 5
    """

    t: Tensor
    inner: Tensor
    outer: Tensor
    weight: Tensor | None
    first: Tensor | None
    last: Tensor | None

    def weighted(self, values: Tensor) -> Tensor:
        """Values times the rows' weights."""
        return values if self.weight is None else values * self.weight

    def total(self, values: Tensor) -> Tensor:
        """Sum over the list, in float64: one number, or one per row where there are lists."""
        if self.first is None:
            return values.sum(dtype=torch.float64)
        sums = with_zero(values.cumsum(0, dtype=torch.float64))
        return sums[self.last] - sums[self.first]

    def lowest(self, values: Tensor) -> Tensor:
        """Least of the list: one number, or one per row where there are lists; no gradient."""
        values = values.detach()
        if self.first is None:
            return values.amin()
        start = torch.full_like(values, torch.inf)
        return start.scatter_reduce(0, self.first, values, "amin")[self.first]

    def ascending(self, values: Tensor) -> Tensor:
        """Order of ascending values within each list."""
        order = torch.argsort(values.detach())
        if self.first is None:
            return order
        return order[torch.argsort(self.first[order], stable=True)]

    def gaps(self, ascending: Tensor) -> Tensor:
        """Distance from the row before, 0 where a list starts."""
        steps = ascending[1:] - ascending[:-1]
        if self.first is not None:
            steps = torch.where(self.first[1:] == self.first[:-1], steps, 0.0)
        return with_zero(steps)

    def prefix(self, values: Tensor) -> Tensor:
        """Σ over this row and those before it in its list, in float64."""
        sums = values.cumsum(0, dtype=torch.float64)
        return sums if self.first is None else sums - (sums - values)[self.first]

    def amounts(self, order: Tensor) -> tuple[Tensor, Tensor]:
        """What inner and outer rows count in an order, in float64; 0 for others."""
        weight = torch.ones_like(self.t) if self.weight is None else self.weight
        inner, outer = (torch.where(mask, weight, 0.0)[order] for mask in (self.inner, self.outer))
        return inner.double(), outer.double()


def check_batch(scores: Any, y: Any, weight: Any, groups: Any) -> Batch:
    """Columns of one length; scores in float32 or float64, as differences need their digits."""
    scores, y = _flat("scores", scores), _flat("y", y)
    if not scores.is_floating_point():
        raise TypeError(f"scores must be floating-point numbers, got {scores.dtype}.")
    if not scores.numel():
        raise ValueError("scores holds no row; leave empty batches out.")
    weight = None if weight is None else _flat("weight", weight).detach()
    groups = None if groups is None else _flat("groups", groups)
    for name, other in (("y", y), ("weight", weight), ("groups", groups)):
        if other is not None and other.shape != scores.shape:
            raise ValueError(
                f"{name} has {other.numel()} rows, but scores has {scores.numel()}; "
                "pass one per row."
            )
    is_wide = scores.dtype in (torch.float32, torch.float64)
    return Batch(scores if is_wide else scores.float(), y, weight, groups)


def _flat(name: str, values: Any) -> Tensor:
    if not isinstance(values, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(values).__name__}.")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must hold one number per row, got shape {tuple(values.shape)}.")
    return values


def with_zero(values: Tensor) -> Tensor:
    """Values with a 0 before the first."""
    return torch.cat([torch.zeros_like(values[:1]), values])
