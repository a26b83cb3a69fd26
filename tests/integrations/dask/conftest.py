import contextlib
import os
import subprocess
import sys

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


def start_python(code, *arguments, log):
    """Run a program in a process of its own; its errors go to a log."""
    with log.open("w") as stderr:
        return subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )


class ClusterProcess:
    """A process that holds a scheduler and worker processes, and ends with the tests.

    Nothing of how a cluster ends can fail a test. Its workers end with it.
    """

    def __init__(self, n_workers, folder):
        log = folder / "log.txt"
        self._process = start_python(CLUSTER, n_workers, folder, log=log)
        self.address = self._process.stdout.readline().strip()
        assert self.address, log.read_text()

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
def start_cluster(tmp_path):
    """Start a cluster that a test may damage: Dask does not restart every worker that is killed."""
    with contextlib.ExitStack() as stack:

        def start(n_workers):
            cluster = ClusterProcess(n_workers, tmp_path)
            stack.callback(cluster.kill)
            return cluster

        yield start


@pytest.fixture
def client(two_processes):
    """Dask computes on the cluster while a test runs, and where it did before afterwards."""
    from distributed import Client

    with Client(two_processes.address, timeout=300) as client:
        yield client


@pytest.fixture
def own_client(start_cluster):
    """Dask computes on a cluster of two worker processes that a test may kill."""
    from distributed import Client

    with Client(start_cluster(2).address, timeout=300) as client:
        yield client
