"""Work in threads stops where one fails; a look at a block agrees with one column at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from toprank import blocks
from toprank.blocks import ArrayBlocks, Block, add_up, survey, survey_block

VALUES = st.sampled_from([-2.0, -0.0, 0.5, 3.0, np.nan, np.inf, -np.inf])


def test_an_error_stops_the_other_threads():
    started = []

    def work(part, stop):
        started.append(part)
        if part == 0:
            raise ValueError("bad part")
        assert stop.wait(10)
        return part

    with pytest.raises(ValueError, match="bad part"):
        add_up(work, range(100), 2)
    assert len(started) < 5


@pytest.mark.parametrize("order", ["C", "F"])
@given(X=arrays(np.float32, st.tuples(st.integers(1, 40), st.integers(1, 5)), elements=VALUES))
def test_ranges_and_flaws_are_those_of_each_column(X, order):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "WIDE", 16)  # long rows of three to sixteen
        seen = survey_block(Block(np.array(X, order=order), np.ones(len(X)), None, 0))
    for number, column in enumerate(X.T):
        known = column[~np.isnan(column)]
        assert seen.missing[number] == (known.size < column.size)
        assert seen.infinite[number] == np.isinf(known).any()
        if known.size:
            assert (seen.low[number], seen.high[number]) == (known.min(), known.max())
        else:
            assert np.isnan([seen.low[number], seen.high[number]]).all()


def test_groups_of_some_blocks_only_are_refused():
    X, y = np.eye(2), np.array([0, 1])
    parts = [Block(X, y, None, 0), Block(X, y, None, 1, np.zeros(2))]
    with pytest.raises(ValueError, match="groups names the lists of some blocks only"):
        survey(ArrayBlocks(parts), accepts_missing=False)
