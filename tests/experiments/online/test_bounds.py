"""Corollaries and margins as the paper prints them."""

import math

import numpy as np
import pytest

from experiments.online.bounds import (
    lemma_4_margin,
    multiclass_margin,
    ndcg_bound,
    ordinal_bound,
    prank_bound,
    prank_margin,
    reject_bound,
    sparse_ndcg_bound,
    weighted_bound,
)
from toprank.predtron import (
    Basis,
    NDCGLoss,
    Positions,
    PRank,
    PredtronClassifier,
    PredtronLabelRanker,
    ZeroOne,
    compose,
)

RUN = {"average": False, "shuffle": False, "max_iter": 1}


ROWS = RUN | {"fit_intercept": False}


def test_printed_corollary_2_is_violated_where_ours_holds():
    n = 40
    y = np.arange(n) % 2
    costs = {0: 7.0, 1: 7.0}
    model = PredtronClassifier(loss="error_set", costs=costs, **ROWS).fit(np.eye(n), y)
    margin = 2 / math.sqrt(n)
    printed = 4 * 7**2 / (7**2 * margin**2)
    lost = model.certificate_.cumulative_loss
    assert printed < lost
    assert lost == pytest.approx(weighted_bound(1.0, margin, high=7.0, low=7.0))


@pytest.mark.parametrize("seed", range(5))
def test_prank_stays_under_its_bound(seed):
    rng = np.random.default_rng(seed)
    X, w, b = rng.normal(size=(500, 5)), rng.normal(size=5), np.array([-1.5, 0.0, 1.0])
    distances = np.subtract.outer(X @ w, b)
    X = X[np.abs(distances).min(axis=1) > 0.15]
    y = (np.subtract.outer(X @ w, b) > 0).sum(axis=1)
    model = PRank(average=False, shuffle=False, max_iter=1).fit(X, y)
    margin = prank_margin(X @ w, b, y, norm=math.sqrt(w @ w + b @ b))
    radius = np.linalg.norm(X, axis=1).max()
    assert 0 < model.losses_.sum() <= prank_bound(radius, margin, n_grades=4)


def test_corollaries_are_theorem_1_with_their_constants():
    # Corollaries 2, 5, 6, 7 and 8
    assert weighted_bound(1.0, 0.5, high=3, low=2) == pytest.approx(4 * 9 / (2 * 0.25))
    assert reject_bound(1.0, 0.5, lowest_cost=0.2) == pytest.approx(4 / (0.2 * 0.25))
    assert ordinal_bound(1.0, 0.5, n_grades=5) == pytest.approx(4 * 16 / 0.25)
    at = {"n_items": 6, "largest_grade": 2}
    printed = 2**5 * 36 * math.log2(12) ** 2 * 4 / 0.25
    assert ndcg_bound(2.0, 0.5, **at) == pytest.approx(printed)
    sparse = sparse_ndcg_bound(2.0, 0.5, n_features=50, **at)
    assert sparse == pytest.approx(9 * math.log(50) * printed)


def test_the_corollaries_smallest_ndcg_loss_is_below_the_true_one():
    for m in (2, 3, 5, 20, 200):
        for largest_grade in (1, 2, 4):
            grades = np.zeros(m)
            grades[0] = 1
            low = min(
                NDCGLoss().range(np.r_[np.full(m - 2, largest_grade), 1, 0][-m:])[0],
                NDCGLoss().range(grades)[0],
            )
            radius, margin = 1.0, 1.0
            printed = ndcg_bound(radius, margin, n_items=m, largest_grade=largest_grade)
            assert 4 / printed <= low


def test_corollary_8_covers_what_the_certificate_says(separable_stream):
    # at η = c/(4e²R²(ln p − 1)) the proof gives 4e²R²(ln p − 1)/(cγ²), which 9·4·ln p exceeds
    stream = separable_stream(0, 4, 40, 300)
    Y = stream.rng.random((300, 4)) < 0.5
    X = stream.inputs(1.0 * Y)
    model = PredtronLabelRanker(variant="standard", link="group", **ROWS).fit(X, Y.astype(int))
    run = model.certify(X, Y.astype(int), stream.weights)
    assert run.growth == pytest.approx(math.e**2 * (math.log(40) - 1))
    assert run.radius == pytest.approx(np.abs(X).max())
    corollary = sparse_ndcg_bound(run.radius, run.margin, n_items=4, largest_grade=1, n_features=40)
    assert run.cumulative_loss <= run.bound() <= corollary


PROFILES = ["discount", "reciprocal", 1.1, 2]


def test_multiclass_margin_is_the_definition(rng):
    scores, y = rng.normal(size=(200, 4)), rng.integers(0, 4, size=200)
    problem = compose(ZeroOne(), Basis(range(4)))
    labels = problem.prepare(y.tolist())
    expected = [problem.margin(t, label) for t, label in zip(scores, labels, strict=True)]
    np.testing.assert_allclose(multiclass_margin(scores, y), expected)


@pytest.mark.parametrize("profile", PROFILES)
def test_lemma_4_is_right_if_scores_are_tied_within_grades_and_too_large_otherwise(rng, profile):
    too_large = 0
    for _ in range(200):
        m = int(rng.integers(2, 7))
        grades = rng.integers(0, 3, size=m)
        heights = Positions(profile).heights(m)
        margin = compose(NDCGLoss(), Positions(profile)).margin
        levels = np.sort(rng.normal(size=3))
        tied = levels[grades]
        assert lemma_4_margin(tied, grades, heights) == pytest.approx(margin(tied, grades))
        spread = tied + 0.01 * rng.random(m)
        printed, true = lemma_4_margin(spread, grades, heights), margin(spread, grades)
        if np.isfinite(true) and printed > 0:
            assert printed >= true - 1e-12
            too_large += printed > true + 1e-9
    assert too_large > 50


def test_prank_margin_is_the_nearest_threshold():
    assert prank_margin([0.0, 2.0], [-1.0, 1.5], [1, 2], norm=2.0) == pytest.approx(0.25)
    assert prank_margin([0.0], [0.5], [1]) == pytest.approx(-0.5)
