"""Certificates hold on their training sample, and a wrong one would be caught."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from toprank import RankSVM
from toprank.guarantees import auc_at_margin, ranking_bound


def draw(n_rows=150, seed=0, noise=0.4):
    rng = np.random.default_rng(seed)
    X = np.sign(rng.normal(size=(n_rows, 8)))
    y = X[:, 0] + 0.6 * X[:, 1] + 0.3 * X[:, 2] + noise * rng.normal(size=n_rows) > 0
    return X, y


FORMS = [
    RankSVM(),
    RankSVM(signed=False),
    RankSVM(form="product"),
    RankSVM(form="product", nu_plus=0.5),
    RankSVM(form="product", nu_plus=math.sqrt(0.2)),
    RankSVM(form="classification"),
    RankSVM(norm=2),
    RankSVM(norm=2, form="product"),
    RankSVM(norm=2, form="product", nu_plus=math.sqrt(0.2)),
    RankSVM(norm=2, kernel="rbf", gamma=0.1),
    RankSVM(norm=2, form="classification"),
]


@pytest.mark.parametrize("ranker", FORMS, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_the_certificate_of_a_fit_holds_on_its_own_scores(ranker, seed):
    X, y = draw(seed=seed)
    model = ranker.fit(X, y)
    certificate = model.certificate_
    assert certificate.holds
    assert certificate.matches(y, model.decision_function(X))
    # the best ν⁺ of a product can be ν itself, which promises nothing
    is_empty = certificate.promised < 1 / (y.sum() * (~y).sum())
    assert (certificate.vacuous is None) == (not is_empty)
    assert not is_empty or (ranker.form == "product" and ranker.nu_plus is None)
    share = auc_at_margin(y, model.decision_function(X), model.rho_)
    assert share == certificate.share
    assert share >= certificate.promised - 1e-12


@pytest.mark.parametrize("ranker", FORMS, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_a_certificate_says_the_same_whatever_the_rounding(ranker, seed):
    X, y = draw(seed=seed)
    model = clone(ranker).fit(X, y)
    told = model.certificate_
    one_by_one = np.concatenate([model.decision_function(row[None, :]) for row in X])
    assert told.matches(y, one_by_one)
    assert auc_at_margin(y, one_by_one, told.rho) == pytest.approx(told.share)
    rng = np.random.default_rng(seed)
    order = rng.permutation(y.size)
    for rows, labels in (
        (X[order], y[order]),
        (np.nextafter(X, X + rng.choice([-1.0, 1.0], X.shape)), y),
    ):
        again = clone(ranker).fit(rows, labels).certificate_
        assert again.vacuous == told.vacuous
        assert again.theorem == told.theorem
        assert again.holds


def test_a_promise_of_less_than_one_pair_is_vacuous():
    X, y = draw()
    told = RankSVM(form="product", nu_plus=0.2).fit(X, y).certificate_
    for promised in (0.0, 8.9e-17, 0.99 * told.one_pair):
        empty = dataclasses.replace(told, promised=promised)
        assert empty.vacuous == "the promised share of pairs is less than one pair"
    for promised in (told.one_pair * (1 - 1e-12), 2 * told.one_pair):
        assert dataclasses.replace(told, promised=promised).vacuous is None


def test_a_margin_of_0_up_to_rounding_is_not_positive():
    X, y = draw()
    told = RankSVM().fit(X, y).certificate_
    reasons = {dataclasses.replace(told, rho=rho).vacuous for rho in (0.0, 1e-17, -1e-17)}
    assert reasons == {"the margin 0 is not positive, so pairs in wrong order reach it"}


def test_pairs_that_tie_with_the_margin_count_whatever_the_rounding():
    y, scores = [1, 1, 0, 0], np.array([0.9, 0.7, 0.3, 0.1])
    for rho in (0.2, 0.3, 0.4, (0.7 - 0.1) / 2, (0.9 - 0.3) / 2):
        margins = [0.2, 0.3, 0.3, 0.4]
        reached = np.mean([margin > rho - 1e-6 for margin in margins])
        assert auc_at_margin(y, scores, rho) == reached
        assert auc_at_margin(y, scores.astype(np.float32), rho) == reached


@pytest.mark.parametrize("ranker", FORMS, ids=str)
def test_a_wrong_certificate_is_caught(ranker):
    X, y = draw()
    model = ranker.fit(X, y)
    certificate, scores = model.certificate_, model.decision_function(X)
    too_wide = dataclasses.replace(certificate, rho=certificate.rho * 3)
    assert not too_wide.matches(y, scores)
    too_much = dataclasses.replace(certificate, promised=1.0)
    assert not too_much.holds
    invented = dataclasses.replace(certificate, share=1.0)
    assert invented.holds  # as far as it can tell by itself
    assert not invented.matches(y, scores)
    of_another_model = np.random.default_rng(0).normal(size=y.size)
    assert not certificate.matches(y, of_another_model)


def test_the_promises_are_those_of_the_paper():
    # equation (1), Theorems 3 and 5 (of OP 14), Corollaries 4 and 6
    X, y = draw()
    nu = 0.2
    assert RankSVM(nu=nu).fit(X, y).certificate_.promised == pytest.approx(1 - nu)
    fixed = RankSVM(nu=nu, form="product", nu_plus=0.5).fit(X, y).certificate_
    assert fixed.promised == pytest.approx(1 - 0.5 - nu / 0.5 + nu)
    assert fixed.theorem == "Theorem 3"
    root = RankSVM(norm=2, nu=nu, form="product", nu_plus=math.sqrt(nu)).fit(X, y).certificate_
    assert root.promised == pytest.approx((1 - math.sqrt(nu)) ** 2)
    assert root.theorem == "Corollary 6"


@pytest.mark.parametrize("seed", range(4))
def test_the_margin_of_a_product_is_at_least_the_soft_margin_of_the_exact_form(seed):
    # ρ̂ ≥ ρ* - Σξ*/(νpn), and the right side is the exact soft margin
    X, y = draw(seed=seed)
    exact = RankSVM(tol=1e-6).fit(X, y).certificate_
    for nu_plus in (None, 0.3, math.sqrt(0.2), 0.9):
        product = RankSVM(form="product", nu_plus=nu_plus, tol=1e-6).fit(X, y)
        assert product.rho_ >= exact.soft_margin - 1e-9
        assert product.certificate_.soft_margin >= exact.soft_margin - 1e-6


@pytest.mark.filterwarnings("ignore:RankSVM. no weights")
def test_a_vacuous_certificate_says_that_it_is():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), np.arange(80) % 2
    zero = RankSVM(nu=0.05).fit(X, y).certificate_
    assert "weights are 0" in zero.vacuous
    assert "vacuous" in str(zero)
    assert zero.bound.is_vacuous
    negative = dataclasses.replace(zero, is_zero=False, rho=-0.1, soft_margin=-0.2)
    assert "not positive" in negative.vacuous


def test_a_certificate_tells_its_story():
    X, y = draw()
    told = str(RankSVM().fit(X, y).certificate_)
    assert "Promised: 80.00% (equation (1))" in told
    assert "Theorem 1 says nothing" in told


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 1000), st.integers(-8, 8).map(lambda step: step / 8))
def test_auc_at_margin_is_the_share_of_pairs(seed, rho):
    rng = np.random.default_rng(seed)
    y = rng.random(12) < 0.5
    y[:2] = True, False
    scores, weights = rng.integers(-3, 4, 12) / 2, rng.integers(0, 3, 12)
    weights[:2] = 1
    reached = (scores[y][:, None] - scores[~y][None, :]) / 2 >= rho
    mass = np.outer(weights[y], weights[~y])
    expected = (mass * reached).sum() / mass.sum()
    found = auc_at_margin(y, scores, rho, sample_weight=weights)
    assert found == pytest.approx(expected)


def test_theorem_1_is_the_formula_of_the_paper():
    share, rho, m, n, delta = 0.95, 0.2, 5e7, 203, 0.1
    chance = 0.3 * 0.7
    inside = 8 * math.log(n) / rho**2 * math.log(4 * m * chance**2 * rho**2 / math.log(n))
    sigma = math.sqrt(4 / (m * chance**4) * (inside + 2 * math.log(2 / delta)))
    bound = ranking_bound(share, rho, n_rows=m, n_hypotheses=n, positive_share=0.3, delta=delta)
    assert bound.sigma == pytest.approx(sigma)
    assert bound.auc == pytest.approx(share - sigma)
    assert not bound.is_vacuous


@pytest.mark.parametrize("rho", [0.0, -0.3, 1e-6])
def test_theorem_1_promises_nothing_without_a_margin(rho):
    bound = ranking_bound(1.0, rho, n_rows=1000, n_hypotheses=10, positive_share=0.5)
    assert bound.is_vacuous
    assert bound.sigma == math.inf


def test_bad_arguments_of_the_measures_are_named():
    with pytest.raises(ValueError, match="2 positive and 0 negative rows"):
        auc_at_margin([1, 1], [0.0, 1.0], 0.1)
    with pytest.raises(
        ValueError, match="delta must be a number between 0 and 1, both excluded, got 2"
    ):
        ranking_bound(0.9, 0.1, n_rows=10, n_hypotheses=3, positive_share=0.5, delta=2)
