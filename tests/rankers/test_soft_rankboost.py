"""SoftRankBoost: its cut, its promise, its bounds."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV

from tests.rankers.boosting_problems import all_pairs, data
from toprank import (
    SoftRankBoost,
)


def test_soft_rankboost_cuts_where_the_positives_would_end_and_calibrates():
    X, y = data()
    model = SoftRankBoost(max_iter=30).fit(X, y)
    assert not hasattr(model, "predict_proba")
    # Rows tied at the cut are left out, whatever the last bits of their scores.
    above = model.decision_function(X) - np.sort(model.decision_function(X))[-y.sum()]
    assert (above > 1e-9).sum() <= model.predict(X).sum() <= y.sum()
    calibrated = CalibratedClassifierCV(SoftRankBoost(max_iter=10), cv=2).fit(X, y)
    assert calibrated.predict_proba(X).shape == (200, 2)


def test_soft_rankboost_keeps_its_promise():
    rng = np.random.default_rng(0)
    X = (rng.random((80, 5)) < 0.5).astype(float)
    y = (X[:, 0] + X[:, 1] + X[:, 2] > 1).astype(int)
    flipped = rng.random(80) < 0.05
    y[flipped] = 1 - y[flipped]
    for model, pairs in (
        (SoftRankBoost(nu=0.25, max_iter=5000).fit(X, y), None),
        (SoftRankBoost(nu=0.2, max_iter=5000).fit_pairs(X, all_pairs(y)), all_pairs(y)),
    ):
        soft_margin, ceiling, share = model.certificate_
        assert model.converged_
        assert 0 < 0.9 * ceiling - 1e-12 <= soft_margin <= ceiling
        scores = model.decision_function(X) / np.abs(model.weights_).sum()
        margins = scores[all_pairs(y)]
        reached = margins[:, 0] - margins[:, 1] >= soft_margin - 1e-12
        assert reached.mean() >= share
        assert share == pytest.approx((1 - 0.5) ** 2 if pairs is None else 0.8)


def test_the_path_of_soft_margins_ends_at_the_round_that_is_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.normal(size=60) > 0.5
    model = SoftRankBoost(early_stopping=True, random_state=0, max_iter=60).fit(X, y)
    assert model.n_iter_ < len(model.validation_path_) - 1  # rounds were taken back
    assert model.soft_margin_path_.size == model.n_iter_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nu": 0}, "nu must be above 0, got 0"),
        ({"nu": 1.5}, "nu must be a number between 0 and 1, got 1.5"),
        ({"nu": 0.2, "nu_plus": 0.1}, "nu_plus must be a number between 0.2 and 1, or None, got"),
        ({"delta": 1.0}, "delta must be a number between 0 and 1, both excluded, got 1.0"),
    ],
)
def test_bad_bounds_are_named(options, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        SoftRankBoost(**options).fit(X, y)
