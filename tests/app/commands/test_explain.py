"""``toprank explain`` names what drives a model and a row."""

from toprank.app.reading import read_table
from toprank.models.file import load


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
