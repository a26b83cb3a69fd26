import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank import IRPush, PNormPush, metrics
from toprank.guarantees import push_certificate
from toprank.objectives import Price, ir_push, pnorm_push

LOSSES = ("exponential", "logistic", "hinge", "squared_hinge")
PRICES = [1, 3.0, 64, math.inf, "identity", "exponential", "log1p", Price(np.cosh, np.sinh)]


def sample(seed=0, n=80):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    return y, np.round(rng.normal(size=n) + y, 1)


@pytest.mark.parametrize("price", PRICES, ids=lambda each: str(each).partition("(")[0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("focus", ["top", "bottom", "both"])
def test_promises_are_kept_with_ties_weights_and_lists(price, loss, focus):
    for seed in range(5):
        y, scores = sample(seed)
        rng = np.random.default_rng(seed)
        weights, groups = rng.integers(0, 4, y.size) / 2, rng.integers(0, 12, y.size)
        for rows in ({}, {"sample_weight": weights}, {"groups": groups}):
            found = push_certificate(y, scores, price, loss=loss, focus=focus, **rows)
            assert found.holds
            assert (found.bottom is not None) == (focus == "both")
            assert 0 <= found.worst <= found.most
            assert 0 <= found.clear <= 1
            assert str(found).count("\n") == (8 if focus == "both" else 4)


def test_measured_numbers_are_those_of_the_metrics():
    y, scores = sample()
    found = push_certificate(y, scores, 3.0)
    assert found.height == pytest.approx(metrics.pnorm_error(y, scores, p=3) ** (1 / 3))
    assert found.worst == metrics.r_max(y, scores)
    assert found.clear == metrics.positives_at_top(y, scores)
    assert (found.n_positives, found.n_negatives) == (y.sum(), (~y).sum())


@pytest.mark.parametrize("p", [1.0, 4.0, math.inf])
def test_the_promise_is_the_exponential_of_the_value_that_a_fit_minimises(p):
    y, scores = sample()
    found = push_certificate(y, scores, p)
    assert found.promised_height == pytest.approx(math.exp(pnorm_push(p).value(scores, y)))
    assert found.promised_worst == pytest.approx(found.promised_height)


def test_the_bottom_is_the_top_of_the_list_turned_around():
    y, scores = sample()
    bottom = push_certificate(y, scores, 4.0, focus="bottom")
    turned = push_certificate(~y, -scores, 4.0)
    assert (bottom.height, bottom.worst, bottom.clear) == (
        turned.height,
        turned.worst,
        turned.clear,
    )
    assert bottom.worst == metrics.reverse_height(y, scores).max()
    assert "below every positive" in str(bottom)


def test_the_ir_push_is_certified_by_its_geometric_mean():
    y, scores = sample()
    found = push_certificate(y, scores, "log1p", focus="bottom")
    reverse = metrics.reverse_height(y, scores)
    assert found.height == pytest.approx(math.expm1(np.log1p(reverse).mean()))
    assert found.promised_height == pytest.approx(math.expm1(ir_push().value(scores, y)))


def test_a_row_of_weight_two_is_the_row_twice():
    y, scores = sample()
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, y.size)
    weighted = push_certificate(y, scores, 3.0, sample_weight=weights)
    repeated = push_certificate(np.repeat(y, weights), np.repeat(scores, weights), 3.0)
    assert weighted.height == pytest.approx(repeated.height)
    assert weighted.promised_height == pytest.approx(repeated.promised_height)
    assert weighted.worst == repeated.worst
    assert weighted.clear == pytest.approx(repeated.clear)


def test_lists_are_judged_each_by_itself():
    y = np.array([1, 0, 1, 1, 0, 0, 1])
    scores = np.array([2.0, 1.0, 0.0, 5.0, 6.0, 9.0, 9.0])
    groups = np.array(["a", "a", "a", "b", "b", "c", "d"])  # c and d hold one class each
    found = push_certificate(y, scores, 2.0, groups=groups)
    assert found.worst == 1
    assert found.height == pytest.approx(math.sqrt(1 + 1))
    assert found.clear == pytest.approx(1 / 3)
    assert (found.n_positives, found.n_negatives) == (3, 2)
    assert found.most == 2


def test_vacuous_promises_say_so():
    y, scores = sample()
    assert not push_certificate(y, 50.0 * y - scores, 8.0).vacuous
    found = push_certificate(y, -scores, 8.0)
    assert found.vacuous
    assert f"(promised: at most {found.most:g}, which is true of every ranking)" in str(found)


def test_extreme_scores_do_not_overflow():
    found = push_certificate([1, 0, 1, 0], [1e300, -1e300, -1e300, 1e300], 64.0)
    assert found.promised_height == math.inf
    assert found.holds
    assert found.vacuous
    perfect = push_certificate([1, 0], [1e300, -1e300], 64.0)
    assert perfect.promised_worst == perfect.worst == 0
    assert "above 0 positives (promised: at most 0)" in str(perfect)


@pytest.mark.parametrize("ranker", [PNormPush(p=8), IRPush()])
def test_scores_of_fitted_pushes_keep_their_promises(ranker):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + rng.normal(size=300) > 0.5
    scores = ranker.fit(X, y).decision_function(X)
    price, focus = (8.0, "top") if isinstance(ranker, PNormPush) else ("log1p", "bottom")
    assert push_certificate(y, scores, price, focus=focus).holds


@settings(max_examples=50, deadline=None)
@given(price=st.floats(1, 200), seed=st.integers(0, 10**6), scale=st.floats(0, 20))
def test_the_height_lies_between_the_worst_and_its_promise(price, seed, scale):
    y, scores = sample(seed, n=25)
    if len(set(y.tolist())) < 2:
        return
    found = push_certificate(y, scale * scores, price)
    assert found.worst <= found.height * (1 + 1e-9)
    assert found.height <= found.promised_height * (1 + 1e-9)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"price": 0.5}, "price must be"),
        ({"price": "steep"}, "price must be"),
        ({"loss": "0-1"}, "loss must be"),
        ({"focus": "middle"}, "focus must be"),
        ({"y_true": [1, 1]}, "no positive row in one list"),
        ({"y_true": [], "scores": []}, "empty"),
    ],
)
def test_bad_input_is_named(options, match):
    with pytest.raises(ValueError, match=match):
        push_certificate(**({"y_true": [0, 1], "scores": [0.0, 1.0]} | options))


def test_numbers_in_words_do_not_hang_on_the_last_bit():
    told = push_certificate([0, 1, 0, 1, 1], [5.0, 4.0, 3.0, 2.0, 1.0], 4.0)
    rounded = dataclasses.replace(
        told,
        worst=np.nextafter(told.worst, 0.0),
        height=12345 * (1 + 1e-15),
        n_positives=np.nextafter(told.n_positives, 9.0),
    )
    assert str(rounded) == str(dataclasses.replace(told, height=12345.0))
