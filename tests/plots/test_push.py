"""Pictures of the push itself: its path over p, and its pairs."""

import math

import numpy as np
import pytest

from toprank import IRPush, PNormPush
from toprank.objectives import ir_push, pnorm_push
from toprank.plots import fit_push_path, pair_contributions, push_path
from toprank.plots.push import shares

LABELS = [1, 1, 0, 1, 0, 1, 1, 0, 0, 1]
SCORES = [9, 8, 7.5, 6, 5, 4, 3.5, 3, 2, 1]


def sorted_classes():
    y, s = np.array(LABELS, dtype=bool), np.array(SCORES, dtype=float)
    return s[y], s[~y]


@pytest.mark.parametrize("p", [1, 2.5, 8])
def test_pair_contributions_are_the_terms_of_the_objective(p):
    high, low = sorted_classes()
    losses = np.exp(-(high[:, None] - low[None, :]))
    terms = losses.sum(axis=0) ** p * losses / losses.sum(axis=0)
    assert np.allclose(shares(high, low, p), terms / terms.sum())
    assert np.isclose(terms.sum(), pnorm_push(p).risk(SCORES, LABELS))


def test_pair_contributions_of_the_ir_push_are_the_terms_of_its_objective():
    high, low = sorted_classes()
    losses = np.exp(-(high[:, None] - low[None, :]))
    sums = losses.sum(axis=1, keepdims=True)
    terms = np.log1p(sums) * losses / sums
    assert np.allclose(shares(high, low, "ir"), terms / terms.sum())
    assert np.isclose(terms.sum(), ir_push().risk(SCORES, LABELS))


def test_a_harder_push_looks_at_the_highest_negative_until_it_looks_at_nothing_else():
    high, low = sorted_classes()
    of_highest = [shares(high, low, p)[:, 0].sum() for p in (1, 2, 4, 8, math.inf)]
    assert np.all(np.diff(of_highest) > 0)
    assert of_highest[-1] == 1


def test_huge_scores_make_finite_shares():
    parts = shares(np.array([1e300, 0.0]), np.array([1e300, -1e300]), 64)
    assert np.isfinite(parts).all()
    assert np.isclose(parts.sum(), 1)


def test_one_power_gives_one_axes_and_several_an_array():
    assert pair_contributions(LABELS, SCORES, p=4).get_title(loc="left") == "p = 4"
    panels = pair_contributions(LABELS, SCORES, p=[1, math.inf, "ir"])
    assert [panel.get_title(loc="left") for panel in panels] == ["p = 1", "p = ∞", "IR Push"]


@pytest.mark.parametrize("p", [0.5, "hard", True, []])
def test_powers_that_are_none_are_refused(p):
    with pytest.raises(ValueError, match=r"^p"):
        pair_contributions(LABELS, SCORES, p=p)


def test_too_many_pairs_for_an_eye_are_refused():
    y = np.arange(4000) % 2
    with pytest.raises(ValueError, match="2000 positives and 2000 negatives"):
        pair_contributions(y, np.arange(4000.0))


def test_one_class_has_no_pairs():
    with pytest.raises(ValueError, match="a pair is one of each"):
        pair_contributions([1, 1], [1, 2])


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, X[:, 0] + rng.normal(size=200) > 1


def test_a_path_is_fitted_on_clones_and_drawn(table):
    ranker = PNormPush()
    path = fit_push_path(ranker, *table, p=[1, 8, math.inf], cv=3)
    assert ranker.p == 4
    assert not hasattr(ranker, "coef_")
    panels = push_path(path)
    assert len(panels) == 3
    for panel, name in zip(panels, path[1], strict=True):
        mean = panel.lines[-1].get_ydata()
        assert np.allclose(mean, [path[p][name].mean() for p in (1, 8, math.inf)])
        assert [tick.get_text() for tick in panel.get_xticklabels()] == ["1", "8", "∞"]


def test_a_path_may_measure_what_one_asks_for(table):
    path = fit_push_path(PNormPush(), *table, p=[2], measures={"recall_at_k": {"k": 5}}, cv=2)
    assert list(path[2]) == ["recall_at_k"]


def test_a_ranker_without_a_power_has_no_path(table):
    with pytest.raises(ValueError, match="IRPush has no parameter p"):
        fit_push_path(IRPush(), *table)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ({}, "path must map powers"),
        ({0.5: {"a": 1}}, "the power 0.5"),
        ({1: {"a": 1}, 2: {"b": 1}}, "give the same at each p"),
        ({1: {}}, "give the same at each p"),
    ],
)
def test_a_path_that_is_none_is_refused(path, message):
    with pytest.raises(ValueError, match=message):
        push_path(path)
