"""A random sample of rows in blocks, the same however the rows are cut into blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.blocks import (
    Block,
    Blocks,
    Sums,
    check_blocks,
    check_survey,
    classes_of_one_list,
    survey_block,
)
from toprank.kernels.memory import available_memory
from toprank.selection.judging import fewest_of_class
from toprank.tables import Table
from toprank.tables.notation import ColumnSchema
from toprank.tables.schema import Schema

if TYPE_CHECKING:
    from toprank.blocks import Survey, Total
    from toprank.tables.encoding import Encoding

# Most cells of a sample, and fewest rows, however wide they are.
MOST_CELLS, FEWEST_ROWS = 1 << 26, 1_000
# Bytes per cell that choosing a blend and fitting its members may take: copies in float64 too.
BYTES_PER_CELL = 48


class RowSample(NamedTuple):
    """Rows of weight above 0, taken at random, in their order.

    Both classes are taken in proportion, and more rows of a rare class with smaller weights, as by
    :meth:`LabelledRows.some`.

    ``seen`` and ``size`` are the survey of all rows and the sum of their weights.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    seen: Survey
    size: float

    @property
    def is_whole(self) -> bool:
        """Whether all rows were taken."""
        return self.y.size == self.seen.n_rows


def sample_rows(blocks: Blocks, n_rows: int, seed: int) -> RowSample:
    """Take about ``n_rows`` random rows in two passes, or all rows where there are fewer.

    Whether a row is taken depends only on the seed and on its number. Fewer wide rows are taken,
    and fewer where memory is short.
    Where a class has less than half of the rows that it should have in the sample, rows are drawn
    again.
    """
    check_blocks(blocks)
    seen, counts, size = blocks.total(_look).parts
    check_survey(seen, blocks.feature_names, accepts_missing=True)
    classes = classes_of_one_list(seen)
    free = available_memory()
    cells = MOST_CELLS if free is None else min(MOST_CELLS, free // BYTES_PER_CELL)
    n_rows = min(n_rows, max(cells // seen.low.size, FEWEST_ROWS))
    share, fewest = min(1.0, n_rows / seen.n_rows), fewest_of_class(n_rows)
    rates = [min(1.0, max(share, fewest / counts[label])) for label in classes.tolist()]
    enough = min(fewest, *counts.values()) / 2
    n_taken, attempt = 0, 0
    while n_taken < enough:
        parts = blocks.total(_take, seen.starts, share, rates, classes[1], seed, attempt)
        tables, labels, weights = zip(*parts, strict=True)
        y, attempt = np.concatenate(labels), attempt + 1
        n_taken = min(int(np.count_nonzero(y == label)) for label in classes)
    is_weighted = any(part is not None for part in weights)
    masses = [
        np.ones(part.size) if mass is None else mass
        for part, mass in zip(labels, weights, strict=True)
    ]
    return RowSample(
        np.ascontiguousarray(np.concatenate(tables)),
        y,
        np.concatenate(masses) if is_weighted else None,
        seen,
        float(size),
    )


def _look(block: Block) -> Sums:
    """The survey of a block, its rows of each label, and the sum of its weights."""
    seen = survey_block(block)  # checks come first
    y = block.y if block.weights is None else block.y[block.weights > 0]
    labels, counts = np.unique(y, return_counts=True)
    rows = Counter(dict(zip(labels.tolist(), counts.tolist(), strict=True)))
    size = float(y.size if block.weights is None else block.weights.sum())
    return Sums([seen, rows, size])


def _take(
    block: Block,
    starts: NDArray[np.int64],
    share: float,
    rates: list[float],
    positive: Any,
    seed: int,
    attempt: int,
) -> list[tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]]:
    """Table, labels and weights of the rows of a block that are taken."""
    X, y, weights = block.X, block.y, block.weights
    if weights is not None and not weights.all():
        kept = weights > 0
        X, y, weights = X[kept], y[kept], weights[kept]
    chances = np.where(y == positive, rates[1], rates[0])
    # one draw per row, wherever its block begins
    draws = np.random.PCG64(seed).jumped(attempt).advance(int(starts[block.number]))
    taken = np.random.Generator(draws).random(y.size) < chances
    if max(rates) > share:
        weights = share / chances * (1.0 if weights is None else weights)
    return [(X[taken], y[taken], None if weights is None else weights[taken])]


class MemberBlocks(Blocks):
    """Blocks as the members of a blend need them: numbers, without names or missing values.

    Labels say whether a row is positive. ``encoder`` knows the columns by ``names``; it is None
    where no value is missing.
    """

    def __init__(
        self, blocks: Blocks, positive: Any, encoder: Encoding | None, names: list[str]
    ) -> None:
        self._blocks, self._view = blocks, (positive, encoder, names)

    def total(self, work: Callable[..., Total], *arguments: Any) -> Total:
        result: Total = self._blocks.total(_work, *self._view, work, arguments)
        return result

    def kept(self, work: Callable[..., Block], *arguments: Any) -> Blocks:
        return self._blocks.kept(_work, *self._view, work, arguments)


def _work(
    block: Block,
    positive: Any,
    encoder: Encoding | None,
    names: list[str],
    work: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> Any:
    table = block.X if encoder is None else encoder.transform(named_columns(block.X, names))
    return work(block._replace(X=table, y=block.y == positive), *arguments)


def named_columns(X: NDArray[Any], names: list[str]) -> Table:
    """An array as a table of plain numbers, for an encoder."""
    schema = Schema({name: ColumnSchema(name, "number") for name in names})
    return Table(dict(zip(names, X.T, strict=True)), "X", schema=schema)
