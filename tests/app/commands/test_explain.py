"""``toprank explain`` names what drives a model and a row."""

import polars as pl

from toprank import TopRanker
from toprank.app.reading import read_table
from toprank.models.file import load, save


def test_explain_names_what_drives_the_model_and_a_row(invoke, words, deals):
    text = words(invoke("explain", deals / "model.toprank"))
    assert text.index("age") < text.index("member")
    assert "nurse: +" in text
    assert "Training list of" in text
    row = words(invoke("explain", deals / "model.toprank", deals / "new.csv", "--row", 3))
    assert "Row 3 of new.csv has the score" in row


def test_a_row_is_placed_within_its_list(invoke, words, deals, by_branch):
    table = read_table(deals / "new.csv")
    branches = table.column("branch").values
    scores = load(by_branch).scores(table)
    rivals = scores[branches == branches[2]]
    place = (rivals > scores[2]).sum() + 1
    text = words(invoke("explain", by_branch, deals / "new.csv", "--row", 3))
    assert f"place {place} of {rivals.size} in its list." in text


def test_a_model_saved_in_python_says_what_it_does_not_know(invoke, words, deals, tmp_path):
    table = pl.read_csv(deals / "new.csv").select("age", "member")
    is_old = (table["age"] > table["age"].median()).fill_null(value=False)
    for name, ranker, said in (
        ("blend", TopRanker(5, candidates=["logistic"]), "compared with 0, because toprank.save"),
        ("trees", TopRanker(5, candidates=["trees"]), "compared with its mean over the training"),
    ):
        path = save(ranker.fit(table, is_old), tmp_path / f"{name}.toprank")
        told = words(invoke("explain", path))
        assert "toprank.save does not know the training rows" in told
        assert "0.0%" not in told
        assert said in words(invoke("explain", path, deals / "new.csv", "--row", 3))
        page = tmp_path / "page.html"
        invoke("report", path, deals / "new.csv", "-o", page)
        assert "saved without the training rows" in page.read_text()
        assert said in page.read_text()
