"""Losses of separable streams stay under their bound; margins equal their definition."""

import math
from dataclasses import replace

import numpy as np
import pytest

from toprank.guarantees import PredtronCertificate
from toprank.predtron import (
    Predtron,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabel,
    PredtronOrdinal,
    PredtronSubsetRanker,
    Vectors,
)

RUN = {"average": False, "shuffle": False, "max_iter": 1}


ROWS = RUN | {"fit_intercept": False}


VARIANTS = ["standard", "loss_driven"]


def class_scores(rng, y, m):
    """Scores that lead by 1 or more for the true class."""
    scores = -rng.random((len(y), m))
    scores[np.arange(len(y)), y] = 1.0
    return scores


def binary(stream, options):
    y = stream.rng.integers(0, 2, size=stream.n_rows)
    scores = np.where(y == 1, 1.0, -1.0) * (1 + stream.rng.random(stream.n_rows))
    return PredtronClassifier(loss="error_set", **options), scores[:, None], y


def weighted(stream, options):
    model, scores, y = binary(stream, options)
    return model.set_params(costs={0: 1.0, 1: 3.0}), scores, y


def multiclass(stream, options):
    y = stream.rng.integers(0, 4, size=stream.n_rows)
    return PredtronClassifier(**options), class_scores(stream.rng, y, 4), y


def costly(stream, options):
    model, scores, y = multiclass(stream, options)
    costs = stream.rng.uniform(0.2, 3, size=(4, 4)) * (1 - np.eye(4))
    return model.set_params(costs=costs), scores, y


def reject(stream, options):
    model, scores, y = multiclass(stream, options)
    return model.set_params(reject_cost=0.4, fit_intercept=True), scores, y


def ordinal(stream, options):
    _, scores, y = multiclass(stream, options)
    return PredtronOrdinal(**options), scores, y


def multilabel(loss):
    def build(stream, options):
        Y = stream.rng.random((stream.n_rows, 4)) < 0.4
        scores = np.where(Y, 1.0, -1.0) * (1 + stream.rng.random(Y.shape))
        return PredtronMultilabel(loss=loss, **options), scores, Y.astype(int)

    return build


def label_ranking(**own):
    def build(stream, options):
        Y = stream.rng.random((stream.n_rows, 4)) < 0.4
        return PredtronLabelRanker(**own, **options), 1.0 * Y, Y.astype(int)

    return build


def compass(stream, options):
    directions = Vectors(range(4), [[1, 0], [0, 1], [-1, 0], [0, -1]])
    y = stream.rng.integers(0, 4, size=stream.n_rows)
    scores = directions.table[y] + 0.1 * stream.rng.normal(size=(stream.n_rows, 2))
    return Predtron(lambda a, b: min((a - b) % 4, (b - a) % 4), directions, **options), scores, y


INSTANCES = {
    "binary": (binary, 1),
    "weighted": (weighted, 1),
    "multiclass": (multiclass, 4),
    "any costs": (costly, 4),
    "reject": (reject, 4),
    "ordinal": (ordinal, 4),
    "hamming": (multilabel("hamming"), 4),
    "subset": (multilabel("subset"), 4),
    "error set": (multilabel("error_set_size"), 4),
    "labels by ndcg, discount": (label_ranking(representation="discount"), 4),
    "labels by ndcg, -i^1.1": (label_ranking(representation=1.1), 4),
    "labels by ndcg, 1/i": (label_ranking(representation="reciprocal"), 4),
    "a problem of one's own": (compass, 2),
}


@pytest.mark.parametrize("link", ["none", "l_r", "group", "schatten"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", INSTANCES)
def test_separable_streams_stay_under_their_bound(separable_stream, name, variant, link):
    build, dimension = INSTANCES[name]
    for seed in range(3):
        stream = separable_stream(seed, dimension, 12, 400)
        model, scores, y = build(stream, ROWS | {"variant": variant, "link": link})
        X = stream.inputs(scores)
        run = model.fit(X, y).certify(X, y, stream.weights)
        assert run.margin > 0
        assert 0 < run.cumulative_loss <= run.bound() < np.inf
        assert run.cumulative_loss == pytest.approx(model.losses_.sum())


@pytest.mark.parametrize("link", ["none", "group"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", INSTANCES)
def test_wrong_labels_add_to_the_bound_by_as_much_as_they_are_wrong(
    separable_stream, name, variant, link
):
    build, dimension = INSTANCES[name]
    stream = separable_stream(0, dimension, 12, 400)
    options = ROWS | {"variant": variant, "link": link, "max_iter": 2}
    model, scores, y = build(stream, options)
    X, y = stream.inputs(scores), np.array(y)
    y[:40] = y[40:80]  # a tenth of the labels are those of other rows
    run = model.fit(X, y).certify(X, y, stream.weights)
    assert run.margin < 0
    assert run.cumulative_loss <= run.bound() < np.inf
    assert all(run.holds(gamma) for gamma in np.sort(run.margins)[[80, 200, 300]])
    without = model.fit(X[40:], y[40:]).certify(X[40:], y[40:], stream.weights)
    assert without.bound() < run.bound()


def ranking_lists(separable_stream, seed):
    """Lists whose grades are what w gives, exactly, and the reference w."""
    stream = separable_stream(seed, 1, 12, 0)
    sizes = stream.rng.integers(1, 9, size=80)
    grades = np.concatenate([stream.rng.integers(0, 3, size=size) for size in sizes])
    X = stream.inputs(grades[:, None].astype(float))
    return X, grades, np.repeat(np.arange(sizes.size), sizes), stream.weights


@pytest.mark.parametrize("link", ["none", "l_r", "group"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("representation", ["discount", "reciprocal", 1.1, 2])
def test_lists_stay_under_their_bound(separable_stream, representation, variant, link):
    for seed in range(2):
        X, y, groups, w = ranking_lists(separable_stream, seed)
        model = PredtronSubsetRanker(
            representation=representation, variant=variant, link=link, **RUN
        )
        run = model.fit(X, y, groups=groups).certify(X, y, w, groups=groups)
        assert run.margin > 0
        assert 0 < run.cumulative_loss <= run.bound() < np.inf


@pytest.mark.parametrize("variant", VARIANTS)
def test_shortlists_stay_under_their_bound(separable_stream, variant):
    # A margin for precision needs scores tied among all that may change places.
    for seed in range(3):
        stream = separable_stream(seed, 4, 12, 300)
        Y = np.zeros((300, 4), dtype=int)
        for row in Y:
            row[stream.rng.choice(4, size=2, replace=False)] = 1
        X = stream.inputs(1.0 * Y)
        model = PredtronLabelRanker(loss="precision_at_k", k=2, variant=variant, **ROWS)
        run = model.fit(X, Y).certify(X, Y, stream.weights)
        assert run.margin > 0
        assert 0 < run.cumulative_loss <= run.bound()


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_bound_is_tight_on_orthonormal_rows(variant):
    n = 40
    y = np.random.default_rng(0).integers(0, 2, size=n)
    y[:2] = 0, 1
    reference = np.where(y == 1, 1.0, -1.0)[None, :]
    model = PredtronClassifier(loss="error_set", variant=variant, **ROWS).fit(np.eye(n), y)
    run = model.certify(np.eye(n), y, reference)
    assert run.cumulative_loss == n
    assert run.bound() == pytest.approx(n)


def test_steps_of_any_length_have_the_proofs_bound():
    run = PredtronCertificate(radius=2.0, smallest_loss=0.5, largest_loss=3.0)
    best = run.bound(margin=0.1)
    assert best == pytest.approx(4 * 4 * 9 / (0.5 * 0.01))
    for share in (0.1, 0.5, 1.5, 1.9):
        assert replace(run, eta=share * run.step).bound(margin=0.1) > best
    assert replace(run, eta=2 * run.step).bound(margin=0.1) == math.inf
    assert run.bound(0.0) == replace(run, loss_driven=True, eta=1.0).bound(-1.0) == math.inf


def test_the_loss_driven_bound_needs_no_smallest_loss():
    for eta in (0.01, 1.0, 7.0):
        run = PredtronCertificate(radius=1.0, largest_loss=3.0, eta=eta, loss_driven=True)
        assert run.bound(margin=0.5) == pytest.approx(48.0)


@pytest.mark.parametrize("eta_share", [0.2, 1.7])
def test_other_steps_stay_under_their_bound(separable_stream, eta_share):
    stream = separable_stream(3, 4, 12, 400)
    model, scores, y = multiclass(stream, ROWS)
    X = stream.inputs(scores)
    radius = np.linalg.norm(X, axis=1).max()
    run = PredtronCertificate(radius=radius, smallest_loss=1.0)
    model.set_params(eta=eta_share * run.step)
    run = model.fit(X, y).certify(X, y, stream.weights)
    assert 0 < run.cumulative_loss <= run.bound() < np.inf


def test_a_certificate_needs_a_margin():
    run = PredtronCertificate(1.0, 2, 1, 1.0, 1.0, 1.0, eta=0.25)
    with pytest.raises(ValueError, match="margin of a reference"):
        run.bound()
    assert not PredtronCertificate(99.0, 2, 1, 1.0, 1.0, 1.0, eta=0.25).holds(1.0)


def test_a_bound_that_is_met_but_for_rounding_holds():
    run = PredtronCertificate(16.0 * (1 + 1e-15), 100, 16, 1.0, 1.0, 1.0, eta=0.25)
    assert run.holds(margin=0.5)
    assert not PredtronCertificate(16.1, 100, 17, 1.0, 1.0, 1.0, eta=0.25).holds(margin=0.5)


def test_a_step_at_the_limit_has_no_bound_whatever_the_rounding():
    for eta in (0.5, np.nextafter(0.5, 0.0), np.nextafter(0.5, 1.0)):
        run = PredtronCertificate(radius=1.0, smallest_loss=1.0, largest_loss=1.0, eta=eta)
        assert run.bound(margin=0.5) == np.inf
