"""Weak rankers of a learner: what it is told in each round, and what comes of it."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from toprank import AdaBoostRanker, PNormPush, RankBoost, SmoothMarginRanker, SoftRankBoost
from toprank.metrics import roc_auc
from toprank.weak_rankers import Stumps, WeakLearner

TREE = DecisionTreeClassifier(max_depth=2)


def data(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).round(2)
    return X, (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n_rows) > 0.3).astype(int)


class BestStump(ClassifierMixin, BaseEstimator):
    """The threshold of largest edge among those of a family, by looking at each."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.array([0, 1])
        self.stumps_ = Stumps(n_bins=6).fit(X)
        H = 2 * self.stumps_.design(X).matrix() - 1
        edges = H.T @ (np.where(y == 1, 1.0, -1.0) * sample_weight)
        self.index_ = int(np.argmax(np.abs(edges) >= np.abs(edges).max() * (1 - 1e-9)))
        return self

    def predict(self, X):
        return self.stumps_.design(X).column(self.index_)


@pytest.mark.parametrize(
    "ranker",
    [
        RankBoost("steepest", max_iter=12),
        AdaBoostRanker(max_iter=12),
        PNormPush(2, alpha=0, solver="coordinate", max_iter=12),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_a_learner_that_finds_the_best_stump_boosts_as_stumps_do(ranker):
    X, y = data()
    by_stumps = clone(ranker).set_params(weak_rankers=Stumps(n_bins=6)).fit(X, y)
    learned = clone(ranker).set_params(weak_rankers=BestStump()).fit(X, y)
    np.testing.assert_allclose(learned.objective_path_, by_stumps.objective_path_, atol=1e-8)
    scores = learned.decision_function(X), by_stumps.decision_function(X)
    np.testing.assert_allclose(*scores, atol=1e-7)


@pytest.mark.parametrize(
    "ranker",
    [
        RankBoost(max_iter=15),
        AdaBoostRanker(max_iter=15),
        SmoothMarginRanker(max_iter=15),
        SoftRankBoost(max_iter=15),
        PNormPush(4),
        PNormPush(2, loss="hinge", max_iter=15),
    ],
    ids=repr,
)
@pytest.mark.parametrize("learner", [TREE, Ridge()], ids=repr)
def test_classifiers_and_regressors_are_weak_learners(ranker, learner):
    X, y = data()
    model = clone(ranker).set_params(weak_rankers=learner).fit(X, y)
    path = model.objective_path_
    assert path[-1] < path[0]
    assert len(model.weak_rankers_.estimators_) <= model.n_iter_ + 1
    again = clone(model).fit(X, y)  # random choices of a learner are those of its round
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    if learner is TREE:
        assert roc_auc(y, model.decision_function(X)) > 0.85
        assert isinstance(ranker, RankBoost | AdaBoostRanker) or model.certificate_


def test_grades_pairs_held_out_rows_and_stages_know_learners():
    X, y = data()
    pairs = np.array([(i, k) for i in np.flatnonzero(y)[:20] for k in np.flatnonzero(y == 0)[:20]])
    model = RankBoost(weak_rankers=TREE, max_iter=10)
    assert roc_auc(y, model.fit_pairs(X, pairs).decision_function(X)) > 0.7
    model.fit_grades(X, y + (X[:, 0] > 1), groups=np.arange(200) % 4)
    model.set_params(early_stopping=True, random_state=0).fit(X, y)
    *_, last = model.staged_decision_function(X)
    np.testing.assert_allclose(last, model.decision_function(X), atol=1e-12)
    assert "DecisionTreeClassifier 1" in model.to_frame()["weak_ranker"].tolist()


def test_unlearned_weak_rankers_abstain_and_perfect_ones_end_the_fit():
    X, y = np.arange(20.0)[:, None], np.arange(20) >= 10
    assert PNormPush(np.inf, weak_rankers=TREE).fit(X, y).score(X, y) == 1.0
    model = RankBoost(weak_rankers=TREE, max_iter=50).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 5
    assert WeakLearner(TREE).fit(X).design(X).column(7).tolist() == [0.5] * 20


def test_learners_that_cannot_be_told_weights_are_refused():
    X, y = data(50)
    with pytest.raises(TypeError, match="does not take sample_weight"):
        RankBoost(weak_rankers=KNeighborsClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="solver='auto' or 'coordinate'"):
        PNormPush(weak_rankers=TREE, solver="lbfgs").fit(X, y)
    with pytest.raises(ValueError, match="warm_start=False"):
        PNormPush(weak_rankers=TREE, warm_start=True).fit(X, y)
