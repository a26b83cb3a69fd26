"""``toprank rank --top 100`` on a Parquet file beside reading it with pyarrow and multiplying.

Both run in this process, so neither pays for starting Python. The command also checks the columns,
finds the best rows and writes them with all their columns; its own limit is half the speed of the
reading and the product alone.
"""

import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv
from typer.testing import CliRunner

from benchmarks.measure import race
from benchmarks.tables import linear_rows
from toprank.app.cli import app
from toprank.app.model_file import load_model

ROWS, FEATURES, TOP = 1_000_000, 20, 100
LEARNED = 20_000


def results():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X, y = linear_rows(ROWS, FEATURES)
        columns = {f"x{at}": X[:, at].astype(np.float64) for at in range(FEATURES)}
        pq.write_table(pa.table(columns), folder / "new.parquet")
        known = pa.table(columns | {"y": y}).slice(0, LEARNED)
        pq.write_table(known, folder / "known.parquet")
        said = ("--target", "y", "--ranker", "pnorm-push", "--budget", TOP, "-o")
        call("fit", folder / "known.parquet", *said, folder / "model.toprank")
        coef = load_model(folder / "model.toprank").ranker.coef_[0]
        yield from race(
            "prediction",
            f"the {TOP} best of {ROWS:,} × {FEATURES} float64 in a Parquet file",
            (f"toprank rank --top {TOP}", lambda: rank(folder)),
            {
                "pyarrow, then columns · weights": lambda: column_by_column(folder, coef),
                "pyarrow, then X @ weights": lambda: as_matrix(folder, coef),
            },
            notes={
                "pyarrow, then columns · weights": "it stops at the scores; the command loads the "
                "model, checks the columns, finds the best rows and writes them"
            },
        )


def beside_polars(n_rows, n_columns=5):
    """Processor seconds and seconds of the command and of polars, on Parquet and on CSV."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X, y = linear_rows(n_rows, n_columns)
        columns = {f"x{at}": X[:, at].astype(np.float64).round(6) for at in range(n_columns)}
        table = pa.table(columns)
        pq.write_table(table, folder / "new.parquet")
        csv.write_csv(table, folder / "new.csv")
        known = pa.table(columns | {"y": y}).slice(0, LEARNED)
        pq.write_table(known, folder / "known.parquet")
        said = ("--target", "y", "--ranker", "pnorm-push", "--folds", 0, "--budget", TOP, "-o")
        call("fit", folder / "known.parquet", *said, folder / "model.toprank")
        ranker = load_model(folder / "model.toprank").ranker
        for file in ("new.parquet", "new.csv"):
            for who, work in (
                ("toprank", lambda file=file: rank(folder, file)),
                ("polars", lambda file=file: by_polars(folder / file, ranker)),
            ):
                work()
                start, processor = time.perf_counter(), time.process_time()
                work()
                spent = time.process_time() - processor, time.perf_counter() - start
                print(f"{file:12} {who:8} {spent[0]:.2f} processor s, {spent[1]:.2f} s")


def by_polars(path, ranker):
    import polars as pl

    rows = pl.scan_csv(path) if path.suffix == ".csv" else pl.scan_parquet(path)
    score = pl.lit(float(ranker.intercept_[0]))
    for at, weight in enumerate(ranker.coef_[0]):
        score += pl.col(f"x{at}") * weight
    best = rows.with_columns(score=score).top_k(TOP, by="score").collect()
    best.write_csv(path.parent / "by polars.csv")


def call(*arguments):
    done = CliRunner().invoke(app, [*map(str, arguments), "--quiet"])
    if done.exit_code:
        raise RuntimeError(done.output)


def rank(folder, file="new.parquet"):
    files = (folder / "model.toprank", folder / file)
    call("rank", *files, "--top", TOP, "-o", folder / "shortlist.csv", "--force")


def column_by_column(folder, coef):
    table = pq.read_table(folder / "new.parquet")
    return sum(weight * table.column(at).to_numpy() for at, weight in enumerate(coef))


def as_matrix(folder, coef):
    table = pq.read_table(folder / "new.parquet")
    return np.column_stack([column.to_numpy() for column in table.columns]) @ coef


if __name__ == "__main__":
    beside_polars(int(float(os.environ.get("ROWS", ROWS))))
