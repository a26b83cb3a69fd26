"""Theorem 1 of Rudin (2009) on generated lists."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.push.chain import push_chain
from toprank import metrics
from toprank.objectives import Price, Push, pnorm_push

LOSSES = ("exponential", "logistic", "hinge", "squared_hinge")


COSH = Price(np.cosh, np.sinh, np.cosh)


rows = st.lists(
    st.tuples(st.booleans(), st.integers(-6, 6), st.integers(0, 3), st.integers(0, 2)),
    min_size=2,
    max_size=30,
).map(lambda table: tuple(np.array(column) for column in zip(*table, strict=True)))


def comparable(y, weights, groups):
    return any(
        len(set(y[(groups == each) & (weights > 0)].tolist())) == 2 for each in set(groups.tolist())
    )


def test_chain_on_the_first_list_of_table_1():
    labels, scores = [-1, 1, -1, 1, -1, -1, 1, 1], np.arange(1.0, 9.0)
    chain = push_chain(labels, scores / 2, price=4)
    assert chain.r_max == 2
    assert chain.n_negatives == 4
    assert math.exp(chain.log_lower) == pytest.approx(4 * (2 / 4) ** 4)
    assert math.exp(chain.log_risk) == pytest.approx(33)
    assert math.exp(chain.log_upper) == pytest.approx(4 * 2**4)
    assert math.exp(chain.log_surrogate) == pytest.approx(17160.17, abs=0.005)


@pytest.mark.parametrize("price", [1, 2.5, 64.0, "identity", "exponential", COSH])
@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=15, deadline=None)
@given(rows=rows)
def test_theorem_1_holds_with_ties_weights_and_lists(rows, price, loss):
    y, scores, weights, groups = rows
    if not comparable(y, weights, groups):
        return
    chain = push_chain(
        y, scores / 2, price=price, loss=loss, sample_weight=weights / 2, groups=groups
    )
    assert chain.lower_holds
    assert chain.upper_holds
    assert chain.surrogate_holds


@pytest.mark.parametrize("loss", LOSSES)
def test_the_chain_measures_what_metrics_and_objectives_do(loss):
    rng = np.random.default_rng(0)
    y, scores = rng.random(60) < 0.4, np.round(rng.normal(size=60), 1)
    chain = push_chain(y, scores, price=3, loss=loss)
    unit = math.log(2.0) if loss == "logistic" else 1.0  # base 2 bounds the 0-1 loss
    assert math.exp(chain.log_risk) == pytest.approx(metrics.pnorm_error(y, scores, p=3))
    assert chain.r_max == metrics.r_max(y, scores)
    expected = pnorm_push(3, loss=loss).risk(scores, y) / unit**3
    assert math.exp(chain.log_surrogate) == pytest.approx(expected, rel=1e-9)


def test_the_chain_does_not_overflow():
    y, scores = np.arange(2000) % 2, -np.arange(2000.0)
    chain = push_chain(y, scores, price=1e4)
    assert chain.holds
    assert np.isfinite(chain.log_surrogate)


def test_a_perfect_list_has_a_chain_of_zeros():
    chain = push_chain([1, 1, 0], [3.0, 2.0, 1.0], price=2)
    assert chain.r_max == 0
    assert chain.log_risk == chain.log_upper == chain.log_lower == -math.inf
    assert chain.holds


@pytest.mark.parametrize(
    ("price", "match"), [(math.inf, "convex"), ("log1p", "convex"), (0.5, "price"), ("x", "price")]
)
def test_prices_that_theorem_1_does_not_know_are_refused(price, match):
    with pytest.raises(ValueError, match=match):
        push_chain([0, 1], [0.0, 1.0], price=price)


def test_push_objects_and_the_chain_agree_for_the_exponential_price():
    y, scores = [0, 1, 0, 1, 1], [0.5, 1.0, 2.0, 0.0, 3.0]
    chain = push_chain(y, scores, price="exponential", loss="hinge")
    value = Push(loss="hinge", price="exponential").value(scores, y)
    assert chain.log_surrogate == pytest.approx(value)
