"""The exponential push of one list on a CUDA device: each score is read twice and written once.

The compiled twin of :mod:`toprank.integrations.torch.pairs`, in Triton. With ``low`` the
lowest positive and ``high`` the highest negative score, every row has one distance
d = low - s or s - high, at most 0, and both ends of the list are pushed by its e^d and e^{p·d}::

    V_top    = (high - low) + log Σ⁺ w·e^d + (1/p)·log Σ⁻ w·e^{p·d}
    V_bottom = (high - low) + log Σ⁻ w·e^d + (1/p)·log Σ⁺ w·e^{p·d}

One pass finds the four sums, relative to extremes that move along, and the backward pass writes the
gradient. Where a second derivative is wanted, the formula is differentiated instead.
"""

from __future__ import annotations

import math
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
from toprank.integrations.torch.pairs import log_power
from toprank.integrations.torch.rows import Batch
from toprank.objectives.push import Focus, focus_constants

__all__ = ["FusedPush"]

SUMS = 6  # of a block: two extremes and four masses
ENDS = {"top": 1, "both": 0, "bottom": -1}


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
        s, up, w = load_rows(scores, y, weight, start + tl.arange(0, ROWS), n, is_weighted)
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
    if is_last_block(head):
        _join(head + HEAD, value, head + 2, p, inverse_p, log_top, log_bottom, is_max)


@triton.jit
def _join(parts, value, numbers, p, inverse_p, log_top, log_bottom, is_max: tl.constexpr):
    """Value, and the numbers that the gradient needs: extremes and what a mass is multiplied by."""
    lows, highs = load_sums(parts, 0, float("inf")), load_sums(parts, 1, float("-inf"))
    low, high = tl.min(lows), tl.max(highs)
    mass = load_sums(parts, 2, 0.0).to(tl.float64)
    steep = load_sums(parts, 3, 0.0).to(tl.float64)
    fall = tl.where(lows > low, low - lows, 0.0).to(tl.float64)
    mass, steep = _shrunk(mass, steep, fall, p, is_max)
    up_mass, up_steep = tl.sum(mass), tl.sum(steep)
    mass = load_sums(parts, 4, 0.0).to(tl.float64)
    steep = load_sums(parts, 5, 0.0).to(tl.float64)
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
    s, up, w = load_rows(scores, y, weight, rows, n, is_weighted)
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
    value, head = scores.new_empty(()), scratch(scores, SUMS)
    _sum[(n_blocks(n),)](
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


# torch.compile sees two closed boxes; called directly, the functions cost less.
_boxed_find = torch.library.custom_op("toprank::push_value", _find, mutates_args=())
_boxed_slopes = torch.library.custom_op("toprank::push_gradient", _slopes, mutates_args=())


@_boxed_find.register_fake
def _(scores: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return scores.new_empty(()), scratch(scores, SUMS)


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
