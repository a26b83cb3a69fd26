"""The best 100 of 10,000,000 rows on two Dask workers, compared with the same in memory.

``python -m benchmarks.scoring_on_a_cluster`` takes a minute and 3 GB of memory, and writes the
table of docs/guide/dask.md. Each worker is a process of one thread; the rows are made on them.
"""

import os
import time

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from benchmarks.between import machine_text, table, write_between
from toprank import PNormPush, RankBoost, TreeRanker
from toprank.integrations.dask import cutoff, top

ROWS, FEATURES, CHUNKS, BEST, TURNS = int(float(os.environ.get("ROWS", "1e7"))), 20, 16, 100, 5
MODELS = [PNormPush(), RankBoost(max_iter=100), TreeRanker(n_trees=100, random_state=0)]


def seconds(call):
    """Median seconds of a call, and what it gives."""
    taken = []
    for _ in range(TURNS):
        start = time.perf_counter()
        found = call()
        taken.append(time.perf_counter() - start)
    return sorted(taken)[TURNS // 2], found


def main():
    rows = []
    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**workers) as cluster, Client(cluster):
        rng = da.random.default_rng(0)
        X = rng.standard_normal((ROWS, FEATURES), dtype=np.float32, chunks=(ROWS // CHUNKS, -1))
        X = X.persist()
        local = X.compute()
        learned = local[:20_000]
        y = learned[:, 0] + 0.5 * learned[:, 1] ** 2 > 1.5
        for model in MODELS:
            model.fit(learned, y)
            there, list_there = seconds(lambda model=model: top(model, X, BEST))
            here, list_here = seconds(lambda model=model: model.top(local, BEST))
            equal = np.count_nonzero(list_there == list_here)
            same_cut = cutoff(model, X, BEST) == model.cutoff(local, BEST)
            rows.append(
                [
                    f"`{model}`", f"{there:.2f}", f"{here:.2f}", f"{equal} of {BEST}",
                    "yes" if same_cut else "no",
                ]
            )  # fmt: skip
    head = ["model", "two workers, s", "in memory, s", "equal rows of the list", "same cutoff"]
    text = f"{ROWS:,} rows, {CHUNKS} chunks. {machine_text()}.\n\n{table(head, rows)}"
    write_between("guide/dask.md", "scoring", text)


if __name__ == "__main__":
    main()
