"""Heights of the logistic loss of one list on a CUDA device, in Triton.

The compiled twin of :mod:`toprank.integrations.torch.logistic`, with its cells and tables. A cell
is known by its number floor((t - lowest) / WIDTH), and only cells that hold a row are kept. A sort
puts the rows of a cell side by side, and blocks of SPAN sorted rows add up moments::

    sorted rows   [ a a a b | b b b b | b c d d ]        moments of a, of b from block 0, of c, d
    cells           a     b             c d              carries: b from block 1, b from block 2

The first cell of a block is a carry where it began in an earlier one. Then every cell gets one
polynomial from the moments of the cells within REACH, into which those further away go as a
straight line, and every row, in its own place, is a value of the polynomial of its cell.

All sums are float64, and their order depends on nothing but the scores.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from toprank.integrations.torch import logistic

if TYPE_CHECKING:
    from toprank.integrations.torch.rows import Side

WIDTH = tl.constexpr(logistic.WIDTH)
PER_UNIT = tl.constexpr(1.0 / logistic.WIDTH)  # a power of two: no product is rounded
NODES = tl.constexpr(logistic.NODES)
REACH = tl.constexpr(logistic.REACH)
SPAN = tl.constexpr(1024)  # sorted rows of a block
ROWS = tl.constexpr(512)  # of a block, where rows are in their own places
AROUND = tl.constexpr(32)  # cells at a time
WARPS = 4
MOST = 4096  # blocks that share out the cells between them


class _OccupiedCells(NamedTuple):
    """Cells that hold a row, from the lowest up."""

    t: Tensor  # sorted
    order: Tensor
    ends: Tensor  # for each block, cells that begin in it or before
    numbers: Tensor  # of each cell, float64: far scores have large ones
    starts: Tensor  # first sorted row of each cell
    most: int  # cells that there is memory for


@triton.jit
def _place(t, lowest):
    """Number of the cell and place within it, from -1 to 1."""
    place = (t.to(tl.float64) - lowest.to(tl.float64)) * PER_UNIT
    number = tl.floor(place)
    return number, 2.0 * (place - number) - 1.0


@triton.jit
def _begins(t, rows, n, lowest):
    """Whether a sorted row is the first of its cell, and its place."""
    number, inside = _place(tl.load(t + rows, mask=rows < n, other=0.0), lowest)
    before = tl.load(t + rows - 1, mask=(rows > 0) & (rows < n), other=0.0)
    earlier, _ = _place(before, lowest)
    return (rows < n) & ((rows == 0) | (number != earlier)), number, inside


@triton.jit
def _count(t, counts, n):
    """Cells that begin in each block of sorted rows."""
    rows = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    first, _, _ = _begins(t, rows, n, tl.load(t))
    tl.store(counts + tl.program_id(0), tl.sum(first.to(tl.int32)))


@triton.jit
def _list(t, ends, numbers, starts, n):
    """Number and first row of every cell."""
    block = tl.program_id(0)
    rows = block * SPAN + tl.arange(0, SPAN)
    first, number, _ = _begins(t, rows, n, tl.load(t))
    cell = tl.load(ends + block - 1, mask=block > 0, other=0) + tl.cumsum(first.to(tl.int32)) - 1
    tl.store(numbers + cell, number, mask=first)
    tl.store(starts + cell, rows, mask=first)


@triton.jit
def _sum(t, order, source, ends, moments, most, n):
    """Moments Σ a·T_m of the cells that begin in a block, and of the one that goes on in it."""
    block = tl.program_id(0)
    rows = block * SPAN + tl.arange(0, SPAN)
    first, _, x = _begins(t, rows, n, tl.load(t))
    begun = tl.load(ends + block - 1, mask=block > 0, other=0)
    cell = begun + tl.cumsum(first.to(tl.int32)) - 1
    row = tl.load(order + rows, mask=rows < n, other=0)
    a = tl.load(source + row, mask=rows < n, other=0).to(tl.float64)
    # a cell that goes on counts begun - 1; where none does, its moments are zeros
    for one in range(begun - 1, tl.load(ends + block)):
        held = tl.where(cell == one, a, 0.0)
        into = moments + tl.where(one < begun, most + block, one) * NODES
        before, now = x, tl.full((SPAN,), 1.0, tl.float64)
        for m in tl.static_range(NODES):
            tl.store(into + m, tl.sum(held * now))
            before, now = now, 2.0 * x * now - before


@triton.jit
def _join(starts, ends, moments, most, n, n_blocks):
    """Add to the moments of every cell those of the blocks in which it goes on."""
    n_cells = tl.load(ends + n_blocks - 1)
    node = tl.arange(0, NODES)
    carries = moments + most * NODES
    for cell in range(tl.program_id(0), n_cells, tl.num_programs(0)):
        after = tl.load(starts + cell + 1, mask=cell + 1 < n_cells, other=n)
        total = tl.load(moments + cell * NODES + node)
        last = (after - 1) // SPAN
        for block in range(tl.load(starts + cell) // SPAN + 1, last + 1, AROUND):
            blocks = block + tl.arange(0, AROUND)[:, None]
            held = tl.load(carries + blocks * NODES + node[None, :], mask=blocks <= last, other=0.0)
            total += tl.sum(held, 0)
        tl.store(moments + cell * NODES + node, total)


@triton.jit
def _turn(
    numbers,
    moments,
    held,
    reach,
    table,
    polynomials,
    ends,
    most,
    n_blocks,
    columns: tl.constexpr,
    is_above: tl.constexpr,
):
    """Polynomials of every cell; ``held`` and ``reach`` are sums over the cells up to each."""
    n_cells = tl.load(ends + n_blocks - 1)
    column = tl.arange(0, columns)
    for cell in range(tl.program_id(0), n_cells, tl.num_programs(0)):
        number = tl.load(numbers + cell)
        total = tl.zeros((columns,), tl.float64)
        below, up_to = tl.maximum(cell - REACH, 0), tl.minimum(cell + REACH + 1, n_cells)
        lowest, highest = below, up_to
        for start in range(lowest, highest, AROUND):
            near = start + tl.arange(0, AROUND)
            far = tl.load(numbers + near, mask=near < highest, other=float("inf")) - number
            is_near = tl.abs(far) <= REACH
            below += tl.sum((far < -REACH).to(tl.int32))
            up_to -= tl.sum(((far > REACH) & (near < highest)).to(tl.int32))
            line = tl.where(is_near, far + REACH, 0.0).to(tl.int32) * NODES
            for m in tl.static_range(NODES):
                moment = tl.load(moments + near * NODES + m, mask=is_near, other=0.0)
                row = tl.load(table + (line + m)[:, None] * columns + column[None, :])
                total += tl.sum(moment[:, None] * row, 0)
        if is_above:
            beyond = tl.load(held + n_cells - 1) - tl.load(held + up_to - 1)
            total += tl.where(column == 0, beyond, 0.0)
        else:
            there = tl.maximum(below - 1, 0)
            is_any = below > 0
            weight = tl.where(is_any, tl.load(held + there), 0.0)
            away = (number - tl.load(numbers + there) - 0.5) * WIDTH
            rise = tl.where(is_any, weight * away + tl.load(reach + there), 0.0)
            total += tl.where(column == 0, rise, 0.0)
            total += tl.where(column == 1, weight * (WIDTH / 2), 0.0)
            total += tl.where(column == NODES, weight, 0.0)
        tl.store(polynomials + column * most + cell, total)


@triton.jit
def _find(scores, rows, n, numbers, lowest, n_cells):
    """Cell of every row, and the place within it."""
    number, x = _place(tl.load(scores + rows, mask=rows < n, other=lowest), lowest)
    cell = tl.zeros((ROWS,), tl.int32)
    span = n_cells
    while span > 1:
        half = span // 2
        cell = tl.where(tl.load(numbers + cell + half) <= number, cell + half, cell)
        span -= half
    return cell, x


@triton.jit
def _evaluate(polynomials, cell, x, most, first: tl.constexpr):
    """The polynomial of each row's cell, from a column on, at its place."""
    total = tl.zeros((ROWS,), tl.float64)
    before, now = x, tl.full((ROWS,), 1.0, tl.float64)
    for m in tl.static_range(NODES):
        total += now * tl.load(polynomials + (first + m) * most + cell)
        before, now = now, 2.0 * x * now - before
    return total


@triton.jit
def _heights(scores, t, numbers, ends, polynomials, heights, most, n, n_blocks):
    """Height of every row."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cell, x = _find(scores, rows, n, numbers, tl.load(t), tl.load(ends + n_blocks - 1))
    height = _evaluate(polynomials, cell, x, most, 0)
    tl.store(heights + rows, tl.maximum(height, 0.0), mask=rows < n)


@triton.jit
def _slopes(
    scores, t, numbers, ends, polynomials, pulls, source, outside, gradient, most, n, n_blocks
):
    """Gradient of every row: as one that is judged, and as one that others are judged by."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cell, x = _find(scores, rows, n, numbers, tl.load(t), tl.load(ends + n_blocks - 1))
    a = tl.load(source + rows, mask=rows < n, other=0).to(tl.float64)
    first = tl.load(outside + rows, mask=rows < n, other=0.0)
    own = _evaluate(polynomials, cell, x, most, NODES)
    pull = _evaluate(pulls, cell, x, most, 0)
    slope = first * own - a * pull
    tl.store(gradient + rows, slope.to(gradient.dtype.element_ty), mask=rows < n)


def _cells_of(scores: Tensor) -> _OccupiedCells:
    """Sort the rows and list the cells.

    Memory is for as many cells as there are, which is read back from the device; while a graph is
    captured, which allows no reading, for as many as there are rows.
    """
    t, order = torch.sort(scores)
    n = t.numel()
    blocks = triton.cdiv(n, SPAN.value)
    counts = torch.empty(blocks, dtype=torch.int32, device=t.device)
    _count[(blocks,)](t, counts, n, num_warps=WARPS)
    ends = torch.cumsum(counts, 0, dtype=torch.int32)
    is_captured = t.is_cuda and torch.cuda.is_current_stream_capturing()
    most = n if is_captured else int(ends[-1])
    numbers = torch.empty(most, dtype=torch.float64, device=t.device)
    starts = torch.empty(most, dtype=torch.int32, device=t.device)
    _list[(blocks,)](t, ends, numbers, starts, n, num_warps=WARPS)
    return _OccupiedCells(t, order, ends, numbers, starts, most)


def _polynomials(cells: _OccupiedCells, source: Tensor, *, is_above: bool) -> Tensor:
    """Polynomials of Σ a·ln(1 + e^x) and Σ a·σ(x), or with ``is_above`` of Σ a·σ(-x)."""
    t, order, ends, numbers, starts, most = cells
    n, n_blocks = t.numel(), ends.numel()
    moments = numbers.new_empty(most + n_blocks, NODES.value)  # carries behind
    _sum[(n_blocks,)](t, order, source, ends, moments, most, n, num_warps=WARPS)
    shared = (min(most, MOST),)
    _join[shared](starts, ends, moments, most, n, n_blocks, num_warps=1)
    held = moments[:most, 0].cumsum(0)
    reach = held
    if not is_above:  # Σ a·(right end of the cell - t), which grows by positive terms alone
        within = (moments[:most, 0] - moments[:most, 1]) * (WIDTH.value / 2)
        within[1:] += held[:-1] * (numbers[1:] - numbers[:-1]) * WIDTH.value
        reach = within.cumsum(0)
    columns = NODES.value if is_above else 2 * NODES.value
    # side by side for all cells: rows of a block lie in a few cells, and read a few lines of memory
    found = numbers.new_empty(columns, most)
    _turn[shared](
        numbers, moments, held, reach, _table(t.device, is_above), found, ends, most, n_blocks,
        columns, is_above, num_warps=WARPS,
    )  # fmt: skip
    return found


@functools.cache
def _table(device: torch.device, is_above: bool) -> Tensor:
    tables = [logistic.table(1, -1)] if is_above else [logistic.table(m, 1) for m in (0, 1)]
    return torch.as_tensor(np.concatenate(tables, axis=1), device=device).contiguous()


class _FusedHeights(torch.autograd.Function):
    """Heights of all rows, in their own places, by those of a source."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, source: Tensor, side: Side) -> Tensor:
        cells = _cells_of(scores)
        found = _polynomials(cells, source, is_above=False)
        n = scores.numel()
        heights = torch.empty(n, dtype=torch.float64, device=scores.device)
        _heights[(triton.cdiv(n, ROWS.value),)](
            scores, cells.t, cells.numbers, cells.ends, found, heights, cells.most, n,
            cells.ends.numel(), num_warps=WARPS,
        )  # fmt: skip
        ctx.save_for_backward(scores, source)
        ctx.cells, ctx.polynomials, ctx.side = cells, found, side
        return heights

    @staticmethod
    def backward(ctx: Any, *first: Tensor) -> tuple[Tensor | None, ...]:
        scores, source = ctx.saved_tensors
        if torch.is_grad_enabled():  # a second derivative is wanted
            heights = logistic.heights_in_place(ctx.side._replace(t=scores))
            (gradient,) = torch.autograd.grad(heights, scores, first[0], create_graph=True)
            return gradient, None, None
        cells, n = ctx.cells, scores.numel()
        outside = first[0].contiguous()
        pulls = _polynomials(cells, outside, is_above=True)
        gradient = torch.empty_like(scores)
        _slopes[(triton.cdiv(n, ROWS.value),)](
            scores, cells.t, cells.numbers, cells.ends, ctx.polynomials, pulls, source, outside,
            gradient, cells.most, n, cells.ends.numel(), num_warps=WARPS,
        )  # fmt: skip
        return gradient, None, None


@torch.compiler.disable
def fused_heights(side: Side) -> tuple[Tensor, Tensor, Tensor]:
    """Heights in the order of the rows, what each counts, and the weight of the inner rows."""
    source = side.inner if side.weight is None else torch.where(side.inner, side.weight, 0.0)
    heights: Tensor = _FusedHeights.apply(side.t.contiguous(), source, side)
    amount = side.outer if side.weight is None else torch.where(side.outer, side.weight, 0.0)
    return heights, amount.double(), source.double()
