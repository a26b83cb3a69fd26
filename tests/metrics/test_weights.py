"""Weights of any size, and sums of weights that no float holds exactly."""

import math
from functools import partial

import numpy as np
import pytest

from toprank import metrics

EXTREMES = [1e-300, 1e-170, 1e170, 1e300]
SCALE_FREE = [
    ("roc_auc", {}),
    ("partial_auc", {"max_fpr": 0.5}),
    ("positives_at_top", {}),
    ("winner_take_all", {"ties": "average"}),
    ("prbep", {}),
    ("average_precision", {}),
    ("bedroc", {}),
    ("pnorm_error", {"normalize": True, "p": 3}),
    ("precision_at_k", {"k": 0.5}),
    ("recall_at_k", {"k": 0.25}),
    ("lift", {"k": 0.125}),
    ("enrichment_factor", {"fraction": 0.5}),
    ("average_reciprocal_rank", {}),
]


def rows(n_rows=16, seed=3):
    rng = np.random.default_rng(seed)
    return rng.permutation(n_rows) % 2, rng.integers(0, 9, n_rows) / 10


@pytest.mark.parametrize("scale", EXTREMES)
@pytest.mark.parametrize("groups", [None, np.arange(16) // 8])
@pytest.mark.parametrize(("name", "options"), SCALE_FREE)
def test_constant_weights_change_nothing(name, options, groups, scale):
    y, scores = rows()
    plain = getattr(metrics, name)(y, scores, groups=groups, **options)
    weighted = getattr(metrics, name)(
        y, scores, groups=groups, sample_weight=np.full(16, scale), **options
    )
    assert weighted == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("scale", EXTREMES)
def test_heights_scale_with_constant_weights(scale):
    y, scores = rows()
    weights = np.full(16, scale)
    largest = metrics.r_max(y, scores, sample_weight=weights)
    assert largest / scale == pytest.approx(metrics.r_max(y, scores), rel=1e-12)
    for name in ("height", "reverse_height"):
        found = getattr(metrics, name)(y, scores, sample_weight=weights)
        np.testing.assert_allclose(found / scale, getattr(metrics, name)(y, scores), rtol=1e-12)


@pytest.mark.parametrize("name", ["dcg", "ndcg", "average_reciprocal_rank", "average_precision"])
@pytest.mark.parametrize("ties", ["average", "pessimistic", "optimistic"])
@pytest.mark.parametrize("scale", EXTREMES)
def test_places_that_count_weight_are_finite_or_refused(name, ties, scale):
    y, scores = rows()
    call = partial(getattr(metrics, name), y, scores, sample_weight=np.full(16, scale), ties=ties)
    if scale > 1 and name != "average_precision":
        with pytest.raises(ValueError, match="scale the weights down"):
            call()
    else:
        assert math.isfinite(call())


def test_lists_of_very_different_weights_do_not_disturb_each_other():
    y, scores = rows()
    groups = np.arange(16) // 4
    weights = np.array([1e200, 1.0, 1e-200, 1e-250])[groups]
    for name, options in SCALE_FREE:
        alone = getattr(metrics, name)(y, scores, groups=groups, **options)
        if "k" in options or "fraction" in options:
            continue
        together = getattr(metrics, name)(
            y, scores, groups=groups, sample_weight=weights, **options
        )
        assert together == pytest.approx(alone, rel=1e-12), name


def test_the_first_negative_is_found_whatever_the_weights_sum_to():
    y, scores, groups = [0, 0, 0, 1, 1, 0], [3, 2, 1, 0, 2, 1], [0, 0, 0, 0, 1, 1]
    weights = [0.1, 0.2, 0.3, 1, 1, 1]
    given = {"sample_weight": weights, "groups": groups}
    assert metrics.positives_at_top(y, scores, **given) == 0.5
    assert metrics.r_max(y, scores, **given) == 0.5


def test_a_light_negative_tied_with_heavy_positives_counts():
    y, scores, weights = [1, 0, 1], [2, 2, 1], [1.0, 1e-20, 1.0]
    assert metrics.positives_at_top(y, scores, sample_weight=weights) == 0
    assert metrics.r_max(y, scores, sample_weight=weights) == 2
    assert metrics.winner_take_all(y, scores, sample_weight=weights) == 1


def test_a_perfect_list_has_exact_ends_whatever_the_weights_sum_to():
    rng = np.random.default_rng(0)
    for _ in range(100):
        y = np.arange(12) < 6
        weights = rng.random(12)
        perfect, reversed_ = -np.arange(12.0), np.arange(12.0)
        assert metrics.positives_at_top(y, perfect, sample_weight=weights) == 1
        assert metrics.r_max(y, perfect, sample_weight=weights) == 0
        assert metrics.positives_at_top(y, reversed_, sample_weight=weights) == 0
        assert not metrics.height(y, perfect, sample_weight=weights).any()


@pytest.mark.parametrize("ties", ["average", "pessimistic", "optimistic", "together"])
def test_average_precision_lies_between_its_ends_with_light_weights(ties):
    rng = np.random.default_rng(1)
    for _ in range(200):
        y, scores = np.arange(8) % 2, rng.integers(0, 3, 8)
        given = {"sample_weight": rng.random(8) * 10.0 ** rng.integers(-3, 2)}
        worst, found, best = (
            metrics.average_precision(y, scores, ties=choice, **given)
            for choice in ("pessimistic", ties, "optimistic")
        )
        assert 0 <= found <= 1 + 1e-12
        assert worst <= best + 1e-12
        if ties == "average":
            assert worst - 1e-12 <= found <= best + 1e-12


def test_weights_that_sum_to_k_rows_hold_k_rows():
    y, scores = np.arange(30) % 2, np.arange(30)
    assert metrics.precision_at_k(y, scores, k=3, sample_weight=np.full(30, 0.1)) == pytest.approx(
        0.5
    )
    third = np.full(9, 1 / 3)
    assert metrics.shortlist_overlap(scores[:9], scores[:9], k=3, sample_weight=third) == 1
    gains = metrics.dcg(y[:9], scores[:9], k=3, sample_weight=third, ties="together")
    assert gains == pytest.approx(
        metrics.dcg(y[:9], scores[:9], sample_weight=third, ties="together")
    )
