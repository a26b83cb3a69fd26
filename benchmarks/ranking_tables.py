"""``toprank rank --top 100`` on CSV and Parquet beside polars: the same cells, scores and list.

polars reads all cells, of CSV as text, casts the columns of the model, adds up the linear scores
and writes the same list. The command also checks lines and columns, counts cells that do not fit,
watches for drift and loads the model. Each runs in a process of its own, whose largest memory is
told; the seconds are of the second call there, as neither is to pay for starting Python.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
from typer.testing import CliRunner

from benchmarks.measure import race
from benchmarks.tables import linear_rows
from toprank.app.cli import app
from toprank.models.file import load

ROWS, COLUMNS, TOP = 1_000_000, 5, 100
LEARNED = 20_000


def results():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder, ROWS, 20)
        for file in ("new.parquet", "new.csv"):
            yield from race(
                "prediction",
                f"the {TOP} best of {ROWS:,} × 20 numbers in {file}",
                (f"toprank rank --top {TOP}", lambda file=file: rank(folder, file)),
                {"polars: read, cast, score, write": lambda file=file: by_polars(folder, file)},
            )


def make_files(folder, n_rows, n_columns):
    """Rows to rank in both formats, and a linear model that was fitted on the first of them."""
    X, y = linear_rows(n_rows, n_columns)
    table = pl.DataFrame({f"x{at}": X[:, at].astype(float).round(6) for at in range(n_columns)})
    table.write_parquet(folder / "new.parquet")
    table.write_csv(folder / "new.csv")
    table.head(LEARNED).with_columns(y=pl.Series(y[:LEARNED])).write_csv(folder / "known.csv")
    said = ("--target", "y", "--ranker", "pnorm-push", "--folds", 0, "--budget", TOP, "-o")
    call("fit", folder / "known.csv", *said, folder / "model.toprank")


def call(*arguments):
    done = CliRunner().invoke(app, [*map(str, arguments), "--quiet"])
    if done.exit_code:
        raise RuntimeError(done.output)


def rank(folder, file):
    files = (folder / "model.toprank", folder / file)
    call("rank", *files, "--top", TOP, "-o", folder / "shortlist.csv", "--force")


def by_polars(folder, file):
    ranker = load(folder / "model.toprank").ranker
    path = folder / file
    is_text = path.suffix == ".csv"
    rows = pl.read_csv(path, infer_schema=False) if is_text else pl.read_parquet(path)
    score = pl.lit(float(ranker.intercept_[0]))
    for at, weight in enumerate(ranker.coef_[0]):
        score += pl.col(f"x{at}").cast(pl.Float64) * weight
    best = rows.with_columns(score=score).top_k(TOP, by="score")
    best.write_csv(folder / "by polars.csv")


def measure(who, folder, file):
    """Seconds, processor seconds and megabytes of one way, as JSON."""
    work = rank if who == "toprank" else by_polars
    spent = []
    for _ in range(3):
        start, processor = time.perf_counter(), time.process_time()
        work(Path(folder), file)
        spent.append((time.perf_counter() - start, time.process_time() - processor))
    status = Path("/proc/self/status").read_text(encoding="utf-8")  # unlike getrusage, its own
    most = int(status.split("VmHWM:")[1].split()[0]) / 1024
    print(json.dumps([*map(min, zip(*spent[1:], strict=True)), most]))


def beside_polars(n_rows):
    """Print the figures of both on both formats, and their ratios."""
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder), n_rows, COLUMNS)
        for file in ("new.parquet", "new.csv"):
            found = {}
            for who in ("toprank", "polars"):
                arguments = f"{who!r}, {folder!r}, {file!r}"
                code = f"from benchmarks.ranking_tables import measure; measure({arguments})"
                command = [sys.executable, "-c", code]
                done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
                found[who] = json.loads(done.stdout.splitlines()[-1])
                seconds, processor, most = found[who]
                print(f"{file:12} {who:8} {seconds:6.2f} s {processor:6.2f} cpu s {most:7.0f} MB")
            wall, processor, _ = (x / y for x, y in zip(*found.values(), strict=True))
            print(
                f"{file:12} {wall:.2f} × the seconds, {processor:.2f} × the cpu seconds of polars"
            )


if __name__ == "__main__":
    beside_polars(int(float(os.environ.get("ROWS", ROWS))))
