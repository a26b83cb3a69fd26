"""Numbers that the P-Norm Push paper (Rudin 2009) prints, and what it proves of them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank import metrics

SWAPS = {  # labels by rising score, R_{4,1} of Table 1
    "original": ([-1, 1, -1, 1, -1, -1, 1, 1], 33),
    "swap on the bottom": ([1, -1, -1, 1, -1, -1, 1, 1], 34),
    "swap on the top": ([-1, 1, -1, 1, -1, 1, -1, 1], 98),
}
LABELS = np.array([1, 1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, -1, -1])
F1 = np.arange(14, 0, -1) / 14
TABLE_2 = [  # p, R_{p,1}(f_1), R_{p,1}(f_2), as printed, and the digits kept
    (1, 25, 24, 1),
    (2, 125, 118, 1),
    (3, 625, 726, 1),
    (4, 3.13e3, 4.88e3, 1e1),
    (5, 1.56e4, 3.38e4, 1e2),
    (6, 7.81e4, 23.56e4, 1e2),
    (7, 3.91e5, 16.48e5, 1e3),
    (8, 1.95e6, 11.53e6, 1e4),
    (9, 9.77e6, 80.71e6, 1e4),
    (10, 4.88e7, 56.50e7, 1e5),
]


@pytest.mark.parametrize("swap", SWAPS)
def test_table_1(swap):
    labels, printed = SWAPS[swap]
    assert metrics.pnorm_error(labels, np.arange(1, 9), p=4) == printed


@pytest.mark.parametrize(("p", "first", "second", "digit"), TABLE_2)
def test_table_2(p, first, second, digit):
    assert metrics.pnorm_error(LABELS, F1, p=p) == pytest.approx(first, abs=0.51 * digit)
    assert metrics.pnorm_error(LABELS, -F1, p=p) == pytest.approx(second, abs=0.51 * digit)


def test_height_counts_the_positives_beneath_as_in_section_2():
    labels = [-1, 1, -1, 1, -1, -1, 1, 1]
    np.testing.assert_array_equal(metrics.height(labels, np.arange(8)), [0, 1, 2, 2])
    np.testing.assert_array_equal(metrics.reverse_height(labels, np.arange(8)), [3, 2, 0, 0])
    np.testing.assert_array_equal(metrics.ranks(labels, np.arange(8)), [7, 5, 2, 1])


def test_section_7_measures_are_prices_of_ranks():
    y, s = LABELS, np.round(3 * F1)  # with ties
    of_rank = {"on": "rank", "price": lambda rank: 1 / np.log1p(rank)}
    paper = metrics.dcg(y, s, log_base=math.e, ties="together")
    assert paper == pytest.approx(metrics.price_of_heights(y, s, **of_rank))
    assert paper == pytest.approx(np.sum(1 / np.log1p(metrics.ranks(y, s))))
    of_rank = {"on": "rank", "price": lambda rank: 1 / rank}
    assert metrics.average_reciprocal_rank(y, s) == pytest.approx(
        metrics.price_of_heights(y, s, **of_rank)
    )
    assert metrics.price_of_heights(y, s, price=np.log1p, on="reverse_height") == pytest.approx(
        np.sum(np.log1p(metrics.reverse_height(y, s)))
    )


def test_ionosphere_folds_need_a_dcg_of_at_least_the_text_says():
    """75 positives of 117 rows have a DCG of at least 17.29, wherever they stand."""
    worst = metrics.dcg(np.arange(117) >= 42, -np.arange(117), log_base=math.e)
    assert worst == pytest.approx(17.29, abs=0.005)


binary = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=2, max_size=30).filter(
    lambda rows: len({positive for positive, _ in rows}) == 2
)


@settings(max_examples=50, deadline=None)
@given(rows=binary, p=st.floats(1, 16))
def test_theorem_1_bounds_the_price_by_r_max(rows, p):
    y, s = zip(*rows, strict=True)
    negatives, r_max = y.count(False), metrics.r_max(y, s)
    price = metrics.pnorm_error(y, s, p=p)
    assert negatives * (r_max / negatives) ** p <= price * (1 + 1e-12)
    assert price <= negatives * r_max**p * (1 + 1e-12)


@settings(max_examples=50, deadline=None)
@given(rows=binary, theta=st.sampled_from([0.0, 0.5, 1.0, 2.0, 7.0]), p=st.sampled_from([1, 4, 99]))
def test_margin_counts_every_pair_won_by_no_more_than_theta(rows, theta, p):
    y, s = (np.array(part) for part in zip(*rows, strict=True))
    lost = np.mean(s[y][:, None] - s[~y] <= theta, axis=0)
    value = metrics.pnorm_error(y, s, p=p, margin=theta, normalize=True)
    assert value == pytest.approx(np.mean(lost**p) ** (1 / p))


@pytest.mark.parametrize("p", [64, 1e4, 1e300])
def test_normalised_error_is_finite_where_the_raw_sum_overflows(p):
    y, s = np.arange(20_000) % 2, np.arange(20_000)[::-1]
    exact = metrics.pnorm_error(y, s, p=math.inf, normalize=True)
    value = metrics.pnorm_error(y, s, p=p, normalize=True)
    assert exact * 0.5 ** (1 / p) * 0.8 < value <= exact
    with pytest.warns(RuntimeWarning, match=r"overflows at p=.*pass normalize=True"):
        assert metrics.pnorm_error(y, s, p=max(p, 1e4)) == math.inf
    with pytest.warns(RuntimeWarning, match="overflows"):
        tied = metrics.pnorm_error(y, s // 5, p=max(p, 1e4), ties="average")
    assert tied == math.inf


def test_pnorm_error_at_p_1_is_the_share_of_misranked_pairs():
    y, s = LABELS > 0, F1
    assert metrics.pnorm_error(y, s, p=1, normalize=True) == pytest.approx(
        1 - metrics.roc_auc(y, s, ties="pessimistic")
    )
