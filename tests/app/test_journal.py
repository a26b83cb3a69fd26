"""A journal saves what is done."""

import numpy as np
import pytest

from toprank import TopRanker
from toprank.app.journal import Journal
from toprank.selection import blending as module


def test_a_journal_saves_what_is_done(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] > 1
    fits = []
    real = module.clone

    def counted(estimator):
        fits.append(1)
        return real(estimator)

    monkeypatch.setattr(module, "clone", counted)
    path, found = tmp_path / "journal", []
    for resume in (False, True):
        model = TopRanker(20, candidates=["logistic", "ir-push"])
        model._journal = Journal(path, "x", resume=resume)
        found.append(model.fit(X, y).comparison_)
    assert len(fits) == len(Journal(path, "x", resume=True))
    assert found[0].names == found[1].names
    assert np.array_equal(found[0].scores["blend"], found[1].scores["blend"])
    with pytest.raises(ValueError, match="another comparison"):
        Journal(path, "y", resume=True)
