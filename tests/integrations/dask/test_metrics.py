"""Metrics of columns on a cluster are those of the same columns in memory."""

import inspect
import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from toprank import metrics as in_memory
from toprank.integrations.dask import metrics
from toprank.metrics.driver import DECLARATIONS, METRICS

OPTIONS = {
    "precision_at_k": [{"k": 1}, {"k": 3}, {"k": 0.3}],
    "recall_at_k": [{"k": 4}, {"k": 0.05}],
    "lift": [{"k": 2}, {"k": 0.5}],
    "value_at_k": [{"k": 2, "value": 3.0, "cost": 1.0}, {"k": 0.5}],
    "enrichment_factor": [{}, {"fraction": 0.4}],
    "partial_auc": [{}, {"max_fpr": 0.5, "standardize": False}, {"max_fpr": 1.0}],
    "bedroc": [{}, {"alpha": 3.0}],
    "dcg": [{}, {"k": 3}, {"gain": "linear", "log_base": np.e}],
    "ndcg": [{}, {"k": 0.4}, {"gain": "linear"}],
    "pnorm_error": [{}, {"normalize": True}, {"p": 2, "margin": 0.6}, {"p": np.inf}],
    "price_of_heights": [{"price": np.log1p, "on": on} for on in ("height", "rank")],
    "average_reciprocal_rank": [{}, {"normalize": True}],
}


def chunks_of(n_rows):
    """Sizes of chunks, some of them empty."""
    edges = st.lists(st.integers(0, n_rows), max_size=5)
    return edges.map(lambda cuts: tuple(np.diff([0, *sorted(cuts), n_rows]).tolist()))


@st.composite
def columns(draw):
    """Rows with ties across chunks; each column is in chunks of its own.

    Sums of the weights are exact, so that a cut falls on the same row in whatever order they add.
    """
    n_rows = draw(st.integers(1, 40))

    def column(values):
        drawn = np.array(draw(st.lists(values, min_size=n_rows, max_size=n_rows)))
        return drawn, da.from_array(drawn, chunks=(draw(chunks_of(n_rows)),))

    weights = draw(
        st.sampled_from(
            [None, st.integers(0, 3).map(float), st.sampled_from([0.0, 0.25, 0.5, 2.25])]
        )
    )
    groups = draw(st.sampled_from([None, st.integers(0, 5), st.sampled_from(["a", "bc", "d"])]))
    grades = draw(st.sampled_from([st.booleans(), st.integers(0, 1), st.integers(0, 3)]))
    given = {
        "y_true": column(grades),
        "scores": column(st.integers(-4, 4).map(lambda half: half / 2)),
        "sample_weight": (None, None) if weights is None else column(weights),
        "groups": (None, None) if groups is None else column(groups),
    }
    return tuple({name: pair[at] for name, pair in given.items()} for at in (0, 1))


@st.composite
def calls(draw):
    """A metric and how it is called."""
    name = draw(st.sampled_from(metrics.__all__))
    options = draw(st.sampled_from(OPTIONS.get(name, [{}])))
    undefined = draw(st.sampled_from(["skip", "error", 0.25]))
    ties = draw(st.sampled_from(DECLARATIONS[name].ties))
    return name, {**options, "ties": ties, "undefined": undefined}


def outcome(metric, given, options):
    """The value of a metric, or what it has to say against the call.

    A list judged in the company of others is the longest of them, alone it is the list.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        try:
            return metric(**given, **options)
        except ValueError as error:
            return str(error).replace("longest list", "list")


def in_chunks(**given):
    """Columns in memory and in chunks of two rows."""
    plain = {name: np.array(values) for name, values in given.items()}
    return plain, {name: da.from_array(values, chunks=2) for name, values in plain.items()}


LIGHT_LIST = in_chunks(
    y_true=[False] * 11, scores=[0.0] * 11, sample_weight=[0.0] * 10 + [0.25], groups=[0] * 11
)
WEIGHTS_WITH_ROUNDED_SUM = in_chunks(
    y_true=[0, 0, 0, 1, 1, 0],
    scores=[3, 2, 1, 0, 2, 1],
    sample_weight=[0.1, 0.2, 0.3, 1, 1, 1],
    groups=[0, 0, 0, 0, 1, 1],
)


@pytest.mark.usefixtures("at_once")
@settings(max_examples=60)
@given(call=calls(), rows=columns())
@example(call=("lift", {"k": 2}), rows=LIGHT_LIST)
@example(call=("positives_at_top", {}), rows=WEIGHTS_WITH_ROUNDED_SUM)
@example(call=("r_max", {}), rows=WEIGHTS_WITH_ROUNDED_SUM)
def test_every_metric_is_that_of_memory(call, rows):
    (name, options), (plain, chunked) = call, rows
    expected = outcome(METRICS[name], plain, options)
    found = outcome(getattr(metrics, name), chunked, options)
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
    else:
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


def test_every_metric_is_there_with_its_signature():
    assert set(metrics.__all__) == set(METRICS)
    for name in metrics.__all__:
        on_cluster, plain = getattr(metrics, name), METRICS[name]
        assert inspect.signature(on_cluster) == inspect.signature(plain)
        assert f"toprank.metrics.{name}" in on_cluster.__doc__


SHAPES = {
    "spread": lambda rng, n: rng.normal(size=n),
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "falling": lambda rng, n: -np.sort(rng.normal(size=n)),
    "one tie": lambda _, n: np.zeros(n),
    "mostly one tie": lambda rng, n: np.maximum(rng.normal(size=n), 1.0),
    "rounded": lambda rng, n: rng.normal(size=n).round(1),
}


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_long_lists_of_any_shape_have_the_values_of_memory(shape, weighted):
    rng = np.random.default_rng(0)
    n = 6000
    scores = SHAPES[shape](rng, n)
    y = rng.random(n) < 0.1 + 0.2 * (scores > 1)
    weight = rng.random(n) if weighted else None
    chunked = {
        "y_true": da.from_array(y, chunks=1400),
        "scores": da.from_array(scores, chunks=1200),
        "sample_weight": weight,
    }
    for name, options in [
        ("roc_auc", {}),
        ("precision_at_k", {"k": 10}),
        ("recall_at_k", {"k": 0.2}),
        ("partial_auc", {"max_fpr": 0.05}),
        ("positives_at_top", {"ties": "average"}),
        ("ndcg", {}),
        ("pnorm_error", {"normalize": True}),
    ]:
        found = getattr(metrics, name)(**chunked, **options)
        expected = METRICS[name](y, scores, sample_weight=weight, **options)
        assert found == pytest.approx(expected, rel=1e-12), name


@pytest.mark.usefixtures("client")
def test_worker_processes_measure_what_one_machine_does():
    rng = da.random.default_rng(1)
    n = 600_000
    scores = rng.normal(size=n, chunks=n // 3).round(3)
    y = (rng.random(n, chunks=n // 3) < 0.05 + 0.1 * (scores > 1)).astype(int)
    lists = rng.integers(0, 2000, n, chunks=n // 4)
    chunked = [column.persist() for column in (y, scores, lists)]
    y, scores, lists = (column.compute() for column in chunked)
    for name, options in [
        ("precision_at_k", {"k": 1000}),
        ("roc_auc", {}),
        ("pnorm_error", {"p": 4, "normalize": True}),
    ]:
        expected = METRICS[name](y, scores, **options)
        found = getattr(metrics, name)(*chunked[:2], **options)
        assert found == pytest.approx(expected, rel=1e-12)
    expected = in_memory.ndcg(y, scores, groups=lists, k=10)
    assert metrics.ndcg(*chunked[:2], groups=chunked[2], k=10) == pytest.approx(expected, rel=1e-12)


# What a column may be ---------------------------------------------------------------------


def small_frame():
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "bought": rng.choice(["no", "yes"], 300),
            "score": rng.normal(size=300).round(1),
            "weight": rng.integers(0, 3, 300),
            "shop": rng.choice(["north", "south", "west"], 300),
        }
    )


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("groups", [None, "shop"])
def test_series_frames_and_arrays_in_memory_mix(groups):
    frame = small_frame()
    expected = in_memory.roc_auc(
        frame["bought"],
        frame["score"],
        sample_weight=frame["weight"],
        groups=None if groups is None else frame[groups],
    )
    lazy = dd.from_pandas(frame, npartitions=4)
    assert np.isnan(lazy["score"].to_dask_array().shape[0])  # of unknown length
    mixed = metrics.roc_auc(
        lazy["bought"],
        lazy[["score"]],
        sample_weight=frame["weight"].to_numpy(),
        groups=None if groups is None else lazy[groups],
    )
    assert mixed == pytest.approx(expected, rel=1e-12)


@pytest.mark.usefixtures("at_once")
def test_unknown_lengths_that_differ_chunk_by_chunk_are_brought_in_line():
    frame = small_frame()
    scores = dd.from_pandas(frame["score"], npartitions=4)
    labels = dd.from_pandas(frame["bought"].sort_index(ascending=True), npartitions=7)
    expected = in_memory.average_precision(frame["bought"], frame["score"])
    assert metrics.average_precision(labels, scores) == pytest.approx(expected, rel=1e-12)


@pytest.mark.usefixtures("at_once")
def test_a_class_is_known_from_all_chunks_together():
    y = da.from_array(np.array([3, 3, 7, 7]), chunks=2)  # each chunk holds one class
    assert metrics.roc_auc(y, np.array([1.0, 2.0, 3.0, 1.5])) == 0.75
    assert metrics.roc_auc(y, np.array([1.0, 2.0, 3.0, 1.5]), pos_label=3) == 0.25


@pytest.mark.usefixtures("at_once")
def test_short_chunks_are_put_together(monkeypatch):
    from toprank.integrations.dask import chunks as cutting

    monkeypatch.setattr(cutting, "_FEWEST_ROWS", 10)
    n_rows, chunks = cutting.cut_alike({"scores": da.zeros(45, chunks=1)})
    assert (n_rows, len(chunks)) == (45, 4)
    monkeypatch.setattr(cutting, "_FEWEST_ROWS", 1)
    monkeypatch.setattr(cutting, "_MOST_CHUNKS", 3)
    assert len(cutting.cut_alike({"scores": da.zeros(45, chunks=1)})[1]) == 3


# What is refused, and what is not defined -----------------------------------------------


def two_chunks(*values):
    return da.from_array(np.array(values), chunks=-(-len(values) // 2))


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scores": two_chunks(1.0, 2.0, 3.0, np.nan)}, r"in chunk 1.*scores\[1\] is nan"),
        ({"scores": two_chunks(1.0, 2.0)}, "y_true has 4 rows, but scores has 2"),
        ({"scores": da.zeros((4, 2))}, "scores must hold one value per row"),
        ({"y_true": two_chunks(0, 1, 2, 3)}, "must have two classes, got 4"),
        ({"sample_weight": np.zeros(4)}, "sample_weight is zero for every row"),
        ({"sample_weight": np.zeros(4), "groups": [0, 0, 1, 1]}, "is zero for every row"),
        ({"sample_weight": [1, 1, 1, -2]}, r"in chunk 1.*must not be negative"),
        ({"groups": two_chunks(0.0, 1.0, np.nan, 1.0)}, "in chunk 1.*groups holds NaN"),
        ({"pos_label": 2}, "pos_label=2 does not occur in y_true, which holds 0, 1"),
        ({"y_true": two_chunks(0.0, 1.0, 0.0, np.nan), "pos_label": 1}, "y_true holds NaN"),
        ({"groups": two_chunks(*np.array(["2020", "NaT"] * 2, "M8[Y]"))}, "groups holds NaT"),
        ({"sample_weight": np.full(4, 1.7e308)}, "sample_weight is too large to sum"),
        ({"ties": "random"}, r"ties must be .* got 'random'"),
        ({"k": 9}, "k=9 is longer than the list"),
        ({"k": 9, "groups": [0, 0, 1, 1]}, "the longest list has 2 rows"),
        ({"k": 0.0}, "must be a whole number of rows"),
        ({"undefined": "ignore"}, "undefined='ignore' must be"),
    ],
)
def test_a_bad_argument_is_named(given, message):
    good = {"y_true": two_chunks(0, 1, 0, 1), "scores": two_chunks(4.0, 3.0, 2.0, 1.0), "k": 2}
    with pytest.raises(ValueError, match=message):
        metrics.precision_at_k(**{**good, **given})


@pytest.mark.usefixtures("at_once")
def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match="depth"):
        metrics.roc_auc(two_chunks(0, 1), two_chunks(0.0, 1.0), depth=3)


@pytest.mark.usefixtures("at_once")
def test_grades_without_number_are_refused():
    with pytest.raises(ValueError, match="more than 1000 different grades"):
        metrics.ndcg(da.arange(3000, chunks=1500), da.arange(3000, chunks=1500))


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("rows", [[], [0, 0]])
def test_a_list_without_pairs_is_not_defined(rows):
    empty = da.from_array(np.array(rows, dtype=int), chunks=1)
    with pytest.warns(UndefinedMetricWarning) as said:
        assert np.isnan(metrics.roc_auc(empty, empty.astype(float)))
    assert said[0].filename == __file__
    assert metrics.roc_auc(empty, empty.astype(float), undefined=0.5) == 0.5
    with pytest.raises(ValueError, match="needs a positive and a negative"):
        metrics.roc_auc(empty, empty.astype(float), undefined="error")


@pytest.mark.usefixtures("at_once")
def test_an_overflow_is_said_where_the_metric_is_called():
    y, scores = two_chunks(*[0, 1] * 20), two_chunks(*range(40))
    with pytest.warns(RuntimeWarning, match="overflows") as said:
        assert metrics.pnorm_error(y, scores, p=1000) == np.inf
    assert said[0].filename == __file__


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("name", in_memory.names())
def test_no_metric_forgets_the_ranges_above(name):
    rng = np.random.default_rng(0)
    y, scores = rng.random(60) < 0.3, rng.normal(size=60).round(1)
    options = {"k": 20} if name in ("lift", "precision_at_k", "recall_at_k", "value_at_k") else {}
    expected = getattr(in_memory, name)(y, scores, **options)
    cut = da.from_array(y, chunks=7), da.from_array(scores, chunks=11)
    assert getattr(metrics, name)(*cut, **options) == pytest.approx(expected, rel=1e-12)
