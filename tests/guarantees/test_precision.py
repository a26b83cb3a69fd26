"""Margins and mistake bounds for precision at k, on streams built to have each margin.

Margins are those of Definitions 2, 4 and 5.
"""

import math

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from toprank import PrecisionAtKRanker
from toprank.guarantees import (
    MistakeCertificate,
    mistake_bound,
    top_margins,
)
from toprank.guarantees.precision import reach_of
from toprank.metrics import precision_at_k
from toprank.objectives import PrecisionAtK
from toprank.solvers.mini_batch import MiniBatches, Patience, Stream, perceptron_aim
from toprank.truth import Truth

K = 3


def stream_with_margin(kind, seed=0, n_lists=40):
    """Lists in which w* = (1, 0, …) has a strong margin, or only a (k, γ)-margin."""
    rng = np.random.default_rng(seed)
    tables, labels = [], []
    for _ in range(n_lists):
        X = rng.normal(size=(40, 6))
        y = np.arange(40) < 10
        X[:, 0] = np.where(y, 2.0, 1.0 - rng.random(40))
        if kind == "average":
            X[:2, 0] = 0.0  # two positives stand below most negatives
        tables.append(X)
        labels.append(y)
    groups = np.repeat(np.arange(n_lists), 40)
    return np.concatenate(tables), np.concatenate(labels), groups


def run_perceptron(X, y, groups, surrogate, passes):
    truth = Truth.of_labels(y, groups=groups)
    aim = perceptron_aim(K, surrogate, whole=True, average=False)
    stream = Stream(aim, np.zeros(X.shape[1]), np.ones(X.shape[1]))
    stream.fit(X, truth, MiniBatches(truth, 1, 0), max_iter=passes, patience=Patience(None, 5))
    return stream


@pytest.mark.parametrize(("surrogate", "margin"), [("avg", "average"), ("max", "strong")])
@pytest.mark.parametrize("seed", range(3))
def test_mistakes_stay_under_corollaries_8_and_10(surrogate, margin, seed):
    X, y, groups = stream_with_margin(margin, seed)
    gap = getattr(top_margins(y, X[:, 0], k=K, groups=groups), margin)
    assert gap > 0.1
    reach = reach_of(X, np.zeros(6), np.ones(6))
    bound = mistake_bound(1 / gap, reach, K, surrogate_sum=0.0)  # 4k·R²/γ²
    stream = run_perceptron(X, y, groups, surrogate, passes=200)
    assert 0 < stream.tally.mistakes <= bound
    # a finite number of mistakes on the same lists again and again: the last passes make none
    before = stream.tally.mistakes
    truth = Truth.of_labels(y, groups=groups)
    stream.learn(X, truth, next(MiniBatches(truth, 1, None).passes()))
    assert stream.tally.mistakes == before


def test_the_average_margin_exists_where_the_strong_one_does_not():
    X, y, groups = stream_with_margin("average")
    margins = top_margins(y, X[:, 0], k=K, groups=groups)
    assert margins.strong < 0 < margins.average <= margins.weak


@pytest.mark.parametrize("surrogate", ["avg", "max"])
@pytest.mark.parametrize("seed", range(3))
def test_mistakes_stay_under_theorems_7_and_9_on_noisy_streams(surrogate, seed):
    rng = np.random.default_rng(seed)
    X, groups = rng.normal(size=(4000, 3)), np.repeat(np.arange(100), 40)
    y = X[:, 0] + rng.normal(size=4000) > 1
    reach = reach_of(X, np.zeros(3), np.ones(3))
    stream = run_perceptron(X, y, groups, surrogate, passes=1)
    criterion = PrecisionAtK(K, surrogate).on(y, groups=groups)
    for scale in (0.0, 0.1, 0.3, 1.0, 3.0):
        for direction in (np.array([1.0, 0.0, 0.0]), rng.normal(size=3)):
            w = scale * direction
            total = criterion.risk(X @ w)
            bound = mistake_bound(float(np.linalg.norm(w)), reach, K, total)
            assert stream.tally.mistakes <= bound


def hidden_positives(seed=0, n_lists=60):
    """Good positives on one axis; the rest lure a classifier to another, where negatives lead.

    Three quarters of the positives stand at x₀ = 1, above all negatives; the others far below,
    at x₀ = -1, x₁ = 5. Every list has a negative at x₁ = 6: a model that uses x₁ to find the
    others puts it first.
    """
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(n_lists):
        X = 0.05 * rng.normal(size=(60, 2))
        X[:15] += (1.0, 0.0)
        X[15:20] += (-1.0, 5.0)
        X[20] += (0.0, 6.0)
        tables.append(X)
    y = np.tile(np.arange(60) < 20, n_lists)
    return np.concatenate(tables), y, np.repeat(np.arange(n_lists), 60)


def test_a_perfect_top_where_a_linear_svm_has_none():
    X, y, groups = hidden_positives()
    margins = top_margins(y, X[:, 0], k=5, groups=groups)
    assert margins.average > 0.1  # so Corollary 8 promises a perfect top 5
    ranker = PrecisionAtKRanker(
        k=5, solver="perceptron", max_iter=200, tol=None, average=False, random_state=0
    ).fit(X, y, groups=groups)
    ranked = ranker.decision_function(X)
    assert precision_at_k(y, ranked, k=5, groups=groups, ties="pessimistic") == 1.0
    assert ranker.certificate_.holds
    for C in (1e-3, 1e-1, 10.0, 1e3):
        for weight in (None, "balanced"):
            svm = LinearSVC(C=C, class_weight=weight, max_iter=100_000).fit(X, y)
            scores = svm.decision_function(X)
            assert precision_at_k(y, scores, k=5, groups=groups, ties="optimistic") < 1.0


@pytest.mark.parametrize("surrogate", ["avg", "max"])
@pytest.mark.parametrize("batch_size", [1, 50, 5000])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_perceptron_fit_certifies_its_run(surrogate, batch_size, weighted):
    rng = np.random.default_rng(batch_size)
    X = rng.normal(size=(800, 4))
    y = X[:, 0] + 0.3 * rng.normal(size=800) > 0.8
    weights = rng.uniform(0.5, 2.0, 800) if weighted else None
    model = PrecisionAtKRanker(
        0.3, solver="perceptron", surrogate=surrogate, batch_size=batch_size, max_iter=4,
        random_state=0,
    ).fit(X, y, sample_weight=weights)  # fmt: skip
    certificate = model.certificate_
    assert isinstance(certificate, MistakeCertificate)
    assert certificate.holds
    assert 0 < certificate.mistakes <= certificate.bound < math.inf
    expected = mistake_bound(
        certificate.norm, certificate.reach, certificate.largest_k, certificate.surrogate_sum
    )
    assert certificate.bound == pytest.approx(expected)


def test_a_separable_run_has_a_bound_that_does_not_grow_with_it():
    X, y, groups = stream_with_margin("strong", n_lists=100)
    bounds = []
    for passes in (2, 40):
        model = PrecisionAtKRanker(
            K, solver="perceptron", max_iter=passes, tol=None, average=False, random_state=0
        ).fit(X, y, groups=groups)
        bounds.append(model.certificate_.bound)
        assert model.certificate_.holds
    assert model.certificate_.norm > 0
    assert bounds[1] < 40 * K * 100  # what w = 0 promises


@pytest.mark.parametrize("share", [2, 0.4])
def test_margins_of_lists_are_the_smallest(share):
    rng = np.random.default_rng(1)
    y, scores, groups = rng.random(60) < 0.4, rng.normal(size=60), np.arange(60) % 3
    whole = top_margins(y, scores, k=share, groups=groups)
    parts = [top_margins(y[groups == g], scores[groups == g], k=share) for g in range(3)]
    assert whole == tuple(np.min(parts, axis=0))
    for part, own in ((p, groups == g) for g, p in enumerate(parts)):
        best = np.sort(scores[own & y])[::-1]
        k = 2 if share == 2 else math.ceil(0.4 * best.size)
        top = scores[own & ~y].max()
        assert part.weak == best[k - 1] - top
        assert part.average == pytest.approx(best[k - 1 :].mean() - top)
        assert part.strong == best[-1] - top


def test_one_class_has_no_margin():
    assert all(math.isnan(margin) for margin in top_margins([1, 1], [0.0, 1.0], k=1))
