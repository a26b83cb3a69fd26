"""Members are fitted on folds, alike for any number of threads, within the time."""

import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from toprank.selection import Candidate, LabelledRows
from toprank.selection.blending import cross_fit


class Watcher(BaseEstimator):
    """Scores a row by its first number; scale and level depend on the rows that it saw."""

    def __init__(self, seconds=0.0):
        self.seconds = seconds

    def fit(self, X, y, sample_weight=None, groups=None):
        time.sleep(self.seconds * X.shape[0] / 100)
        self.seen = set(X[:, 0])
        return self

    def decision_function(self, X):
        assert self.seconds or self.seen.isdisjoint(X[:, 0])
        return (1 + len(self.seen) % 7) * X[:, 0] + sum(self.seen)


class Broken(BaseEstimator):
    def fit(self, X, y):
        raise ValueError("cannot learn this")


def rows(n_rows=101, groups=None):
    X = np.random.default_rng(0).permutation(n_rows).astype(float)[:, None]
    return LabelledRows(X, X[:, 0] >= 70, None, groups)


def test_every_row_is_scored_by_models_that_did_not_see_it_on_one_scale():
    data = rows()
    cross = cross_fit(data, [Candidate("a", {}, Watcher())], data.folds(4, 1, 0))
    [member] = cross.members
    # levels and scales of the folds differ, but the pooled scores rank nearly as one model
    assert np.corrcoef(member.scores, data.X[:, 0])[0, 1] > 0.99
    assert np.concatenate(cross.parts()).size == 101


def test_folds_are_fitted_with_the_quick_form_of_a_candidate():
    data = rows()
    both = [Candidate("a", {}, Broken(), Watcher())]
    assert len(cross_fit(data, both, data.folds(4, 1, 0)).members) == 1


def test_scales_are_those_within_lists():
    groups = np.arange(101) % 5
    data = rows(groups=groups)
    shifted = LabelledRows(data.X + 1000.0 * groups[:, None], data.positives, None, groups)
    folds = data.folds(4, 1, 0)
    scales = [
        cross_fit(each, [Candidate("a", {}, Watcher())], folds).members[0].scale
        for each in (data, shifted)
    ]
    assert np.allclose(*scales, rtol=1e-6)


def test_a_candidate_that_fails_is_left_out_with_its_reason():
    data = rows()
    candidates = [Candidate("bad", {}, Broken()), Candidate("good", {}, Watcher())]
    cross = cross_fit(data, candidates, data.folds(4, 1, 0))
    assert [member.candidate.name for member in cross.members] == ["good"]
    assert cross.problems == {"bad": "cannot learn this"}
    with pytest.raises(ValueError, match="cannot learn this"):
        cross_fit(data, candidates[:1], data.folds(4, 1, 0))


def test_a_candidate_whose_scores_are_not_finite_is_left_out():
    class Lost(Watcher):
        def decision_function(self, X):
            return np.where(X[:, 0] == 7, np.nan, X[:, 0])

    data = rows()
    candidates = [Candidate("lost", {}, Lost()), Candidate("good", {}, Watcher())]
    cross = cross_fit(data, candidates, data.folds(4, 1, 0))
    assert [member.candidate.name for member in cross.members] == ["good"]
    assert cross.problems == {"lost": "lost gives scores that are not finite."}


def test_a_member_that_would_not_finish_is_not_begun():
    data = rows(400)
    candidates = [Candidate("quick", {}, Watcher(1e-6)), Candidate("slow", {}, Watcher(1.0))]
    candidates.append(Candidate("last", {}, Watcher(1e-6)))
    begun = time.monotonic()
    cross = cross_fit(data, candidates, data.folds(4, 1, 0), deadline=begun + 5)
    assert [member.candidate.name for member in cross.members] == ["quick", "last"]
    assert cross.problems == {"slow": "no time left"}
    assert time.monotonic() - begun < 5


def test_a_few_long_lists_can_be_fitted_with_a_deadline():
    data = rows(1600, np.arange(1600) % 8)
    candidates = [Candidate("first", {}, Watcher(1e-6)), Candidate("last", {}, Watcher(1e-6))]
    cross = cross_fit(data, candidates, data.folds(4, 1, 0), deadline=time.monotonic() + 60)
    assert len(cross.members) == 2


def test_a_journal_gives_the_scores_that_it_has():
    data, notes = rows(), {}
    folds, candidates = data.folds(4, 1, 0), [Candidate("a", {}, Watcher())]
    first = cross_fit(data, candidates, folds, journal=notes)
    again = cross_fit(data, [Candidate("a", {}, Broken())], folds, journal=notes)
    assert np.array_equal(first.scores, again.scores)
