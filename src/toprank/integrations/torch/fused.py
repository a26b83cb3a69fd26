"""The exponential pushes of one list on a CUDA device, in Triton.

The compiled twins of :mod:`toprank.integrations.torch.pairs`. Each block of threads adds up its
rows, step by step, and leaves its sums in a scratch tensor. The block that ends last joins them, so
that no second kernel has to start::

    scratch    [ counters | numbers for the gradient | sums of block 0 1 2 … | other sums … ]

A later pass goes through the rows backwards: what was read last is still in the cache. Where a
second derivative is wanted, the formulas are differentiated instead.

**P-Norm Push**: each score is read twice and written once. With ``low`` the lowest positive and
``high`` the highest negative score, every row has one distance d = low - s or s - high, at most 0,
and both ends of the list are pushed by its e^d and e^{p·d}::

    V_top    = (high - low) + log Σ⁺ w·e^d + (1/p)·log Σ⁻ w·e^{p·d}
    V_bottom = (high - low) + log Σ⁻ w·e^d + (1/p)·log Σ⁺ w·e^{p·d}

**IR Push**: one pass finds M = Σ⁻ w·e^{s - high}, one over the positives V and G, and the backward
pass writes the gradient. With x = (high - s) + log M::

    V = Σ⁺ w·ln(1 + e^x) / Σ⁺ w        dV/ds = -w·σ(x) / Σ⁺ w          positive
                                       dV/ds = w·e^{s - high}/M·G       negative,
                                           G = Σ⁺ w·σ(x) / Σ⁺ w
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from toprank.integrations.torch.pairs import log_power, mean_softplus
from toprank.integrations.torch.rows import Batch
from toprank.objectives.push import Focus, focus_constants

ROWS = tl.constexpr(2048)  # of a step
BLOCKS = tl.constexpr(1024)  # at most; a longer list takes more steps
HEAD = tl.constexpr(16)  # two counters, then numbers for the gradient
WARPS = 8
PUSH_SUMS = 6  # of a block: two extremes and four masses
IR_SUMS = 5  # of a block: an extreme and a mass of the negatives, three sums of the positives
ENDS = {"top": 1, "both": 0, "bottom": -1}


def _n_blocks(n: int) -> int:
    """Blocks that a pass over n rows takes."""
    return min(BLOCKS.value, -(-n // ROWS.value))


def _scratch(scores: Tensor, sums: int) -> Tensor:
    """Zeros for the counters, the numbers and some sums of every block."""
    return torch.zeros(HEAD.value + sums * BLOCKS.value, device=scores.device)


@triton.jit
def _load_rows(scores, y, weight, rows, n, is_weighted: tl.constexpr):
    """Score, class and weight of some rows, weight 0 behind the last."""
    inside = rows < n
    s = tl.load(scores + rows, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(y + rows, mask=inside, other=0) > 0
    w = tl.where(inside, 1.0, 0.0)
    if is_weighted:  # else there is no pointer to read from
        w = tl.load(weight + rows, mask=inside, other=0.0).to(tl.float32)
    return s, up, w


@triton.jit
def _is_last_block(counter):
    """Whether all other blocks have left their sums."""
    tl.debug_barrier()
    done = tl.atomic_add(counter.to(tl.pointer_type(tl.int32)), 1)
    tl.debug_barrier()
    return done == tl.num_programs(0) - 1


@triton.jit
def _load_sums(parts, which: tl.constexpr, other):
    """One of the sums of every block, past caches that may be older than it."""
    block = tl.arange(0, BLOCKS)
    inside = block < tl.num_programs(0)
    return tl.load(parts + which * BLOCKS + block, mask=inside, other=other, cache_modifier=".cg")


# P-Norm Push ------------------------------------------------------------------------------------


@triton.jit
def _shrunk(mass, steep, d, p, is_max: tl.constexpr):
    """mass·e^d and steep·e^{p·d}, d ≤ 0: masses d away, or sums whose extreme has moved by d."""
    kept = tl.where(d == 0, 1.0, 0.0) if is_max else tl.exp(p * d)
    return mass * tl.exp(d), steep * kept


@triton.jit
def _masses(s, up, w, low, high, p, end: tl.constexpr, is_max: tl.constexpr):
    """w·e^d and w·e^{p·d}; for one end of the list the one of both that the row needs."""
    return _fallen(w, tl.minimum(tl.where(up, low - s, s - high), 0.0), up, p, end, is_max)


@triton.jit
def _fallen(w, d, up, p, end: tl.constexpr, is_max: tl.constexpr):
    mass, steep = _shrunk(w, w, d, p, is_max)
    if end != 0 and not is_max:
        mass = w * tl.exp(tl.where(up, 1.0, p) * d if end > 0 else tl.where(up, p, 1.0) * d)
        steep = mass
    return mass, steep


@triton.jit
def _sum(
    scores,
    y,
    weight,
    head,
    value,
    n,
    p,
    inverse_p,
    log_top,
    log_bottom,
    is_weighted: tl.constexpr,
    end: tl.constexpr,
    is_max: tl.constexpr,
):
    """Extremes and the four sums of a block's rows; the last block finds the value.

    Every place of a step has sums and extremes of its own: of two masses the one further out stays
    as it is, and the other shrinks by their distance.
    """
    nothing = tl.zeros((ROWS,), tl.float32)
    low, high = nothing + float("inf"), nothing - float("inf")
    up_mass, up_steep, down_mass, down_steep = nothing, nothing, nothing, nothing
    block = tl.program_id(0)
    for start in range(block * ROWS, n, tl.num_programs(0) * ROWS):
        s, up, w = _load_rows(scores, y, weight, start + tl.arange(0, ROWS), n, is_weighted)
        d = tl.where(up, low - s, s - high)
        is_further = (d > 0) & (w > 0)
        mass, steep = tl.where(up, up_mass, down_mass), tl.where(up, up_steep, down_steep)
        fallen, steeply = _fallen(1.0, -tl.abs(d), up, p, end, is_max)
        mass = tl.where(is_further, mass * fallen + w, mass + w * fallen)
        steep = tl.where(is_further, steep * steeply + w, steep + w * steeply)
        up_mass, down_mass = tl.where(up, mass, up_mass), tl.where(up, down_mass, mass)
        up_steep, down_steep = tl.where(up, steep, up_steep), tl.where(up, down_steep, steep)
        low = tl.where(up & is_further, s, low)
        high = tl.where(up | ~is_further, high, s)
    lowest, highest = tl.min(low), tl.max(high)
    parts = head + HEAD + block
    tl.store(parts, lowest)
    tl.store(parts + BLOCKS, highest)
    fall = tl.where(low > lowest, lowest - low, 0.0)
    up_mass, up_steep = _shrunk(up_mass, up_steep, fall, p, is_max)
    rise = tl.where(high < highest, high - highest, 0.0)
    down_mass, down_steep = _shrunk(down_mass, down_steep, rise, p, is_max)
    tl.store(parts + 2 * BLOCKS, tl.sum(up_mass))
    tl.store(parts + 3 * BLOCKS, tl.sum(up_steep))
    tl.store(parts + 4 * BLOCKS, tl.sum(down_mass))
    tl.store(parts + 5 * BLOCKS, tl.sum(down_steep))
    if _is_last_block(head):
        _join(head + HEAD, value, head + 2, p, inverse_p, log_top, log_bottom, is_max)


@triton.jit
def _join(parts, value, numbers, p, inverse_p, log_top, log_bottom, is_max: tl.constexpr):
    """Value, and the numbers that the gradient needs: extremes and what a mass is multiplied by."""
    lows, highs = _load_sums(parts, 0, float("inf")), _load_sums(parts, 1, float("-inf"))
    low, high = tl.min(lows), tl.max(highs)
    mass = _load_sums(parts, 2, 0.0).to(tl.float64)
    steep = _load_sums(parts, 3, 0.0).to(tl.float64)
    fall = tl.where(lows > low, low - lows, 0.0).to(tl.float64)
    mass, steep = _shrunk(mass, steep, fall, p, is_max)
    up_mass, up_steep = tl.sum(mass), tl.sum(steep)
    mass = _load_sums(parts, 4, 0.0).to(tl.float64)
    steep = _load_sums(parts, 5, 0.0).to(tl.float64)
    rise = tl.where(highs < high, highs - high, 0.0).to(tl.float64)
    mass, steep = _shrunk(mass, steep, rise, p, is_max)
    down_mass, down_steep = tl.sum(mass), tl.sum(steep)

    is_any = (low < float("inf")) & (high > float("-inf"))
    up_mass, up_steep = tl.where(up_mass > 0, up_mass, 1.0), tl.where(up_steep > 0, up_steep, 1.0)
    down_mass = tl.where(down_mass > 0, down_mass, 1.0)
    down_steep = tl.where(down_steep > 0, down_steep, 1.0)
    spread = tl.where(is_any, high - low, 0.0).to(tl.float64)
    of_top = spread + tl.log(up_mass) + inverse_p * tl.log(down_steep) + log_top
    of_bottom = spread + tl.log(down_mass) + inverse_p * tl.log(up_steep) + log_bottom
    found = tl.where(is_any, 1.0, 0.0).to(tl.float64)
    largest = tl.maximum(of_top, of_bottom)
    _, top_share = _shrunk(found, found, of_top - largest, p, is_max)
    _, bottom_share = _shrunk(found, found, of_bottom - largest, p, is_max)
    both = tl.where(is_any, top_share + bottom_share, 1.0)
    total = largest + inverse_p * tl.log(both)
    top_share, bottom_share = top_share / both, bottom_share / both
    tl.store(value, found * total)
    tl.store(numbers, low)
    tl.store(numbers + 1, high)
    tl.store(numbers + 2, top_share / up_mass)
    tl.store(numbers + 3, bottom_share / up_steep)
    tl.store(numbers + 4, bottom_share / down_mass)
    tl.store(numbers + 5, top_share / down_steep)


@triton.jit
def _write(
    scores,
    y,
    weight,
    head,
    outside,
    gradient,
    n,
    p,
    is_weighted: tl.constexpr,
    end: tl.constexpr,
    is_max: tl.constexpr,
):
    """Gradient of every row, times the number that comes from ``outside``."""
    step = tl.num_programs(0) - 1 - tl.program_id(0)
    rows = step * ROWS + tl.arange(0, ROWS)
    s, up, w = _load_rows(scores, y, weight, rows, n, is_weighted)
    numbers = head + 2
    low, high = tl.load(numbers), tl.load(numbers + 1)
    mass, steep = _masses(s, up, w, low, high, p, end, is_max)
    pulled = -(tl.load(numbers + 2) * mass + tl.load(numbers + 3) * steep)
    pushed = tl.load(numbers + 4) * mass + tl.load(numbers + 5) * steep
    slope = tl.load(outside) * tl.where(w > 0, tl.where(up, pulled, pushed), 0.0)
    tl.store(gradient + rows, slope.to(gradient.dtype.element_ty), mask=rows < n)


def _find(
    scores: Tensor, y: Tensor, weight: Tensor | None, p: float, focus: str, bottom_weight: float
) -> tuple[Tensor, Tensor]:
    """Value, and a tensor that begins with the numbers that the gradient needs."""
    n, is_max = scores.numel(), math.isinf(p)
    # an end that is not pushed counts e^-inf
    log_top = -math.inf if focus == "bottom" else 0.0
    log_bottom = {"top": -math.inf, "bottom": 0.0, "both": math.log(bottom_weight) / p}[focus]
    value, head = scores.new_empty(()), _scratch(scores, PUSH_SUMS)
    _sum[(_n_blocks(n),)](
        scores, y, weight, head, value, n, 1.0 if is_max else p, 1.0 / p, log_top, log_bottom,
        weight is not None, ENDS[focus], is_max, num_warps=WARPS,
    )  # fmt: skip
    return value, head


def _slopes(
    scores: Tensor,
    y: Tensor,
    weight: Tensor | None,
    head: Tensor,
    outside: Tensor,
    p: float,
    focus: str,
) -> Tensor:
    """Gradient of every row, times the number that comes from ``outside``."""
    n, is_max = scores.numel(), math.isinf(p)
    gradient = torch.empty_like(scores)
    _write[(triton.cdiv(n, ROWS.value),)](
        scores, y, weight, head, outside, gradient, n, 1.0 if is_max else p,
        weight is not None, ENDS[focus], is_max, num_warps=WARPS,
    )  # fmt: skip
    return gradient


# torch.compile sees closed boxes; called directly, the functions cost less.
_boxed_find = torch.library.custom_op("toprank::push_value", _find, mutates_args=())
_boxed_slopes = torch.library.custom_op("toprank::push_gradient", _slopes, mutates_args=())


@_boxed_find.register_fake
def _(scores: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return scores.new_empty(()), _scratch(scores, PUSH_SUMS)


@_boxed_slopes.register_fake
def _(scores: Tensor, *_: Any) -> Tensor:
    return torch.empty_like(scores)


class FusedPush(torch.autograd.Function):
    """The value of :func:`~toprank.integrations.torch.pairs.log_power` on one list."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: Tensor,
        y: Tensor,
        weight: Tensor | None,
        p: float,
        focus: Focus,
        bottom_weight: float,
    ) -> Tensor:
        find = _boxed_find if torch.compiler.is_compiling() else _find
        value, head = find(scores, y, weight, p, focus, bottom_weight)
        ctx.save_for_backward(scores, y, weight, head)
        ctx.options = p, focus, bottom_weight
        # compiled, a value that is handed through as it is loses its gradient (PyTorch 2.11)
        return value.clone() if torch.compiler.is_compiling() else value

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        scores, y, weight, head = ctx.saved_tensors
        p, focus, bottom_weight = ctx.options
        if torch.is_grad_enabled():  # a second derivative is wanted
            constants = focus_constants(focus, bottom_weight)
            sides = Batch(scores, y, weight, None).sides(tuple(constants))
            value = log_power(sides, list(constants.values()), p).to(scores.dtype)
            (gradient,) = torch.autograd.grad(value, scores, grads[0], create_graph=True)
        else:
            slopes = _boxed_slopes if torch.compiler.is_compiling() else _slopes
            gradient = slopes(scores, y, weight, head, grads[0], p, focus)
        return gradient, None, None, None, None, None


# IR Push ----------------------------------------------------------------------------------------


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
        s, up, w = _load_rows(scores, y, weight, start + tl.arange(0, ROWS), n, is_weighted)
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
    if _is_last_block(head):
        _join_negatives(parts, head)


@triton.jit
def _join_negatives(parts, head):
    """The highest negative of all, and log M."""
    highs, masses = _load_sums(parts, 0, float("-inf")), _load_sums(parts, 1, 0.0)
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
        s, up, w = _load_rows(scores, y, weight, rows, n, is_weighted)
        w = tl.where(up, w, 0.0)
        cost, slope = _softplus_and_slope((high - s) + log_mass)
        costs += w * cost
        slopes += w * slope
        weights += w
    parts = head + HEAD + 2 * BLOCKS
    tl.store(parts + block, tl.sum(costs))
    tl.store(parts + BLOCKS + block, tl.sum(slopes))
    tl.store(parts + 2 * BLOCKS + block, tl.sum(weights))
    if _is_last_block(head + 1):
        _join_positives(parts, head, value, high, log_mass)


@triton.jit
def _join_positives(parts, head, value, high, log_mass):
    """Value, and the numbers that the gradient needs: 1 / Σ⁺ w, and G / M."""
    costs = tl.sum(_load_sums(parts, 0, 0.0).to(tl.float64))
    slopes = tl.sum(_load_sums(parts, 1, 0.0).to(tl.float64))
    weights = tl.sum(_load_sums(parts, 2, 0.0).to(tl.float64))
    is_any = (weights > 0) & (high > float("-inf"))
    rate = tl.where(is_any, 1.0 / tl.where(is_any, weights, 1.0), 0.0)
    tl.store(value, tl.where(is_any, costs * rate, 0.0))
    tl.store(head + 4, rate)
    tl.store(head + 5, tl.where(is_any, slopes * rate * tl.exp(-log_mass), 0.0))


@triton.jit
def _write_ir(scores, y, weight, head, outside, gradient, n, is_weighted: tl.constexpr):
    """Gradient of every row, times the number that comes from ``outside``."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    s, up, w = _load_rows(scores, y, weight, rows, n, is_weighted)
    high, log_mass, factor = tl.load(head + 2), tl.load(head + 3), tl.load(outside)
    x = tl.where(up, (high - s) + log_mass, tl.minimum(s - high, 0.0))
    e = tl.exp(-tl.abs(x))
    pulled = -tl.load(head + 4) * (tl.where(x >= 0, 1.0, e) / (1.0 + e))
    slope = tl.where(up, pulled, tl.load(head + 5) * e)
    slope = factor * tl.where(w > 0, w * slope, 0.0)
    tl.store(gradient + rows, slope.to(gradient.dtype.element_ty), mask=rows < n)


def _find_ir(scores: Tensor, y: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor]:
    """Value, and a tensor that begins with the numbers that the gradient needs."""
    n, is_weighted = scores.numel(), weight is not None
    value, head = scores.new_empty(()), _scratch(scores, IR_SUMS)
    blocks = (_n_blocks(n),)
    _sum_negatives[blocks](scores, y, weight, head, n, is_weighted, num_warps=WARPS)
    _sum_positives[blocks](scores, y, weight, head, value, n, is_weighted, num_warps=WARPS)
    return value, head


def _slopes_ir(
    scores: Tensor, y: Tensor, weight: Tensor | None, head: Tensor, outside: Tensor
) -> Tensor:
    """Gradient of every row, times the number that comes from ``outside``."""
    n = scores.numel()
    gradient = torch.empty_like(scores)
    _write_ir[(triton.cdiv(n, ROWS.value),)](
        scores, y, weight, head, outside, gradient, n, weight is not None, num_warps=WARPS
    )
    return gradient


_boxed_find_ir = torch.library.custom_op("toprank::ir_push_value", _find_ir, mutates_args=())
_boxed_slopes_ir = torch.library.custom_op("toprank::ir_push_gradient", _slopes_ir, mutates_args=())


@_boxed_find_ir.register_fake
def _(scores: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return scores.new_empty(()), _scratch(scores, IR_SUMS)


@_boxed_slopes_ir.register_fake
def _(scores: Tensor, *_: Any) -> Tensor:
    return torch.empty_like(scores)


class FusedIRPush(torch.autograd.Function):
    """The value of :func:`~toprank.integrations.torch.pairs.mean_softplus` on one list."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, y: Tensor, weight: Tensor | None) -> Tensor:
        find = _boxed_find_ir if torch.compiler.is_compiling() else _find_ir
        value, head = find(scores, y, weight)
        ctx.save_for_backward(scores, y, weight, head)
        return value.clone() if torch.compiler.is_compiling() else value

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        scores, y, weight, head = ctx.saved_tensors
        if torch.is_grad_enabled():  # a second derivative is wanted
            (side,) = Batch(scores, y, weight, None).sides((-1,))
            value = mean_softplus(side).to(scores.dtype)
            (gradient,) = torch.autograd.grad(value, scores, grads[0], create_graph=True)
        else:
            slopes = _boxed_slopes_ir if torch.compiler.is_compiling() else _slopes_ir
            gradient = slopes(scores, y, weight, head, grads[0])
        return gradient, None, None
