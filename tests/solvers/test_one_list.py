"""One list on a cluster: the values and gradients of one machine, wherever the rows lie."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.solvers.spread_rows import AtOnce, SpreadArrays
from toprank.objectives import Price, pnorm_push
from toprank.solvers import one_list
from toprank.solvers.one_list import OneList, RowsOnLine, SideRows

PUSHES = {
    f"{loss} {name}": pnorm_push(3, loss=loss, **options)
    for loss in ("hinge", "squared_hinge", "logistic")
    for name, options in {
        "top": {},
        "bottom": {"focus": "bottom"},
        "both ends": {"focus": "both", "bottom_weight": 0.5},
        "price": {"price": "log1p"},
        "own price": {"price": Price(np.square, lambda r: 2 * r)},
    }.items()
}


# factors of scores from -1.5 to 1.5
SCALES = st.sampled_from([0.0, 0.3, 1.0, 30.0, 500.0])


def example(seed, size, scale=1.0, n_rows=60):
    """Rows that count, with ties, and their list in blocks, some of which may lack a class."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(0, 2, n_rows)) if seed % 2 else rng.integers(0, 2, n_rows)
    y[:2] = [0, 1]
    scores = scale * rng.integers(-6, 7, n_rows) / 4
    weights = rng.integers(0, 3, n_rows).astype(float)
    weights[:2] = 1.0
    blocks = SpreadArrays.cut(scores[:, None], y, weights, size=size)
    kept = weights > 0
    counts = [int(kept[start : start + size].sum()) for start in range(0, n_rows, size)]
    parts = np.split(scores[kept], np.cumsum(counts)[:-1])
    return scores[kept], y[kept], weights[kept], OneList(blocks.spread(), counts, 1), parts


@pytest.mark.parametrize("name", PUSHES)
@given(
    st.integers(0, 99),
    st.sampled_from([1, 7, 25, 60]),
    st.sampled_from([0.0, 0.3, 1.0, 30.0, 500.0]),
)
@settings(max_examples=12, deadline=None)
def test_value_and_gradient_are_those_of_one_machine(name, seed, size, scale):
    scores, y, weights, rows, parts = example(seed, size, scale)
    objective = PUSHES[name]
    here = objective.on(y, sample_weight=weights)
    there = rows.criterion(objective, None)
    value, gradient = here.value_and_gradient(scores)
    column = rows.from_blocks(parts)
    found, slopes = there.value_and_gradient(column)
    assert found == pytest.approx(value, rel=1e-10, abs=1e-10)
    assert there.value(column) == found
    limit = 1e-9 * (1.0 + np.abs(gradient).max())
    np.testing.assert_allclose(np.concatenate(rows.to_blocks(slopes)), gradient, atol=limit)
    assert there.risk(column) == pytest.approx(here.risk(scores), rel=1e-9, abs=1e-9)
    assert there.log_priced_weight == pytest.approx(here.log_priced_weight, abs=1e-12)
    assert there.separates(column, 1.0) == here.separates(scores, 1.0)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_the_curvature_of_a_sum_over_pairs_is_shared_out_as_it_is(loss):
    scores, y, weights, rows, parts = example(0, 7)
    objective = pnorm_push(1, loss=loss)
    gradient, curvature = objective.gradient_and_hessian(scores, y, sample_weight=weights)
    column = rows.from_blocks(parts)
    signed = np.concatenate(rows.criterion(objective, None).signed_curvature(column, float).parts)
    np.testing.assert_array_equal(np.sign(signed), np.sign(gradient))
    for members in (y == 0, y == 1):
        assert np.abs(signed[members]).sum() == pytest.approx(curvature[members].sum())


def test_scores_too_far_apart_for_cells_are_refused(monkeypatch):
    monkeypatch.setattr(one_list, "MOST_CELLS", 8)
    _, _, _, rows, parts = example(0, 7, 40.0)
    with pytest.raises(ValueError, match="set a larger alpha"):
        rows.criterion(pnorm_push(2, loss="logistic"), None).value(rows.from_blocks(parts))


@pytest.mark.parametrize("score", [0.0, 2.5])
def test_tied_rows_are_dealt_out_to_several_stretches(score):
    rng = np.random.default_rng(0)
    blocks = [
        SideRows(np.full(100, score), rng.integers(0, 2, 100).astype(bool), np.ones(100))
        for _ in range(8)
    ]
    compared = RowsOnLine(AtOnce(), blocks, 1, 8)
    n_inner = sum(int(rows.is_inner.sum()) for rows in blocks)
    for outer in compared.parts:
        np.testing.assert_allclose(outer.heights.size, n_inner)
    assert max(compared._shuffle.sizes) < 800 / 3
    slopes = compared.slopes([np.ones(outer.slope.size) for outer in compared.parts])
    for rows, mine in zip(blocks, slopes, strict=True):
        np.testing.assert_allclose(mine, np.where(rows.is_inner, n_inner - 800, n_inner))
