"""With classes, Predtron is the perceptron; costs, rejecting and bad parameters."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Perceptron

from tests.predtron.streams import N
from toprank.predtron import (
    PredtronClassifier,
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


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])


def test_text_classes_and_a_text_for_reject(frame):
    y = np.where(frame["a"] > 0, "up", "down")
    model = PredtronClassifier(reject_cost=0.1, reject_label="unsure", max_iter=1).fit(frame, y)
    assert set(model.predict(frame)) <= {"up", "down", "unsure"}
    assert model.decision_function(frame).shape == (60, 2)


def test_other_classes_later_are_refused(rng, X):
    model = PredtronClassifier().partial_fit(X, rng.integers(0, 2, N), classes=[0, 1])
    with pytest.raises(ValueError, match="is not the same as on the last call"):
        model.partial_fit(X, rng.integers(0, 2, N), classes=[0, 1, 2])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"variant": "lazy"}, "variant must be"),
        ({"link": "l1"}, "link must be"),
        ({"r": 1.5}, "means nothing with link='none'"),
        ({"link": "l_r", "kernel": "rbf"}, "has no kernel form"),
        ({"kernel_params": {"gamma": 1.0}}, "belong to a kernel"),
        ({"eta": 0}, "eta must be"),
        ({"eta": "fast"}, "eta must be"),
        ({"eta": np.nan}, "eta must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"loss": "hinge"}, "loss must be"),
        ({"costs": {0: 1.0}}, "no entry for the classes"),
        ({"costs": {0: 1.0, 1: -1.0, 2: 1.0}}, "finite and above 0"),
        ({"costs": np.ones((3, 3))}, "0 on the diagonal"),
        ({"costs": np.eye(2)}, "matrix of shape"),
        ({"reject_cost": 1.5}, "at most 1"),
        ({"reject_cost": 0.0}, "finite and above 0"),
        ({"reject_cost": 0.3, "reject_label": 1}, "none of"),
        ({"reject_cost": 0.3, "reject_label": "?"}, "of the classes' type"),
        ({"reject_cost": 0.3, "fit_intercept": False}, "needs constant terms"),
    ],
)
def test_bad_parameters_are_named(rng, X, options, complaint):
    with pytest.raises(ValueError, match=complaint):
        PredtronClassifier(**options).fit(X, rng.integers(0, 3, N))
