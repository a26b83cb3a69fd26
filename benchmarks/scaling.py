"""Strong scaling: fits on one and on two Dask workers, of one thread each, of the same rows.

``python -m benchmarks.scaling`` takes under four minutes and writes the table of
docs/guide/dask.md; nothing else should run meanwhile. A speedup is the time on one worker over
that on two in the same turn. What the machine itself allows is measured beside it: a shorter fit by
one process on all rows, and by two processes at once on half of the rows each, which exchange
nothing. ``ROWS`` and ``SECONDS`` change the number of rows and the time to spend.
"""

import os
import statistics
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

import toprank
from benchmarks.between import machine_text, table, write_between
from toprank.blocks import ArrayBlocks, Block
from toprank.integrations import dask as on_cluster

ROWS, SECONDS = (
    int(float(os.environ.get(*each))) for each in (("ROWS", "8e6"), ("SECONDS", "185"))
)
FEATURES, CHUNKS, LEAST_TURNS, SMALL = 20, 4, 2, 16_000
RANKERS = {
    "PNormPush": ("`PNormPush()`", {}),
    "RankBoost": ("`RankBoost(max_iter=10)`", {"max_iter": 10}),
    "TreeRanker": ("`TreeRanker(n_trees=3)`", {"n_trees": 3, "random_state": 0}),
}
# What processes without a cluster do: the same kinds of passes, fewer of them.
SHORTER = {"PNormPush": {"max_iter": 1}, "RankBoost": {"max_iter": 4}, "TreeRanker": {"n_trees": 1}}
PAGE, MARK = "guide/dask.md", "strong scaling"
_HERE = {}  # the rows of a process, by their number and how many processes share them


def rows_of(number, n_rows):
    """Rows of a chunk, which its number decides; the last column is the label."""
    rng = np.random.default_rng(number)
    table = rng.standard_normal((n_rows, FEATURES + 1), dtype=np.float32)
    table[:, -1] = table[:, 0] + 0.5 * table[:, 1] + table[:, -1] > 2.5
    return table


def persisted(client, n_rows):
    """The same rows on every cluster, each worker with as many chunks."""
    workers, size = sorted(client.scheduler_info()["workers"]), n_rows // CHUNKS
    chunks = []
    for number in range(CHUNKS):
        place = workers[number * len(workers) // CHUNKS]
        rows = dask.delayed(client.submit(rows_of, number, size, workers=[place]))
        chunks.append(da.from_delayed(rows, (size, FEATURES + 1), np.float32))
    whole = da.concatenate(chunks)
    parts = whole[:, :FEATURES], whole[:, FEATURES]
    X, y = dask.persist(*(part.map_blocks(np.ascontiguousarray) for part in parts))
    wait([X, y])
    return X, y


def take(share, n_shares, n_rows):
    """Hold a share of the chunks in this process."""
    numbers = range(share * CHUNKS // n_shares, (share + 1) * CHUNKS // n_shares)
    parts = [rows_of(number, n_rows // CHUNKS) for number in numbers]
    blocks = [
        Block(np.ascontiguousarray(part[:, :FEATURES]), part[:, FEATURES].copy(), None, number)
        for number, part in enumerate(parts)
    ]
    _HERE[n_rows, n_shares] = ArrayBlocks(blocks, n_jobs=1)


def fit_here(name, n_rows, n_shares):
    """Fit on what this process holds, in one thread."""
    warnings.simplefilter("ignore")
    options = {"n_jobs": 1} if name == "TreeRanker" else {}
    getattr(toprank, name)(**SHORTER[name], **options).fit_blocks(_HERE[n_rows, n_shares])


class Clusters:
    """A cluster of one worker and one of two, with the same rows, and with a few."""

    def __init__(self, stack, n_rows):
        self._clients, self._tables = {}, {}
        for n_workers in (1, 2):
            cluster = LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0
            )
            stack.enter_context(cluster)
            client = Client(cluster, set_as_default=False, direct_to_workers=True)
            stack.enter_context(client)
            self._clients[n_workers] = client
            with client.as_current():
                for size in (SMALL, n_rows):
                    self._tables[size, n_workers] = persisted(client, size)

    def fit(self, name, n_rows, n_workers):
        with self._clients[n_workers].as_current():
            model = getattr(on_cluster, name)(**RANKERS[name][1])
            model.fit(*self._tables[n_rows, n_workers])
        return model.to_local().decision_function(rows_of(0, 1000)[:, :FEATURES])


class Processes:
    """Two processes, the first with all rows, both with a half of them."""

    def __init__(self, stack, n_rows):
        spawn = {"max_workers": 1, "mp_context": get_context("spawn")}
        self._pools = [stack.enter_context(ProcessPoolExecutor(**spawn)) for _ in range(2)]
        for size in (SMALL, n_rows):
            _finish([pool.submit(take, k, 2, size) for k, pool in enumerate(self._pools)])
            _finish([self._pools[0].submit(take, 0, 1, size)])

    def fit(self, name, n_rows, n_processes):
        pools = self._pools[:n_processes]
        _finish([pool.submit(fit_here, name, n_rows, n_processes) for pool in pools])


def _finish(futures):
    for future in futures:
        future.result()


def speedups(n_rows, seconds):
    """Times by ranker and side, in turns until the time is over; sides alternate."""
    began = time.perf_counter()
    taken = {(name, side): ([], []) for name in RANKERS for side in ("cluster", "processes")}
    with ExitStack() as stack:
        sides = {"cluster": Clusters(stack, n_rows), "processes": Processes(stack, n_rows)}
        for name, side in taken:  # compile
            for n_workers in (2, 1):
                sides[side].fit(name, SMALL, n_workers)
        turn = longest = 0.0
        while turn < LEAST_TURNS or time.perf_counter() - began + longest < seconds:
            start = time.perf_counter()
            for (name, side), times in taken.items():
                found = [_timed(sides[side], name, n_rows, n, times) for n in (1, 2)]
                if side == "cluster":
                    np.testing.assert_array_equal(*found)  # the model is the same
            turn, longest = turn + 1, max(longest, time.perf_counter() - start)
    return taken


def _timed(side, name, n_rows, n_workers, times):
    start = time.perf_counter()
    found = side.fit(name, n_rows, n_workers)
    times[n_workers - 1].append(time.perf_counter() - start)
    return found


def lines(taken):
    """Rows of the table."""
    for name, (label, _) in RANKERS.items():
        cells = [label]
        for side in ("cluster", "processes"):
            one, two = taken[name, side]
            ratios = [alone / shared for alone, shared in zip(one, two, strict=True)]
            low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
            if side == "cluster":
                cells += [f"{statistics.median(one):.2f}", f"{statistics.median(two):.2f}"]
            cells += [f"{middle:.2f} ({low:.2f} to {high:.2f})"]
        yield cells


def main():
    warnings.simplefilter("ignore")
    taken = speedups(ROWS, SECONDS)
    turns = len(taken["PNormPush", "cluster"][0])
    head = ["fit", "one worker, s", "two workers, s", "speedup", "without a cluster"]
    text = (
        f"{ROWS:,} rows of {FEATURES} float32 features in {CHUNKS} chunks, {turns} turns; median, "
        f"smallest and largest speedup. {machine_text()}.\n\n{table(head, list(lines(taken)))}"
    )
    write_between(PAGE, MARK, text)


if __name__ == "__main__":
    main()
