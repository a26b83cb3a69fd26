"""Heights u_k = Σ_i w_i·ℓ(s_i - s_k) of the outer rows, with gradients, without forming pairs.

* exponential: log u_k = s_k + LSE(-s_i), by PyTorch's own gradients;
* hinges: one sort, then prefix sums of the moments Σ w·(1 + x)^n;
* logistic: Chebyshev interpolation in cells of width at most 1 between the pairs' two ends. The
  nearest pole of σ lies π off the axis, so 14 nodes a cell leave an error of about 1e-13.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from toprank.integrations.torch.rows import Rows, masked_logsumexp

__all__ = ["heights_of", "log_heights"]

NODES = 14
# Scores that span more cells than this are rare; their pairs are formed in chunks instead.
CELLS = 256
CHUNK = 1 << 22


def log_heights(rows: Rows, inner: Tensor) -> Tensor:
    """Logarithm of the exponential heights of all rows."""
    return rows.scores + rows.per_row(masked_logsumexp(-rows.scores, inner, rows.weight, rows))


def heights_of(loss: str, rows: Rows, inner: Tensor, outer: Tensor) -> Tensor:
    """Heights of the outer rows under the logistic loss or a hinge; 0 for other rows."""
    weight = torch.ones_like(rows.scores) if rows.weight is None else rows.weight
    weight = weight.double()
    if loss == "logistic":
        parts = torch.zeros_like(rows.scores)
        for one in range(rows.n_lists):  # a sweep a list; networks see one list as a rule
            here = None if rows.lists is None else rows.lists == one
            inside = inner if here is None else inner & here
            outside = outer if here is None else outer & here
            parts = parts + _LogisticHeights.apply(rows.scores, inside, outside, weight)
        return parts
    result: Tensor = _HingeHeights.apply(
        rows.scores, inner, outer, weight, rows.lists, loss == "squared_hinge"
    )
    return result


class _Sorted:
    """Rows in ascending order within each list, and where each row's margin ends.

    Lists are laid out side by side, further apart than any margin reaches::

        list 0 |- + -- +|    |+ - -  +| list 1
    """

    def __init__(self, scores: Tensor, lists: Tensor | None, order: Tensor | None = None) -> None:
        exact = scores.double()
        exact = exact - exact.mean()
        offset = None if lists is None else lists * (exact.max() - exact.min() + 3.0)
        if order is None:
            # alone in the list, scores sort in their own, shorter dtype
            order = torch.sort(scores if offset is None else exact + offset).indices
        self.order = order
        self.scores = exact[order]
        self.place = self.scores if offset is None else self.scores + offset[order]
        self.codes = None if lists is None else lists[order]

    def moments(self, a: Tensor, power: int, *, adjoint: bool) -> Tensor:
        """Σ a·(1 + x)^power over the sources within the margin, x = s_outer - s_inner."""
        if adjoint:  # from here on upwards outer rows are less than the margin below
            end = torch.searchsorted(self.place, self.place - 1.0, right=True)
        else:
            end = torch.searchsorted(self.place, self.place + 1.0)
        sign = 1.0 if adjoint else -1.0
        base = 1.0 - sign * self.scores
        total = torch.zeros_like(self.scores)
        for n in range(power + 1):
            prefix = torch.cumsum(a * (sign * self.scores) ** n if n else a, 0)
            prefix = torch.cat([prefix.new_zeros(1), prefix])
            within = prefix[self._far_end(adjoint)] - prefix[end]
            total += math.comb(power, n) * base ** (power - n) * within
        return total if adjoint else -total

    def _far_end(self, adjoint: bool) -> Tensor | int:
        """Where the list of each row ends (adjoint) or begins."""
        if self.codes is None:
            return -1 if adjoint else 0
        return torch.searchsorted(self.codes, self.codes, right=adjoint)


class _HingeHeights(torch.autograd.Function):
    """Hinge and squared hinge; the sub-gradient at the kink is 0."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: Tensor,
        inner: Tensor,
        outer: Tensor,
        weight: Tensor,
        lists: Tensor | None,
        squared: bool,
    ) -> Tensor:
        rows = _Sorted(scores, lists)
        sources = (weight * inner)[rows.order]
        heights = torch.empty_like(rows.scores)
        heights[rows.order] = rows.moments(sources, 2 if squared else 1, adjoint=False)
        ctx.save_for_backward(scores, inner, outer, weight, lists, rows.order)
        ctx.squared = squared
        return (heights.clamp_min(0.0) * outer).to(scores.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        scores, inner, outer, weight, lists, order = ctx.saved_tensors
        rows = _Sorted(scores, lists, order)
        sources = (weight * inner)[order]
        pull = (grads[0].double() * outer)[order]
        # ℓ' is 1 within the margin, or 2·(1 + x)
        factor, power = (2.0, 1) if ctx.squared else (1.0, 0)
        slope = pull * rows.moments(sources, power, adjoint=False)
        slope -= sources * rows.moments(pull, power, adjoint=True)
        gradient = torch.empty_like(slope)
        gradient[order] = factor * slope
        return gradient.to(scores.dtype), None, None, None, None, None


class _Cells:
    """Scores in cells of equal width, and the polynomials that stand for a function on a cell."""

    def __init__(self, scores: Tensor, counted: Tensor) -> None:
        held = torch.where(counted, scores, scores[counted.int().argmax()])
        low = held.min()
        span = float(held.max() - low)
        self.fits = span <= CELLS
        self.count = max(1, math.ceil(span)) if self.fits else 1
        self.width = max(span, 1e-3) / self.count
        place = (scores - low) / self.width
        self.cell = place.floor().clamp(0, self.count - 1).long()
        inside = (2.0 * (place - self.cell) - 1.0).clamp(-1.0, 1.0)
        angles = (torch.arange(NODES, dtype=scores.dtype, device=scores.device) + 0.5) / NODES
        self.nodes = torch.cos(math.pi * angles)
        starts = torch.arange(self.count, dtype=scores.dtype, device=scores.device)
        self.places = ((starts[:, None] + (self.nodes[None, :] + 1.0) / 2.0) * self.width).flatten()
        self.inside = inside

    def basis(self, node: int) -> Tensor:
        """Lagrange polynomial of a node at every row."""
        value = torch.ones_like(self.inside)
        for other in range(NODES):
            if other != node:
                value = value * (
                    (self.inside - self.nodes[other]) / (self.nodes[node] - self.nodes[other])
                )
        return value

    def gather(self, a: Tensor) -> Tensor:
        """Put what rows carry on the nodes of their cells."""
        held = torch.zeros(self.count, NODES, dtype=a.dtype, device=a.device)
        for node in range(NODES):
            held[:, node].index_add_(0, self.cell, a * self.basis(node))
        return held.flatten()

    def spread(self, per_node: Tensor) -> Tensor:
        """Read what the nodes hold at every row."""
        table = per_node.view(self.count, NODES)
        total = torch.zeros_like(self.inside)
        for node in range(NODES):
            total += self.basis(node) * table[self.cell, node]
        return total


def _logistic_sums(scores: Tensor, cells: _Cells, a: Tensor, kind: str, *, adjoint: bool) -> Tensor:
    """Σ a·K(x) for every row, K the softplus or its slope σ, x = s_outer - s_inner."""
    kernel = torch.nn.functional.softplus if kind == "value" else torch.sigmoid
    sign = -1.0 if adjoint else 1.0
    if cells.fits:
        x = sign * (cells.places[:, None] - cells.places[None, :])
        return cells.spread(kernel(x) @ cells.gather(a))
    sources = a.nonzero()[:, 0]
    total = torch.zeros_like(scores)
    step = max(1, CHUNK // max(1, sources.numel()))
    for start in range(0, scores.numel(), step):
        rows = slice(start, start + step)
        x = sign * (scores[rows, None] - scores[None, sources])
        total[rows] = kernel(x) @ a[sources]
    return total


class _LogisticHeights(torch.autograd.Function):
    """Logistic heights ln(1 + e^x), summed."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, inner: Tensor, outer: Tensor, weight: Tensor) -> Tensor:
        exact = scores.double()
        cells = _Cells(exact, inner | outer)
        sources = weight * inner
        heights = _logistic_sums(exact, cells, sources, "value", adjoint=False)
        ctx.save_for_backward(scores, inner, outer, weight)
        return (heights.clamp_min(0.0) * outer).to(scores.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        scores, inner, outer, weight = ctx.saved_tensors
        exact = scores.double()
        cells = _Cells(exact, inner | outer)
        sources, pull = weight * inner, grads[0].double() * outer
        gradient = pull * _logistic_sums(exact, cells, sources, "slope", adjoint=False)
        gradient -= sources * _logistic_sums(exact, cells, pull, "slope", adjoint=True)
        return gradient.to(scores.dtype), None, None, None
