"""Fits that compare rows, from a Parquet file and in memory: passes, time, memory per row.

``ROWS=1e6 python -m benchmarks.comparing_blocks`` fits each ranker on the rows and on half of them,
each in a process of its own; the memory per row is the difference of the peaks.
"""

import multiprocessing
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import peak_bytes
from toprank import LinearRankSVM, PNormPush
from toprank.tables import ParquetBlocks

ROWS, FEATURES, LIST = int(float(os.environ.get("ROWS", "1e6"))), 20, 100
FITS = {
    "exponential": (PNormPush, {}, None),
    "hinge, alpha=0.1": (PNormPush, {"loss": "hinge", "alpha": 0.1}, None),
    "squared hinge": (PNormPush, {"loss": "squared_hinge"}, None),
    "logistic": (PNormPush, {"loss": "logistic"}, None),
    f"exponential, lists of {LIST} rows": (PNormPush, {}, "list"),
    f"squared hinge, lists of {LIST} rows": (PNormPush, {"loss": "squared_hinge"}, "list"),
    "LinearRankSVM": (LinearRankSVM, {}, None),
}


def write(path, n_rows):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((FEATURES, n_rows), dtype=np.float32)
    y = (0.5 * rng.normal(size=FEATURES) @ X + rng.logistic(size=n_rows) > 3).astype(np.int8)
    names = [*(f"x{j}" for j in range(FEATURES)), "y", "list"]
    pq.write_table(pa.table([*X, y, rng.permutation(n_rows) // LIST], names=names), path)


class Counted(ParquetBlocks):
    """Blocks that count the passes over them."""

    n_passes = 0

    def total(self, work, *arguments):
        self.n_passes += 1
        return super().total(work, *arguments)


def fit(path, name, streamed):
    kind, options, group = FITS[name]
    if streamed:
        features = [f"x{j}" for j in range(FEATURES)]
        blocks = Counted(path, target="y", group=group, features=features)
        return kind(**options).fit_blocks(blocks), blocks.n_passes
    table = pq.read_table(path)
    X = np.column_stack([table.column(j) for j in range(FEATURES)])
    groups = None if group is None else table.column(group).to_numpy()
    y = table.column("y").to_numpy()
    del table
    return kind(**options).fit(X, y, groups=groups), 0


def measured(small, path, name, streamed, results):
    fit(small, name, streamed)  # imports and compiles
    wall, processor = time.perf_counter(), time.process_time()
    found = []
    peak = peak_bytes(lambda: found.extend(fit(path, name, streamed)))
    times = time.perf_counter() - wall, time.process_time() - processor
    model, n_passes = found
    results.put((*times, peak, n_passes, model.n_iter_, model.coef_))


def in_process(*arguments):
    results = multiprocessing.get_context("spawn").Queue()
    child = multiprocessing.get_context("spawn").Process(
        target=measured, args=(*arguments, results)
    )
    child.start()
    found = results.get()
    child.join()
    return found


def main():
    print("ranker, where, iterations, passes, seconds, processor s, bytes per row, difference")
    with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as folder:
        paths = [Path(folder) / f"{name}.parquet" for name in ("small", "half", "whole")]
        for path, n_rows in zip(paths, (20_000, ROWS // 2, ROWS), strict=True):
            write(path, n_rows)
        small, half, whole = paths
        for name in FITS:
            coefs = []
            for streamed in (False, True):
                *_, less, _, _, _ = in_process(small, half, name, streamed)
                wall, processor, peak, passes, n_iter, coef = in_process(
                    small, whole, name, streamed
                )
                coefs.append(coef)
                per_row = (peak - less) / (ROWS - ROWS // 2)
                where = "file" if streamed else "memory"
                apart = f"{np.abs(coefs[-1] - coefs[0]).max():.1e}"
                print(
                    f"{name:35} {where:6} {n_iter:4} {passes:4} {wall:7.1f} {processor:7.1f} "
                    f"{per_row:6.0f} {apart}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
