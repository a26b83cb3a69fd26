"""``toprank rank --cluster`` on a folder of Parquet files, beside the same command on one machine.

The cluster has two worker processes of one thread each, one of which is killed while it works; the
lists are compared byte by byte. ``FILES=40 ROWS=1e6 python -m benchmarks.ranking_on_a_cluster``
ranks 40 million rows; the numbers are those of each file.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
from distributed import LocalCluster

FILES, ROWS = int(os.environ.get("FILES", "8")), int(float(os.environ.get("ROWS", "1e5")))
TOP, LEARNED = 1000, 20_000


def make_files(folder):
    """Rows with a number that decides and others that do not, a word, and labels in one file."""
    rng = np.random.default_rng(0)
    for number in range(FILES):
        X = rng.normal(size=(ROWS, 4)).round(4)
        cells = {f"x{at}": X[:, at] for at in range(4)}
        cells["job"] = rng.choice(["clerk", "nurse", "smith"], ROWS)
        table = pl.DataFrame(cells)
        table.write_parquet(folder / "new" / f"part-{number:03}.parquet")
        if not number:
            y = X[:, 0] + rng.normal(size=ROWS) > 2
            table.with_columns(y=pl.Series(y)).head(LEARNED).write_parquet(folder / "known.parquet")


def toprank(*words):
    """Run the command in a process of its own; gives its seconds."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "toprank", *map(str, words), "--quiet"], check=True)
    return time.perf_counter() - started


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "new").mkdir()
        make_files(folder)
        model = folder / "m.toprank"
        for ranker in ("pnorm-push", "rankboost"):
            said = ("--target", "y", "--ranker", ranker, "--folds", 0)
            toprank("fit", folder / "known.parquet", *said, "-o", model)
            asked = ("rank", model, folder / "new", "--top", TOP, "--force", "-o")
            alone = toprank(*asked, folder / "one.csv")
            one = toprank(*asked, folder / "one.csv", "--jobs", 1)
            options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
            with LocalCluster(local_directory=name, **options) as cluster:
                address = ("--cluster", cluster.scheduler_address)
                two = toprank(*asked, folder / "two.csv", *address)
                process = cluster.workers[0].process.process._process
                threading.Timer(two / 2, process.kill).start()
                killed = toprank(*asked, folder / "killed.csv", *address)
            lists = {(folder / f"{each}.csv").read_bytes() for each in ("one", "two", "killed")}
            print(
                f"{ranker}, {FILES * ROWS:,} rows in {FILES} files: one machine {alone:.1f} s, "
                f"with one thread {one:.1f} s; two workers {two:.1f} s; with one of them killed "
                f"{killed:.1f} s; {'the same list' if len(lists) == 1 else 'OTHER LISTS'}"
            )


if __name__ == "__main__":
    main()
