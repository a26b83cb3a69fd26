"""Fits on a real cluster of worker processes: the models of one machine."""

import os
import signal
import sys

import numpy as np
import pytest

pytest.importorskip("distributed")

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd
from distributed import Client, LocalCluster

import toprank
from toprank.integrations.dask import IRPush, PNormPush, RankBoost
from toprank.integrations.dask.blocks import DaskBlocks

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests
CHUNK, N_FEATURES = 50_000, 20
N_CHUNKS = 90  # 720 MB, more than a worker may hold


def chunk_of_rows(number):
    """Rows that only their number decides, as if read from a file."""
    rng = np.random.default_rng(number)
    table = rng.random((CHUNK, N_FEATURES + 1))
    table[:, -1] = table[:, 0] + 0.5 * table[:, 1] + rng.random(CHUNK) > 2.0
    return table


def long_table(n_chunks):
    table = da.map_blocks(
        lambda block_info=None: chunk_of_rows(block_info[None]["chunk-location"][0]),
        chunks=((CHUNK,) * n_chunks, (N_FEATURES + 1,)),
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


def test_rows_beyond_a_workers_memory_give_the_model_of_one_machine(client):
    X, y = long_table(N_CHUNKS)
    (limit, *_), *_ = ([w["memory_limit"]] for w in client.scheduler_info()["workers"].values())
    assert X.nbytes > limit
    in_memory = np.concatenate([chunk_of_rows(number) for number in range(N_CHUNKS)])
    table, labels = in_memory[:, :-1], in_memory[:, -1]

    push = PNormPush(p=8, tol=1e-11).fit(X, y)
    expected = toprank.PNormPush(p=8, tol=1e-11).fit(table, labels)
    np.testing.assert_allclose(push.coef_, expected.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(push.intercept_, expected.intercept_, rtol=0, atol=1e-8)

    boost = RankBoost(max_iter=3).fit(X, y)
    expected = toprank.RankBoost(max_iter=3).fit(table, labels)
    np.testing.assert_array_equal(boost.selected_, expected.selected_)
    np.testing.assert_allclose(boost.steps_, expected.steps_, rtol=1e-9)


class _Deadly(DaskBlocks):
    """Kills a worker as the third pass begins; the scheduler learns of it in the midst of it."""

    victim = 0
    passes = 0

    def total(self, work, *arguments):
        self.passes += 1
        if self.passes == 3:
            os.kill(self.victim, signal.SIGKILL)
        return super().total(work, *arguments)

    def kept(self, work, *arguments):
        blocks = super().kept(work, *arguments)
        blocks.__class__ = _Deadly
        blocks.victim, blocks.passes = self.victim, self.passes
        return blocks


def test_a_killed_worker_changes_nothing_but_time():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        X, y = (column.persist() for column in long_table(4))
        for ranker in (toprank.PNormPush(tol=1e-11), toprank.RankBoost(max_iter=12)):
            whole = vars(ranker.fit_blocks(DaskBlocks(X, y))).copy()
            blocks = _Deadly(X, y)
            blocks.victim = next(iter(client.run(os.getpid).values()))
            survived = vars(ranker.fit_blocks(blocks))
            assert blocks.victim not in client.run(os.getpid).values()
            np.testing.assert_array_equal(survived["weights_"], whole["weights_"])
            np.testing.assert_array_equal(survived["objective_path_"], whole["objective_path_"])


@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "name", ["PNormPush", "IRPush", "RankBoost"], ids=["push", "ir", "boosting"]
)
def test_collections_of_any_kind_are_taken(name, weighted):
    X, y, weights = short_table()
    weights = weights if weighted else None
    options = {"max_iter": 5} if name == "RankBoost" else {"tol": 1e-8}
    here = getattr(toprank, name)(**options).fit(X, y, weights)
    there = {"PNormPush": PNormPush, "IRPush": IRPush, "RankBoost": RankBoost}[name]
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y, w=short_table()[2])
    frames = dd.from_pandas(frame, npartitions=4)
    weight_column = frames["w"] if weighted else None
    fits = [
        there(**options).fit(
            da.from_array(X, chunks=(700, 2)), da.from_array(y, chunks=999), weights
        ),
        there(**options).fit(da.from_array(X, chunks=(3000, 5)), y, weights),
        there(**options).fit(frames[list("abcde")], frames["y"], weight_column),
    ]
    scores = here.decision_function(X)
    for model, table in zip(fits, (X, X, frame[list("abcde")]), strict=True):
        np.testing.assert_allclose(model.decision_function(table), scores, atol=1e-6)
    assert list(fits[-1].feature_names_in_) == list("abcde")


@pytest.mark.usefixtures("one_process")
def test_dask_in_is_dask_out_and_a_local_twin_needs_none_of_it():
    X, y, _ = short_table()
    collection, labels = da.from_array(X, chunks=(700, 5)), da.from_array(y, chunks=700)
    model = PNormPush().fit(collection, labels)
    local = model.to_local()
    assert type(local) is toprank.PNormPush
    np.testing.assert_array_equal(model.decision_function(collection), local.decision_function(X))
    np.testing.assert_array_equal(model.predict(collection), local.predict(X))
    assert model.score(collection, labels) == pytest.approx(local.score(X, y), abs=1e-12)
    assert model.score(X, y) == local.score(X, y)


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
    frame = dd.from_pandas(pd.DataFrame({"a": X[:, 0], "city": ["x", "y"] * 50}), npartitions=2)
    with pytest.raises(ValueError, match="not numbers: 'city'"):
        PNormPush().fit(frame, y)
    with pytest.raises(ValueError, match="sorted scores"):
        PNormPush(loss="hinge").fit(collection, y)
