"""Every loss-augmented search finds what trying all predictions finds."""

from itertools import permutations, product

import numpy as np
import pytest

from toprank.kernels.permutations import best_first, search_for_precision
from toprank.kernels.subsets import augmented_flips
from toprank.predtron import (
    Absolute,
    Basis,
    ErrorSetSize,
    Hamming,
    Indicators,
    NDCGLoss,
    Positions,
    PrecisionAtKLoss,
    SubsetZeroOne,
    Vectors,
    ZeroOne,
    compose,
    surrogate,
)
from toprank.predtron.losses import discounts, gains
from toprank.predtron.problem import (
    Composed,
    augmented_value,
    discount_slope,
    search_by_assignment,
    search_by_enumeration,
)

PROFILES = ["discount", "reciprocal", 1.1, 2, 0.5, lambda i: 3 - 2 / np.log2(1 / i + 1)]


def best_value(loss, representation, scores, label):
    """Largest L(σ, y) + ⟨rep(σ), t⟩, with all predictions tried."""
    found = search_by_enumeration(loss, representation, scores, label)
    return augmented_value(loss, representation, scores, label, found)


def tied_scores(rng, size):
    """Scores of several sizes, some of them tied or zero."""
    scores = rng.normal(size=size) * rng.choice([0.01, 0.3, 1.0, 5.0])
    return np.round(scores, 1) if rng.random() < 0.3 else scores


@pytest.mark.parametrize("loss", [Hamming(), SubsetZeroOne(), ErrorSetSize()])
def test_closed_forms_for_subsets_equal_enumeration(rng, loss):
    listed = {m: np.array(list(product([False, True], repeat=m))) for m in range(1, 7)}
    for _ in range(2000):
        m = int(rng.integers(1, 7))
        scores, truth = tied_scores(rng, m), rng.random(m) < rng.random()
        found = truth ^ augmented_flips(scores, truth, loss.code)
        values = [loss(one, truth) for one in listed[m]]
        values += np.where(listed[m], 1, -1) @ scores / np.sqrt(m)
        reached = augmented_value(loss, Indicators(m), scores, truth, found)
        assert reached == pytest.approx(max(values), abs=1e-12)


def ndcg_of_all(m, grades):
    """Orders of m items, and 1 − NDCG of each from its formula."""
    orders = np.array(list(permutations(range(m))))
    reached = gains(grades)[orders] @ discounts(m)
    ideal = reached.max()
    return orders, np.zeros(len(orders)) if ideal == 0 else 1 - reached / ideal


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


def stretched(i):
    return 5 / np.log2(1 + i) - 7


@pytest.mark.parametrize("profile", ["discount", stretched])
def test_sort_equals_assignment_wherever_both_apply(rng, profile):
    for _ in range(2000):
        m = int(rng.integers(2, 30))
        scores, grades = tied_scores(rng, m), rng.integers(0, 4, size=m)
        worth, shares, heights = gains(grades), discounts(m), Positions(profile).heights(m)
        ideal = float(np.sort(worth)[::-1] @ shares)
        slope = discount_slope(heights, shares)
        if ideal == 0:
            continue
        by_sort = best_first(slope * scores - worth / ideal)
        by_assignment = search_by_assignment(scores, worth, ideal, heights, shares)
        values = [
            scores[order] @ heights - worth[order] @ shares / ideal
            for order in (by_sort, by_assignment)
        ]
        assert values[0] == pytest.approx(values[1], abs=1e-11)


@pytest.mark.parametrize("profile", PROFILES[1:])
def test_sort_is_not_used_where_the_representation_is_no_discount(profile):
    assert discount_slope(Positions(profile).heights(8), discounts(8)) is None


@pytest.mark.parametrize("profile", PROFILES)
def test_scan_for_precision_equals_enumeration(rng, profile):
    for _ in range(600):
        m = int(rng.integers(1, 7))
        k = int(rng.integers(1, m + 2))
        scores, relevant = tied_scores(rng, m), rng.random(m) < rng.random()
        heights = Positions(profile).heights(m)
        order = search_for_precision(scores, relevant, k, heights)
        orders = np.array(list(permutations(range(m))))
        reachable = max(min(k, relevant.sum()), 1)

        def values(orders):
            found = relevant[orders][..., :k].sum(axis=-1)  # noqa: B023
            return scores[orders] @ heights - found / reachable  # noqa: B023

        assert values(order) == pytest.approx(values(orders).max(), abs=1e-12)


@pytest.mark.parametrize("loss_driven", [False, True])
@pytest.mark.parametrize("case", ["ndcg", "precision", "table", "absolute", "hamming"])
def test_rounds_in_closed_form_equal_rounds_by_enumeration(rng, case, loss_driven):
    for _ in range(250):
        m = int(rng.integers(2, 6))
        scores = rng.normal(size=m) * rng.choice([0.05, 1.0])
        loss, representation, label = {
            "ndcg": (NDCGLoss(), Positions(1.1, m), rng.integers(0, 3, size=m)),
            "precision": (
                PrecisionAtKLoss(int(rng.integers(1, m + 1))),
                Positions("reciprocal", m),
                rng.integers(0, 2, size=m),
            ),
            "table": (ZeroOne(), Basis(range(m)), int(rng.integers(m))),
            "absolute": (Absolute(), Basis(range(m)), int(rng.integers(m))),
            "hamming": (Hamming(), Indicators(m), rng.random(m) < 0.5),
        }[case]
        quick = compose(loss, representation)
        prepared = quick.prepare([label])[0]
        one = quick.play(scores, prepared, loss_driven=loss_driven)
        naive = Composed(loss, representation)
        other = naive.play(scores, label, loss_driven=loss_driven)
        assert one.loss == pytest.approx(other.loss, abs=1e-12)
        if one.loss == 0:
            continue
        if loss_driven:
            np.testing.assert_allclose(one.step, other.step, atol=1e-12)
        else:  # two searches may find two maximisers: the surrogate is the same
            value = best_value(loss, representation, scores, label)
            correct = representation.vector(naive.correct(scores, label))
            wrong = one.step + correct
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
        (PrecisionAtKLoss(2), Positions("discount", 4), list(product([0, 1], repeat=4))),
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


@pytest.mark.parametrize("m", [2, 3, 5, 6])
def test_extremes_of_the_ndcg_loss_are_those_over_all_rankings(rng, m):
    for _ in range(100):
        grades = rng.integers(0, 4, size=m)
        _, losses = ndcg_of_all(m, grades)
        low, high = NDCGLoss().range(grades)
        above = losses[losses > 1e-12]
        if above.size:
            assert (low, high) == (pytest.approx(above.min()), pytest.approx(above.max()))
        else:
            assert (low, high) == (np.inf, 0.0)


def test_extremes_of_the_precision_loss_are_those_over_all_rankings(rng):
    for _ in range(200):
        m = int(rng.integers(1, 6))
        loss, truth = PrecisionAtKLoss(int(rng.integers(1, 7))), rng.integers(0, 2, size=m)
        losses = np.array([loss(one, truth) for one in Positions(n_items=m).predictions()])
        above = losses[losses > 0]
        expected = (above.min(), above.max()) if above.size else (np.inf, 0.0)
        assert loss.range(truth) == pytest.approx(expected)


def test_decoding_gives_back_what_was_represented():
    for representation in (Basis("abc", reject="?"), Indicators(4), Positions(1.1, 4)):
        for one in representation.predictions():
            vector = representation.vector(one)
            assert np.linalg.norm(vector) == pytest.approx(1)
            assert np.array_equal(representation.decode(vector), one)
            assert np.array_equal(representation.decode(7 * vector), one)


@pytest.mark.parametrize(
    ("profile", "complaint"),
    [
        (lambda i: i, "strictly decreasing"),
        (lambda i: -np.minimum(i, 2), "strictly decreasing"),
        (lambda i: -i[:1], "one finite number per position"),
        (lambda i: -np.inf * i, "one finite number per position"),
        (-1.0, "α > 0"),
        ("log", "α > 0"),
    ],
)
def test_bad_representations_of_rankings_are_refused(profile, complaint):
    with pytest.raises(ValueError, match=complaint):
        Positions(profile).heights(4)


@pytest.mark.parametrize(
    ("vectors", "complaint"),
    [
        ([[1, 0]], "one vector per prediction"),
        ([[1, 0], [0, 0]], "none of them zero"),
        ([[1, 0], [2, 0]], "differ in direction"),
        ([[1, 0], [np.nan, 0]], "finite"),
    ],
)
def test_bad_vectors_are_refused(vectors, complaint):
    with pytest.raises(ValueError, match=complaint):
        Vectors(["a", "b"], vectors)
