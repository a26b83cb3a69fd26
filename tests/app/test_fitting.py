"""Models of files read in pieces are those of memory, and say what is certain."""

import json
import signal
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.app.streamed_fits import fitted, run
from toprank.app.fitting import fit_model
from toprank.app.reading import read_table
from toprank.models.file import load
from toprank.rankers import PNormPush
from toprank.selection.candidates import make_ranker
from toprank.selection.sampling import sample_rows


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"p": 8}, "8-norm of the heights"),
        ({"price": "exponential", "alpha": 1.0}, "ln Σ e^height"),
    ],
)
def test_the_certificate_of_a_push_is_the_one_that_its_fit_made(data, settings, words, monkeypatch):
    monkeypatch.setattr(PNormPush, "certify", None)  # a second one would cost a sort
    made = make_ranker("pnorm-push", settings)
    model = fit_model(data, made, budget=10, name="pnorm-push")
    text, _ = str(made.certificate_).rsplit("\n", 1)
    assert model.facts["certificate"].startswith(text)
    assert "held-out rows" not in model.facts["certificate"]
    assert words in text


def test_a_push_on_many_rows_is_certified_by_its_own_price(data, monkeypatch):
    made = make_ranker("pnorm-push", {"price": "exponential", "alpha": 1.0})
    known = fit_model(data, made, budget=10, name="pnorm-push").facts["certificate"]
    monkeypatch.setattr("toprank.rankers.push.CERTIFIED_ROWS", 0)
    again = fit_model(data, made, budget=10, name="pnorm-push").facts["certificate"]
    assert again == known


@pytest.fixture
def few_in_memory(monkeypatch):
    """Streams of more than 400 rows are long ones."""

    def some(blocks, _, seed):
        return sample_rows(blocks, 400, seed)

    monkeypatch.setattr("toprank.selection.top_ranker.sample_rows", some)


# The default stops where the head of the list no longer changes, which may be an iteration apart.
EXACT = ("--set", "tol=1e-8")


def assert_same_model(known, found, atol=1e-6):
    assert found.roles == known.roles
    assert found.formula.encoding.cells == known.formula.encoding.cells
    for name in ("n_rows", "n_positives", "class", "parameters", "table"):
        assert found.facts[name] == known.facts[name]
    for name in ("baseline", "spread", "cut"):
        np.testing.assert_allclose(getattr(found, name), getattr(known, name), atol=atol)
    for mine, theirs in zip(terms_of(found), terms_of(known), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=atol)


def terms_of(model):
    """The intercepts and arrays of all terms."""
    for summand in model.formula.summands:
        yield summand.intercept
        yield from summand.term.as_values().values()


@pytest.mark.parametrize(
    "options",
    [
        ("pnorm-push", "--set", "loss=logistic", "--group", "heavy", *EXACT),
        ("linear-rank-svm", *EXACT),
        ("logistic",),
    ],
)
def test_a_streamed_fit_that_compares_rows_is_that_in_memory(file, tmp_path, options):
    paths = fitted(file, tmp_path, "--folds", "0", "--ranker", *options)
    # what is spooled is float32, a date among it
    assert_same_model(*map(load, paths), atol=1e-4)


@pytest.mark.parametrize(
    "options",
    [
        ("--ranker", "pnorm-push", "--set", "p=2", *EXACT),
        ("--ranker", "pnorm-push", "--weight", "heavy", *EXACT),
        ("--ranker", "ir-push", *EXACT),
        ("--ranker", "rankboost", "--set", "max_iter=20"),
    ],
    ids=["push", "weighted", "ir", "boosting"],
)
@pytest.mark.usefixtures("few_in_memory")
def test_streaming_changes_neither_model_nor_shortlist(file, tmp_path, options):
    paths = fitted(file, tmp_path, *options)
    assert_same_model(*map(load, paths))
    for cut in (("--top", "70"), (), ("--cutoff", "model")):
        lists = []
        for way in ("--in-memory", "--stream"):
            shortlist = tmp_path / f"{way}.parquet"
            run("rank", paths[0], file, *cut, way, "-o", shortlist, "--quiet", "--force")
            lists.append(pl.read_parquet(shortlist))
        assert lists[0].equals(lists[1])
        assert lists[0].height > 20


BLENDED = ("--ranker", "pnorm-push", "--ranker", "rankboost", "--ranker", "random-forest")


def test_a_stream_of_few_rows_gets_the_blend_of_memory(file, tmp_path):
    known, found = map(load, fitted(file, tmp_path, *BLENDED))
    rows = read_table(file)
    np.testing.assert_allclose(found.scores(rows), known.scores(rows), atol=1e-9)
    assert found.cut == pytest.approx(known.cut)
    for name in ("weights", "hits", "verdict", "standings", "parameters"):
        assert found.facts[name] == known.facts[name]
    assert "sampled_rows" not in found.facts


@pytest.mark.usefixtures("few_in_memory")
def test_a_blend_is_chosen_on_a_sample_of_a_long_stream_and_said(file, tmp_path):
    path = tmp_path / "model.toprank"
    named = ("--target", "state", "--ignore", "number", "--positive", "ill", "--budget", "50")
    result = run("fit", file, *named, *BLENDED, "--stream", "-o", path, "--json")
    assert "pass 1 over 1,500 rows is done" in result.stderr
    facts = json.loads(result.stdout)
    assert facts["chosen"] == "blend"
    assert 350 < facts["sampled_rows"] < 450
    assert f"a blend was chosen on {facts['sampled_rows']:,} random rows; " in result.stderr
    assert "rankboost learned from all 1,462 rows; random-forest learned from" in result.stderr
    assert facts["fitted_rows"].keys() == facts["weights"].keys()
    model = load(path)
    assert len(model.formula.summands) == len(facts["weights"])
    scores = model.scores(read_table(file))
    assert 50 <= (scores > model.cut).sum() <= 53  # 38 rows have no target
    assert model.calibration.scores.mean() == pytest.approx(scores.mean(), abs=0.3 * scores.std())
    low, high = facts["hits"][1:]
    run("rank", path, file, "--stream", "-o", tmp_path / "list.parquet")
    states = pl.read_parquet(tmp_path / "list.parquet")["state"]
    assert low <= sum(state == "ill" for state in states) <= high
    run("report", path, file, "-o", tmp_path / "report.html")
    run("export", path, "--key", "number", "-o", tmp_path / "model.sql")


@pytest.mark.parametrize(("most", "said"), [(700, True), (1462, False)])
def test_a_long_stream_tells_that_its_columns_are_known_by_a_sample(
    file, tmp_path, monkeypatch, most, said
):
    monkeypatch.setattr("toprank.app.training_data.ENCODED_ROWS", most)
    named = ("--target", "state", "--ranker", "ir-push", "--ignore", "number", "--folds", "0")
    result = run("fit", file, *named, "--stream", "-o", tmp_path / "m.toprank")
    assert (f"are learned from {most} random rows." in result.stderr) == said


def test_a_folder_is_a_stream(file, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    table = pl.read_parquet(file)
    for place in range(3):
        table.slice(500 * place, 500).write_parquet(parts / f"part-{place}.parquet")
    named = ("--target", "state", "--ranker", "ir-push", "--ignore", "number", "--quiet")
    run("fit", parts, *named, "-o", tmp_path / "parts.toprank")
    run("fit", file, *named, "--stream", "-o", tmp_path / "whole.toprank")
    part, whole = (load(tmp_path / f"{name}.toprank") for name in ("parts", "whole"))
    for mine, theirs in zip(terms_of(part), terms_of(whole), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-7)
    run("rank", tmp_path / "parts.toprank", parts, "-o", tmp_path / "list.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--ranker", "rank-svm"), "take one of pnorm-push, ir-push, rankboost, trees, logistic"),
        (("--ranker", "random-forest"), "of its 1,500 rows fit into memory"),
        (("--ranker", "precision-at-k", "--folds", "0"), "solver='sgd' shuffles them"),
        (
            ("--ranker", "pnorm-push", "--set", "weak_rankers=stumps", "--folds", "0"),
            "or RankBoost for stumps",
        ),
        (("--group", "job", "--ranker", "ir-push"), "and --folds 0"),
        (("--group", "job", "--ranker", "trees", "--folds", "0"), "need one --ranker of"),
        (("--set", "p=4"), "--set needs one --ranker"),
        (("--budget", "5000", "--ranker", "ir-push"), "covers all 1,4"),
        (("--scratch", "absent", "--ranker", "rankboost", "--folds", "0"), "absent"),
    ],
)
def test_what_cannot_be_streamed_is_refused_with_a_remedy(file, tmp_path, options, message):
    output = tmp_path / "model.toprank"
    named = ("--target", "state", "--positive", "ill", "--stream", "-o", output)
    result = run("fit", file, *named, *options, code=2)
    assert message in " ".join(result.stderr.split())
    assert not output.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_an_interrupted_fit_leaves_nothing(start, people, tmp_path):
    people(20_000).write_parquet(tmp_path / "people.parquet", row_group_size=2000)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    arguments = ["people.parquet", "--target", "state", "--ranker", "rankboost", "--stream"]
    arguments += ["--set", "max_iter=1000000", "--folds", "0", "--scratch", "scratch"]
    arguments += ["-o", "model.toprank"]
    fit = start("from toprank.app.cli import app; app()", "fit", *arguments, cwd=tmp_path)

    def bins_are_on_disk():
        for link in Path(f"/proc/{fit.pid}/fd").iterdir():
            try:
                if str(link.readlink()).startswith(str(scratch)):
                    return True
            except OSError:  # closed meanwhile
                continue
        return False

    while not bins_are_on_disk():
        assert fit.poll() is None
        time.sleep(0.05)
    time.sleep(0.3)
    fit.send_signal(signal.SIGINT)
    _, words = fit.communicate(timeout=60)
    assert fit.returncode == 130
    assert "interrupted; nothing was written" in words
    assert sorted(each.name for each in tmp_path.iterdir()) == ["people.parquet", "scratch"]
    assert not list(scratch.iterdir())
