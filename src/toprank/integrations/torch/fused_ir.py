"""The IR push of one list on a CUDA device, in Triton.

The compiled twin of :func:`toprank.integrations.torch.pairs.mean_softplus`. With the highest
negative score ``high`` and M = Σ⁻ w·e^{s - high}, a positive lies x = (high - s) + log M below its
height, and::

    V = Σ⁺ w·ln(1 + e^x) / Σ⁺ w        dV/ds = -w·σ(x) / Σ⁺ w          positive
                                       dV/ds = w·e^{s - high}/M·G       negative,
                                           G = Σ⁺ w·σ(x) / Σ⁺ w

So one pass finds M, one over the positives V and G, and the backward pass writes the gradient.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from toprank.integrations.torch.fused_rows import (
    BLOCKS,
    HEAD,
    ROWS,
    WARPS,
    is_last_block,
    load_rows,
    load_sums,
    n_blocks,
    scratch,
)
from toprank.integrations.torch.pairs import mean_softplus
from toprank.integrations.torch.rows import Batch

__all__ = ["FusedIRPush"]

SUMS = 5  # of a block: an extreme and a mass of the negatives, three sums of the positives


@triton.jit
def _sum_negatives(scores, y, weight, head, n, is_weighted: tl.constexpr):
    """The highest negative and M, for a block and, by the last one, for all.

    Every place of a step has a mass and an extreme of its own: of two masses the higher one stays
    as it is, and the other shrinks by their distance.
    """
    mass = tl.zeros((ROWS,), tl.float32)
    high = mass - float("inf")
    block = tl.program_id(0)
    for start in range(block * ROWS, n, tl.num_programs(0) * ROWS):
        s, up, w = load_rows(scores, y, weight, start + tl.arange(0, ROWS), n, is_weighted)
        w = tl.where(up, 0.0, w)
        d = s - high
        fallen = tl.exp(-tl.abs(d))
        is_further = (d > 0) & (w > 0)
        mass = tl.where(is_further, mass * fallen + w, mass + w * fallen)
        high = tl.where(is_further, s, high)
    highest = tl.max(high)
    parts = head + HEAD
    tl.store(parts + block, highest)
    away = tl.where(high < highest, high - highest, 0.0)
    tl.store(parts + BLOCKS + block, tl.sum(mass * tl.exp(away)))
    if is_last_block(head):
        _join_negatives(parts, head)


@triton.jit
def _join_negatives(parts, head):
    """The highest negative of all, and log M."""
    highs, masses = load_sums(parts, 0, float("-inf")), load_sums(parts, 1, 0.0)
    high = tl.max(highs)
    away = tl.where(highs < high, highs - high, 0.0).to(tl.float64)
    total = tl.sum(masses.to(tl.float64) * tl.exp(away))
    tl.store(head + 2, high)
    tl.store(head + 3, tl.log(tl.where(total > 0, total, 1.0)))


@triton.jit
def _softplus_and_slope(x):
    """ln(1 + e^x) and σ(x).

    With e = e^{-|x|} at most 1, ln(1 + e) is e times the polynomial that equals ln(1 + e) / e at
    ten Chebyshev points: to the last digits of float32, and faster than a logarithm.
    """
    e = tl.exp(-tl.abs(x))
    tail = -0.00317605703
    tail = tail * e + 0.0195425274
    tail = tail * e - 0.0563736131
    tail = tail * e + 0.105436238
    tail = tail * e - 0.152696671
    tail = tail * e + 0.196632743
    tail = tail * e - 0.249516163
    tail = tail * e + 0.333297105
    tail = tail * e - 0.499998926
    tail = tail * e + 0.999999995
    return tl.maximum(x, 0.0) + tail * e, tl.where(x >= 0, 1.0, e) / (1.0 + e)


@triton.jit
def _sum_positives(scores, y, weight, head, value, n, is_weighted: tl.constexpr):
    """Costs, slopes and weights of a block's positives; the last block finds the value."""
    high, log_mass = tl.load(head + 2), tl.load(head + 3)
    costs = tl.zeros((ROWS,), tl.float32)
    slopes, weights = costs, costs
    block = tl.program_id(0)
    last = (n - 1) // ROWS
    for step in range(block, last + 1, tl.num_programs(0)):
        rows = (last - step) * ROWS + tl.arange(0, ROWS)
        s, up, w = load_rows(scores, y, weight, rows, n, is_weighted)
        w = tl.where(up, w, 0.0)
        cost, slope = _softplus_and_slope((high - s) + log_mass)
        costs += w * cost
        slopes += w * slope
        weights += w
    parts = head + HEAD + 2 * BLOCKS
    tl.store(parts + block, tl.sum(costs))
    tl.store(parts + BLOCKS + block, tl.sum(slopes))
    tl.store(parts + 2 * BLOCKS + block, tl.sum(weights))
    if is_last_block(head + 1):
        _join_positives(parts, head, value, high, log_mass)


@triton.jit
def _join_positives(parts, head, value, high, log_mass):
    """Value, and the numbers that the gradient needs: 1 / Σ⁺ w, and G / M."""
    costs = tl.sum(load_sums(parts, 0, 0.0).to(tl.float64))
    slopes = tl.sum(load_sums(parts, 1, 0.0).to(tl.float64))
    weights = tl.sum(load_sums(parts, 2, 0.0).to(tl.float64))
    is_any = (weights > 0) & (high > float("-inf"))
    rate = tl.where(is_any, 1.0 / tl.where(is_any, weights, 1.0), 0.0)
    tl.store(value, tl.where(is_any, costs * rate, 0.0))
    tl.store(head + 4, rate)
    tl.store(head + 5, tl.where(is_any, slopes * rate * tl.exp(-log_mass), 0.0))


@triton.jit
def _write(scores, y, weight, head, outside, gradient, n, is_weighted: tl.constexpr):
    """Gradient of every row, times the number that comes from ``outside``."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    s, up, w = load_rows(scores, y, weight, rows, n, is_weighted)
    high, log_mass, factor = tl.load(head + 2), tl.load(head + 3), tl.load(outside)
    x = tl.where(up, (high - s) + log_mass, tl.minimum(s - high, 0.0))
    e = tl.exp(-tl.abs(x))
    pulled = -tl.load(head + 4) * (tl.where(x >= 0, 1.0, e) / (1.0 + e))
    slope = tl.where(up, pulled, tl.load(head + 5) * e)
    slope = factor * tl.where(w > 0, w * slope, 0.0)
    tl.store(gradient + rows, slope.to(gradient.dtype.element_ty), mask=rows < n)


def _find(scores: Tensor, y: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor]:
    """Value, and a tensor that begins with the numbers that the gradient needs."""
    n, is_weighted = scores.numel(), weight is not None
    value, head = scores.new_empty(()), scratch(scores, SUMS)
    blocks = (n_blocks(n),)
    _sum_negatives[blocks](scores, y, weight, head, n, is_weighted, num_warps=WARPS)
    _sum_positives[blocks](scores, y, weight, head, value, n, is_weighted, num_warps=WARPS)
    return value, head


def _slopes(
    scores: Tensor, y: Tensor, weight: Tensor | None, head: Tensor, outside: Tensor
) -> Tensor:
    """Gradient of every row, times the number that comes from ``outside``."""
    n = scores.numel()
    gradient = torch.empty_like(scores)
    _write[(triton.cdiv(n, ROWS.value),)](
        scores, y, weight, head, outside, gradient, n, weight is not None, num_warps=WARPS
    )
    return gradient


# torch.compile sees two closed boxes; called directly, the functions cost less.
_boxed_find = torch.library.custom_op("toprank::ir_push_value", _find, mutates_args=())
_boxed_slopes = torch.library.custom_op("toprank::ir_push_gradient", _slopes, mutates_args=())


@_boxed_find.register_fake
def _(scores: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return scores.new_empty(()), scratch(scores, SUMS)


@_boxed_slopes.register_fake
def _(scores: Tensor, *_: Any) -> Tensor:
    return torch.empty_like(scores)


class FusedIRPush(torch.autograd.Function):
    """The value of :func:`~toprank.integrations.torch.pairs.mean_softplus` on one list."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, y: Tensor, weight: Tensor | None) -> Tensor:
        find = _boxed_find if torch.compiler.is_compiling() else _find
        value, head = find(scores, y, weight)
        ctx.save_for_backward(scores, y, weight, head)
        # compiled, a value that is handed through as it is loses its gradient (PyTorch 2.11)
        return value.clone() if torch.compiler.is_compiling() else value

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        scores, y, weight, head = ctx.saved_tensors
        if torch.is_grad_enabled():  # a second derivative is wanted
            (side,) = Batch(scores, y, weight, None).sides((-1,))
            value = mean_softplus(side).to(scores.dtype)
            (gradient,) = torch.autograd.grad(value, scores, grads[0], create_graph=True)
        else:
            slopes = _boxed_slopes if torch.compiler.is_compiling() else _slopes
            gradient = slopes(scores, y, weight, head, grads[0])
        return gradient, None, None
