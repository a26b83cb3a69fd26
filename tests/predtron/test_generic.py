"""A problem of one's own: losses that fail, round or meet new labels."""

import numpy as np
import pytest

from tests.predtron.streams import N, table
from toprank.predtron import (
    Basis,
    Hamming,
    Indicators,
    NDCGLoss,
    Positions,
    Predtron,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabel,
    Vectors,
    ZeroOne,
    search_by_enumeration,
)


def test_a_loss_that_fails_in_mid_stream_leaves_the_model_as_it_was(X):
    class Shaky(ZeroOne):
        broken = False

        def __call__(self, prediction, label):
            if self.broken and label == 2:
                raise RuntimeError("no idea")
            return super().__call__(prediction, label)

    loss = Shaky()
    corners = Vectors([0, 1, 2], np.eye(3))
    model = Predtron(loss, corners, search=search_by_enumeration)
    y = np.r_[np.zeros(20), np.ones(19), 2].astype(int)
    model.fit(X, y)
    before, rounds = model.coef_.copy(), model.n_rounds_
    Shaky.broken = True
    with pytest.raises(RuntimeError, match="no idea"):
        model.set_params(eta=1.0).partial_fit(X, y)
    assert np.array_equal(model.coef_, before)
    assert model.n_rounds_ == rounds


def test_a_problem_of_ones_own_takes_new_labels_and_refuses_hopeless_ones(X):
    corners = Vectors(["a", "b"], [[1.0], [-1.0]])
    model = Predtron(lambda p, y: float(p != y[0]), corners)
    model.partial_fit(X, ["apple"] * N).partial_fit(X, ["bean", "avocado"] * (N // 2))
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="at least one prediction must cost nothing"):
        model.partial_fit(X, ["cherry"] * N)
    for bad in (np.inf, np.nan, -1.0):
        strange = Predtron(lambda p, y, bad=bad: 0.0 if p == y else bad, corners)
        with pytest.raises(ValueError, match="finite and at least 0"):
            strange.fit(X, ["a", "b"] * (N // 2))
    assert np.array_equal(model.coef_, before)


@pytest.mark.parametrize("search", [None, search_by_enumeration])
def test_a_loss_of_ones_own_may_round(X, search):
    # 0.1 + 0.2 - 0.3 is 5.6e-17: right predictions must not count as mistakes
    costs = {("a", "b"): 1.0, ("b", "a"): 1.0, ("a", "a"): 0.1 + 0.2 - 0.3, ("b", "b"): 0.0}
    corners = Vectors(["a", "b"], [[1.0], [-1.0]])
    y = np.where(X[:, 0] > 0, "a", "b").tolist()
    runs = [
        Predtron(loss, corners, search=search, random_state=0).fit(X, y)
        for loss in (lambda p, t: costs[p, t], lambda p, t: float(p != t))
    ]
    assert np.array_equal(runs[0].losses_, runs[1].losses_)
    assert np.array_equal(runs[0].coef_, runs[1].coef_)


def test_learners_are_the_generic_one_with_their_parts(rng):
    X = table(rng, 100)
    options = {"random_state": 0, "variant": "loss_driven"}
    classes = rng.integers(0, 3, 100)
    one = PredtronClassifier(**options).fit(X, classes)
    other = Predtron(ZeroOne(), Basis(range(3)), **options).fit(X, classes)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-12)
    labels = rng.integers(0, 2, (100, 4))
    for learner, loss, representation in (
        (PredtronMultilabel, Hamming(), Indicators(4)),
        (PredtronLabelRanker, NDCGLoss(), Positions(1.1, 4)),
    ):
        one = learner(**options).fit(X, labels)
        other = Predtron(loss, representation, **options).fit(X, labels)
        np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-12)
        assert np.array_equal(one.predict(X), other.predict(X))
