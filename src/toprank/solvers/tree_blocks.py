"""Rows in blocks that trees grow on: a file larger than memory, the workers of a cluster.

Beside its codes a block has a state: scores, gradients and an order of its rows by leaf. It follows
from the trees so far and the steps of the present one, of which the fit keeps a log::

    trees    (splits, values) (splits, values) …
    steps    set_gradients  pack  split  split …      of the tree that grows

A pass sends the end of the log and one question. A block takes the steps that are new to it and
answers; answers are whole numbers and add up. Where the state of a block is missing (on another
worker, after a loss, for want of memory), the pass is repeated with the whole log.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from toprank.blocks import Block, Least, Sums
from toprank.kernels.memory import available_memory
from toprank.kernels.threads import Threads
from toprank.kernels.tree_terms import weight_scale, whole_weights
from toprank.solvers.cuts import matching_intercept_on_blocks
from toprank.solvers.tree_table import GrowingRows, TreeTable

if TYPE_CHECKING:
    from toprank.blocks import Blocks
    from toprank.kernels.tree_terms import Terms
    from toprank.solvers.tree_table import BinnedColumns, Split, TreeDraws
    from toprank.trees import Bins

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Tree = tuple[Integers, Floats]
Step = tuple[str, Any]

# Bytes per row of the state of a block, and of its scores alone.
STATE_BYTES = 30
SCORE_BYTES = 8


def binned_rows(block: Block, bins: Bins, positive: Any) -> Block:
    """Codes of the rows that count, one byte per cell, which are positives, and their weights."""
    X, positives = block.counted(block.X), block.counted(block.y) == positive
    weights = None if block.weights is None else block.counted(block.weights).astype(np.float64)
    return Block(bins.by_row(X, Threads()), positives, weights, block.number)


def weigh_block(block: Block, scale: float) -> Sums:
    """Weight of the positives and of all rows of a block, times ``scale``; its lightest row."""
    lightest = 1.0 if block.weights is None else float(block.weights.min(initial=math.inf))
    return Sums([whole_weights(block.y, block.weights, scale), Least(lightest)])


class WholeTable(NamedTuple):
    """What the state of a block depends on in the whole table; scores begin at ``start``."""

    columns: BinnedColumns
    first_rows: Integers
    total_weight: float
    start: float


class BlockTable(TreeTable):
    """The state of a block, which stays where it is while the rows come and go."""

    def __init__(
        self, block: Block, whole: WholeTable, scores: Floats | None = None, n_trees: int = 0
    ) -> None:
        super().__init__(
            block.X,
            whole.columns,
            block.y,
            block.weights,
            np.full(block.y.size, whole.start) if scores is None else scores,
            Threads(),
            first=int(whole.first_rows[block.number]),
            total_weight=whole.total_weight,
        )
        self.n_trees, self.n_steps = n_trees, 0
        self._is_settled = False

    def is_ahead_or_behind(self, question: Question) -> bool:
        """Whether the trees and steps of a question do not go on from here."""
        here, end = (self.n_trees, self.n_steps), question.first + len(question.trees)
        return not (question.first, 0) <= here <= (end, len(question.steps))

    def catch_up(self, question: Question) -> None:
        """Take the steps that are new."""
        for splits, values in question.trees[self.n_trees - question.first :]:
            if not self._is_settled:
                self.find_leaves(splits)
            self.add(values)
            self.n_trees, self.n_steps, self._is_settled = self.n_trees + 1, 0, False
        for name, argument in question.steps[self.n_steps :]:
            getattr(self, name)(*argument)
            self._is_settled = name == "find_leaves"
        self.n_steps = len(question.steps)

    def leave_rows(self) -> None:
        """Release the rows, which are stored elsewhere."""
        self.set_rows(np.empty((0, 0), np.uint8), np.empty(0, bool), None)

    def whole_histograms(self, leaves: Integers) -> Sums:
        """Histograms of some leaves, and the squared gradients of the tree, added up."""
        out = np.empty((self._starts.size - 1, int(self.columns.offsets[-1])), dtype=np.int64)
        self.histograms(leaves, out, lambda *_: None)
        return Sums([out[leaves], self.squares])

    def sums_and_cover(self, terms: Terms, steps: Floats, scale: float) -> Sums:
        """Sums by leaf, and the weight of each leaf."""
        cover = self.whole_cover(steps.size, scale)
        return Sums([self.whole_sums(terms, steps, scale), cover])

    def scored(self) -> tuple[Floats, NDArray[np.bool_], Floats]:
        """Scores, which rows are positives, and their weights."""
        weights = self._weights if self._weights.size else np.ones(self.n_rows)
        return self.scores, self._positives, weights


class BlockStates:
    """States of blocks by their number, as far as the memory allows.

    Parameters
    ----------
    n_bytes : int
        How much is kept per row: all, the scores alone, or nothing.
    """

    def __init__(self, n_bytes: int) -> None:
        self._keeps_all, self.keeps_scores = n_bytes >= STATE_BYTES, n_bytes >= SCORE_BYTES
        self._kept: dict[int, BlockTable | tuple[Floats, int]] = {}

    @classmethod
    def for_rows(cls, n_rows: int) -> Self:
        """Keep what takes at most half of the free memory."""
        free = available_memory()
        return cls(STATE_BYTES if free is None else free // (2 * n_rows))

    def take(self, block: Block, whole: WholeTable) -> BlockTable | None:
        """Hand out the state of a block, None where there is none."""
        found = self._kept.pop(block.number, None)
        return BlockTable(block, whole, *found) if isinstance(found, tuple) else found

    def put(self, block: Block, table: BlockTable) -> None:
        """Keep the state of a block, or its scores, or nothing."""
        if self._keeps_all:
            self._kept[block.number] = table
        elif self.keeps_scores:
            self._kept[block.number] = table.scores, table.n_trees


class WorkerStates:
    """States of the blocks of a worker, for as long as their codes stay in its memory."""

    def __init__(self) -> None:
        self._by_codes: dict[int, tuple[weakref.ref[Any], BlockTable]] = {}

    def take(self, block: Block, whole: WholeTable) -> BlockTable | None:  # noqa: ARG002
        codes, table = self._by_codes.pop(id(block.X), (None, None))
        return table if codes is not None and codes() is block.X else None

    def put(self, block: Block, table: BlockTable) -> None:
        place = id(block.X)
        codes = weakref.ref(block.X, lambda _: self._by_codes.pop(place, None))
        self._by_codes[place] = codes, table


OF_WORKER = WorkerStates()


class Question:
    """One pass: states of blocks, what was done since, and a method of :class:`BlockTable`.

    Where blocks are on other machines ``states`` is None: each worker has those of its blocks.
    ``trees`` are those from number ``first`` on, ``steps`` those of the present tree.
    """

    def __init__(
        self,
        states: BlockStates | None,
        whole: WholeTable,
        first: int,
        trees: list[Tree],
        steps: list[Step],
        name: str,
        *arguments: Any,
    ) -> None:
        self.states, self.whole = states, whole
        self.first, self.trees, self.steps = first, trees, steps
        self.name, self.arguments = name, arguments


class Answer:
    """Answers of blocks, added up; None where the state of one of them was missing."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __add__(self, other: Answer) -> Answer:
        """Add up, unless the pass has to be repeated."""
        if self.value is None or other.value is None:
            return Answer(None)
        return Answer(self.value + other.value)


def ask_block(block: Block, question: Question) -> Answer:
    """Let a block take the steps that are new to it, then answer."""
    states = OF_WORKER if question.states is None else question.states
    table = states.take(block, question.whole)
    if table is None or table.is_ahead_or_behind(question):
        if question.first > 0:
            return Answer(None)
        table = BlockTable(block, question.whole)
    table.set_rows(block.X, block.y, block.weights)
    table.catch_up(question)
    value = getattr(table, question.name)(*question.arguments)
    table.leave_rows()
    states.put(block, table)
    return Answer(value)


def scored_rows(block: Block, question: Question) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Scores of a block, which rows are positives, and their weights."""
    found: tuple[Floats, NDArray[np.bool_], Floats] = ask_block(block, question).value
    return found


class TreeBlocks(GrowingRows):
    """Binned rows in blocks.

    Parameters
    ----------
    blocks : Blocks
        Rows as :func:`binned_rows` gives them.
    columns : BinnedColumns
    first_rows : array of shape (n_blocks,)
        Number of the first row of each block.
    n_rows : int
    largest_weight : float
    threads : Threads
        For what follows the sums over rows.
    """

    def __init__(
        self,
        blocks: Blocks,
        columns: BinnedColumns,
        first_rows: Integers,
        n_rows: int,
        largest_weight: float,
        threads: Threads,
    ) -> None:
        self.blocks, self.columns, self.n_rows = blocks, columns, n_rows
        self._threads = threads
        scale = weight_scale(n_rows, largest_weight)
        weights, lightest = blocks.total(weigh_block, scale).parts
        self.positive_weight, self.total_weight = (weights / scale).tolist()
        self.smallest_weight: float = lightest.value
        self._states = None if blocks.is_remote else BlockStates.for_rows(n_rows)
        self._whole = WholeTable(columns, first_rows, self.total_weight, 0.0)
        self._trees: list[Tree] = []
        self._steps: list[Step] = []

    def begin(self, start: float, trees: list[Tree]) -> None:
        """Set the score that rows begin with, and trees that there are already."""
        self._whole = self._whole._replace(start=start)
        self._trees = trees

    def close(self) -> None:
        self.blocks.close()

    def set_gradients(self, terms: Terms, factors: tuple[float, float]) -> None:
        self._steps.append(("set_gradients", (terms, factors)))

    def pack(self, draws: TreeDraws) -> None:
        self._steps.append(("pack", (draws,)))

    def split(self, split: Split) -> None:
        self._steps.append(("split", (split,)))

    def find_leaves(self, splits: Integers) -> None:
        self._steps.append(("find_leaves", (splits,)))
        self._cover: Integers | None = None

    def add(self, values: Floats) -> None:
        _, (splits,) = self._steps[-1]
        self._trees.append((splits, values))
        self._steps = []

    def histograms(self, leaves: Integers, out: Integers, then: Callable[[int, int], None]) -> None:
        out[leaves], self.squares = self._ask("whole_histograms", leaves).parts
        self._threads.over(self.columns.n_columns, then)

    def least_edges(self) -> Sums:
        found: Sums = self._ask("least_edges")
        return found

    def whole_sums(self, terms: Terms, steps: Floats, scale: float) -> Integers:
        if not steps.size or self._cover is not None:
            return np.asarray(self._ask("whole_sums", terms, steps, scale))
        # The first sums of a tree by leaf come with its cover: a pass less.
        sums, self._cover = self._ask("sums_and_cover", terms, steps, scale).parts
        return np.asarray(sums)

    def whole_cover(self, n_leaves: int, scale: float) -> Integers:  # noqa: ARG002
        assert self._cover is not None  # noqa: S101  (values of leaves are found before)
        return self._cover

    def sum_losses(self, terms: Terms) -> float:
        return float(self._ask("sum_losses", terms))

    def matching_cut(self) -> float:
        scored = partial(scored_rows, question=self._question(0, "scored"))
        return matching_intercept_on_blocks(self.blocks, scored)

    def _question(self, first: int, name: str, *arguments: Any) -> Question:
        trees, steps = self._trees[first:], self._steps
        return Question(self._states, self._whole, first, trees, steps, name, *arguments)

    def _ask(self, name: str, *arguments: Any) -> Any:
        """Ask all blocks, with the end of the log first and the whole log if that is not enough."""
        has_scores = self._states is None or self._states.keeps_scores
        last = max(0, len(self._trees) - 1) if has_scores else 0
        answer = self.blocks.total(ask_block, self._question(last, name, *arguments))
        if answer.value is None:
            answer = self.blocks.total(ask_block, self._question(0, name, *arguments))
        return answer.value
