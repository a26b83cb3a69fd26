"""What blocks know is kept or made again; trees do not depend on it."""

import gc
import pickle

import numpy as np
import pytest

from toprank import TreeRanker
from toprank.blocks import ArrayBlocks, Block
from toprank.solvers import tree_blocks
from toprank.solvers.tree_blocks import BlockStates
from toprank.solvers.tree_table import BinnedColumns

RNG = np.random.default_rng(8)
X = RNG.normal(size=(600, 3))
Y = (X[:, 0] * X[:, 1] > 0.5).astype(int)
MODEL = TreeRanker(n_trees=4, depth=3, random_state=0)
EXPECTED = [array.copy() for array in MODEL.fit(X, Y).trees_.arrays]


def assert_same_trees(blocks):
    for found, expected in zip(MODEL.fit_blocks(blocks).trees_.arrays, EXPECTED, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("free", [None, 600 * 2 * 30, 600 * 2 * 29, 600 * 2 * 7])
def test_all_is_kept_or_scores_alone_or_nothing_as_memory_allows(monkeypatch, free):
    monkeypatch.setattr(tree_blocks, "available_memory", lambda: free)
    states = []

    def for_rows(n_rows, made=BlockStates.for_rows):
        states.append(made(n_rows))
        return states[0]

    monkeypatch.setattr(BlockStates, "for_rows", for_rows)
    assert_same_trees(ArrayBlocks.cut(X, Y, size=250))
    kinds = [type(kept).__name__ for kept in vars(states[0])["_kept"].values()]
    expected = {None: "BlockTable", 36_000: "BlockTable", 34_800: "tuple"}.get(free)
    assert kinds == ([] if expected is None and free else [expected] * 3)


def sent(thing):
    """What arrives on a worker."""
    return pickle.loads(pickle.dumps(thing))  # noqa: S301


class Forgetful(ArrayBlocks):
    """Blocks that are made again every few passes, as if a worker had been lost."""

    is_remote = True
    n_passes = 0

    def total(self, work, *arguments):
        self.n_passes += 1
        if self.n_passes % 5 == 0:
            self._blocks = [block._replace(X=block.X.copy()) for block in self._blocks]
        (question, *_) = arguments or [None]
        if isinstance(question, tree_blocks.Question):
            arguments = (sent(question),)
        return super().total(work, *arguments)

    def kept(self, work, *arguments):
        blocks = super().kept(work, *arguments)
        blocks.__class__ = type(self)
        return blocks


def test_what_a_worker_has_lost_is_made_again_and_let_go_with_its_block():
    assert_same_trees(Forgetful.cut(X, Y, size=250))
    gc.collect()
    assert not vars(tree_blocks.OF_WORKER)["_by_codes"]


@pytest.mark.parametrize(("objective", "more"), [("pnorm_push", 3), ("ir_push", 9)])
def test_a_tree_takes_few_passes_beside_one_per_level(monkeypatch, objective, more):
    asked, counts, ask_block = [], [], tree_blocks.ask_block
    monkeypatch.setattr(
        tree_blocks, "ask_block", lambda *block: asked.append(block) or ask_block(*block)
    )
    for n_trees in (1, 3):
        asked.clear()
        model = TreeRanker(objective, n_trees=n_trees, depth=3, random_state=0)
        model.fit_blocks(ArrayBlocks.cut(X, Y, size=600))
        counts.append(len(asked))
    assert counts[1] - counts[0] == 2 * (3 + more)


def test_a_block_that_is_ahead_of_a_pass_begins_anew():
    """A pass that nobody waits for any more must not be answered from the scores of a later one."""
    columns = BinnedColumns(np.array([1]), np.zeros(1, bool), np.zeros(1, np.int64))
    whole = tree_blocks.WholeTable(columns, np.zeros(1, np.int64), 4.0, 0.5)
    block = Block(np.array([[0], [1], [1], [0]], np.uint8), np.array([1, 1, 0, 0], bool), None, 0)
    tree = np.array([[0, 0, 256]]), np.array([-1.0, 1.0])
    states = BlockStates(30)

    def scores(first, trees):
        question = tree_blocks.Question(states, whole, first, trees, [], "scored")
        answer = tree_blocks.ask_block(block, question).value
        return None if answer is None else answer[0].tolist()

    assert scores(0, [tree, tree]) == [-1.5, 2.5, 2.5, -1.5]
    assert scores(0, [tree]) == [-0.5, 1.5, 1.5, -0.5]
    assert scores(1, [tree]) == [-1.5, 2.5, 2.5, -1.5]
    assert scores(4, [tree]) is None
