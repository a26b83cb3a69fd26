"""However a column is written, the list finds what a clean table finds."""

import csv
import inspect

import numpy as np
import pytest

from tests.app.ways_to_write import ROWS, WAYS, clean_values
from toprank import TreeRanker
from toprank.app.column_survey import choose_columns
from toprank.app.console import Console
from toprank.app.fitting import fit_model
from toprank.app.reading import TextFormat, read_table
from toprank.app.training_data import label_rows

BUDGET = 100


def _write(path, kind, way, seed):
    """A table whose labels follow one column, written in one way beside three of noise."""
    rng = np.random.default_rng(seed)
    values, score = clean_values(kind, ROWS, rng)
    labels = rng.random(ROWS) < 1 / (1 + np.exp(3.2 - 2.2 * score))
    more = (rng,) if len(inspect.signature(way).parameters) > 1 else ()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["key", "strong", "noise", "branch", "bad"])
        for row in range(ROWS):
            noise, branch = f"{rng.normal():.3f}", "ABCD"[rng.integers(4)]
            strong = way(values[row], *more)
            writer.writerow([f"{row:08d}", strong, noise, branch, "yes" if labels[row] else "no"])
    return labels


def _hits(folder, kind, way, capsys=None):
    """Hits among the first rows of a fresh table, and what was noted."""
    _write(folder / "old.csv", kind, way, seed=1)
    fresh = _write(folder / "new.csv", kind, way, seed=2)
    console = Console()
    data = label_rows(read_table(folder / "old.csv"), target="bad", ignored=("key",))
    data, _ = choose_columns(console, data)
    model = fit_model(
        data, TreeRanker(n_trees=60, depth=4, random_state=0), budget=BUDGET, name="trees"
    )
    scores = model.scores(read_table(folder / "new.csv", TextFormat(schema=model.schema)))
    noted = capsys.readouterr() if capsys else ""
    return int(fresh[np.argsort(-scores, kind="stable")[:BUDGET]].sum()), str(noted), data


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """Hits where the strong column is written plainly."""
    plain = {"number": "plain", "date": "ISO", "hour": "clock"}
    ways = {kind: way for kind, name, way in WAYS if plain[kind] == name}
    return {kind: _hits(tmp_path_factory.mktemp(kind), kind, way)[0] for kind, way in ways.items()}


@pytest.mark.parametrize(("kind", "name", "way"), WAYS, ids=[f"{k}: {n}" for k, n, _ in WAYS])
def test_hits_do_not_depend_on_how_a_column_is_written(tmp_path, capsys, clean, kind, name, way):
    found, noted, data = _hits(tmp_path, kind, way, capsys)
    assert found >= 0.85 * clean[kind], (name, found, clean[kind])
    assert data.source.schema["strong"].kind != "category"
    if data.source.schema.reports["strong"].n_misread:
        assert "strong" in noted
