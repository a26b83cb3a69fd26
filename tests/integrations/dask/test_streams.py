"""A cluster ranks Parquet files as one machine does."""

import os
import signal

import dask.array as da
import dask.dataframe as dd
import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import toprank
from toprank.app.cli import app
from toprank.integrations.dask import ClusterStream, streams, top


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Five files of rows, whose scores have many ties, and a model of such rows."""
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    for number in range(5):
        X = rng.normal(size=(4000, 3)).round(1)
        jobs = rng.choice(["clerk", "smith", None], 4000)
        cells = {f"x{j}": X[:, j] for j in range(3)} | {"job": jobs.tolist()}
        cells["y"] = (X[:, 0] + rng.normal(size=4000) > 1).astype(int)
        pl.DataFrame(cells).write_parquet(folder / f"part-{number}.parquet")
    return folder


def call(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done


def test_the_list_of_a_cluster_is_that_of_one_machine(two_processes, folder, tmp_path):
    known = ("--target", "y", "--ranker", "rankboost", "--folds", "0", "--set", "max_iter=10")
    call("fit", folder / "part-0.parquet", *known, "-o", tmp_path / "m.toprank")
    pattern, lists = folder / "part-[1-4].parquet", []
    for name, more in (("one", ()), ("two", ("--cluster", two_processes.address))):
        lists.append(tmp_path / f"{name}.csv")
        call("rank", tmp_path / "m.toprank", pattern, "--top", "700", "-o", lists[-1], *more)
    assert lists[0].read_bytes() == lists[1].read_bytes()
    assert pl.read_csv(lists[0]).height == 700


class Counting:
    """Counts rows; the first worker to do so dies."""

    def __init__(self, folder):
        self.mark = folder / "killed"

    def __call__(self, batch):
        if not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return np.array([batch.table.n_rows, batch.table.column("job").is_missing.sum()])


def test_what_a_lost_worker_had_done_is_done_again(start_cluster, folder, tmp_path):
    stream = ClusterStream(folder, start_cluster(2).address)
    try:
        counts = stream.total(Counting(tmp_path), ["job"])
    finally:
        stream.close()
    assert (tmp_path / "killed").exists()
    missing = [pl.read_parquet(file)["job"].null_count() for file in folder.iterdir()]
    assert counts.tolist() == [20_000, sum(missing)]


def test_an_address_without_a_scheduler_is_named(folder, monkeypatch):
    monkeypatch.setattr(streams, "SECONDS", 0.5)
    with pytest.raises(ValueError, match=r"no Dask scheduler at 'tcp://127.0.0.1:9'.*dask"):
        ClusterStream(folder, "tcp://127.0.0.1:9")


def test_an_address_without_a_port_is_refused_before_a_client_is_made(folder, monkeypatch):
    monkeypatch.setattr(streams, "Client", None)
    with pytest.raises(ValueError, match=r"no Dask scheduler at 'localhost' \(missing port"):
        ClusterStream(folder, "localhost")


@pytest.mark.usefixtures("client")
def test_a_loaded_model_ranks_collections(folder, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(folder / "part-0.parquet")
    ranker = toprank.TopRanker(50, candidates=["logistic", "rankboost"])
    ranker.fit(frame.drop(columns="y"), frame["y"])
    model = toprank.load(toprank.save(ranker, tmp_path / "m.toprank"))
    new = pandas.read_parquet(folder / "part-1.parquet")
    parts = dd.from_pandas(new, npartitions=3)
    assert top(model, parts, 60).tolist() == ranker.top(new.drop(columns="y"), 60).tolist()
    push = toprank.PNormPush().fit(new[["x0", "x1"]].to_numpy(), new["y"])
    model = toprank.load(toprank.save(push, tmp_path / "push.toprank"))
    X = da.from_array(frame[["x0", "x1"]].to_numpy(), chunks=(1000, 2))
    assert top(model, X, 60).tolist() == push.top(frame[["x0", "x1"]].to_numpy(), 60).tolist()
