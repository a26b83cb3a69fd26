"""The three paths that CONTRIBUTING.md draws are those that a run takes."""

import re
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import toprank
from benchmarks.passed_files import files_passed
from toprank.app.cli import app
from toprank.blocks import ArrayBlocks

GUIDE = Path(__file__).parents[1] / "CONTRIBUTING.md"


def drawn(heading):
    """The files in the drawing below a heading."""
    drawing = GUIDE.read_text(encoding="utf-8").split(heading)[1].split("```")[1]
    return set(re.findall(r"[\w/]+\.py", drawing))


def table(n_rows=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    return X, (X[:, 0] + rng.normal(size=n_rows) > 1).astype(int)


def test_a_push_takes_the_drawn_path():
    X, y = table()
    model = toprank.PNormPush(p=8)
    model.fit(X, y)  # imports, which call functions of other files
    passed = files_passed(lambda: model.fit(X, y))
    assert passed == drawn("### `PNormPush(p=8).fit(X, y)`")
    assert len(passed) <= 15


def test_a_push_on_blocks_takes_the_drawn_path():
    blocks = ArrayBlocks.cut(*table(), size=50)
    model = toprank.PNormPush(p=8).fit_blocks(blocks)
    passed = files_passed(lambda: model.fit_blocks(blocks))
    assert passed == drawn("### `PNormPush(p=8).fit_blocks(blocks)`")


def test_toprank_fit_takes_the_drawn_path(tmp_path):
    X, y = table()
    rows = "\n".join(",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True))
    (tmp_path / "table.csv").write_text(f"a,b,c,y\n{rows}\n")
    command = [
        "fit",
        tmp_path / "table.csv",
        "--target",
        "y",
        "--ranker",
        "logistic",
        "--ranker",
        "ir-push",
        "-o",
        tmp_path / "model.toprank",
    ]

    def fit():
        done = CliRunner().invoke(app, [str(word) for word in command])
        assert done.exit_code == 0, done.output

    rooms = ("app/", "tables/", "selection/", "models/")
    passed = {path for path in files_passed(fit) if path.startswith(rooms)}
    passed.discard("selection/engines.py")  # a ranker, if the choice falls on it
    assert passed == drawn("### `toprank fit table.csv`")
    assert len(passed) <= 26
