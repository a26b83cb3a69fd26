"""Special cases are the algorithms that the paper says they are."""

import numpy as np
import pytest
from sklearn.linear_model import Perceptron

from toprank.predtron import (
    Basis,
    PRank,
    PredtronClassifier,
    PredtronOrdinal,
    Signs,
    ZeroOne,
    surrogate,
)

PLAIN = {"fit_intercept": False, "average": False, "shuffle": False, "max_iter": 1}


def classical_perceptron(X, signs):
    """Novikoff's: w moves by y·x where y⟨w, x⟩ ≤ 0; all w, one after the other."""
    w, path = np.zeros(X.shape[1]), []
    for x, sign in zip(X, signs, strict=True):
        if sign * (w @ x) <= 0:
            w = w + sign * x
        path.append(w)
    return np.array(path)


@pytest.mark.parametrize("variant", ["standard", "loss_driven"])
def test_two_classes_give_the_classical_perceptron_update_by_update(rng, variant):
    X = rng.normal(size=(200, 6))
    y = np.where(X @ rng.normal(size=6) + 0.5 * rng.normal(size=200) > 0, 1, -1)
    path = classical_perceptron(X, y)
    model = PredtronClassifier(loss="error_set", variant=variant, eta=0.5, **PLAIN)
    for row, w in enumerate(path):
        model.partial_fit(X[row : row + 1], y[row : row + 1], classes=[-1, 1])
        # rep(σ̃) − rep(σ_y) = ±2, so a step of 1/2 moves w by y·x
        np.testing.assert_allclose(model.coef_[0], w, atol=1e-12)


def test_two_classes_give_scikit_learns_perceptron(rng):
    X = rng.normal(size=(300, 8))
    y = (X @ rng.normal(size=8) + 0.3 * rng.normal(size=300) > 0).astype(int)
    theirs = Perceptron(shuffle=False, max_iter=3, tol=None).fit(X, y)
    options = PLAIN | {"fit_intercept": True, "max_iter": 3}
    ours = PredtronClassifier(loss="error_set", eta=0.5, **options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-9)


def test_zero_one_loss_breaks_ties_towards_the_first_class(rng):
    X = rng.normal(size=(5, 3))
    model = PredtronClassifier(**PLAIN).partial_fit(X, [0] * 5, classes=[0, 1])
    assert model.certificate_.n_mistakes == 0
    model = PredtronClassifier(loss="error_set", **PLAIN).partial_fit(X, [0] * 5, classes=[0, 1])
    assert model.certificate_.n_mistakes >= 1


def test_multiclass_surrogate_is_crammer_and_singers_hinge(rng):
    classes = Basis(range(5))
    for _ in range(200):
        t, y = rng.normal(size=5) * 2, int(rng.integers(5))
        hinge = max(0.0, 1 + np.delete(t, y).max() - t[y])
        assert surrogate(ZeroOne(), classes, t, y, y) == pytest.approx(hinge)


def test_binary_surrogate_is_a_hinge_with_twice_the_score(rng):
    for t in rng.normal(size=50):
        found = surrogate(ZeroOne(), Signs([0, 1]), np.array([t]), 1, 1)
        assert found == pytest.approx(max(0.0, 1 - 2 * t))


def crammer_singer_perceptron(X, y, n_classes):
    """Ultraconservative update: the best wrong class down, the true one up, at L_ErrSet = 1."""
    W = np.zeros((n_classes, X.shape[1]))
    for x, label in zip(X, y, strict=True):
        t = W @ x
        rival = max((c for c in range(n_classes) if c != label), key=lambda c: t[c])
        if t[rival] >= t[label]:
            W[rival] -= x
            W[label] += x
    return W


@pytest.mark.parametrize("variant", ["standard", "loss_driven"])
def test_many_classes_give_the_multiclass_perceptron(rng, variant):
    X = rng.normal(size=(400, 7))
    y = (X @ rng.normal(size=(7, 4))).argmax(axis=1)
    model = PredtronClassifier(loss="error_set", variant=variant, eta=1.0, **PLAIN).fit(X, y)
    np.testing.assert_allclose(model.coef_, crammer_singer_perceptron(X, y, 4), atol=1e-9)


def test_two_grades_are_two_classes(rng):
    X = rng.normal(size=(200, 5))
    y = (X @ rng.normal(size=5) > 0).astype(int)
    ordinal = PredtronOrdinal(eta=0.5, **PLAIN).fit(X, y)
    binary = PredtronClassifier(eta=0.25, **PLAIN).fit(X, y)
    # (e_1 − e_0) steps on two scores: their difference is the one score of ±1
    np.testing.assert_allclose(ordinal.coef_[1] - ordinal.coef_[0], 2 * binary.coef_[0], atol=1e-9)


def test_weighted_losses_leave_the_standard_binary_run_alone_and_scale_the_loss_driven_one(rng):
    X = rng.normal(size=(200, 4))
    y = (X @ rng.normal(size=4) + rng.normal(size=200) > 0).astype(int)
    options = PLAIN | {"eta": 1.0, "loss": "error_set"}
    plain = PredtronClassifier(**options).fit(X, y)
    weighted = PredtronClassifier(costs={0: 1.0, 1: 5.0}, **options).fit(X, y)
    np.testing.assert_allclose(plain.coef_, weighted.coef_)
    assert weighted.certificate_.cumulative_loss > plain.certificate_.cumulative_loss
    driven = PredtronClassifier(costs={0: 1.0, 1: 5.0}, variant="loss_driven", **options)
    assert driven.fit(X, y).predict(X).mean() > plain.predict(X).mean()


def test_from_zero_weights_the_papers_reject_option_never_rejects(rng):
    # Steps are e_a − e_b, so scores sum to 0 and the diagonal is never the most similar.
    X = rng.normal(size=(300, 5))
    y = rng.integers(0, 3, size=300)
    model = PredtronClassifier(reject_cost=1.0, max_iter=2, random_state=0).fit(X, y)
    assert model.certificate_.start == 0.0
    assert not (model.predict(X) == -1).any()
    np.testing.assert_allclose(model.decision_function(X).sum(axis=1), 0, atol=1e-9)


def test_rejects_are_the_doubtful_rows(rng):
    X = rng.normal(size=(2000, 5))
    y = (X[:, 0] + 0.7 * rng.normal(size=2000) > 0).astype(int)
    model = PredtronClassifier(reject_cost=0.2, max_iter=30, random_state=0).fit(X, y)
    predicted = model.predict(X)
    kept = predicted != -1
    assert 0.05 < kept.mean() < 0.95
    plain = PredtronClassifier(max_iter=30, random_state=0).fit(X, y)
    assert (predicted == y)[kept].mean() > plain.score(X, y) + 0.03


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
