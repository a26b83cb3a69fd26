"""Rankings of labels and of lists: positions, shortlists, scores, real data."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from experiments.datasets import DatasetNotFoundError, load_mq2008, load_mulan, load_ohsumed
from tests.predtron.streams import N, labels_for
from toprank.metrics import ndcg
from toprank.predtron import (
    NDCGLoss,
    PredtronLabelRanker,
    PredtronSubsetRanker,
)


def test_label_rankings_give_positions_shortlists_and_scores(rng):
    X = rng.normal(size=(300, 4))
    Y = (X @ rng.normal(size=(4, 6)) > 0.8).astype(int)
    model = PredtronLabelRanker(random_state=0).fit(X, Y)
    scores, places = model.decision_function(X), model.predict(X)
    assert np.array_equal(np.sort(places, axis=1), np.tile(np.arange(1, 7), (300, 1)))
    best = model.top(X, 2)
    assert np.array_equal(best[:, 0], scores.argmax(axis=1))
    assert (places[np.arange(300), best[:, 1]] == 2).all()
    assert model.score(X, Y) > 0.95
    shortlist = PredtronLabelRanker(loss="precision_at_k", k=2, random_state=0).fit(X, Y)
    assert shortlist.score(X, Y) > 0.85
    with pytest.raises(ValueError, match="k=7 is more than the 6 labels"):
        model.top(X, 7)


def test_subset_rankings_give_positions_within_lists(rng):
    X, groups = rng.normal(size=(60, 3)), rng.permutation(np.repeat(np.arange(6), 10))
    y = np.digitize(X[:, 0], [0.3, 1.0])
    model = PredtronSubsetRanker(random_state=0).fit(X, y, groups=groups)
    places = model.rank(X, groups=groups)
    scores = model.decision_function(X)
    for one in range(6):
        own = groups == one
        assert np.array_equal(places[own], (-scores[own]).argsort().argsort() + 1)
    assert np.array_equal(model.rank(X), (-scores).argsort().argsort() + 1)
    assert np.array_equal(model.predict(X), scores)


def test_subset_rankings_give_shortlists_and_cutoffs_like_every_ranker(rng):
    X, groups = rng.normal(size=(60, 3)), np.repeat(np.arange(6), 10)
    y = np.digitize(X[:, 0], [0.3, 1.0])
    model = PredtronSubsetRanker(random_state=0).fit(X, y, groups=groups)
    scores = model.decision_function(X)
    assert np.array_equal(model.top(X, 7), np.argsort(-scores)[:7])
    best = model.top(X, 2, groups=groups)
    assert np.array_equal(np.sort(groups[best]), np.repeat(np.arange(6), 2))
    assert (model.rank(X, groups=groups)[best] <= 2).all()
    assert (scores > model.cutoff(X, 7)).sum() == 7
    assert (scores > model.cutoff(X, 0.1)).sum() == 6
    with pytest.raises(ValueError, match="k=61 is more than the 60 rows"):
        model.top(X, 61)


def test_lists_that_cannot_be_wrong_count_as_rounds_and_teach_nothing(rng, X):
    model = PredtronSubsetRanker(average=False)
    model.partial_fit(X, rng.integers(0, 3, N), groups=np.arange(N) // 10)
    before = model.coef_.copy()
    rounds = model.n_rounds_
    one_of_one = [0] * 10 + list(range(1, 31))
    model.partial_fit(X, np.r_[np.full(10, 2), np.zeros(30)], groups=one_of_one)
    assert model.n_rounds_ == rounds + 31
    assert not model.losses_.any()
    assert np.array_equal(model.coef_, before)


def test_a_stream_may_begin_with_lists_that_teach_nothing(X):
    model = PredtronSubsetRanker(variant="standard").partial_fit(X, np.zeros(N))
    assert model.decision_function(X).tolist() == [0.0] * N
    assert model.score(X, np.zeros(N)) == 1.0


def test_rows_without_labels_cost_a_label_ranker_nothing(X):
    model = PredtronLabelRanker().partial_fit(X, np.zeros((N, 3), dtype=int))
    assert model.certificate_.cumulative_loss == 0


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"loss": "map"}, "loss must be 'ndcg' or 'precision_at_k'"),
        ({"k": 3}, "belongs to loss='precision_at_k'"),
        ({"loss": "precision_at_k"}, "how long the shortlist"),
        ({"loss": "precision_at_k", "k": 0}, "k must be a whole number"),
        ({"representation": lambda i: i}, "strictly decreasing"),
        ({"representation": "cubic"}, "representation must be"),
    ],
)
@pytest.mark.parametrize("learner", [PredtronSubsetRanker, PredtronLabelRanker])
def test_bad_parameters_of_rankers_are_named(rng, X, learner, options, complaint):
    with pytest.raises(ValueError, match=complaint):
        learner(**options).fit(X, labels_for(learner, rng))


def test_a_representation_that_fails_for_a_later_list_is_refused_before_the_stream(X):
    model = PredtronSubsetRanker(representation=lambda i: -np.minimum(i, 4))
    model.partial_fit(X[:4], [0, 1, 2, 0])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="strictly decreasing"):
        model.partial_fit(X[:8], [0, 1, 2, 0, 1, 1, 1, 1])
    assert np.array_equal(model.coef_, before)


def test_the_theorems_step_comes_from_the_first_batch_that_can_be_wrong(rng):
    X, groups = rng.normal(size=(8, 3)), [0] * 4 + [1] * 4
    model = PredtronSubsetRanker(variant="standard")
    model.partial_fit(X, np.zeros(8), groups=groups)
    assert model.eta_ is None
    model.partial_fit(X, [0, 1, 2, 0, 1, 1, 0, 0], groups=groups)
    run = model.certificate_
    assert model.eta_ == pytest.approx(run.smallest_loss / (4 * run.radius**2))
    before = model.eta_
    model.partial_fit(100 * X, [0, 1, 2, 0, 1, 1, 0, 0], groups=groups)
    assert model.eta_ == before
    assert model.certificate_.bound(1.0) == np.inf  # the step is too long for such rows


def parts(load, *names, **options):
    try:
        return [load(subset=name, **options) for name in names]
    except DatasetNotFoundError as missing:
        pytest.skip(f"not in the data home: {missing}")


@pytest.mark.parametrize(("load", "at_least"), [(load_ohsumed, 0.33), (load_mq2008, 0.55)])
def test_lists_of_letor(load, at_least):
    train, test = parts(load, "train", "test", fold=1)
    model = PredtronSubsetRanker(random_state=0).fit(train.X, train.y, groups=train.groups)
    reached = ndcg(test.y, model.decision_function(test.X), groups=test.groups, k=10)
    rng = np.random.default_rng(0)
    chance = ndcg(test.y, rng.random(len(test.y)), groups=test.groups, k=10)
    assert reached > max(at_least, chance + 0.1)


@pytest.mark.parametrize("name", ["emotions", "scene", "yeast"])
def test_label_rankings_of_mulan(name):
    train, test = parts(lambda subset: load_mulan(name, subset=subset), "train", "test")
    scaler = StandardScaler().fit(train.X)
    model = PredtronLabelRanker(random_state=0).fit(scaler.transform(train.X), train.y)
    reached = model.score(scaler.transform(test.X), test.y)
    frequent = np.argsort(np.argsort(-train.y.mean(axis=0), kind="stable")) + 1
    assert reached > np.mean([1 - NDCGLoss()(frequent, row) for row in test.y])
