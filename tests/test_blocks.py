"""Work in threads stops where one fails; a look at a block agrees with one column at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from toprank import blocks
from toprank.blocks import (
    ArrayBlocks,
    Block,
    add_up,
    spool_type,
    spooled,
    survey,
    survey_block,
)

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


# A spool ------------------------------------------------------------------------------------------


def test_rows_come_back_in_their_order_without_those_of_weight_0():
    X, y = np.random.default_rng(0).normal(size=(10, 4)), np.arange(10) % 2
    groups = np.array(["b", "a"])[np.arange(10) % 2]
    weights = np.arange(10) % 3.0
    blocks = [
        Block(X[:4], y[:4], weights[:4], 0, groups[:4]),
        Block(X[4:4], y[4:4], None, 1, groups[4:4]),
        Block(X[4:], y[4:], None, 2, groups[4:]),
    ]
    kept = np.flatnonzero(np.r_[weights[:4], np.ones(6)])
    starts = np.array([0, 2, 2])
    with spooled(ArrayBlocks(blocks), starts, (kept.size, 4), np.float32, 1) as rows:
        np.testing.assert_array_equal(rows.X, X[kept].astype(np.float32))
        np.testing.assert_array_equal(rows.y, y[kept] == 1)
        np.testing.assert_array_equal(rows.weights, np.r_[weights[:4], np.ones(6)][kept])
        np.testing.assert_array_equal(rows.groups, (groups[kept] == "b").astype(int))
    with spooled(ArrayBlocks.cut(X, y), np.zeros(1, int), (10, 4), np.float64, None) as rows:
        np.testing.assert_array_equal(rows.X, X)
        np.testing.assert_array_equal(rows.y, y)
        assert rows.weights is None
        assert rows.groups is None


@pytest.mark.parametrize(
    ("low", "high", "narrow"),
    [
        (0.0, 1.0, True),
        (5.0, 5.0, True),  # constant
        (202_001, 202_612, True),  # months of ten years
        (1.7e9, 1.7e9 + 3.2e7, True),  # a year of seconds
        (1.7e9, 1.7e9 + 86_400, False),  # a day of seconds
        (-1e300, 1e300, False),
        (0.0, 1e-40, False),
    ],
)
def test_cells_are_float32_where_the_values_of_a_column_stay_apart(low, high, narrow):
    found = spool_type(np.array([low, 0.0]), np.array([high, 1.0]), np.float64)
    assert found == (np.float32 if narrow else np.float64)
