"""Model files of former versions are read, and give the scores of their time."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from toprank.models import file, load, save
from toprank.tables import Table

FOLDER = Path(__file__).parent / "layouts"
FILES = sorted(FOLDER.glob("*.toprank"))


def test_there_is_a_file_of_this_layout():
    assert FOLDER / f"{file.LAYOUT}.toprank" in FILES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_each_layout_gives_the_scores_beside_it(path):
    known = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    model = load(path)
    cells = {name: pl.Series(name, values, pl.String) for name, values in known["rows"].items()}
    table = Table(cells, schema=model.schema)
    np.testing.assert_allclose(model.scores(table), known["scores"], rtol=1e-9)
    assert model.roles.positives == ("yes", "maybe")
    assert model.expected_hits(20, 300).mean == pytest.approx(11.4087, rel=1e-4)
    assert model.calibration.n_rows == 30


def test_a_file_of_this_layout_comes_back_byte_for_byte(tmp_path):
    path = FOLDER / f"{file.LAYOUT}.toprank"
    assert save(load(path), tmp_path / "m.toprank").read_bytes() == path.read_bytes()
