"""What the plan for large tables is made of, measured: passes over a file, tasks of a cluster."""

import multiprocessing
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.bytes_per_row import give_back
from benchmarks.measure import peak_bytes
from benchmarks.out_of_core import FEATURES, write
from toprank import PNormPush, RankBoost, TreeRanker
from toprank.blocks import ArrayBlocks, Blocks
from toprank.tables import ParquetBlocks

GROUP = 1 << 18  # small ones: several for each thread also where rows are few
FITS = {
    "PNormPush": PNormPush(),
    "RankBoost": RankBoost(max_iter=10),
    "TreeRanker": TreeRanker(n_trees=3, random_state=0),
}


class Fit(NamedTuple):
    """One fit: processor seconds and number of each kind of pass, and of all of it."""

    passes: dict[str, tuple[int, float]]
    processor: float
    wall: float
    n_bytes: int


# Files --------------------------------------------------------------------------------------------


def write_sizes(folder, sizes):
    """The files of each size: those of the size before, and one more."""
    files, written = {}, []
    for number, (before, size) in enumerate(zip([0, *sizes], sizes, strict=False)):
        written.append(Path(folder) / f"{number}.parquet")
        write(written[-1], size - before, seed=number, group=GROUP)
        files[size] = list(written)
    return files


# Fits ---------------------------------------------------------------------------------------------


class ClockedBlocks(Blocks):
    """Blocks that note how much processor time each kind of pass takes."""

    def __init__(self, blocks, passes):
        self._blocks, self._passes = blocks, passes
        self.feature_names = blocks.feature_names

    @contextmanager
    def _clocked(self, name):
        start = time.process_time()
        yield
        count, seconds = self._passes[name]
        self._passes[name] = count + 1, seconds + time.process_time() - start

    def total(self, work, *arguments):
        with self._clocked(work.__name__):
            return self._blocks.total(work, *arguments)

    def collect(self, work, *arguments):
        with self._clocked(work.__name__):
            return self._blocks.collect(work, *arguments)

    def kept(self, work, *arguments):
        with self._clocked(work.__name__):
            kept = self._blocks.kept(work, *arguments)
        return ClockedBlocks(kept, self._passes)

    def close(self):
        self._blocks.close()


def fit_here(name, files):
    """A fit in this process, which has done nothing else, after a small one to compile."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, FEATURES)).astype(np.float32)
    ranker = FITS[name]
    ranker.fit_blocks(ArrayBlocks.cut(np.asfortranarray(X), (X[:, 0] > 2).astype(np.int8)))
    give_back()
    passes = defaultdict(lambda: (0, 0.0))
    blocks = ClockedBlocks(ParquetBlocks(files, target="y"), passes)
    wall, processor = time.perf_counter(), time.process_time()
    n_bytes = peak_bytes(lambda: ranker.fit_blocks(blocks))
    processor, wall = time.process_time() - processor, time.perf_counter() - wall
    return Fit(dict(passes), processor, wall, n_bytes)


def fits_of(files):
    """Each fit on some files, in a process of its own."""
    found = {}
    for name in FITS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found[name] = pool.apply(fit_here, (name, files))
    return found


def measured_fits(sizes):
    """Fits on files of each size; a generator, so that the last size can be predicted first."""
    with tempfile.TemporaryDirectory() as folder:
        for size, files in write_sizes(folder, sizes).items():
            yield size, fits_of(files)


# Tasks of a cluster -------------------------------------------------------------------------------

RESULTS = {
    "a number": 1,
    "a pass of the push": 2 * (FEATURES**2 + FEATURES),
    "a round": 512 * FEATURES,
}


def answer(block, size):  # noqa: ARG001
    """What a chunk sends back: so many numbers."""
    return np.ones(size)


def task_seconds(chunk_counts, turns=5):
    """Processor seconds of client and scheduler, and seconds, of a pass over so many chunks."""
    import dask.array as da
    from distributed import Client, LocalCluster

    from toprank.integrations.dask import DaskBlocks

    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**workers) as cluster, Client(cluster):
        for n_chunks in chunk_counts:
            X = da.zeros((n_chunks, 1), chunks=(1, 1)).persist()
            blocks = DaskBlocks(X, np.zeros(n_chunks)).kept(_unchanged)
            found = {}
            for name, size in RESULTS.items():
                blocks.total(answer, size)
                taken = []
                for _ in range(turns):
                    start = time.process_time()
                    blocks.total(answer, size)
                    taken.append(time.process_time() - start)
                found[name] = sorted(taken)[turns // 2]
            yield n_chunks, found


def _unchanged(block):
    return block
