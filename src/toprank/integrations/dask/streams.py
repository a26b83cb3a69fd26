"""Parquet files whose passes run on a cluster, in workers that read the same paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import add
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from distributed import Client, as_completed
from distributed.comm import resolve_address

from toprank.integrations.dask.chunks import cluster_faults, without_size_warning
from toprank.tables.parquet_stream import ParquetStream

if TYPE_CHECKING:
    from toprank.blocks import Part, Total

# Tasks per thread of the cluster, at the most: more would cost the scheduler time.
TASKS = 16
# How often a task is done again whose worker has died.
RETRIES = 5
SECONDS = 30  # to wait for the scheduler


class ClusterStream(ParquetStream):
    """Rows of Parquet files that the workers of a Dask cluster read, add up and pick.

    The result is that of :class:`toprank.tables.parquet_stream.ParquetStream`, row for row; what a
    lost worker had done is done again.

    Parameters
    ----------
    paths : path or list of paths
        As for a stream on one machine; all workers must see the files under these paths.
    address : str
        Of the scheduler, such as ``tcp://10.0.0.1:8786``.

    Examples
    --------
    >>> from distributed import LocalCluster
    >>> with LocalCluster(n_workers=2, processes=False) as cluster:  # doctest: +SKIP
    ...     stream = ClusterStream("rows/", cluster.scheduler_address)
    """

    def __init__(
        self, paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], address: str
    ) -> None:
        if isinstance(paths, (str, os.PathLike)):
            super().__init__(Path(paths).absolute())
        else:
            super().__init__([Path(path).absolute() for path in paths])
        try:
            resolve_address(address)  # a Client with an address that is none takes a minute to end
            self._client: Any = Client(address, timeout=SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"there is no Dask scheduler at {address!r} ({error}); start one with 'dask "
                "scheduler' and give the address that it prints, such as tcp://10.0.0.1:8786."
            ) from error

    def __copy__(self) -> ClusterStream:
        """A copy keeps the client, which a worker does not get."""
        found = object.__new__(ClusterStream)
        vars(found).update(vars(self))
        return found

    def __getstate__(self) -> dict[str, Any]:
        """What a worker needs to read."""
        return {**vars(self), "_client": None, "watch": None}

    def close(self) -> None:
        """Leave the cluster."""
        self._client.close()

    def _add_up(
        self,
        work: Callable[[Part, Event], Total],
        parts: Sequence[Part],
        watch: Callable[[Part], None] | None = None,
    ) -> Total:
        threads = max(1, sum(self._client.nthreads().values()))
        step = -(-len(parts) // (TASKS * threads))
        groups = [parts[start : start + step] for start in range(0, len(parts), step)]
        with cluster_faults(), without_size_warning():
            futures = self._client.map(partial(_work_on, work), groups, pure=False, retries=RETRIES)
            numbers = {future: number for number, future in enumerate(futures)}
            found: dict[int, Any] = {}
            try:
                done = as_completed(futures, loop=self._client.loop, with_results=True)
                for future, result in done:
                    found[numbers[future]] = result
                    if watch is not None:  # parts end in any order
                        watch(groups[len(found) - 1][-1])
            except BaseException:
                self._client.cancel(futures)
                raise
        return reduce(add, (found[number] for number in range(len(groups))))


def _work_on(work: Callable[[Any, Event], Any], parts: Sequence[Any]) -> Any:
    stop = Event()
    return reduce(add, (work(part, stop) for part in parts))
