"""The Python file scores rows as the model does, and reads tables as toprank does."""

import sys

import numpy as np
import polars as pl
import pytest

from toprank.app.reading import read_table
from toprank.app.writing import write_table
from toprank.models import formula_of, scorer, to_python
from toprank.models.scorer import RowScorer


def file_of(model, **options):
    """Everything that the exported file defines."""
    text = to_python(formula_of(model.ranker, model.formula.encoding), **options)
    scope = {"__name__": "exported"}
    exec(text, scope)  # noqa: S102
    return scope


@pytest.mark.parametrize("kind", ["numbers", "missing", "words", "dates", "wide"])
def test_scores_are_those_of_the_model(made, kind):
    table, models = made(kind)
    rows = table.to_pylist()
    for name, model in models.items():
        made_file = file_of(model)
        scores = [made_file["score"](row) for row in rows]
        np.testing.assert_allclose(scores, model.scores(table), rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("kind", ["missing", "words", "dates"])
@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_tables_are_read_as_toprank_reads_them(made, kind, ending, tmp_path, capsys):
    table, models = made(kind)
    path = write_table(tmp_path / f"new{ending}", pl.from_arrow(table), raw=True)
    model = models["blend"]
    out = tmp_path / "scores.csv"
    made_file = file_of(model, group="region")
    assert made_file["main"]([str(path), str(out)]) == 0
    found = read_table(out)
    want = model.scores(read_table(path))
    prefix = "toprank_" if kind == "dates" else ""  # that table has its own score and place
    np.testing.assert_allclose(found.column(f"{prefix}score").values, want, rtol=1e-9)
    lists = np.array(table["region"].to_pylist())
    for name in np.unique(lists):
        order = np.argsort(-want[lists == name], kind="stable")
        places = found.column(f"{prefix}place").values[lists == name][order]
        assert places.tolist() == [*range(1, order.size + 1)]
    assert capsys.readouterr() == ("", "")


def test_wrong_input_is_one_line(made, tmp_path, capsys):
    main = file_of(made("dates")[1]["logistic"])["main"]
    path = tmp_path / "new.csv"
    header = "when,due,member,score,place"
    for line, message in (
        ("2020-01-01,2020-01-01,maybe,1,2", "'member' holds 'maybe'"),
        ("yesterday,2020-01-01,true,1,2", "'when' holds 'yesterday'"),
        ("2020-01-01,2020-01-01,true,inf,2", "infinite"),
        ("2020-01-01,2020-01-01,true,1", "as many cells"),
    ):
        path.write_text(f"{header}\n{line}\n", encoding="utf-8")
        assert main([str(path)]) == 2
        assert message in capsys.readouterr().err
    path.write_text("when;due;member;score\n2020-01-01;2020-01-01;1;1.5\n", encoding="utf-8")
    assert main([str(path)]) == 2
    assert "'place'" in capsys.readouterr().err
    assert main([]) == 2


def test_the_file_imports_the_standard_library_alone():
    modules = {name for name, each in vars(scorer).items() if type(each) is type(sys)}
    assert modules <= {
        "base64",
        "bisect",
        "csv",
        "dt",
        "functools",
        "json",
        "math",
        "struct",
        "sys",
        "zlib",
    }
    assert RowScorer.__module__ == "toprank.models.scorer"
