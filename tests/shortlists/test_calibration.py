"""Calibration rows are checked once, and few enough for a model file."""

import numpy as np
import pytest

from toprank import PNormPush, TopRanker
from toprank.shortlists import Calibration


def test_of_many_rows_a_random_part_is_kept():
    scores = np.arange(50_000.0)
    found = Calibration.of(scores, scores % 2, sample_weight=scores)
    assert found.n_rows == 20_000
    assert np.array_equal(found.positives, found.scores % 2 == 1)
    assert np.array_equal(found.weights, found.scores)
    assert abs(found.scores.mean() - 25_000) < 500


def test_rows_of_weight_zero_do_not_count():
    found = Calibration.of([1, 2, 3], [0, 1, 1], sample_weight=[1, 0, 2])
    assert found.scores.tolist() == [1, 3]
    with pytest.raises(ValueError, match="one class only"):
        Calibration.of([1, 2, 3], [0, 1, 1], sample_weight=[0, 1, 2])


def table(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, np.where(X[:, 0] + rng.logistic(scale=0.5, size=n_rows) > 1, "yes", "no")


def test_a_ranker_promises_nothing_without_held_out_rows():
    X, y = table(600)
    model = PNormPush().fit(X[:300], y[:300])
    with pytest.raises(ValueError, match=r"no calibration rows; pass held-out rows to calibrate"):
        model.shortlist(X)
    found = model.calibrate(X[300:], y[300:]).shortlist(X[:100], k=20)
    assert found.rows.tolist() == model.top(X[:100], 20).tolist()
    assert found.is_exact
    model.fit(X[:300], y[:300])
    with pytest.raises(ValueError, match="no calibration rows"):
        model.shortlist(X)


@pytest.mark.parametrize("blend", [True, False])
def test_out_of_fold_scores_of_a_top_ranker_are_on_the_scale_of_its_model(blend):
    X, y = table(1000, seed=2)
    names = ["pnorm-push", "random-forest"] if blend else ["pnorm-push"]
    model = TopRanker(100, candidates=names, blend=blend).fit(X, y)
    assert not model.calibration_.is_exact
    new, labels = table(4000, seed=1)
    scores = model.decision_function(new)
    spread = np.std(scores)
    for label, known in (("yes", True), ("no", False)):
        old = model.calibration_.scores[model.calibration_.positives == known]
        assert abs(old.mean() - scores[labels == label].mean()) < 0.2 * spread
    found = model.shortlist(new, false_alarms=0.2)
    assert np.mean(labels[found.rows] == "no") < 0.25
    model.set_params(candidates=["logistic"]).fit(
        np.append(X, X[:30], axis=0), np.append(y, y[:30])
    )
    assert model.calibration_.weights is None  # copies of a row are counted, not weighed
    assert model.calibration_.n_rows == 1030
    model.fit(X, y, groups=np.arange(1000) // 50)
    assert not hasattr(model, "calibration_")
