"""A cluster that fails is told in one sentence that says what to do."""

import logging
import time

import dask.array as da
import numpy as np
import pytest
from distributed import Client, KilledWorker, wait

from tests.integrations.dask.conftest import start_python
from toprank.integrations.dask import DaskBlocks, PNormPush, RankBoost, TreeRanker


@pytest.fixture
def quiet():
    """Dask logs what the tests do to it."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


# A process of its own, so that no thread of a client whose scheduler is lost outlives the test.
CALLER = """
import os
import sys
import time
from pathlib import Path

import cloudpickle
import dask
import dask.array as da
import numpy as np
from distributed import Client

from toprank import PNormPush as LocalPush
from toprank.integrations.dask import PNormPush, top

folder = Path(sys.argv[2])


def waits(block, folder):
    (folder / "running").touch()
    while not (folder / "go on").exists():
        time.sleep(0.05)
    return block


cloudpickle.register_pickle_by_value(sys.modules[__name__])
client = Client(sys.argv[1], timeout=300)
client._timeout = 2  # to wait for a lost scheduler
rng = np.random.default_rng(0)
X = da.from_array(rng.normal(size=(40, 2)), chunks=(20, 2))
X = X.map_blocks(waits, folder, meta=np.empty((0, 2)))
y = da.from_array(np.arange(40) % 2, chunks=20)
model = PNormPush()
vars(model).update(vars(LocalPush().fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])))
calls = {
    "fit": lambda: PNormPush().fit(X, y),
    "score": lambda: model.score(X, y),
    "top": lambda: top(model.to_local(), X, 3),
}
for call in sys.argv[3:]:
    try:
        calls[call]()
    except RuntimeError as error:
        print(error)
        print(repr(error.__cause__), flush=True)
os._exit(0)
"""


@pytest.mark.parametrize(
    ("calls", "fault", "words"),
    [
        (["fit"], "restart", "was restarted"),
        (["score", "top"], "loss", "cannot be reached any more"),
    ],
)
def test_a_lost_or_restarted_scheduler_is_one_sentence(
    start_cluster, tmp_path, calls, fault, words
):
    cluster = start_cluster(1)
    log = tmp_path / "caller.txt"
    with start_python(CALLER, cluster.address, tmp_path, *calls, log=log) as caller:
        while not (tmp_path / "running").exists():
            assert caller.poll() is None, log.read_text()
            time.sleep(0.05)
        if fault == "restart":
            with Client(cluster.address, timeout=300, set_as_default=False) as client:
                client.restart(wait_for_workers=False)
        else:
            cluster.kill()
        (tmp_path / "go on").touch()
        said, _ = caller.communicate()
    assert said, log.read_text()
    errors, causes = said.splitlines()[::2], said.splitlines()[1::2]
    assert len(errors) == len(causes) == len(calls)
    for error in errors:
        assert error.startswith(f"the Dask scheduler {words}, and what it held is lost; connect")
    assert "cancelled" in causes[0].lower()


@pytest.mark.usefixtures("quiet")
def test_workers_that_die_of_a_task_are_one_sentence(own_client):
    def dies(_):
        import os

        os._exit(1)  # as a worker above its memory limit is ended

    def allow_no_failure(dask_scheduler):
        dask_scheduler.allowed_failures = 0

    own_client.run_on_scheduler(allow_no_failure)
    X = da.ones((4, 2), chunks=(2, 2)).map_blocks(dies, meta=np.empty((0, 2)))
    with pytest.raises(RuntimeError, match="most likely for want of memory; give") as caught:
        PNormPush().fit(X, da.from_array([0, 1, 0, 1], chunks=2))
    assert isinstance(caught.value.__cause__, KilledWorker)


class _Interrupted(DaskBlocks):
    """Rows whose passes are interrupted after some."""

    passes_left = 0

    def total(self, work, *arguments):
        if not _Interrupted.passes_left:
            raise KeyboardInterrupt
        _Interrupted.passes_left -= 1
        return super().total(work, *arguments)

    def kept(self, work, *arguments):
        blocks = super().kept(work, *arguments)
        blocks.__class__ = _Interrupted
        return blocks


def tasks_left(client):
    """Tasks that a cluster holds; a client tells the scheduler after a while."""
    for _ in range(1000):
        left = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        if not left:
            break
        time.sleep(0.05)
    return left


@pytest.mark.parametrize("ranker", [PNormPush(), RankBoost(), TreeRanker()], ids=repr)
def test_an_interrupted_fit_leaves_nothing_on_the_cluster(client, monkeypatch, ranker):
    monkeypatch.setattr("toprank.integrations.dask.DaskBlocks", _Interrupted)
    monkeypatch.setattr(_Interrupted, "passes_left", 4)
    X = da.from_array(np.random.default_rng(0).normal(size=(40, 2)), chunks=(20, 2))
    with pytest.raises(KeyboardInterrupt) as held:  # and with it all that its frames know
        ranker.fit(X, np.arange(40) % 2)
    assert not tasks_left(client)
    assert held.value.__traceback__ is not None


def test_blocks_release_a_pass_that_is_interrupted_while_it_runs(client, monkeypatch):
    def interrupted(_, futures):
        wait(list(futures.values()))
        raise KeyboardInterrupt

    X = da.ones((40, 2), chunks=(20, 2))
    blocks = DaskBlocks(X, da.from_array(np.arange(40) % 2, chunks=20))
    with monkeypatch.context() as patched:
        patched.setattr(Client, "gather", interrupted)
        with pytest.raises(KeyboardInterrupt) as held:
            blocks.collect(np.shape)
    assert not tasks_left(client)
    assert held.value.__traceback__ is not None
