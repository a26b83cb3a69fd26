"""Sorting by digits gives what comparing gives."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from toprank.kernels import radix
from toprank.kernels.radix import argsort_floats, heights_of_lower, sorted_rows
from toprank.metrics import average_precision, pnorm_error, ranked, ranks, roc_auc

VALUES = arrays(
    np.float64,
    st.integers(0, 60),
    elements=st.one_of(
        st.floats(allow_nan=False), st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf])
    ),
)


@pytest.fixture(autouse=True, params=["one bucket", "many buckets"])
def way(monkeypatch, request):
    monkeypatch.setattr(radix, "MIN_ROWS", 1)
    monkeypatch.setattr(
        radix, "BUCKET_ROWS", 4 if request.param == "many buckets" else radix.BUCKET_ROWS
    )


WAYS = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


@settings(**WAYS)  # the first one compiles
@given(VALUES)
def test_equal_values_keep_their_order(values):
    order, ordered = sorted_rows(values)
    np.testing.assert_array_equal(order, np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(ordered, np.sort(values))


def test_missing_values_come_last():
    values = np.array([np.nan, 1.0, -np.inf, np.nan, 0.0])
    np.testing.assert_array_equal(argsort_floats(values), [2, 4, 1, 0, 3])


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("spread", [1.0, 1e-9, 1e-14])
def test_scores_that_differ_in_their_last_bits_are_told_apart(spread, offset):
    rng = np.random.default_rng(0)
    values = np.concatenate([offset + spread * rng.normal(size=5_000), [-1e300, 1e-300, 1e300]])
    order, ordered = sorted_rows(values)
    np.testing.assert_array_equal(order, np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(ordered, np.sort(values))


@pytest.mark.parametrize("most_moves", [0, radix.MAX_MOVES])
@pytest.mark.parametrize("n_rows", [3_000, 30_000])
def test_rows_that_leading_bits_do_not_tell_apart(monkeypatch, n_rows, most_moves):
    monkeypatch.setattr(radix, "MAX_MOVES", most_moves)
    rng = np.random.default_rng(0)
    values = 1.0 + 1e-13 * rng.normal(size=n_rows)
    values[::2] = rng.normal(size=n_rows // 2)
    order, ordered = sorted_rows(values)
    np.testing.assert_array_equal(order, np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(ordered, np.sort(values))


def test_what_was_given_stays_as_it_was():
    values = np.array([3.0, -0.0, 1.0])
    argsort_floats(values)
    assert values.tobytes() == np.array([3.0, -0.0, 1.0]).tobytes()


@settings(**WAYS)
@given(
    values=VALUES.filter(lambda values: values.size and np.isfinite(values).all()), data=st.data()
)
@pytest.mark.parametrize("tied_share", [0.0, 0.5, 1.0])
def test_heights_count_the_upper_rows_below(tied_share, values, data):
    is_upper = np.array(
        data.draw(st.lists(st.booleans(), min_size=values.size, max_size=values.size))
    )
    lower, upper = np.sort(values[~is_upper]), values[is_upper]
    below = (upper < lower[:, None]) + tied_share * (upper == lower[:, None])
    found = np.concatenate(list(heights_of_lower(values, is_upper, tied_share=tied_share)))
    np.testing.assert_array_equal(found, below.sum(axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_second_value_of_a_table_column_can_be_sorted(dtype):
    table = np.random.default_rng(0).normal(size=(500, 3)).astype(dtype)
    column = table[::2, 1]
    order, ordered = sorted_rows(column)
    np.testing.assert_array_equal(order, np.argsort(column, kind="stable"))
    np.testing.assert_array_equal(ordered, np.sort(column))


@pytest.mark.parametrize("ties", ["average", "pessimistic", "optimistic"])
def test_long_lists_are_judged_as_short_ones_are(monkeypatch, ties):
    rng = np.random.default_rng(0)
    scores, y = np.round(rng.normal(size=2_000), 2), rng.random(2_000) < 0.1
    metrics = {average_precision, pnorm_error, ranks, roc_auc}
    by_comparing = {metric: metric(y, scores, ties=ties) for metric in metrics}
    monkeypatch.setattr(ranked, "MANY", 0)
    for metric in metrics:
        np.testing.assert_allclose(metric(y, scores, ties=ties), by_comparing[metric], rtol=1e-14)
