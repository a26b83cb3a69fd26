import dask
import pytest


@pytest.fixture(scope="session")
def two_processes():
    """A cluster of two worker processes, which everything that needs one shares."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit="800MB", dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(two_processes):
    """Dask computes on the cluster while a test runs, and where it did before afterwards."""
    from distributed import Client

    with Client(two_processes) as client:
        yield client


@pytest.fixture
def at_once(monkeypatch):
    """Dask computes in this thread, and short chunks stay as they are."""
    from toprank.integrations.dask import columns

    monkeypatch.setattr(columns, "_FEWEST_ROWS", 1)
    with dask.config.set(scheduler="synchronous"):
        yield
