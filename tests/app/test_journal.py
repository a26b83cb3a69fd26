"""A journal saves what is done."""

import numpy as np
import pytest

from toprank.app.journal import Journal
from toprank.selection import LogisticRanker, compare


def test_a_journal_saves_what_is_done(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] > 1
    fits = []

    class Counted(LogisticRanker):
        def fit(self, X, y, **given):
            fits.append(1)
            return super().fit(X, y, **given)

    rankers = {"a": Counted(), "b": LogisticRanker()}
    path = tmp_path / "journal"
    first = compare(rankers, X, y, budget=20, n_splits=2, journal=Journal(path, "x", resume=False))
    again = compare(rankers, X, y, budget=20, n_splits=2, journal=Journal(path, "x", resume=True))
    assert len(fits) == 2
    assert np.array_equal(first.precision["a"], again.precision["a"])
    assert np.array_equal(first.test_scores["a"], again.test_scores["a"])
    with pytest.raises(ValueError, match="another comparison"):
        Journal(path, "y", resume=True)
