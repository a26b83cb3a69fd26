"""Fits on a real cluster of worker processes, and what collections may be.

tests/rankers/test_places_of_rows.py compares every fit with that of one machine.
"""

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("distributed")

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd
import polars as pl
import scipy.sparse
from distributed import Client
from sklearn.base import clone

import toprank
from toprank.blocks import ArrayBlocks
from toprank.integrations.dask import (
    IRPush,
    PNormPush,
    RankBoost,
    TreeRanker,
    chunks,
)
from toprank.integrations.dask.chunks import DaskBlocks

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests
N_FEATURES = 20
DIFFERENT_ROWS = 2_000  # of a chunk


def different_rows(number):
    """Rows that only their number decides, as if read from a file; the last column is the label.

    Few different values per column: their cuts are the same however often the rows occur.
    """
    rng = np.random.default_rng(number)
    table = rng.integers(0, 32, (DIFFERENT_ROWS, N_FEATURES + 1)) / 32
    table[:, -1] = table[:, 0] + 0.5 * table[:, 1] + rng.random(DIFFERENT_ROWS) > 2.0
    return table


def long_table(n_chunks, copies):
    """Chunks with several copies of their rows."""
    table = da.map_blocks(
        lambda block_info=None: np.tile(
            different_rows(block_info[None]["chunk-location"][0]), (copies, 1)
        ),
        chunks=((copies * DIFFERENT_ROWS,) * n_chunks, (N_FEATURES + 1,)),
        dtype=np.float64,
        meta=np.empty((0, 0)),
    )
    return table[:, :-1], table[:, -1]


def short_table(n_rows=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    y = (X[:, 0] + 2 * rng.normal(size=n_rows) > 2).astype(int)
    return X, y, rng.integers(0, 4, n_rows).astype(float)


@pytest.fixture
def one_process():
    """No cluster, where it would only cost time."""
    with dask.config.set(scheduler="synchronous"):
        yield


# Few iterations, which are the same ones here and there: each is a pass over all rows.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_beyond_a_workers_memory_give_the_model_of_one_machine(client):
    n_chunks, copies = 36, 64
    X, y = long_table(n_chunks, copies)
    (limit, *_), *_ = ([w["memory_limit"]] for w in client.scheduler_info()["workers"].values())
    assert X.nbytes > limit
    # One machine fits them in little memory too: copies of a row are a row of that weight.
    rows = np.concatenate([different_rows(number) for number in range(n_chunks)])
    in_memory = ArrayBlocks.cut(rows[:, :-1], rows[:, -1], np.full(len(rows), float(copies)))

    push = PNormPush(p=8, max_iter=2).fit(X, y)
    expected = toprank.PNormPush(p=8, max_iter=2).fit_blocks(in_memory)
    assert push.n_iter_ == expected.n_iter_ == 2
    np.testing.assert_allclose(push.coef_, expected.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(push.intercept_, expected.intercept_, rtol=0, atol=1e-8)

    boost = RankBoost(max_iter=3).fit(X, y)
    expected = toprank.RankBoost(max_iter=3).fit_blocks(in_memory)
    np.testing.assert_array_equal(boost.selected_, expected.selected_)
    np.testing.assert_allclose(boost.steps_, expected.steps_, rtol=1e-9)


class _Deadly(DaskBlocks):
    """Kills a worker as some pass begins; the scheduler learns of it in the midst of it."""

    victim = 0
    passes = 0
    last_pass = 3

    def total(self, work, *arguments):
        self.passes += 1
        if self.passes == self.last_pass:
            os.kill(self.victim, signal.SIGKILL)
        return super().total(work, *arguments)

    def kept(self, work, *arguments):
        blocks = super().kept(work, *arguments)
        blocks.__class__ = _Deadly
        blocks.victim, blocks.passes, blocks.last_pass = self.victim, self.passes, self.last_pass
        return blocks


def test_killed_workers_change_nothing_but_time(start_cluster):
    rows = np.concatenate([different_rows(number) for number in range(4)])
    in_memory = ArrayBlocks.cut(rows[:, :-1], rows[:, -1], size=DIFFERENT_ROWS)
    settings = {"n_trees": 3, "depth": 3, "random_state": 0}
    with Client(start_cluster(4).address, timeout=300) as client:  # one is killed per ranker
        X, y = (column.persist() for column in long_table(4, copies=1))
        for ranker, last_pass in (
            (toprank.PNormPush(tol=1e-11), 3),
            (toprank.RankBoost(max_iter=5), 3),
            (toprank.TreeRanker(**settings), 18),  # in the midst of the third tree
        ):
            expected = vars(clone(ranker).fit_blocks(in_memory))
            blocks = _Deadly(X, y)
            blocks.victim, blocks.last_pass = next(iter(client.run(os.getpid).values())), last_pass
            found = vars(ranker.fit_blocks(blocks))
            assert blocks.victim not in client.run(os.getpid).values()
            for name in {"weights_", "objective_path_"} & expected.keys():
                np.testing.assert_array_equal(found[name], expected[name])
            trees = [fitted["trees_"].arrays for fitted in (found, expected) if "trees_" in fitted]
            for mine, theirs in zip(*trees, strict=True) if trees else ():
                np.testing.assert_array_equal(mine, theirs)


@pytest.mark.usefixtures("client")
def test_labels_in_memory_are_sent_once_and_without_a_warning():
    n_rows, chunk = 2_000_000, 500_000  # 16 MB: Dask warns of graphs above 10
    blocks = DaskBlocks(da.zeros((n_rows, 1), chunks=(chunk, 1)), np.arange(float(n_rows)))
    for _ in range(2):
        found = blocks.total(lambda block: [block.y[0]])
        assert found == np.arange(0, n_rows, chunk).tolist()


def test_two_threads_leave_the_settings_of_dask_as_they_were():
    name = "distributed.admin.large-graph-warning-threshold"
    first, second = threading.Event(), threading.Event()
    usual = dask.config.get(name)

    def enter_second():
        first.wait()
        with chunks.without_size_warning():
            second.set()
            thread.join()

    def enter_first():
        with chunks.without_size_warning():
            first.set()
            second.wait(0.2)  # in vain, where only one may be in there

    thread, other = threading.Thread(target=enter_first), threading.Thread(target=enter_second)
    thread.start()
    other.start()
    other.join()
    assert dask.config.get(name) == usual


@pytest.mark.usefixtures("client")
def test_fits_in_two_threads_at_once_are_those_of_one():
    X, y, weights = short_table(600)
    collection = da.from_array(X, chunks=(200, 5))
    rankers = [PNormPush(), RankBoost(max_iter=3)] * 2

    def fitted(ranker):
        return clone(ranker).fit(collection, y, weights)

    expected = list(map(fitted, rankers[:2])) * 2
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(fitted, rankers))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine.weights_, theirs.weights_, rtol=1e-8, atol=1e-10)


@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize("few", [1, 64])
def test_results_are_added_up_in_the_order_of_the_chunks_whichever_way_work_is_sent(
    monkeypatch, few
):
    monkeypatch.setattr("toprank.integrations.dask.chunks.FEW_BLOCKS", few)
    y = np.arange(40)
    blocks = DaskBlocks(da.from_array(y[:, None] / 2, chunks=(2, 1)), y)
    kept = blocks.kept(lambda block, factor: block._replace(X=factor * block.X), -1.0)
    for rows, sign in ((blocks, 1), (kept, -1)):
        found = rows.total(lambda block, power: [(block.number, *block.X[:, 0] ** power)], 3)
        assert found == [(n, sign * n**3, sign * (n + 0.5) ** 3) for n in range(20)]


@pytest.mark.usefixtures("one_process")
def test_dask_in_is_dask_out_and_a_local_twin_needs_none_of_it():
    X, y, weights = short_table()
    collection, labels = da.from_array(X, chunks=(700, 2)), da.from_array(y, chunks=999)
    model = PNormPush(tol=1e-8).fit(collection, labels, weights)
    expected = toprank.PNormPush(tol=1e-8).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y, w=weights)
    frames = dd.from_pandas(frame, npartitions=4)
    of_frame = PNormPush(tol=1e-8).fit(frames[list("abcde")], frames["y"], frames["w"])
    np.testing.assert_allclose(of_frame.coef_, expected.coef_, atol=1e-6)
    assert list(of_frame.feature_names_in_) == list("abcde")
    local = model.to_local()
    assert type(local) is toprank.PNormPush
    np.testing.assert_array_equal(model.decision_function(collection), local.decision_function(X))
    np.testing.assert_array_equal(model.predict(collection), local.predict(X))
    assert model.score(collection, labels) == pytest.approx(local.score(X, y), abs=1e-12)
    assert model.score(X, y) == local.score(X, y)
    np.testing.assert_array_equal(model.top(collection, 20), local.top(X, 20))
    assert model.cutoff(collection, 0.1) == pytest.approx(local.cutoff(X, 0.1), abs=1e-12)


@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize(
    "kind",
    [
        lambda y: np.where(y, "yes", "no").astype(object),
        lambda y: pd.Series(np.where(y, "yes", "no"), dtype="string"),
        lambda y: pd.Series(np.where(y, "yes", "no"), dtype="category"),
        lambda y: pd.Series(y, dtype="Int64"),
        lambda y: pd.DataFrame({"bought": y}),
        pl.Series,
    ],
)
def test_labels_in_memory_may_be_of_any_kind(kind):
    X, y, _ = short_table(200)
    collection = da.from_array(X, chunks=(70, 5))
    found = PNormPush().fit(collection, kind(y))
    np.testing.assert_array_equal(found.coef_, PNormPush().fit(collection, y).coef_)
    assert list(found.classes_) in ([0, 1], ["no", "yes"])


@pytest.mark.usefixtures("one_process")
def test_what_cannot_be_fitted_is_refused():
    X, y, _ = short_table(100)
    collection = da.from_array(X, chunks=(30, 5))
    with pytest.raises(TypeError, match="use the ranker of the same name in toprank"):
        PNormPush().fit(X, y)
    with pytest.raises(ValueError, match="y has 99 rows, but X has 100"):
        PNormPush().fit(collection, y[:99])
    with pytest.raises(ValueError, match="must be a table"):
        PNormPush().fit(collection[:, 0], y)
    with pytest.raises(ValueError, match="must be a table"):
        PNormPush().fit(dd.from_pandas(pd.DataFrame({"a": y}), npartitions=2)["a"], y)
    with pytest.raises(ValueError, match="X must hold numbers, got <U"):
        PNormPush().fit(collection.astype(str), y)
    frame = dd.from_pandas(pd.DataFrame({"a": X[:, 0], "city": ["x", "y"] * 50}), npartitions=2)
    with pytest.raises(ValueError, match="not numbers: 'city'"):
        PNormPush().fit(frame, y)
    gaps = frame[["a"]].astype("Float64").mask(frame["a"] > 1)
    with pytest.raises(ValueError, match="missing values, in 'a'"):
        PNormPush().fit(gaps, y)
    with pytest.raises(ValueError, match="X has no columns"):
        PNormPush().fit(collection[:, :0], y)
    with pytest.raises(TypeError, match="sparse chunks"):
        PNormPush().fit(collection.map_blocks(scipy.sparse.csr_matrix), y)
    with pytest.raises(TypeError, match="y is None"):
        PNormPush().fit(collection, None)
    with pytest.raises(ValueError, match="sample_weight must hold numbers"):
        PNormPush().fit(collection, y, ["a"] * 100)
    for ranker in (PNormPush(), IRPush(), RankBoost(), TreeRanker()):
        with pytest.raises(ValueError, match=r"groups are .* one machine .*ParquetBlocks"):
            ranker.fit(collection, y, groups=y)
    for ranker in (PNormPush(loss="logistic"), PNormPush(price="log1p"), IRPush(loss="hinge")):
        with pytest.raises(ValueError, match=r"compares the rows .* Parquet .* one machine"):
            ranker.fit(collection, y)
    with pytest.raises(ValueError, match="got PrecisionAtK"):
        TreeRanker("precision_at_k").fit(collection, y)
