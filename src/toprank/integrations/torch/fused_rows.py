"""What the kernels on a CUDA device share: rows of one step, and sums over all blocks.

Each block adds up its rows, step by step, and leaves its sums in a scratch tensor. The block that
ends last joins them, so that no second kernel has to start::

    scratch    [ counters | numbers for the gradient | sums of block 0 1 2 … | other sums … ]

A later pass goes through the rows backwards: what was read last is still in the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "BLOCKS",
    "HEAD",
    "ROWS",
    "WARPS",
    "is_last_block",
    "load_rows",
    "load_sums",
    "n_blocks",
    "scratch",
]

ROWS = tl.constexpr(2048)  # of a step
BLOCKS = tl.constexpr(1024)  # at most; a longer list takes more steps
HEAD = tl.constexpr(16)  # two counters, then numbers for the gradient
WARPS = 8


def n_blocks(n: int) -> int:
    """Blocks that a pass over n rows takes."""
    return min(BLOCKS.value, -(-n // ROWS.value))


def scratch(scores: Tensor, sums: int) -> Tensor:
    """Zeros for the counters, the numbers and some sums of every block."""
    return torch.zeros(HEAD.value + sums * BLOCKS.value, device=scores.device)


@triton.jit
def load_rows(scores, y, weight, rows, n, is_weighted: tl.constexpr):
    """Score, class and weight of some rows, weight 0 behind the last."""
    inside = rows < n
    s = tl.load(scores + rows, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(y + rows, mask=inside, other=0) > 0
    w = tl.where(inside, 1.0, 0.0)
    if is_weighted:  # else there is no pointer to read from
        w = tl.load(weight + rows, mask=inside, other=0.0).to(tl.float32)
    return s, up, w


@triton.jit
def is_last_block(counter):
    """Whether all other blocks have left their sums."""
    tl.debug_barrier()
    done = tl.atomic_add(counter.to(tl.pointer_type(tl.int32)), 1)
    tl.debug_barrier()
    return done == tl.num_programs(0) - 1


@triton.jit
def load_sums(parts, which: tl.constexpr, other):
    """One of the sums of every block, past caches that may be older than it."""
    block = tl.arange(0, BLOCKS)
    inside = block < tl.num_programs(0)
    return tl.load(parts + which * BLOCKS + block, mask=inside, other=other, cache_modifier=".cg")
