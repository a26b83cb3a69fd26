"""A loaded model ranks as the ranker that was saved."""

import numpy as np
import pytest

import toprank
from toprank.models.scores import RankedScores


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)).round(1)  # with ties
    ranker = toprank.PNormPush().fit(X, X[:, 0] + rng.normal(size=120) > 0.5)
    path = tmp_path_factory.mktemp("models") / "m.toprank"
    return X, ranker, toprank.load(toprank.save(ranker, path))


def test_ranks_shortlists_and_cutoffs_are_those_of_the_ranker(pair):
    X, ranker, model = pair
    groups = np.arange(120) % 7
    assert isinstance(ranker, RankedScores)
    assert isinstance(model, RankedScores)
    for asked in ({}, {"groups": groups}):
        assert np.array_equal(model.rank(X, **asked), ranker.rank(X, **asked))
        assert np.array_equal(model.top(X, 0.1, **asked), ranker.top(X, 0.1, **asked))
    assert model.cutoff(X, 20) == ranker.cutoff(X, 20)
    assert np.array_equal(model.predict(X), ranker.predict(X))


def test_a_table_of_another_width_is_refused(pair):
    with pytest.raises(ValueError, match=r"shape \(2, 2\).*3 columns"):
        pair[2].decision_function(np.zeros((2, 2)))


@pytest.mark.parametrize(("budget", "kept"), [(20.0, 20), (np.int64(20), 20), (0.1, 0.1)])
def test_a_budget_of_any_number_type_is_kept(pair, tmp_path, budget, kept):
    X, ranker, _ = pair
    chosen = toprank.TopRanker(budget, candidates=["logistic"]).fit(X, ranker.predict(X))
    model = toprank.load(toprank.save(chosen, tmp_path / "m.toprank"))
    assert (model.budget, type(model.budget)) == (kept, type(kept))
