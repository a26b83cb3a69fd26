"""Searches in closed form, and the rounds they serve, equal trying every prediction.

Rounds are those of Algorithm 1, the surrogate is equation (2), the assignment that of Lemma 3.
"""

from itertools import product

import numpy as np
import pytest

from tests.predtron.streams import ndcg_of_all
from toprank.kernels.rounds import TableRounds, best_first, play_round
from toprank.predtron import (
    Absolute,
    Basis,
    ErrorSetSize,
    Hamming,
    Indicators,
    NDCGLoss,
    Positions,
    ShortlistLoss,
    Signs,
    SubsetZeroOne,
    ZeroOne,
    compose,
    surrogate,
)
from toprank.predtron.losses import discounts, gains
from toprank.predtron.problem import (
    Composed,
    search_by_assignment,
    search_by_enumeration,
)

PROFILES = ["discount", "reciprocal", 1.1, 2, 0.5, lambda i: 3 - 2 / np.log2(1 / i + 1)]


def augmented_value(loss, representation, scores, label, prediction):
    """L(σ, y) + ⟨rep(σ), t⟩ of one prediction."""
    return loss(prediction, label) + representation.vector(prediction) @ scores


def best_value(loss, representation, scores, label):
    """Largest L(σ, y) + ⟨rep(σ), t⟩, with all predictions tried."""
    found = search_by_enumeration(loss, representation, scores, label)
    return augmented_value(loss, representation, scores, label, found)


def tied_scores(rng, size):
    """Scores of several sizes, some of them tied or zero."""
    scores = rng.normal(size=size) * rng.choice([0.01, 0.3, 1.0, 5.0])
    return np.round(scores, 1) if rng.random() < 0.3 else scores


@pytest.mark.parametrize("profile", PROFILES)
def test_assignment_for_ndcg_equals_enumeration(rng, profile):
    for _ in range(600):
        m = int(rng.integers(2, 7))
        scores, grades = tied_scores(rng, m), rng.integers(0, 4, size=m)
        worth, shares = gains(grades), discounts(m)
        ideal = float(np.sort(worth)[::-1] @ shares)
        if ideal == 0:
            continue
        heights = Positions(profile).heights(m)
        order = search_by_assignment(scores, worth, ideal, heights, shares)
        orders, losses = ndcg_of_all(m, grades)
        reached = 1 - worth[order] @ shares / ideal + scores[order] @ heights
        assert reached == pytest.approx((losses + scores[orders] @ heights).max(), abs=1e-12)


def test_sort_equals_assignment_for_the_discount_itself(rng):
    for _ in range(2000):
        m = int(rng.integers(2, 30))
        scores, grades = tied_scores(rng, m), rng.integers(0, 4, size=m)
        worth, shares, heights = gains(grades), discounts(m), Positions("discount").heights(m)
        ideal = float(np.sort(worth)[::-1] @ shares)
        if ideal == 0:
            continue
        rounds = compose(NDCGLoss(), Positions("discount")).compiled_rounds(m, loss_driven=False)
        by_sort = best_first(rounds.slope * scores - worth / ideal)
        by_assignment = search_by_assignment(scores, worth, ideal, heights, shares)
        values = [
            scores[order] @ heights - worth[order] @ shares / ideal
            for order in (by_sort, by_assignment)
        ]
        assert values[0] == pytest.approx(values[1], abs=1e-11)


@pytest.mark.parametrize("profile", PROFILES[1:])
def test_sort_is_not_used_where_the_representation_is_no_discount(profile):
    problem = compose(NDCGLoss(), Positions(profile))
    assert problem.compiled_rounds(8, loss_driven=False) is None


@pytest.mark.parametrize("loss_driven", [False, True])
@pytest.mark.parametrize("case", ["ndcg", "precision", "table", "absolute", "hamming"])
def test_rounds_in_closed_form_equal_rounds_by_enumeration(rng, case, loss_driven):
    for _ in range(250):
        m = int(rng.integers(2, 6))
        scores = rng.normal(size=m) * rng.choice([0.05, 1.0])
        loss, representation, label = {
            "ndcg": (NDCGLoss(), Positions(1.1, m), rng.integers(0, 3, size=m)),
            "precision": (
                ShortlistLoss(int(rng.integers(1, m + 1))),
                Positions("reciprocal", m),
                rng.integers(0, 2, size=m),
            ),
            "table": (ZeroOne(), Basis(range(m)), int(rng.integers(m))),
            "absolute": (Absolute(), Basis(range(m)), int(rng.integers(m))),
            "hamming": (Hamming(), Indicators(m), rng.random(m) < 0.5),
        }[case]
        quick = compose(loss, representation)
        prepared = quick.prepare([label])[0]
        lost, step = quick.play(scores, prepared, loss_driven=loss_driven)
        naive = Composed(loss, representation)
        naively_lost, naive_step = naive.play(scores, label, loss_driven=loss_driven)
        assert lost == pytest.approx(naively_lost, abs=1e-12)
        if lost == 0:
            continue
        if loss_driven:
            np.testing.assert_allclose(step, naive_step, atol=1e-12)
        else:  # two searches may find two maximisers: the surrogate is the same
            value = best_value(loss, representation, scores, label)
            correct = representation.vector(naive.correct(scores, label))
            wrong = step + correct
            predicted = min(
                representation.predictions(),
                key=lambda p: np.abs(representation.vector(p) - wrong).max(),
            )
            np.testing.assert_allclose(representation.vector(predicted), wrong, atol=1e-12)
            reached = augmented_value(loss, representation, scores, label, predicted)
            assert reached == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("loss", "representation", "labels"),
    [
        (ZeroOne(), Basis("abcd"), list("abcd")),
        (Absolute(), Basis(range(5)), range(5)),
        (Hamming(), Indicators(4), list(product([0, 1], repeat=4))),
        (ErrorSetSize(), Indicators(4), list(product([0, 1], repeat=4))),
        (NDCGLoss(), Positions(2, 4), list(product([0, 1, 2], repeat=4))),
        (ShortlistLoss(2), Positions("discount", 4), list(product([0, 1], repeat=4))),
    ],
)
def test_surrogate_is_convex_and_bounds_the_loss(rng, loss, representation, labels):
    for _ in range(60):
        label = labels[rng.integers(len(labels))]
        a, b = rng.normal(size=(2, representation.dimension))
        correct = next(one for one in representation.predictions() if loss(one, label) == 0)

        def phi(t, label=label, correct=correct):
            return surrogate(loss, representation, t, label, correct)

        assert phi((a + b) / 2) <= (phi(a) + phi(b)) / 2 + 1e-12
        assert phi(a) >= loss(representation.decode(a), label) - 1e-12


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


def test_similarities_that_differ_by_rounding_are_tied():
    vectors, losses = np.eye(3), 1.0 - np.eye(3)
    problem = TableRounds(vectors, losses, False, np.empty(3))
    for tied in ([0.3, 0.3, 0.0], [0.0, 0.0, 0.0]):
        step, noisy_step = np.zeros(3), np.zeros(3)
        loss = play_round(problem, np.array(tied), 1, False, step)
        noisy = np.array(tied) + np.array([0.0, 1e-16, -1e-16])
        assert play_round(problem, noisy, 1, False, noisy_step) == loss == 1.0
        np.testing.assert_array_equal(noisy_step, step)


# Margins ----------------------------------------------------------------------------------


def margins(loss, representation, scores, label):
    """The margin in closed form, and by the definition with all predictions tried."""
    known, tried = compose(loss, representation), Composed(loss, representation)
    return known.margin(scores, known.prepare([label])[0]), tried.margin(scores, label)


def test_binary_margin_is_twice_the_classical_one(rng):
    problem = compose(ZeroOne(), Signs(["no", "yes"]))
    (yes,) = problem.prepare(["yes"])
    for score in rng.normal(size=20):
        assert problem.margin(np.array([score]), yes) == pytest.approx(2 * score)


@pytest.mark.parametrize("loss", [Hamming(), SubsetZeroOne()])
def test_subset_margin_is_the_definition(rng, loss):
    for _ in range(300):
        m = int(rng.integers(1, 6))
        found, expected = margins(loss, Indicators(m), rng.normal(size=m), rng.random(m) < 0.5)
        assert found == pytest.approx(expected)


def test_error_set_margin_is_that_of_the_truth_against_all_subsets_with_a_loss(rng):
    loss = ErrorSetSize()
    for _ in range(300):
        m = int(rng.integers(2, 6))
        truth = rng.random(m) < 0.5
        scores = np.abs(rng.normal(size=m)) * np.where(truth, 1, -1)
        listed = list(Indicators(m).predictions())
        similarities = np.array([Indicators(m).vector(one) @ scores for one in listed])
        wrong = np.array([loss(one, truth) > 0 for one in listed])
        own = Indicators(m).vector(truth) @ scores
        expected = own - similarities[wrong].max() if wrong.any() else np.inf
        assert compose(loss, Indicators(m)).margin(scores, truth) == pytest.approx(expected)


def test_error_set_has_no_margin_where_another_subset_without_loss_comes_first():
    scores, truth = np.array([1.0, 0.5, -1.0]), np.array([True, False, False])
    assert compose(ErrorSetSize(), Indicators(3)).margin(scores, truth) < 0


@pytest.mark.parametrize("profile", PROFILES[:4])
def test_ndcg_margin_is_the_definition(rng, profile):
    for _ in range(150):
        m = int(rng.integers(2, 6))
        grades = rng.integers(0, 3, size=m)
        scores = rng.normal(size=m) + grades * rng.choice([0, 1, 3])
        if rng.random() < 0.5:  # tied within grades, where Lemma 4 is right
            scores = grades * rng.random() + 0.0
        found, expected = margins(NDCGLoss(), Positions(profile, m), scores, grades)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("profile", PROFILES[:4])
def test_precision_margin_is_the_definition(rng, profile):
    for _ in range(150):
        m = int(rng.integers(1, 6))
        truth, k = rng.integers(0, 2, size=m), int(rng.integers(1, 6))
        scores = truth * 2.0 if rng.random() < 0.5 else rng.normal(size=m)
        found, expected = margins(ShortlistLoss(k), Positions(profile, m), scores, truth)
        assert found == pytest.approx(expected, abs=1e-12)


def test_margins_of_rankings_are_worked_out_by_hand():
    scores = np.array([2.0, 2.0, 1.0])
    three = Positions(lambda i: np.array([0.8, 0.6, 0.0][: i.size]))
    for loss in (NDCGLoss(), ShortlistLoss(2)):
        assert compose(loss, three).margin(scores, gains([1, 1, 0])) == pytest.approx(0.6)
    spread = np.array([2.5, 2.0, 1.0])
    assert compose(NDCGLoss(), three).margin(spread, gains([1, 1, 0])) == pytest.approx(0.5)


def test_a_loss_of_rounding_is_no_loss():
    signs = Composed(lambda one, label: 1.0 if one != label else 2e-16, Signs([0, 1]))
    assert signs.margin(np.array([0.3]), 1) == pytest.approx(0.6)
