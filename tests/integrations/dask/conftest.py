import itertools
import os
import subprocess
import sys

import dask
import numpy as np
import pytest

# A worker that has compiled the kernels holds some 500 MB that it can neither spill nor free. It
# must not wait for that to shrink, as it does by default at 80 % of its limit: it would wait for
# ever. Above the limit it is killed, so no test passes by taking more memory.
CLUSTER = """
import sys

import dask
from distributed import LocalCluster

dask.config.set({"distributed.worker.memory.pause": False})
cluster = LocalCluster(
    n_workers=int(sys.argv[1]),
    threads_per_worker=1,
    memory_limit="700MB",
    dashboard_address=":0",
    local_directory=sys.argv[2],
)
print(cluster.scheduler_address, flush=True)
sys.stdin.read()
"""


class ClusterProcess:
    """A process that holds a scheduler and worker processes, and ends with the tests.

    Nothing of how a cluster ends can fail a test. Its workers end with it.
    """

    def __init__(self, n_workers, folder):
        self.log = folder / "log.txt"
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", CLUSTER, str(n_workers), folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            )
        self.address = self._process.stdout.readline().strip()
        assert self.address, self.log.read_text()

    def kill(self):
        with self._process as process:
            process.kill()


@pytest.fixture(scope="session")
def two_processes(tmp_path_factory):
    """A cluster of two worker processes, which everything that needs one shares."""
    cluster = ClusterProcess(2, tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.kill()


@pytest.fixture
def own_cluster(tmp_path):
    """A cluster of one worker process that a test may end."""
    cluster = ClusterProcess(1, tmp_path)
    yield cluster
    cluster.kill()


@pytest.fixture
def client(two_processes):
    """Dask computes on the cluster while a test runs, and where it did before afterwards."""
    from distributed import Client

    with Client(two_processes.address) as client:
        yield client


@pytest.fixture
def chunks_at_hand(monkeypatch):
    """Metrics of chunks without Dask: the same functions, called at once on arrays in memory."""
    from toprank.integrations.dask import chunks, metrics, ranges

    def cut(columns):
        n_rows = len(columns["scores"])
        rng = np.random.default_rng(n_rows)
        edges = [0, *np.sort(rng.integers(0, n_rows + 1, rng.integers(4))), n_rows]
        parts = [slice(*ends) for ends in itertools.pairwise(edges)]
        return n_rows, [
            {name: np.asarray(column)[part] for name, column in columns.items()} for part in parts
        ]

    for module in (chunks, ranges):
        for name, stand_in in (
            ("delayed", lambda function, **_: function),
            ("compute", lambda *results: results),
            ("keep", tuple),
        ):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, stand_in)
    monkeypatch.setattr(metrics, "cut_alike", cut)


@pytest.fixture
def at_once(monkeypatch):
    """Dask computes in this thread, and short chunks stay as they are."""
    from toprank.integrations.dask import chunks

    monkeypatch.setattr(chunks, "_FEWEST_ROWS", 1)
    with dask.config.set(scheduler="synchronous"):
        yield
