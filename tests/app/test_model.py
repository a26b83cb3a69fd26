"""What a model says about its scores."""

import numpy as np

from toprank.app.fitting import fit_model
from toprank.selection.candidates import make_ranker


def test_contributions_add_up_to_the_score(data):
    for name in ("pnorm-push", "pnorm-push-stumps"):
        model = fit_model(data, make_ranker(name), budget=10, name=name)
        parts = model.contributions(data.in_memory().features).sum(axis=1)
        scores = model.scores(data.in_memory().features)
        assert np.allclose(parts - parts.mean(), scores - scores.mean())
