"""The exponential push of one list on a CUDA device: each score is read twice and written once.

The compiled twin of :mod:`toprank.integrations.torch.pairs`, in Triton. With ``low`` the
lowest positive and ``high`` the highest negative score, every row has one distance
d = low - s or s - high, at most 0, and both ends of the list are pushed by its e^d and e^{p·d}::

    V_top    = (high - low) + log Σ⁺ w·e^d + (1/p)·log Σ⁻ w·e^{p·d}
    V_bottom = (high - low) + log Σ⁻ w·e^d + (1/p)·log Σ⁺ w·e^{p·d}

One pass finds the four sums, relative to extremes that move along; a second kernel of one block
joins them, and the backward pass writes the gradient.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["FusedPush"]

ROWS = tl.constexpr(2048)  # of a step
BLOCKS = tl.constexpr(1024)  # at most; a longer list takes more steps
WARPS = 4
NUMBERS = 6
ENDS = {"top": 1, "both": 0, "bottom": -1}


@triton.jit
def _shrunk(mass, steep, d, p, is_max: tl.constexpr):
    """mass·e^d and steep·e^{p·d}, d ≤ 0: masses d away, or sums whose extreme has moved by d."""
    kept = tl.where(d == 0, 1.0, 0.0) if is_max else tl.exp(p * d)
    return mass * tl.exp(d), steep * kept


@triton.jit
def _masses(s, up, w, low, high, p, end: tl.constexpr, is_max: tl.constexpr):
    """w·e^d and w·e^{p·d}; for one end of the list the one of both that the row needs."""
    d = tl.minimum(tl.where(up, low - s, s - high), 0.0)
    mass, steep = _shrunk(w, w, d, p, is_max)
    if end != 0 and not is_max:
        mass = w * tl.exp(tl.where(up, 1.0, p) * d if end > 0 else tl.where(up, p, 1.0) * d)
        steep = mass
    return mass, steep


@triton.jit
def _load(scores, y, weight, rows, n, is_weighted: tl.constexpr):
    """Score, class and weight of some rows, weight 0 behind the last."""
    inside = rows < n
    s = tl.load(scores + rows, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(y + rows, mask=inside, other=0) > 0
    w = tl.where(inside, 1.0, 0.0)
    if is_weighted:  # else there is no pointer to read from
        w = tl.load(weight + rows, mask=inside, other=0.0).to(tl.float32)
    return s, up, w


@triton.jit
def _sum(
    scores,
    y,
    weight,
    parts,
    n,
    p,
    is_weighted: tl.constexpr,
    end: tl.constexpr,
    is_max: tl.constexpr,
):
    """Extremes and the four sums of a block's rows, into ``parts``."""
    low, high = float("inf"), float("-inf")
    up_mass, up_steep, down_mass, down_steep = 0.0, 0.0, 0.0, 0.0
    block = tl.program_id(0)
    for start in range(block * ROWS, n, tl.num_programs(0) * ROWS):
        s, up, w = _load(scores, y, weight, start + tl.arange(0, ROWS), n, is_weighted)
        lowest = tl.minimum(low, tl.min(tl.where(up & (w > 0), s, float("inf"))))
        highest = tl.maximum(high, tl.max(tl.where(~up & (w > 0), s, float("-inf"))))
        fall = tl.where(lowest < low, lowest - low, 0.0)
        rise = tl.where(highest > high, high - highest, 0.0)
        up_mass, up_steep = _shrunk(up_mass, up_steep, fall, p, is_max)
        down_mass, down_steep = _shrunk(down_mass, down_steep, rise, p, is_max)
        low, high = lowest, highest
        mass, steep = _masses(s, up, w, low, high, p, end, is_max)
        if end >= 0:  # the top is pushed
            up_mass += tl.sum(tl.where(up, mass, 0.0))
            down_steep += tl.sum(tl.where(up, 0.0, steep))
        if end <= 0:  # the bottom is pushed
            up_steep += tl.sum(tl.where(up, steep, 0.0))
            down_mass += tl.sum(tl.where(up, 0.0, mass))
    tl.store(parts + block, low)
    tl.store(parts + BLOCKS + block, high)
    tl.store(parts + 2 * BLOCKS + block, up_mass)
    tl.store(parts + 3 * BLOCKS + block, up_steep)
    tl.store(parts + 4 * BLOCKS + block, down_mass)
    tl.store(parts + 5 * BLOCKS + block, down_steep)


@triton.jit
def _join(parts, value, numbers, count, p, inverse_p, log_top, log_bottom, is_max: tl.constexpr):
    """Value, and the numbers that the gradient needs: extremes and what a mass is multiplied by."""
    block = tl.arange(0, BLOCKS)
    inside = block < count
    lows = tl.load(parts + block, mask=inside, other=float("inf"))
    highs = tl.load(parts + BLOCKS + block, mask=inside, other=float("-inf"))
    low, high = tl.min(lows), tl.max(highs)
    part = parts + 2 * BLOCKS + block
    mass = tl.load(part, mask=inside, other=0.0).to(tl.float64)
    steep = tl.load(part + BLOCKS, mask=inside, other=0.0).to(tl.float64)
    fall = tl.where(lows > low, low - lows, 0.0).to(tl.float64)
    mass, steep = _shrunk(mass, steep, fall, p, is_max)
    up_mass, up_steep = tl.sum(mass), tl.sum(steep)
    mass = tl.load(part + 2 * BLOCKS, mask=inside, other=0.0).to(tl.float64)
    steep = tl.load(part + 3 * BLOCKS, mask=inside, other=0.0).to(tl.float64)
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
    numbers,
    outside,
    gradient,
    n,
    p,
    is_weighted: tl.constexpr,
    end: tl.constexpr,
    is_max: tl.constexpr,
):
    """Gradient of every row, times the number that comes from ``outside``."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    s, up, w = _load(scores, y, weight, rows, n, is_weighted)
    low, high = tl.load(numbers), tl.load(numbers + 1)
    mass, steep = _masses(s, up, w, low, high, p, end, is_max)
    pulled = -(tl.load(numbers + 2) * mass + tl.load(numbers + 3) * steep)
    pushed = tl.load(numbers + 4) * mass + tl.load(numbers + 5) * steep
    slope = tl.load(outside) * tl.where(w > 0, tl.where(up, pulled, pushed), 0.0)
    tl.store(gradient + rows, slope.to(gradient.dtype.element_ty), mask=rows < n)


def _find(
    scores: Tensor, y: Tensor, weight: Tensor | None, p: float, focus: str, bottom_weight: float
) -> tuple[Tensor, Tensor]:
    """Value, and the numbers that the gradient needs."""
    n, is_max = scores.numel(), math.isinf(p)
    finite_p = 1.0 if is_max else p
    # an end that is not pushed counts e^-inf
    log_top = -math.inf if focus == "bottom" else 0.0
    log_bottom = {"top": -math.inf, "bottom": 0.0, "both": math.log(bottom_weight) / p}[focus]
    count = min(BLOCKS.value, triton.cdiv(n, ROWS.value))
    parts = scores.new_empty(NUMBERS * BLOCKS.value, dtype=torch.float32)
    value = scores.new_empty((), dtype=torch.float32)
    numbers = scores.new_empty(NUMBERS, dtype=torch.float32)
    _sum[(count,)](
        scores, y, weight, parts, n, finite_p, weight is not None, ENDS[focus], is_max,
        num_warps=WARPS,
    )  # fmt: skip
    _join[(1,)](
        parts, value, numbers, count, finite_p, 1.0 / p, log_top, log_bottom, is_max,
        num_warps=WARPS,
    )  # fmt: skip
    return value, numbers


def _slopes(
    scores: Tensor,
    y: Tensor,
    weight: Tensor | None,
    numbers: Tensor,
    outside: Tensor,
    p: float,
    focus: str,
) -> Tensor:
    """Gradient of every row, times the number that comes from ``outside``."""
    n, is_max = scores.numel(), math.isinf(p)
    gradient = torch.empty_like(scores)
    _write[(triton.cdiv(n, ROWS.value),)](
        scores, y, weight, numbers, outside, gradient, n, 1.0 if is_max else p,
        weight is not None, ENDS[focus], is_max, num_warps=WARPS,
    )  # fmt: skip
    return gradient


# torch.compile sees two closed boxes; called directly, the functions cost less.
_boxed_find = torch.library.custom_op("toprank::push_value", _find, mutates_args=())
_boxed_slopes = torch.library.custom_op("toprank::push_gradient", _slopes, mutates_args=())


@_boxed_find.register_fake
def _(scores: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    single = scores.new_empty((), dtype=torch.float32)
    return single, scores.new_empty(NUMBERS, dtype=torch.float32)


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
        focus: str,
        bottom_weight: float,
    ) -> Tensor:
        scores, y = scores.contiguous(), y.contiguous()
        weight = None if weight is None else weight.contiguous()
        find = _boxed_find if torch.compiler.is_compiling() else _find
        value, numbers = find(scores, y, weight, p, focus, bottom_weight)
        ctx.save_for_backward(scores, y, weight, numbers)
        ctx.p, ctx.focus = p, focus
        # compiled, a value that is handed through as it is loses its gradient (PyTorch 2.11)
        return value.clone() if torch.compiler.is_compiling() else value

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        scores, y, weight, numbers = ctx.saved_tensors
        slopes = _boxed_slopes if torch.compiler.is_compiling() else _slopes
        gradient = slopes(scores, y, weight, numbers, grads[0], ctx.p, ctx.focus)
        return gradient, None, None, None, None, None
