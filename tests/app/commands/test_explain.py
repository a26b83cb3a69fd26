"""``toprank explain`` names what drives a model and a row."""

import numpy as np

from toprank.app.model_file import load_model
from toprank.app.reading import read_table


def test_explain_names_what_drives_the_model_and_a_row(invoke, words, deals):
    text = words(invoke("explain", deals / "model.toprank"))
    assert text.index("age") < text.index("member")
    assert "nurse: +" in text
    assert "Training list of" in text
    row = words(invoke("explain", deals / "model.toprank", deals / "new.csv", "--row", 3))
    assert "Row 3 of new.csv has the score" in row


def test_a_row_is_placed_within_its_list(invoke, words, deals, by_branch):
    table = read_table(deals / "new.csv")
    branches = table.columns.column("branch").to_numpy()
    scores = load_model(by_branch).scores(table)
    rivals = scores[branches == branches[2]]
    place = (rivals > scores[2]).sum() + 1
    text = words(invoke("explain", by_branch, deals / "new.csv", "--row", 3))
    assert f"place {place} of {rivals.size} in its list." in text


def test_trees_are_explained_column_by_column(invoke, words, deals, tmp_path):
    path = tmp_path / "m.toprank"
    words(
        invoke(
            *("fit", deals / "known.csv", "--target", "bought", "--ranker", "trees"),
            *("--set", "n_trees=20", "--set", "depth=3", "--budget", "5", "-o", path),
        )
    )
    text = words(invoke("explain", path))
    assert text.index("age") < text.index("member")
    model, table = load_model(path), read_table(deals / "new.csv")
    _, parts = model.row_drivers(table)
    scores = model.scores(table)
    np.testing.assert_allclose(parts.sum(axis=1) - parts[0].sum(), scores - scores[0], atol=1e-12)
    row = words(invoke("explain", path, deals / "new.csv", "--row", 3))
    assert f"has the score {scores[2]:.4g}" in row
