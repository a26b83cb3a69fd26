"""Fits streamed from a Parquet file: a pass beside pyarrow's own read, and the memory of a fit.

``ROWS=1e8 FOLDER=/some/disk python -m benchmarks.out_of_core`` takes the size that does not fit
into memory: a file of 9 GB, which is deleted at the end. Both sides take all cores, and both find
the file in the page cache as the turn before has left it.
"""

import multiprocessing
import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import compared, race
from toprank import PNormPush, RankBoost
from toprank.objectives.exponential import PushFormula
from toprank.rankers.survey import survey
from toprank.solvers.boosting_passes import PassState, binned, fit_stumps
from toprank.solvers.passes import BlockFeatures, PushPasses
from toprank.tables import ParquetBlocks
from toprank.tables.parquet_stream import BUFFER
from toprank.weak_rankers import Stumps

ROWS, FEATURES, ROUNDS = int(float(os.environ.get("ROWS", "1e7"))), 20, 10
FOLDER = os.environ.get("FOLDER")
GROUP = 1 << 20
IN_PIECES = {"pre_buffer": False, "buffer_size": BUFFER}


def write(path):
    """Write rows of about 4 % positives, a row group at a time."""
    rng = np.random.default_rng(0)
    coef = rng.normal(size=FEATURES).astype(np.float32)
    names = [f"x{j}" for j in range(FEATURES)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int8())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, ROWS, GROUP):
            columns = rng.standard_normal((FEATURES, min(GROUP, ROWS - start)), dtype=np.float32)
            noise = rng.logistic(size=columns.shape[1])
            y = (0.5 * coef @ columns + noise > 5).astype(np.int8)
            writer.write_table(pa.table([*columns, y], schema=schema), row_group_size=GROUP)


def read(path, **options):
    """What pyarrow needs to read the same columns, and to do nothing with them."""
    with pq.ParquetFile(path, **options) as file:
        for _ in file.iter_batches():
            pass


def push_fit(path):
    return PNormPush().fit_blocks(ParquetBlocks(path, target="y"))


def boosting_fit(path):
    return RankBoost(max_iter=ROUNDS).fit_blocks(ParquetBlocks(path, target="y", scratch=FOLDER))


def nothing(path):
    """Import and compile, which every process does once."""
    small = pq.ParquetFile(path).read_row_group(0).slice(0, 20_000)
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "part.parquet"
        pq.write_table(small, part)
        push_fit(part)
        boosting_fit(part)


def alone(fit, path):
    """Seconds and peak megabytes of a fit in this process, which has done nothing else."""
    nothing(path)
    start = time.perf_counter()
    fit(path)
    return time.perf_counter() - start, resource.getrusage(
        resource.RUSAGE_SELF
    ).ru_maxrss * 1.024e-3


def passes(path):
    """A pass of each kind, after a look at the rows."""
    blocks = ParquetBlocks(path, target="y", scratch=FOLDER)
    seen, classes = survey(blocks, accepts_missing=True)
    features = BlockFeatures(seen.low, seen.span, classes[1])
    landscape = PushPasses(blocks, features, PushFormula(4.0, {1: 1.0}))
    weights = np.linspace(-1, 1, FEATURES)
    stumps = Stumps()
    fit_stumps(stumps, blocks, seen.starts, seen.n_rows)
    stumps.has_missing_ = seen.missing
    state = PassState.on(blocks, stumps, classes[1])

    def binning():
        PassState.on(blocks, stumps, classes[1]).close()

    def bins_alone():
        blocks.total(lambda block: len(binned(block, stumps.thresholds_, classes[1]).y))

    return {
        "value, gradient and Hessian of PNormPush": lambda: landscape.at(weights),
        "bins of RankBoost, written to disk": binning,
        "bins of RankBoost, not written": bins_alone,
        "a round of RankBoost on its bins": lambda: state._move(0, 0.01),  # noqa: SLF001
    }


def results():
    task = f"a pass over {ROWS:,} × {FEATURES} float32 in Parquet"
    turns = 6 if ROWS <= 10_000_000 else 2
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        path = Path(folder) / "rows.parquet"
        write(path)
        for name, run in passes(path).items():
            peers = {
                "pyarrow's read": lambda: read(path),
                "pyarrow's read, in pieces": lambda: read(
                    path, pre_buffer=False, buffer_size=BUFFER
                ),
            }
            notes = dict.fromkeys(peers, "reads, and does nothing with what it has read")
            yield from race("out of core", task, (name, run), peers, turns=turns, notes=notes)
        for name, fit in (("PNormPush", push_fit), (f"RankBoost, {ROUNDS} rounds", boosting_fit)):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                taken, peak = pool.apply(alone, (fit, path))
            table = ROWS * (FEATURES * 4 + 1) / 1e6
            yield compared(
                "memory", f"a fit on {ROWS:,} × {FEATURES} float32 in Parquet",
                (f"{name}, streamed", [peak]), ("the table alone, in memory", [table]), "MB",
                f"all of the process, Python and libraries included; {taken:.0f} s",
            )  # fmt: skip


if __name__ == "__main__":
    for row in results():
        print(*(f"{value:.4g}" if isinstance(value, float) else value for value in row), sep=" | ")
