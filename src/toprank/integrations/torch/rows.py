"""Rows of a batch, list by list: masks instead of selections.

No shape depends on what the tensors hold, so that no length must be read back from a device and a
compiler sees one program.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, NamedTuple

import torch
from torch import Tensor

# Triton comes with PyTorch where there is a graphics card for it.
HAS_TRITON = torch.cuda.is_available() and find_spec("triton") is not None


class Batch(NamedTuple):
    """What a loss is computed on."""

    scores: Tensor
    y: Tensor
    weight: Tensor | None
    groups: Tensor | None

    def rows(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """Scores, labels and weights, each in one piece of memory."""
        scores, y, weight, _ = self
        return scores.contiguous(), y.contiguous(), None if weight is None else weight.contiguous()

    def lists(self) -> list[Batch]:
        """Cut the batch into its lists; their lengths are read back from the device."""
        if self.groups is None:
            return [self]
        order = torch.argsort(self.groups, stable=True)
        _, sizes = torch.unique_consecutive(self.groups[order], return_counts=True)
        columns = [self.scores, self.y] + ([] if self.weight is None else [self.weight])
        parts = zip(*(column[order].split(sizes.tolist()) for column in columns), strict=True)
        return [Batch(part[0], part[1], part[2] if len(part) > 2 else None, None) for part in parts]

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
        sums = running_sum(values, torch.float64)
        sums = torch.cat([torch.zeros_like(sums[:1]), sums])
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
        return torch.cat([torch.zeros_like(ascending[:1]), steps])

    def prefix(self, values: Tensor) -> Tensor:
        """Σ over this row and those before it in its list, in float64."""
        sums = running_sum(values, torch.float64)
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


def running_sum(values: Tensor, dtype: torch.dtype) -> Tensor:
    """Sum up to each row.

    What ``torch.compile`` makes of a running sum takes ten times as long as PyTorch's own kernel,
    so the compiler sees a closed box.
    """
    values = values.to(dtype)
    if torch.compiler.is_compiling():
        boxed: Tensor = _boxed_sum(values)
        return boxed
    return torch.cumsum(values, 0)


@torch.library.custom_op("toprank::running_sum", mutates_args=())
def _boxed_sum(values: Tensor) -> Tensor:
    return torch.cumsum(values, 0)


@_boxed_sum.register_fake
def _(values: Tensor) -> Tensor:
    return torch.empty_like(values)


def _sum_backward(_: Any, slopes: Tensor) -> Tensor:
    return _boxed_sum(slopes.flip(0)).flip(0)


_boxed_sum.register_autograd(_sum_backward)
