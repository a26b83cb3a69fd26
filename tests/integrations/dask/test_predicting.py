"""Scores, classes, shortlists and cutoffs of tables on a cluster are those of memory."""

import inspect
from functools import partial

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank import PNormPush, RankBoost, metrics
from toprank.integrations.dask import cutoff, decision_function, predict, top

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3)).round(1)
Y = np.where(X[:, 0] + RNG.normal(size=120) > 0, "yes", "no")
FRAME = pd.DataFrame(X, columns=["a", "b", "c"], index=np.arange(120) + 1000)
RANKERS = [PNormPush(), RankBoost(max_iter=4)]  # the boosted scores are full of ties


@pytest.fixture
def at_once():
    """Dask computes in this thread."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(params=RANKERS, ids=lambda ranker: type(ranker).__name__)
def ranker(request):
    return request.param


@pytest.mark.usefixtures("at_once")
def test_an_array_is_scored_lazily_in_any_chunks(ranker):
    model = ranker.fit(X, Y)
    table = da.from_array(X, chunks=((50, 0, 70), (1, 2)))
    scores = decision_function(model, table)
    assert isinstance(scores, da.Array)
    np.testing.assert_array_equal(scores.compute(), model.decision_function(X))
    np.testing.assert_array_equal(predict(model, table).compute(), model.predict(X))


@pytest.mark.usefixtures("at_once")
def test_a_frame_keeps_its_index(ranker):
    model = ranker.fit(FRAME, Y)
    table = dd.from_pandas(FRAME, npartitions=3)
    scores = decision_function(model, table).compute()
    pd.testing.assert_index_equal(scores.index, FRAME.index)
    np.testing.assert_array_equal(scores, model.decision_function(FRAME))
    np.testing.assert_array_equal(predict(model, table).compute(), model.predict(FRAME))
    with_scores = table.assign(score=decision_function(model, table))
    best = with_scores.nlargest(5, "score").compute()
    np.testing.assert_array_equal(best.index, FRAME.index[model.top(FRAME, 5)])


@pytest.mark.usefixtures("at_once")
def test_partitions_without_rows_are_skipped(ranker):
    model = ranker.fit(FRAME, Y)
    table = dd.from_pandas(FRAME, npartitions=4).loc[1090:]
    table = dd.concat([table, table[table["a"] > 99]])
    np.testing.assert_array_equal(
        decision_function(model, table).compute(), model.decision_function(FRAME.loc[1090:])
    )
    np.testing.assert_array_equal(top(model, table, 3), model.top(FRAME.loc[1090:], 3))


@pytest.mark.usefixtures("at_once")
@settings(max_examples=25)
@given(
    k=st.one_of(st.integers(1, 120), st.floats(0.001, 0.999)),
    n_rows=st.integers(5, 120),
    cuts=st.lists(st.integers(0, 120), max_size=4),
)
def test_shortlists_and_cutoffs_are_those_of_memory(ranker, k, n_rows, cuts):
    model = ranker.fit(X, Y)
    rows = X[:n_rows]
    k = min(k, n_rows)
    sizes = np.diff([0, *sorted(min(cut, n_rows) for cut in cuts), n_rows])
    table = da.from_array(rows, chunks=(tuple(sizes.tolist()), 3))
    np.testing.assert_array_equal(top(model, table, k), model.top(rows, k))
    assert cutoff(model, table, k) == model.cutoff(rows, k)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("metric", metrics.names())
def test_metrics_take_columns_of_a_cluster(metric):
    scores, labels = PNormPush().fit(X, Y).decision_function(X).round(1), Y == "yes"
    options = {"k": 9} if "k" in inspect.signature(getattr(metrics, metric)).parameters else {}
    if metric == "value_at_k":
        options["value"] = 2.0
    found, expected = (
        getattr(metrics, metric)(column(labels), column(scores), **options)
        for column in (partial(da.from_array, chunks=50), np.asarray)
    )
    assert found == expected


@pytest.mark.usefixtures("client")
def test_worker_processes_give_the_shortlist_of_one_machine():
    model = PNormPush().fit(X, Y)
    table = da.random.default_rng(3).normal(size=(600_000, 3), chunks=(200_000, 3)).round(2)
    rows = table.compute()
    np.testing.assert_array_equal(top(model, table, 500), model.top(rows, 500))
    assert cutoff(model, table, 0.1) == model.cutoff(rows, 0.1)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("table", "k", "error", "message"),
    [
        (da.from_array(X, chunks=50), 0, ValueError, "k must be a number of rows"),
        (da.from_array(X, chunks=50), 121, ValueError, "more than the 120 rows"),
        (da.zeros((0, 3)), 1, ValueError, "X has no rows"),
        (X, 1, TypeError, "X must be a Dask dataframe or a Dask array"),
        (da.zeros(4), 1, TypeError, "X must be a Dask dataframe or a Dask array"),
    ],
)
def test_what_has_no_shortlist_is_refused(table, k, error, message):
    model = PNormPush().fit(X, Y)
    with pytest.raises(error, match=message):
        top(model, table, k)
    if error is TypeError:
        with pytest.raises(error, match=message):
            decision_function(model, table)
