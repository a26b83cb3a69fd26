"""Theorems of Rudin and Schapire (2009), on data small enough to check.

The matrix form is their Figure 1, with the choice of equation (3) or (5).
"""

import numpy as np
import pytest

from experiments.boosting.equivalence import class_losses
from experiments.boosting.matrix import EIGHT, best_margin_of_matrix
from experiments.boosting.matrix_boosting import boost_matrix
from toprank import AdaBoostMH, AdaBoostMR, AdaBoostRanker, RankBoost, SmoothMarginRanker
from toprank.guarantees import f_skew, ranking_margin
from toprank.kernels.steps import LONGEST, margin_step
from toprank.metrics import roc_auc
from toprank.weak_rankers import Stumps


def margins_of(run, rounds):
    found = []
    for n in rounds:
        weights = np.zeros(8)
        np.add.at(weights, run[0][:n], run[1][:n])
        found.append((EIGHT @ weights).min() / np.abs(weights).sum())
    return found


# Theorems 6 to 8 --------------------------------------------------------------------------


def test_theorem_6_adaboost_stops_short_of_the_best_margin():
    assert best_margin_of_matrix(EIGHT).margin == pytest.approx(3 / 8)
    for largest_decrease in (False, True):
        run = boost_matrix(EIGHT, np.ones(8), 200_000, largest_decrease, False, False)
        assert margins_of(run, [200_000])[0] == pytest.approx(1 / 3, abs=1e-4)


def test_theorem_8_smooth_margin_ranking_reaches_it():
    run = boost_matrix(EIGHT, np.ones(8), 100_000, False, True, False)
    found = margins_of(run, [100, 1000, 10_000, 100_000])
    assert np.round(found, 4).tolist() == [0.3634, 0.3711, 0.3738, 0.3746]
    assert found[-1] > 0.3746


def test_theorem_7_the_smooth_margin_rises_where_its_condition_holds():
    run = boost_matrix(EIGHT, np.ones(8), 100_000, False, True, False)
    assert_progress(run[1], run[2], *run[3])


def test_theorem_7_holds_on_pairs_with_silent_weak_rankers():
    rng = np.random.default_rng(0)
    M = np.where(rng.random((8, 8)) < 0.1, 0.0, EIGHT)
    run = boost_matrix(M, np.ones(8), 2000, False, True, False)
    assert_progress(run[1], run[2], *run[3])


def assert_progress(steps, losses, edges, silent):
    lengths = np.cumsum(steps)
    g = -losses / lengths
    before, after = g[:-1], g[1:]
    r, d0, alpha = edges[1:], silent[1:], steps[1:]
    applies = (before >= 0) & (before < r) & (r < 1)
    applies &= d0 < 2 / 3 * (1 - r) * (1 - r**2)
    assert applies.sum() > 100
    promised = 0.5 * alpha * (r - before) / lengths[1:]
    assert (after - before >= promised - 1e-12)[applies].all()


def test_lemma_20_more_than_half_of_the_gap_is_gained():
    for r in np.linspace(0.02, 0.98, 25):
        for g in np.linspace(0.0, 0.98 * r, 20):
            for share in (0.0, 0.5, 0.999):
                d0 = share * 2 / 3 * (1 - r) * (1 - r**2)
                plus, minus = (1 + r - d0) / 2, (1 - r - d0) / 2
                step = margin_step(plus, 0.0, 0.0, minus, g, LONGEST)
                tau = plus * np.exp(-step) + minus * np.exp(step) + d0
                assert (-np.log(tau) / step - g) / (r - g) > 0.5


def test_theorem_7_holds_on_two_classes_where_pairs_are_silent():
    X, y = majority_of_nine()
    model = SmoothMarginRanker(max_iter=2000, tol=None).fit(X, y)
    assert model.silent_shares_[-100:].min() > 0.4  # at least (1 - r²)/2 with two classes
    lengths = np.abs(model.steps_)
    losses = -model.smooth_margin_path_ * np.cumsum(lengths)
    assert_progress(lengths, losses, model.edges_, model.silent_shares_)


def majority_of_nine():
    """Two classes with a margin below 1/4: above it, the condition of Theorem 7 cannot hold."""
    X = (np.random.default_rng(0).random((120, 9)) < 0.5).astype(float)
    return X, X.sum(axis=1) > 4.5


def eight_as_rows():
    """16 rows, of which row i belongs above row 8 + i: their binary features make the matrix."""
    X = np.vstack([(1 + EIGHT) / 2, (1 - EIGHT) / 2])
    return X, np.column_stack([np.arange(8), 8 + np.arange(8)])


@pytest.mark.parametrize("weak_rankers", ["stumps", "features"])
def test_the_estimators_walk_the_same_path_as_the_matrix(weak_rankers):
    X, pairs = eight_as_rows()
    options = {"weak_rankers": weak_rankers, "directions": "increasing", "max_iter": 300}
    rank = RankBoost("steepest", tol=None, **options).fit_pairs(X, pairs)
    run = boost_matrix(EIGHT, np.ones(8), 300, False, False, False)
    assert rank.selected_.tolist() == run[0].tolist()
    np.testing.assert_allclose(rank.steps_, run[1], atol=1e-8)
    smooth = SmoothMarginRanker(tol=None, **options).fit_pairs(X, pairs)
    run = boost_matrix(EIGHT, np.ones(8), 300, False, True, False)
    np.testing.assert_allclose(smooth.steps_, run[1], atol=1e-8)


@pytest.mark.parametrize("ascent", ["approximate", "exact"])
@pytest.mark.parametrize("weak_rankers", ["stumps", "features"])
def test_smooth_margin_ranking_certifies_the_best_margin(weak_rankers, ascent):
    X, pairs = eight_as_rows()
    model = SmoothMarginRanker(
        ascent=ascent, weak_rankers=weak_rankers, directions="increasing", max_iter=1500, tol=1e-3
    ).fit_pairs(X, pairs)
    scores, norm = model.decision_function(X), np.abs(model.weights_).sum()
    margin = (scores[:8] - scores[8:]).min() / norm
    certificate = model.certificate_
    assert certificate.separable
    assert certificate.smooth_margin < margin <= 3 / 8 + 1e-12 <= certificate.ceiling + 1e-9
    assert margin > 0.37
    positive = model.smooth_margin_path_ > 0
    assert (np.diff(model.smooth_margin_path_[positive]) > -1e-12).all()


# Theorems 10 to 14 ------------------------------------------------------------------------


def noisy(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    return X, (X[:, 0] - X[:, 1] + 1.5 * rng.normal(size=300) > 0.3).astype(int)


@pytest.mark.parametrize("seed", range(3))
def test_adaboost_with_the_constant_and_rankboost_end_alike(seed):
    X, y = noisy(seed)
    options = {"weak_rankers": Stumps(n_bins=5), "max_iter": 20_000, "tol": 1e-9}
    ada, rank = AdaBoostRanker(**options).fit(X, y), RankBoost(**options).fit(X, y)
    assert ada.converged_
    assert rank.converged_
    by_ada, by_rank = ada.decision_function(X), rank.decision_function(X)
    ada_losses, rank_losses = class_losses(y, by_ada), class_losses(y, by_rank)
    # Theorem 10 and Corollary 11, by equation (14): F̃ is the product of both classes' losses
    assert ada_losses.log_ranking == pytest.approx(rank_losses.log_ranking, abs=1e-6)
    assert abs(f_skew(y, by_ada)) < 1e-6
    assert abs(ada.f_skew_path_[-1] - f_skew(y, by_ada)) < 1e-9
    # Theorem 12
    assert roc_auc(y, by_ada) == roc_auc(y, by_rank)
    # Corollary 13 and Theorem 14
    assert abs(f_skew(y, by_rank)) < 1e-6
    assert ada_losses.log_classification == pytest.approx(rank_losses.log_classification, abs=1e-6)
    np.testing.assert_array_equal(ada.predict(X), rank.predict(X))
    np.testing.assert_allclose(ada.predict_proba(X), rank.predict_proba(X), atol=1e-6)


def test_on_separable_rows_both_losses_vanish_and_both_rank_perfectly():
    X, y = majority_of_nine()
    ada, rank = (kind(max_iter=20_000).fit(X, y) for kind in (AdaBoostRanker, RankBoost))
    for model in (ada, rank):
        assert model.converged_
        scores = model.decision_function(X)
        losses = class_losses(y, scores)
        assert model.objective_path_[-1] < model.objective_path_[0] - 29
        assert losses.log_ranking < -10
        assert abs(f_skew(y, scores)) < 1e-6
        assert roc_auc(y, scores) == 1.0
        np.testing.assert_array_equal(model.predict(X), y)


def test_without_a_limit_steps_are_those_of_equation_4():
    X, y = noisy(0)
    y[:] = 0
    y[np.argsort(X[:, 0] - X[:, 1])[-12:]] = 1  # a rare class, where most steps are long
    model = RankBoost("steepest", weak_rankers=Stumps(n_bins=8), max_iter=15).fit(X, y)
    H = model.weak_rankers_.design(X).matrix()
    scores = np.zeros(300)
    for index, step in zip(model.selected_, model.steps_, strict=True):
        weights = np.outer(np.exp(-scores[y == 1]), np.exp(scores[y == 0]))
        moved = H[y == 1, index][:, None] - H[y == 0, index]
        plus, minus = weights[moved > 0].sum(), weights[moved < 0].sum()
        ratio = max(plus, minus) / max(min(plus, minus), 1e-300)
        assert abs(step) == pytest.approx(min(0.5 * np.log(ratio), 15.0), rel=1e-6)
        scores += step * H[:, index]
    assert (np.abs(model.steps_) > 2).any()
    limited = RankBoost("steepest", weak_rankers=Stumps(n_bins=8), max_step=2.0).fit(X, y)
    assert np.abs(limited.steps_).max() <= 2.0


def test_steepest_descent_and_largest_decrease_end_alike():
    X, y = noisy(5)
    options = {"weak_rankers": Stumps(n_bins=5), "max_iter": 20_000, "tol": 1e-9}
    ends = [RankBoost(how, **options).fit(X, y) for how in ("steepest", "largest_decrease")]
    assert ends[0].objective_path_[-1] == pytest.approx(ends[1].objective_path_[-1], abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_section_5_1_mh_and_the_global_mr_reach_one_minimum_and_the_other_mr_does_not(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 2))
    Y = (X @ rng.normal(size=(2, 3)) + 2 * rng.normal(size=(200, 3)) > 0.3).astype(int)
    options = {"n_bins": 3, "max_iter": 10_000, "tol": 1e-7}
    mh = AdaBoostMH(**options).fit(X, Y)
    everywhere = AdaBoostMR("global", **options).fit(X, Y)
    within = AdaBoostMR("within", **options).fit(X, Y)
    labels = Y.ravel()
    losses = [
        class_losses(labels, model.label_scores(X).ravel()) for model in (mh, everywhere, within)
    ]
    assert losses[0].log_ranking == pytest.approx(losses[1].log_ranking, abs=1e-6)
    assert losses[2].log_ranking > losses[1].log_ranking + 1e-3
    assert abs(f_skew(labels, mh.label_scores(X).ravel())) < 1e-3
    assert everywhere.objective_path_[-1] == pytest.approx(losses[1].log_ranking)
    np.testing.assert_array_equal(mh.predict(X), everywhere.predict(X))


def test_equation_6_smooth_margin_below_margin_below_best():
    rng = np.random.default_rng(1)
    X = (rng.random((40, 6)) < 0.5).astype(float)
    y = (X[:, 0] + X[:, 1] + X[:, 2] > 1).astype(int)
    model = SmoothMarginRanker(max_iter=3000, tol=0.05).fit(X, y)
    norm = np.abs(model.weights_).sum()
    margin = ranking_margin(y, model.decision_function(X), norm=norm)
    assert model.certificate_.smooth_margin < margin <= model.certificate_.ceiling + 1e-12
    assert model.converged_
