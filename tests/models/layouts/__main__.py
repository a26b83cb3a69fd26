"""Write a model file of today's layout with rows and their scores, to be kept: one per layout.

``python -m tests.models.layouts`` when the layout has changed; files of former layouts stay.
"""

import json
from pathlib import Path

import numpy as np

from tests.models.mixed_tables import mixed_table, random_formula
from toprank.models import file, save
from toprank.models.model import ColumnProfile, Model, Roles
from toprank.shortlists.calibration import Calibration, Promise
from toprank.tables import Table

FOLDER = Path(__file__).parent


def main():
    rng = np.random.default_rng(0)
    table = Table(mixed_table(rng, 300))
    formula = random_formula(rng, table)
    n_cells, n_columns = len(formula.encoding.cells), len(formula.encoding.schema)
    model = Model(
        formula,
        Roles("bought", ("yes", "maybe"), "shop", "weight", ("id",), ("unknown",)),
        20,
        classes_=np.array(["no", "yes"]),
        schema=table.schema,
        cut=0.5,
        slope=2.0,
        calibration=Calibration.of(rng.normal(size=30), np.arange(30) % 3 == 0),
        promise=Promise([0.01, 0.1], [0.9, 0.5], [0.1, 0.2], [10.0, 50.0], 300.0),
        facts={"class": "Blend", "ranker": "blend", "n_rows": 300, "parameters": {"p": 4}},
        profile=[ColumnProfile([1.0], 0.0, 2.0, [3, 4, 0, 1])] * n_columns,
        baseline=rng.normal(size=n_cells),
        spread=rng.random(n_cells),
    )
    name = str(file.LAYOUT)
    save(model, FOLDER / f"{name}.toprank")
    new = Table(mixed_table(rng, 20, is_new=True), schema=table.schema)
    rows = {key: cells.to_list() for key, cells in new.cells.items()}
    known = {"rows": rows, "scores": model.scores(new).tolist()}
    text = json.dumps(known, ensure_ascii=False, indent=0)
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
