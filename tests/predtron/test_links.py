"""Links (Algorithm 3) invert the gradient of ½‖·‖_r² and favour what they promise to favour."""

import numpy as np
import pytest

from toprank.predtron import (
    EntrywiseLink,
    GroupLink,
    PredtronClassifier,
    PredtronSubsetRanker,
    SchattenLink,
)
from toprank.predtron.links import link_from

LINKS = [EntrywiseLink, GroupLink, SchattenLink]


def numerical_gradient(function, at, step=1e-6):
    gradient = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        shift = np.zeros_like(at)
        shift[index] = step
        gradient[index] = (function(at + shift) - function(at - shift)) / (2 * step)
    return gradient


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("r", [1.3, 1.5, 2.0])
def test_a_link_inverts_the_gradient_of_half_the_squared_norm(rng, link, r):
    one = link(r)
    theta = rng.normal(size=(5, 3))
    weights = one.weights(theta)
    np.testing.assert_allclose(
        numerical_gradient(lambda w: one.norm(w) ** 2 / 2, weights), theta, rtol=1e-4, atol=1e-3
    )


@pytest.mark.parametrize("link", LINKS)
def test_order_two_changes_nothing_and_scales_pass_through(rng, link):
    theta = rng.normal(size=(6, 2))
    np.testing.assert_allclose(link(2).weights(theta), theta, atol=1e-12)
    np.testing.assert_allclose(link(1.2).weights(7 * theta), 7 * link(1.2).weights(theta))


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_links_neither_overflow_nor_vanish(rng, link, scale):
    theta = rng.normal(size=(40, 3))
    np.testing.assert_allclose(
        link(1.05).weights(scale * theta) / scale, link(1.05).weights(theta), rtol=1e-9, atol=1e-12
    )
    assert np.array_equal(link().weights(np.zeros((3, 2))), np.zeros((3, 2)))


def test_the_order_is_the_papers_from_e_squared_on_and_two_below():
    assert EntrywiseLink().q((100, 1)) == pytest.approx(np.log(100))
    assert GroupLink().q((100, 7)) == pytest.approx(np.log(100))
    assert SchattenLink().q((100, 7)) == 2.0
    assert EntrywiseLink().q((3, 1)) == 2.0
    # e²(ln p − 1): the step of Corollaries 6 and 8
    assert GroupLink().growth((1000, 4)) == pytest.approx(np.e**2 * (np.log(1000) - 1))


@pytest.mark.parametrize("bad", [1, 0.5, 2.5, "2"])
def test_orders_out_of_range_are_refused(bad):
    with pytest.raises(ValueError, match="r must be None or a number above 1"):
        EntrywiseLink(bad)


def test_link_names_are_checked():
    with pytest.raises(ValueError, match="link must be"):
        link_from("l1", None)
    with pytest.raises(ValueError, match="means nothing with link='none'"):
        link_from("none", 1.5)


def test_a_group_link_leaves_irrelevant_features_nearly_alone(rng):
    X = rng.choice([-1.0, 1.0], size=(300, 200))
    y = (X[:, 0] > 0) * 2 + (X[:, 1] > 0)
    options = {"max_iter": 3, "average": False, "shuffle": False}
    shares = {}
    for link in ("none", "group"):
        coef = PredtronClassifier(link=link, **options).fit(X, y).coef_
        lengths = np.linalg.norm(coef, axis=0)
        shares[link] = lengths[:2].sum() / lengths.sum()
    assert shares["group"] > 2 * shares["none"]


def test_a_schatten_link_keeps_weights_of_lower_effective_rank(rng):
    basis = rng.normal(size=(2, 30))
    X = rng.normal(size=(400, 30))
    y = (X @ basis.T @ rng.normal(size=(2, 12))).argmax(axis=1)
    shares = {}
    for link, r in (("none", None), ("schatten", 1.2)):
        options = {"max_iter": 3, "average": False, "shuffle": False, "fit_intercept": False}
        coef = PredtronClassifier(link=link, r=r, **options).fit(X, y).coef_
        values = np.linalg.svd(coef, compute_uv=False)
        shares[link] = values[:2].sum() / values.sum()
    assert shares["schatten"] > shares["none"] + 0.1


def test_lists_learn_through_links(rng):
    X, groups = rng.normal(size=(400, 50)), np.repeat(np.arange(40), 10)
    y = np.digitize(X[:, 0], [0.0, 1.0])
    for link in ("l_r", "group", "schatten"):
        model = PredtronSubsetRanker(link=link, random_state=0).fit(X, y, groups=groups)
        assert model.score(X, y, groups=groups) > 0.93
        assert np.argmax(np.abs(model.coef_[0])) == 0
