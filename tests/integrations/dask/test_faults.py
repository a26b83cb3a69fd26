"""A cluster that fails is told in one sentence that says what to do."""

import logging
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, KilledWorker

from toprank import PNormPush as LocalPush
from toprank.integrations.dask import PNormPush, metrics, top


@pytest.fixture
def quiet():
    """Dask logs what the tests do to it."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def waits(block, folder):
    """A task that tells that it runs, and ends when it is told to."""
    (folder / "running").touch()
    for _ in range(600):
        if (folder / "go on").exists():
            break
        time.sleep(0.05)
    return block


def rows(folder):
    X = da.from_array(np.random.default_rng(0).normal(size=(40, 2)), chunks=(20, 2))
    y = da.from_array(np.arange(40) % 2, chunks=20)
    return X.map_blocks(waits, folder, meta=np.empty((0, 2))), y


CALLS = {
    "fit": lambda X, y: PNormPush().fit(X, y),
    "metric": lambda X, y: metrics.roc_auc(y, X[:, 0]),
    "top": lambda X, _: top(LocalPush().fit([[0.0, 0.0], [1.0, 1.0]], [0, 1]), X, 3),
}


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(
    ("call", "fault", "words"),
    [
        ("fit", "restart", "was restarted"),
        ("metric", "loss", "cannot be reached any more"),
        ("top", "loss", "cannot be reached any more"),
    ],
)
def test_a_lost_or_restarted_scheduler_is_one_sentence(own_cluster, tmp_path, call, fault, words):
    X, y = rows(tmp_path)
    caught = []

    def work():
        try:
            CALLS[call](X, y)
        except RuntimeError as error:
            caught.append(error)

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
        Client(own_cluster.address) as client,
    ):
        thread = threading.Thread(target=work)
        thread.start()
        for _ in range(600):
            if (tmp_path / "running").exists():
                break
            time.sleep(0.05)
        if fault == "restart":
            client.restart(wait_for_workers=False)
        else:
            own_cluster.kill()
        (tmp_path / "go on").touch()
        thread.join(60)
        assert not thread.is_alive()
    (error,) = caught
    assert str(error).startswith(f"the Dask scheduler {words}, and what it held is lost; connect")
    assert "cancelled" in str(error.__cause__).lower()


@pytest.mark.usefixtures("quiet")
def test_workers_that_die_of_a_task_are_one_sentence(client):
    def dies(_):
        import os

        os._exit(1)  # as a worker above its memory limit is ended

    def allow(failures, dask_scheduler):
        dask_scheduler.allowed_failures = failures

    client.run_on_scheduler(allow, 0)
    X = da.ones((4, 2), chunks=(2, 2)).map_blocks(dies, meta=np.empty((0, 2)))
    with pytest.raises(RuntimeError, match="most likely for want of memory; give") as caught:
        PNormPush().fit(X, da.from_array([0, 1, 0, 1], chunks=2))
    assert isinstance(caught.value.__cause__, KilledWorker)
    client.run_on_scheduler(allow, dask.config.get("distributed.scheduler.allowed-failures"))
    client.wait_for_workers(2)
