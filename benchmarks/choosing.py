"""How long ``TopRanker`` takes, and that ``toprank fit`` and ``toprank compare`` agree.

``python -m benchmarks.choosing times`` fits made-up tables of 10,000 and 1,000,000 rows and 30
columns on two threads, and keeps to limits of 10, 30 and 60 seconds.
``python -m benchmarks.choosing agreement`` runs both commands on ten data sets of the data home
(``TOPRANK_DATA``) and compares choice, promise and order.
``python -m benchmarks.choosing promises`` runs both on 1,500 rows of three data sets, three times,
and counts the hits in lists of as many fresh rows.
``python -m benchmarks.choosing blocks`` fits a Parquet file of 5,000,000 rows (``ROWS``) and 20
columns in blocks, ``python -m benchmarks.choosing first_rows`` its first fifth in memory; both
rank as many fresh rows as that. A limit of 60 seconds counts processor time.
"""

import json
import os
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow.csv import write_csv
from pyarrow.parquet import ParquetWriter
from typer.testing import CliRunner

from experiments.tuned.problems import read, splits
from toprank import TopRanker
from toprank.app.cli import app
from toprank.models.file import load
from toprank.tables import ParquetBlocks

SETS = (
    "abalone", "adult", "ann_thyroid", "bank_marketing", "cod_rna", "magic", "page_blocks", "sick",
    "spambase", "yeast",
)  # fmt: skip
PROMISED = ("bank_marketing", "adult", "ann_thyroid")
N_TRAINING, N_DRAWS, MOST_LISTS = 1_500, 3, 20
LIMITS = (None, 10.0, 30.0, 60.0)
SIZES = (10_000, 1_000_000)
LONG = int(float(os.environ.get("ROWS", "5e6")))


def made_up(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Thirty columns, some of which act together; one row in twenty is positive."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 30))
    height = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * np.abs(X[:, 3]) + rng.logistic(size=n_rows)
    return X, height > np.quantile(height, 0.95)


def times() -> None:
    """Wall and processor seconds of fits with and without a limit."""
    X, y = made_up(1_000)
    TopRanker(20).fit(X, y)  # compiled loops are loaded before the clock starts
    for n_rows in SIZES:
        X, y = made_up(n_rows)
        for limit in LIMITS:
            wall, cpu = time.perf_counter(), time.process_time()
            TopRanker(200, time_limit=limit, n_jobs=2).fit(X, y)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            limited = "no limit" if limit is None else f"limit {limit:.0f} s"
            print(f"{n_rows:,} × 30, {limited}: {wall:.1f} s ({cpu:.1f} CPU s)", flush=True)


def crossed(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Twenty columns, some of which act together; one row in eighty is positive."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 20)).astype(np.float32)
    height = X.sum(axis=1) / 20**0.5 + 0.8 * X[:, 0] * X[:, 1] + 1.2 * (X[:, 6] > 1) * (X[:, 7] > 0)
    height += 0.7 * np.sin(2 * X[:, 2]) * X[:, 3] - 0.5 * np.abs(X[:, 4]) * (X[:, 5] > 0)
    return X, height + 0.7 * rng.logistic(size=n_rows) > 4.5


def blocks() -> None:
    """``fit_blocks`` of a long file."""
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        writer = None
        for seed in range(10):
            X, y = crossed(LONG // 10, seed)
            table = pa.table({f"x{at}": column for at, column in enumerate(X.T)} | {"y": y})
            writer = writer or ParquetWriter(file.name, table.schema)
            writer.write_table(table)
        writer.close()
        rows = ParquetBlocks(file.name, target="y")
        judge(lambda model: model.fit_blocks(rows))


def first_rows() -> None:
    """``fit`` of the first rows of that file."""
    parts = [crossed(LONG // 10, seed) for seed in range(2)]
    X, y = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    judge(lambda model: model.fit(X, y))


def judge(fit: Callable[[TopRanker], TopRanker]) -> None:
    """Processor seconds and peak memory of a fit, and what it finds among fresh rows."""
    budget = LONG // 5000
    time.monotonic = time.perf_counter = time.process_time
    before = time.process_time()
    model = fit(TopRanker(budget, list_size=LONG // 5, time_limit=60.0))
    seconds = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    X, y = crossed(LONG // 5, 99)
    order = np.argsort(-model.decision_function(X), kind="stable")
    print(f"{seconds:.0f} CPU s, {peak:.2f} GB; {model.fitted_rows_}; {model.hits_}")
    print(f"{y[order[:budget]].sum()} hits in {budget}, {y[order[: 5 * budget]].sum()} in 5 times")


def said(*words: str) -> dict:
    """What a command prints as JSON."""
    done = CliRunner().invoke(app, [*words, "--json", "--quiet"])
    if done.exit_code:
        raise SystemExit(done.output)
    return json.loads(done.stdout)


def both(folder: Path, X: np.ndarray, y: np.ndarray, most: int, *options: str) -> list[dict]:
    """What ``compare`` and ``fit`` say of a table, for a budget of 100 or less."""
    write_csv(as_table(X, y), folder / "table.csv")
    given = (str(folder / "table.csv"), "--target", "y", "--budget", str(min(100, most)))
    model = ("-o", str(folder / "model.toprank"))
    return [said("compare", *given, *options), said("fit", *given, *model)]


def as_table(X: np.ndarray, y: np.ndarray) -> pa.Table:
    """Columns of numbers, and the target in words."""
    columns = {f"x{at}": column for at, column in enumerate(X.T)}
    return pa.table(columns | {"y": np.where(y, "yes", "no")})


def agreement() -> None:
    """Both commands on the first split of each set, whose verdict, weights and order must agree.

    Engines, which take no part in the blend, are judged by ``compare`` alone.
    """
    for name in SETS:
        problem = splits(*read(name), 1)[0]
        with tempfile.TemporaryDirectory() as folder:
            compared, fitted = both(Path(folder), problem.X, problem.y, problem.y.size // 10)
        kept = [each["ranker"] for each in fitted["standings"]]
        compared["standings"] = [e for e in compared["standings"] if e["ranker"] in kept]
        same = {key: compared[key] == fitted[key] for key in ("verdict", "weights", "standings")}
        print(f"{name}: {'the same' if all(same.values()) else same}", flush=True)


def promises() -> None:
    """Whether the promised hits come true on rows that neither command has seen."""
    for name in PROMISED:
        X, y = read(name)
        for draw in range(N_DRAWS):
            order = np.random.default_rng(draw).permutation(y.size)
            parts = np.split(order, range(N_TRAINING, y.size, N_TRAINING))
            with tempfile.TemporaryDirectory() as folder:
                first = X[parts[0]], y[parts[0]]
                compared, fitted = both(Path(folder), *first, N_TRAINING, "--no-engines")
                model = load(Path(folder, "model.toprank"))
            hits = []
            for rows in parts[1:-1][:MOST_LISTS]:
                best = np.argsort(-model.scores(as_table(X[rows], y[rows])), kind="stable")
                hits.append(int(y[rows[best[:100]]].sum()))
            _, low, high = (round(each) for each in model.expected_hits(100, N_TRAINING))
            inside = sum(low <= each <= high for each in hits)
            same = "the same" if compared["verdict"] == fitted["verdict"] else "NOT THE SAME"
            print(
                f"{name} {draw}: {fitted['verdict']!r} ({same}); fresh lists: {np.mean(hits):.1f} "
                f"({min(hits)} to {max(hits)}), {inside} of {len(hits)} within {low} to {high}",
                flush=True,
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parts = (times, agreement, promises, blocks, first_rows)
    {part.__name__: part for part in parts}[sys.argv[1]]()
