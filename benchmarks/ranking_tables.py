"""``toprank rank --top 100`` on a Parquet file beside reading it with pyarrow and multiplying.

Both run in this process, so neither pays for starting Python. The command also checks the columns,
finds the best rows and writes them with all their columns; its own limit is half the speed of the
reading and the product alone.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
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


def call(*arguments):
    done = CliRunner().invoke(app, [*map(str, arguments), "--quiet"])
    if done.exit_code:
        raise RuntimeError(done.output)


def rank(folder):
    files = (folder / "model.toprank", folder / "new.parquet")
    call("rank", *files, "--top", TOP, "-o", folder / "shortlist.csv")


def column_by_column(folder, coef):
    table = pq.read_table(folder / "new.parquet")
    return sum(weight * table.column(at).to_numpy() for at, weight in enumerate(coef))


def as_matrix(folder, coef):
    table = pq.read_table(folder / "new.parquet")
    return np.column_stack([column.to_numpy() for column in table.columns]) @ coef
