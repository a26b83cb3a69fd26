"""Blends: weights from out-of-fold scores, models that add up."""

import numpy as np
import pytest
from sklearn.base import clone

from toprank import IRPush, PNormPush
from toprank.metrics import average_precision, precision_at_k
from toprank.selection import Blend, LabelledRows, family
from toprank.selection.blending import (
    BUDGETS,
    STEPS,
    blend_weights,
    cross_fit,
    quality,
    single_best,
    unseen_scores,
)


@pytest.fixture(scope="module")
def two_views():
    """Two members that each know half of what makes a row positive, and one that knows nothing."""
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(3, 3000))
    y = parts[0] + parts[1] + 0.3 * rng.normal(size=3000) > 1.5
    return parts, LabelledRows(np.zeros((3000, 1)), y)


def test_a_blend_takes_what_helps_and_leaves_what_does_not(two_views):
    scores, rows = two_views
    allowed = rows.allowed(300, None)
    weights = blend_weights(scores, rows, allowed)
    assert weights.sum() == pytest.approx(1)
    assert weights[2] < 0.1
    assert abs(weights[0] - weights[1]) < 0.2
    best = max(quality(each, rows, allowed) for each in scores)
    assert quality(weights @ scores, rows, allowed) > best + 0.1


def test_quality_is_average_precision_and_a_tenth_of_the_precision_around_the_budget(two_views):
    scores, rows = two_views
    around = [precision_at_k(rows.positives, scores[0], k=round(300 * by)) for by in BUDGETS]
    expected = average_precision(rows.positives, scores[0]) + np.mean(around) / 10
    assert quality(scores[0], rows, rows.allowed(300, None)) == pytest.approx(expected, abs=1e-8)


def test_votes_hold_back_what_others_can_gain(two_views):
    scores, rows = two_views
    votes = np.array([2.0 * STEPS, 0.0, 0.0])
    weights = blend_weights(scores, rows, rows.allowed(300, None), votes)
    assert 2 / 3 - 1e-9 <= weights[0] < 1


def test_the_single_best_is_the_member_of_the_best_quality(two_views):
    scores, rows = two_views
    better = np.array([scores[2], scores[0] + scores[1], scores[1]])
    assert single_best(better, rows, rows.allowed(300, None)).tolist() == [0, 1, 0]


@pytest.fixture(scope="module")
def crossed(rings):
    X, y = rings
    data = LabelledRows(X, y)
    return cross_fit(data, family(["logistic", "ir-push", "rankboost"]), data.folds(4, 1, 0))


def test_rows_are_promised_by_weights_chosen_without_their_fold(crossed):
    seen = []

    def choose(scores, rows):
        seen.append(rows.n_rows)
        assert scores.shape[1] == rows.n_rows
        return np.eye(len(scores))[len(seen) % len(scores)]

    found = unseen_scores(crossed, choose)
    assert seen == [700 - part.size for part in crossed.parts()]
    first = crossed.parts()[0]
    assert np.array_equal(found[first], crossed.scores[1, first])


def test_a_blend_adds_its_members_fitted_on_all_rows(crossed, rings):
    X, y = rings
    weights = np.zeros(len(crossed.members))
    weights[[0, -1]] = 0.25, 0.75
    found = Blend.of(crossed, weights).fit(X, y).decision_function(X)
    by_hand = sum(
        w * each.scale * clone(each.candidate.estimator).fit(X, y).decision_function(X)
        for w, each in ((0.25, crossed.members[0]), (0.75, crossed.members[-1]))
    )
    assert np.ptp(found - by_hand) < 1e-9
    assert np.count_nonzero(found > 0) == y.sum()
    # what was chosen out of fold ranks as what is fitted on all rows
    assert np.corrcoef(found, weights @ crossed.scores)[0, 1] > 0.9


def test_a_weight_counts_as_rows_in_the_cut_of_a_blend(rings):
    X, y = rings
    counts = np.where(y, 1, 1 + (np.arange(y.size) % 3))
    weighted = Blend([IRPush(), PNormPush()], [1.0, 1.0]).fit(X, y, sample_weight=counts)
    repeated = clone(weighted).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    found, expected = weighted.decision_function(X), repeated.decision_function(X)
    assert np.allclose(found, expected, atol=1e-3 * np.ptp(expected))
    assert counts[found > 0].sum() == pytest.approx(y.sum(), abs=3)
