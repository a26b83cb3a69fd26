"""Every metric equals its definition, read off every order that the ties allow."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank import metrics
from toprank.metrics import naive

ORDERED = ("average", "pessimistic", "optimistic")


def _k_of(order, k):
    return math.ceil(k * len(order) - 1e-9) if isinstance(k, float) else k


def _at(judge, order, k, **options):
    return judge(order, _k_of(order, k) if k is not None else len(order), **options)


# name, options, judge of one strict order, whether it is a loss, ties that have such a twin
CASES = [
    ("roc_auc", {}, naive.roc_auc, False, ORDERED),
    *[
        (
            "partial_auc",
            {"max_fpr": fpr, "standardize": standardize},
            partial(naive.partial_auc, max_fpr=fpr, standardize=standardize),
            False,
            # "average" is the diagonal through a tie, a mean over orders only at max_fpr = 1
            ORDERED if fpr == 1 else ORDERED[1:],
        )
        for fpr, standardize in [(1.0, True), (0.3, True), (0.7, False)]
    ],
    ("positives_at_top", {}, naive.positives_at_top, False, ORDERED),
    ("r_max", {}, naive.r_max, True, ORDERED),
    ("winner_take_all", {}, naive.winner_take_all, True, ORDERED),
    *[
        ("pnorm_error", {"p": p}, partial(naive.pnorm_error, p=p), True, ORDERED)
        for p in (1, 2.5, 4)
    ],
    *[
        (
            "pnorm_error",
            {"p": p, "normalize": True},
            partial(naive.pnorm_error, p=p, normalize=True),
            True,
            ORDERED if p == 1 else ORDERED[1:],
        )
        for p in (1, 3, 64, math.inf)
    ],
    *[
        (
            "price_of_heights",
            {"price": price, "on": on},
            partial(naive.price_of_heights, price=price, on=on),
            True,
            ORDERED,
        )
        for on, price in [("height", np.square), ("reverse_height", np.log1p), ("rank", np.sqrt)]
    ],
    *[
        (name, {"k": k}, partial(_at, judge, k=k), False, ORDERED)
        for name, judge in [
            ("precision_at_k", naive.precision_at_k),
            ("recall_at_k", naive.recall_at_k),
            ("lift", naive.lift),
        ]
        for k in (1, 2, 0.4)
    ],
    ("enrichment_factor", {"fraction": 0.3}, partial(_at, naive.lift, k=0.3), False, ORDERED),
    ("prbep", {}, naive.prbep, False, ORDERED),
    ("average_precision", {}, naive.average_precision, False, ORDERED),
    *[
        (name, {"k": k, "log_base": base}, partial(_at, judge, k=k, log_base=base), False, ORDERED)
        for name, judge in [("dcg", naive.dcg), ("ndcg", naive.ndcg)]
        for k, base in [(None, 2.0), (2, math.e), (0.5, 10.0)]
    ],
    ("average_reciprocal_rank", {}, naive.average_reciprocal_rank, False, ORDERED),
    (
        "average_reciprocal_rank",
        {"normalize": True},
        partial(naive.average_reciprocal_rank, normalize=True),
        False,
        ORDERED,
    ),
    *[
        ("bedroc", {"alpha": alpha}, partial(naive.bedroc, alpha=alpha), False, ORDERED)
        for alpha in (0.5, 20.0)
    ],
]
IDS = [f"{name}-{index}" for index, (name, *_) in enumerate(CASES)]


@st.composite
def lists(draw, *, max_rows=5, max_weight=1):
    """Labels, scores with many ties, and whole weights, with a row of either class."""
    n_rows = draw(st.integers(2, max_rows))
    y = [1, 0, *draw(st.lists(st.integers(0, 1), min_size=n_rows - 2, max_size=n_rows - 2))]
    size = {"min_size": n_rows, "max_size": n_rows}
    levels = st.sampled_from([-1e300, -2.0, -0.0, 0.0, 1.0, 1e300])
    scores = draw(st.lists(levels, **size))
    weights = draw(st.lists(st.integers(0, max_weight), **size)) if max_weight > 1 else [1] * n_rows
    return y, scores, [max(1, weights[0]), max(1, weights[1]), *weights[2:]]


def by_definition(case, y, scores, weights, ties):
    _, _, judge, loss, _ = case
    repeated = [(g, s) for g, s, w in zip(y, scores, weights, strict=True) for _ in range(w)]
    gains, rows = zip(*repeated, strict=True)
    return naive.over_orders(judge, gains, rows, ties, loss=loss)


@pytest.mark.parametrize("case", CASES, ids=IDS)
@settings(max_examples=25, deadline=None)
@given(data=lists(), ties=st.sampled_from(ORDERED))
def test_metric_equals_its_definition(case, data, ties):
    y, scores, weights = data
    name, options, *_, offered = case
    if ties not in offered:
        ties = offered[0]
    value = getattr(metrics, name)(y, scores, ties=ties, **options)
    assert value == pytest.approx(
        by_definition(case, y, scores, weights, ties), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("case", CASES, ids=IDS)
@settings(max_examples=25, deadline=None)
@given(data=lists(max_rows=4, max_weight=3), ties=st.sampled_from(ORDERED))
def test_whole_weights_are_repetitions_and_zero_weights_are_absent(case, data, ties):
    y, scores, weights = data
    name, options, *_, offered = case
    if ties not in offered:
        ties = offered[0]
    if isinstance(options.get("k"), int) and options["k"] > sum(weights):
        return
    value = getattr(metrics, name)(y, scores, sample_weight=weights, ties=ties, **options)
    assert value == pytest.approx(
        by_definition(case, y, scores, weights, ties), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("case", CASES, ids=IDS)
@settings(max_examples=15, deadline=None)
@given(
    data=st.lists(lists(max_rows=5, max_weight=3), min_size=2, max_size=3),
    ties=st.sampled_from(ORDERED),
    seed=st.integers(0, 9),
    weighted=st.booleans(),
)
def test_groups_in_any_order_give_the_mean_over_lists(case, data, ties, seed, weighted):
    name, options, *_, offered = case
    if ties not in offered:
        ties = offered[0]
    call = partial(getattr(metrics, name), ties=ties, **options)
    y, scores, weights = (np.concatenate(part) for part in zip(*data, strict=True))
    groups = np.repeat([f"list {at}" for at in range(len(data))], [len(part[0]) for part in data])
    shuffled = np.random.default_rng(seed).permutation(y.size)
    weights = weights if weighted else np.ones(y.size)
    together = call(
        y[shuffled],
        scores[shuffled],
        sample_weight=weights[shuffled] if weighted else None,
        groups=groups[shuffled],
    )
    alone = [
        call(y[groups == group], scores[groups == group], sample_weight=weights[groups == group])
        for group in np.unique(groups)
    ]
    assert together == pytest.approx(np.mean(alone), rel=1e-9, abs=1e-12)


TOGETHER = {
    "average_precision": lambda y, rank: np.mean([y[rank <= r].sum() / r for r in rank[y == 1]]),
    "average_reciprocal_rank": lambda y, rank: np.sum(y / rank),
    "dcg": lambda y, rank: np.sum(y / np.log2(1 + rank)),
}


@pytest.mark.parametrize("name", TOGETHER)
@settings(max_examples=60, deadline=None)
@given(data=lists(max_rows=7, max_weight=3))
def test_together_gives_tied_rows_the_last_place_of_their_tie(name, data):
    y, scores, weights = (np.asarray(part) for part in data)
    value = getattr(metrics, name)(y, scores, sample_weight=weights, ties="together")
    y, scores = np.repeat(y, weights), np.repeat(scores, weights)
    rank = np.sum(scores[:, None] <= scores, axis=1)
    assert value == pytest.approx(TOGETHER[name](y, rank), rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    grades=st.lists(st.integers(0, 3), min_size=1, max_size=5),
    data=st.data(),
    ties=st.sampled_from(ORDERED),
    gain=st.sampled_from(["exponential", "linear"]),
    k=st.sampled_from([None, 1, 0.5]),
)
def test_graded_gains_equal_their_definition(grades, data, ties, gain, k):
    size = {"min_size": len(grades), "max_size": len(grades)}
    scores = data.draw(st.lists(st.integers(0, 2), **size))
    weights = data.draw(st.lists(st.integers(1, 2), **size))
    gains = [2**y - 1 if gain == "exponential" else y for y in grades]
    repeated = [(g, s) for g, s, w in zip(gains, scores, weights, strict=True) for _ in range(w)]
    for name, judge in [("dcg", naive.dcg), ("ndcg", naive.ndcg)]:
        if name == "ndcg" and not any(gains):
            continue
        value = getattr(metrics, name)(
            grades, scores, sample_weight=weights, ties=ties, gain=gain, k=k
        )
        expected = naive.over_orders(
            partial(_at, judge, k=k, log_base=2), *zip(*repeated, strict=True), ties
        )
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(data=lists(max_rows=6, max_weight=3), ties=st.sampled_from(ORDERED), seed=st.integers(0, 9))
def test_heights_of_rows_equal_their_definition(data, ties, seed):
    y, scores, weights = (np.asarray(part) for part in data)
    groups = np.random.default_rng(seed).integers(0, 2, y.size)
    share = {"pessimistic": 1, "average": 0.5, "optimistic": 0}[ties]
    same = groups[:, None] == groups
    below = same & (scores[:, None] > scores)
    above, tied = below.T, same & (scores[:, None] == scores)
    positive = y == 1
    options = {"sample_weight": weights, "groups": groups, "ties": ties}
    expected = (below + share * tied) @ (weights * positive)
    np.testing.assert_allclose(metrics.height(y, scores, **options), expected[~positive])
    expected = (above + share * tied) @ (weights * ~positive)
    np.testing.assert_allclose(metrics.reverse_height(y, scores, **options), expected[positive])
    n_tied = tied @ weights
    expected = above @ weights + np.minimum(n_tied, 1) + share * np.maximum(n_tied - 1, 0)
    np.testing.assert_allclose(metrics.ranks(y, scores, **options), expected[positive])


def _shortlists(scores, k):
    """Every set of k rows that falling scores allow, equally likely ones equally often."""
    from itertools import combinations

    cut = sorted(scores, reverse=True)[k - 1]
    inside = {at for at, score in enumerate(scores) if score > cut}
    tied = [at for at, score in enumerate(scores) if score == cut]
    return [inside | set(rest) for rest in combinations(tied, k - len(inside))]


@settings(max_examples=80, deadline=None)
@given(data=st.data(), n_rows=st.integers(1, 5), ties=st.sampled_from(ORDERED))
def test_shortlist_overlap_equals_its_definition(data, n_rows, ties):
    size = {"min_size": n_rows, "max_size": n_rows}
    a, b = (np.array(data.draw(st.lists(st.integers(0, 2), **size))) for _ in range(2))
    weights = np.array(data.draw(st.lists(st.integers(0, 2), **size)))
    weights[0] = max(1, weights[0])
    k = data.draw(st.integers(1, int(weights.sum())))
    pairs = [
        len(first & second) / k
        for first in _shortlists(np.repeat(a, weights).tolist(), k)
        for second in _shortlists(np.repeat(b, weights).tolist(), k)
    ]
    expected = {"average": np.mean, "pessimistic": min, "optimistic": max}[ties](pairs)
    value = metrics.shortlist_overlap(a, b, k=k, sample_weight=weights, ties=ties)
    assert value == pytest.approx(expected)
    plain = metrics.shortlist_overlap(np.repeat(a, weights), np.repeat(b, weights), k=k, ties=ties)
    assert plain == pytest.approx(expected)
