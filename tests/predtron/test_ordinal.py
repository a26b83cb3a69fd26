"""PRank is Crammer and Singer's, and two grades are two classes."""

import numpy as np

from toprank.predtron import (
    PRank,
    PredtronClassifier,
    PredtronOrdinal,
)

PLAIN = {"fit_intercept": False, "average": False, "shuffle": False, "max_iter": 1}


def test_two_grades_are_two_classes(rng):
    X = rng.normal(size=(200, 5))
    y = (X @ rng.normal(size=5) > 0).astype(int)
    ordinal = PredtronOrdinal(eta=0.5, **PLAIN).fit(X, y)
    binary = PredtronClassifier(eta=0.25, **PLAIN).fit(X, y)
    # (e_1 − e_0) steps on two scores: their difference is the one score of ±1
    np.testing.assert_allclose(ordinal.coef_[1] - ordinal.coef_[0], 2 * binary.coef_[0], atol=1e-9)


def naive_prank(X, y, n_grades):
    w, b = np.zeros(X.shape[1]), np.zeros(n_grades - 1)
    losses = []
    for x, grade in zip(X, y, strict=True):
        below = np.flatnonzero(w @ x - b < 0)
        predicted = below[0] if below.size else n_grades - 1
        losses.append(abs(predicted - grade))
        if predicted != grade:
            sides = np.where(grade > np.arange(n_grades - 1), 1, -1)
            moves = np.where((w @ x - b) * sides <= 0, sides, 0)
            w, b = w + moves.sum() * x, b - moves
    return w, b, losses


def test_prank_is_crammer_and_singers_box(rng):
    X = rng.normal(size=(300, 4))
    y = np.digitize(X @ rng.normal(size=4) + 0.3 * rng.normal(size=300), [-1, 0, 1.5])
    model = PRank(average=False, shuffle=False, max_iter=1).fit(X, y)
    w, b, losses = naive_prank(X, y, 4)
    np.testing.assert_allclose(model.coef_, w, atol=1e-9)
    np.testing.assert_allclose(model.thresholds_, b)
    np.testing.assert_array_equal(model.losses_, losses)
    assert (np.diff(model.thresholds_) >= 0).all()


def test_pranks_decision_is_largest_at_its_prediction(rng):
    X = rng.normal(size=(300, 4))
    y = np.digitize(X @ rng.normal(size=4), [-1, 0, 1.5])
    model = PRank(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))
