"""However a column is written, the list finds what a clean table finds."""

import csv
import inspect
import io
from dataclasses import replace

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


MISSING = ["", "NA", "n/a", "-", "NULL", "?", " ", "--", "#N/A", "0000-00-00", "TBD", "\xa0"]
BAD = [
    *("12,5o", "soon", "'", '"', "=1+1", "1e999", "9" * 400, "2020-02-30", "\u202e", "25:99", "½"),
    *("a\nb", "a,b", "1.2.3", "99/99/99", "0/0", "(1, 2]", "5 CR CR", "H3 2020", "12E4", "1-"),
]


def _messy(rng):
    """A table in random notations with gaps, bad cells, titles, blank and ragged lines."""
    n_rows, n_columns = int(rng.choice([1, 3, 40, 200])), int(rng.integers(1, 6))
    columns = []
    for _ in range(n_columns):
        kind, _, way = WAYS[rng.integers(len(WAYS))]
        more = (rng,) if len(inspect.signature(way).parameters) > 1 else ()
        cells = [way(value, *more) for value in clean_values(kind, n_rows, rng)[0]]
        for others in (MISSING, BAD):
            share = rng.choice([0, 0.02, 0.3, 1], p=[0.5, 0.3, 0.15, 0.05])
            cells = [rng.choice(others) if rng.random() < share else cell for cell in cells]
        columns.append(cells)
    names = [f"{rng.choice(['amount', 'Größe', ' x '])}{rng.integers(9)}" for _ in columns]
    rows = [[*names, "bad"], *zip(*columns, ["no", "yes"] * n_rows, strict=False)]
    text = io.StringIO()
    csv.writer(text, delimiter=rng.choice([*",;\t|"])).writerows(rows)
    above, below = rng.choice(["", "", "", "Report 2024\n\n", "# made by hand\n", "\n"], 2)
    code = rng.choice(["utf-8", "utf-8-sig", "cp1252", "utf-16"], p=[0.7, 0.1, 0.15, 0.05])
    return (above + text.getvalue() + below).encode(code, "replace"), str(code)


@pytest.mark.parametrize("seed", range(60))
def test_a_messy_table_is_read_as_its_notes_say_or_refused(tmp_path, seed):
    rng = np.random.default_rng(seed)
    content, code = _messy(rng)
    path = tmp_path / "messy.csv"
    path.write_bytes(content)
    how = TextFormat(encoding=None if rng.random() < 0.3 else code)
    try:
        table = read_table(path, how)
        choose_columns(Console(), label_rows(table, target="bad"))
    except ValueError:  # in a sentence
        return
    again = read_table(path, replace(how, schema=table.schema))
    for name in table.names:
        column, found = table.column(name), table.schema.reports[name]
        assert column.is_missing.sum() == found.n_missing + found.n_misread
        assert np.array_equal(column.values, again.column(name).values, equal_nan=True)
        if column.is_missing.all() and found.n_distinct > len(MISSING) + 1:
            assert f"{name}: " in " ".join(table.schema.notes)
