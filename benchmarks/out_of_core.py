"""Fits streamed from a Parquet file: a pass beside pyarrow's own read, and the memory of a fit.

``python -m benchmarks.out_of_core`` takes some two minutes and writes the table of
docs/guide/out_of_core.md. ``ROWS=1e8 FOLDER=/some/disk`` takes the size that does not fit into
memory: a file of 9 GB, which is deleted at the end. Both sides take all cores, and both find the
file in the page cache as the turn before has left it.
"""

import multiprocessing
import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.between import machine_text, table, write_between
from benchmarks.measure import in_turns, peak_bytes
from toprank import PNormPush, RankBoost
from toprank.blocks import classes_of_one_list, survey
from toprank.objectives.exponential import PushFormula
from toprank.solvers.boosting_classes import PassState, binned, fit_stumps
from toprank.solvers.passes import PushPasses
from toprank.solvers.tree_blocks import binned_rows
from toprank.solvers.tree_boosting import bins_of_blocks
from toprank.tables import ParquetBlocks
from toprank.weak_rankers import Features, Stumps

ROWS, FEATURES, ROUNDS = int(float(os.environ.get("ROWS", "1e7"))), 20, 10
FOLDER = os.environ.get("FOLDER", tempfile.gettempdir())
TURNS = 6 if ROWS <= 10_000_000 else 2
LEANEST, DEFAULT = "pyarrow reads in pieces", "pyarrow reads by default"
BUFFER = 1 << 18  # bytes that pyarrow reads ahead in every column


def write(path, n_rows, seed=0, group=1 << 20):
    """Write rows of about 4 % positives, a row group at a time."""
    rng = np.random.default_rng(seed)
    coef = np.random.default_rng(0).normal(size=FEATURES).astype(np.float32)
    names = [f"x{j}" for j in range(FEATURES)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int8())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, group):
            columns = rng.standard_normal((FEATURES, min(group, n_rows - start)), dtype=np.float32)
            noise = rng.logistic(size=columns.shape[1])
            y = (0.5 * coef @ columns + noise > 5).astype(np.int8)
            writer.write_table(pa.table([*columns, y], schema=schema), row_group_size=group)


def read(path, **options):
    """What pyarrow needs to read the same columns, and to do nothing with them."""
    with pq.ParquetFile(path, **options) as file:
        for _ in file.iter_batches():
            pass


def push_fit(path):
    return PNormPush().fit_blocks(ParquetBlocks(path, target="y"))


def boosting_fit(path):
    return RankBoost(max_iter=ROUNDS).fit_blocks(ParquetBlocks(path, target="y"))


def boosting_fit_on_disk(path):
    blocks = ParquetBlocks(path, target="y", scratch=FOLDER)
    return RankBoost(max_iter=ROUNDS).fit_blocks(blocks)


FITS = {
    "`PNormPush().fit_blocks`": push_fit,
    f"`RankBoost(max_iter={ROUNDS}).fit_blocks`": boosting_fit,
    "the same, with `scratch=`": boosting_fit_on_disk,
}


def alone(fit, path):
    """Seconds and peak bytes of a fit in this process, which has only compiled before."""
    small = pq.ParquetFile(path).read_row_group(0).slice(0, 20_000)
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(small, Path(folder) / "part.parquet")
        fit(Path(folder) / "part.parquet")
    before, start = psutil.Process().memory_info().rss, time.perf_counter()
    peak = before + peak_bytes(lambda: fit(path))
    return time.perf_counter() - start, peak


def passes(path):
    """A pass of each kind, after a look at the rows."""
    blocks, on_disk = (
        ParquetBlocks(path, target="y"),
        ParquetBlocks(path, target="y", scratch=FOLDER),
    )
    seen = survey(blocks, accepts_missing=True)
    classes = classes_of_one_list(seen)
    features = Features()
    features.low_, features.span_ = seen.low, seen.span
    push = PushPasses(blocks, features, classes[1], PushFormula(4.0, {1: 1.0}))
    weights = np.linspace(-1, 1, FEATURES)
    stumps = Stumps()
    fit_stumps(stumps, blocks, seen)
    stumps.has_missing_ = seen.missing
    state = PassState(blocks, stumps, classes[1])
    tree_bins = bins_of_blocks(blocks, seen, 255)
    work = binned, stumps.thresholds_, classes[1], 1.0
    return {
        LEANEST: lambda: read(path, pre_buffer=False, buffer_size=BUFFER),
        DEFAULT: lambda: read(path),
        "one pass of `PNormPush`: value, gradient, Hessian": lambda: push.evaluate(weights),
        "bins of `RankBoost`, kept in memory": lambda: blocks.kept(*work).close(),
        "bins of `RankBoost`, written to disk": lambda: on_disk.kept(*work).close(),
        "bins of `TreeRanker`, kept in memory": lambda: blocks.kept(
            binned_rows, tree_bins, classes[1]
        ).close(),
        "one round of `RankBoost` on its bins": lambda: state._move(0, 0.01),  # noqa: SLF001
    }


def pass_table(path):
    """Seconds of each pass, and its ratio to both reads in the same turn."""
    calls = passes(path)
    taken, worked = in_turns(calls, TURNS)
    rows = []
    for name, seconds in taken.items():
        ratios = [
            sorted(mine / its for mine, its in zip(times[name], times[read], strict=True))
            for times, read in ((taken, LEANEST), (worked, LEANEST), (taken, DEFAULT))
        ]
        cells = [f"{statistics.median(r):.2f} ({r[0]:.2f} to {r[-1]:.2f})" for r in ratios]
        rows.append([name, f"{statistics.median(seconds):.3g}", *cells])
    head = ["relative to the leanest read", "processor time", "relative to the default read"]
    return table(["", "seconds", *head], rows)


def fit_table(path):
    """Seconds and peak memory of fits, each in a process of its own."""
    rows = []
    for name, fit in FITS.items():
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            taken, peak = pool.apply(alone, (fit, path))
        rows.append([name, f"{taken:.3g}", f"{peak / 1e9:.2f} GB"])
    return table(["", "seconds", "peak memory of the process"], rows)


def main():
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        path = Path(folder) / "rows.parquet"
        write(path, ROWS)
        text = (
            f"{ROWS:,} rows of {FEATURES} float32 features, a file of "
            f"{path.stat().st_size / 1e9:.2g} GB in the page cache; {TURNS} "
            "turns, median, smallest and largest ratio. "
            f"{machine_text()}.\n\n{pass_table(path)}\n\n{fit_table(path)}"
        )
    write_between("guide/out_of_core.md", "passes", text)


if __name__ == "__main__":
    main()
