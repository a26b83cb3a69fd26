"""LIBSVM text of many features is read, fitted, ranked and explained sparse."""

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from toprank.app.cli import app
from toprank.app.formats import read_sparse_text
from toprank.app.reading import read_table
from toprank.models.file import load


def test_labels_lists_and_numbers_are_read_as_they_are_written():
    lines = b"1 qid:7 3:0.5 17:-2e-3\n0\tqid:7 4:1\t 5:+7.25 # best\n\n-1.5 qid:8\n1 qid:9 9:00012."
    found = read_sparse_text(lines, "x")
    assert found.names == ["label", "qid", "3", "4", "5", "9", "17"]
    assert found.column("label").values.tolist() == [1, 0, -1.5, 1]
    assert found.cells["qid"].to_list() == ["7", "7", "8", "9"]
    assert found.column("5").values.tolist() == [0, 7.25, 0, 0]
    assert found.column("17").values.tolist() == [-2e-3, 0, 0, 0]
    assert found.column("9").values.tolist() == [0, 0, 0, 12]


@pytest.mark.parametrize(
    "line",
    [
        *(b"1 2:3:4", b"1 2", b"1 :3", b"1 2:", b"x", b"1 2.5:1", b"1 -2:1", b"1 1e2:1"),
        *(b"1:2 3:4", b"1 2 3:4", b"1 99999999999999999999:1", b"1 2:1-1", b"1 2:e", b"- 1:1"),
    ],
)
def test_what_is_no_line_is_named(line):
    block = b"1 1:1\n" * 3 + line + b"\n"
    with pytest.raises(ValueError, match=r"x, line 4 is not|feature number"):
        read_sparse_text(block, "x")


def test_few_of_many_features_are_held_sparse(monkeypatch):
    text = b"".join(b"%d %d:1.5\n" % (row % 2, 3 * row + 1) for row in range(1200))
    found = read_sparse_text(text * 2, "rows.libsvm")
    assert found.is_held_sparse
    assert (found.n_rows, found.matrix.shape, found.numbers[-1]) == (2400, (2400, 1200), 3598)
    assert not read_sparse_text(b"".join(text.splitlines(True)[:900]), "few").is_held_sparse
    monkeypatch.setattr("toprank.app.formats.available_memory", lambda: 200_000)
    assert read_sparse_text(b"".join(text.splitlines(True)[:100]), "few").is_held_sparse
    with pytest.raises(ValueError, match="the value nan in row 2 of 101"):
        read_sparse_text(b"1 1:2\n0 2:nan\n" + b"".join(text.splitlines(True)[:99]), "few")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Texts in which a dozen of 1,500 words tell the class; the second half of them is new."""
    folder = tmp_path_factory.mktemp("words")
    rng = np.random.default_rng(0)
    weights = np.zeros(1500)
    weights[:12] = rng.choice([-2.0, 2.0], 12)
    lines = []
    for _ in range(600):
        words = np.unique(np.append(rng.integers(0, 12, 4), rng.integers(12, 1500, 20)))
        values = rng.uniform(0.5, 1.5, words.size).round(3)
        label = int(values @ weights[words] + rng.logistic() > 1.5)
        pairs = " ".join(f"{w + 1}:{v}" for w, v in zip(words, values, strict=True))
        lines.append(f"{label} {pairs}\n")
    (folder / "known.libsvm").write_text("".join(lines[:400]))
    (folder / "new.libsvm").write_text("".join(lines[400:]))
    return folder


@pytest.fixture(scope="module")
def model(folder):
    path = folder / "model.toprank"
    fit = ["fit", "known.libsvm", "--ranker", "pnorm-push", "--budget", "20", "-q", "-o"]
    done = CliRunner().invoke(app, [fit[0], str(folder / fit[1]), *fit[2:], str(path)])
    assert (done.exit_code, done.output) == (0, "")
    return path


def test_a_sparse_model_ranks_as_a_dense_one_does(folder, model, invoke, words, monkeypatch):
    assert load(model).formula.encoding.is_sparse
    out = folder / "list.csv"
    words(invoke("rank", model, folder / "new.libsvm", "--top", "30", "-o", out, "--force"))
    found = read_table(out)
    assert found.names == ["rank", "score", "label", "features"]
    monkeypatch.setattr("toprank.app.formats.WIDE", 10**6)
    fit = ["--ranker", "pnorm-push", "--budget", "20", "-q", "-o", folder / "dense.toprank"]
    words(invoke("fit", folder / "known.libsvm", *fit))
    dense = load(folder / "dense.toprank")
    assert not dense.formula.encoding.is_sparse
    monkeypatch.undo()
    rows = read_table(folder / "new.libsvm")
    assert rows.is_held_sparse
    mine = load(model).scores(rows)
    np.testing.assert_allclose(mine, dense.scores(rows), atol=2e-3 * np.ptp(mine))
    np.testing.assert_allclose(found.column("score").values, np.sort(mine)[::-1][:30], rtol=1e-12)
    few = pl.DataFrame({str(n): [0.0, float(n == 3)] for n in range(1, 1501)})
    assert np.ptp(load(model).scores(few)) > 0  # its features as columns


def test_a_sparse_list_is_judged_explained_and_scored_again(folder, model, invoke, words):
    new, out = folder / "new.libsvm", folder / "reasons.csv"
    said = words(invoke("evaluate", model, new, "--budget", "20"))
    assert "of the first 20 are label = 1" in said
    assert "contribution to the score" in words(invoke("explain", model, "--most", "3"))
    assert "adds to the score" in words(invoke("explain", model, new, "--row", "3"))
    assert "places" in words(invoke("explain", model, new, "--top", "2"))
    words(invoke("rank", model, new, "--top", "5", "--reasons", "2", "-o", out, "--force"))
    assert all(" place" in text for text in read_table(out).cells["reasons"])
    listed = read_table(out)
    np.testing.assert_allclose(load(model).scores(listed), listed.column("score").values)


def test_the_default_chooser_blends_what_takes_sparse_rows(folder, invoke, words):
    fit = ["fit", folder / "known.libsvm", "--budget", "20", "-o", folder / "blend.toprank"]
    assert "In the blend: logistic" in words(invoke(*fit))
    scores = load(folder / "blend.toprank").scores(read_table(folder / "new.libsvm"))
    assert np.isfinite(scores).all()
    words(invoke("explain", folder / "blend.toprank", folder / "new.libsvm", "--row", "1"))


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["fit", "known.libsvm", "--ranker", "trees", "-o", "x"], "trees needs dense columns"),
        (["report", "model.toprank", "new.libsvm", "-o", "x"], "are held sparse"),
        (["compare", "known.libsvm"], "are held sparse"),
    ],
)
def test_what_cannot_take_sparse_rows_says_so(folder, model, invoke, command, sentence):
    assert model.exists()
    places = [folder / word if "." in word or word == "x" else word for word in command]
    done = invoke(*places)
    assert done.exit_code == 2
    assert sentence in " ".join(done.output.split())
