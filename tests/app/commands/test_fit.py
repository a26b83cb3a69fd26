"""``toprank fit`` says what it learned and writes the model."""

import json
import os
import re
import signal
import time

import numpy as np
import polars as pl
import pytest

from toprank.app.reading import read_table
from toprank.app.writing import write_table
from toprank.models.file import load
from toprank.selection.candidates import DEFAULT, RANKERS


def test_fit_says_what_it_learned_and_writes_the_model(invoke, words, deals, tmp_path):
    text = words(
        invoke(
            *("fit", deals / "known.csv", "--target", "bought", "--budget", "10%"),
            *("--ranker", "rankboost", "--set", "max_iter=20", "-o", tmp_path / "m.toprank"),
            *("--group", "branch", "--weight", "weight"),
        )
    )
    assert "300 rows" in text
    assert "bought = yes" in text
    model = load(tmp_path / "m.toprank")
    assert model.budget == 0.1
    assert model.roles.group == "branch"
    assert "branch" not in model.columns
    assert [path.name for path in tmp_path.iterdir()] == ["m.toprank"]


def test_fit_without_a_name_blends_and_says_what_to_expect(invoke, deals, tmp_path, monkeypatch):
    for name in ("trees", "random-forest", "extra-trees"):
        kind = RANKERS[name]
        monkeypatch.setitem(RANKERS, name, kind._replace(given=kind.given | {"n_trees": 10}))
    monkeypatch.setattr("toprank.app.console._SECONDS_PER_LINE", 0.0)
    path = tmp_path / "m.toprank"
    done = invoke(
        *("fit", deals / "known.csv", "--target", "bought", "--budget", "20", "--jobs", "2"),
        *("--ignore", "weight", "--json", "-o", path),
    )
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    mean, low, high = facts["hits"]
    assert 4 < mean <= 20
    assert 0 <= low <= mean <= high <= 20
    assert facts["verdict"].startswith(f"Use the blend: expect {mean:.0f} of your 20 (")
    assert {each["ranker"] for each in facts["standings"]} == {"blend", *DEFAULT}
    assert "toprank: choosing a blend:" in done.stderr
    model, known = load(path), read_table(deals / "known.csv")
    scores = model.scores(known)
    assert (scores > model.cut).sum() == 20


def test_the_model_carries_the_cutoff_of_its_budget(invoke, words, deals, tmp_path):
    above = tmp_path / "above.csv"
    model = load(deals / "model.toprank")
    known = read_table(deals / "known.csv")
    assert (model.scores(known) > model.cut).sum() == 20
    options = ("--cutoff", "model", "-o", above, "--force")
    done = invoke("rank", deals / "model.toprank", deals / "known.csv", *options)
    assert words(done).startswith("20 of 300 rows")
    assert read_table(above).n_rows == 20
    # on other rows: those above it, however many they are
    invoke("rank", deals / "model.toprank", deals / "new.csv", *options)
    scores = model.scores(read_table(deals / "new.csv"))
    assert read_table(above).n_rows == (scores > model.cut).sum()


def test_with_lists_the_cutoff_admits_as_many_rows_as_all_shortlists(deals, by_branch):
    model = load(by_branch)
    assert (model.scores(read_table(deals / "known.csv")) > model.cut).sum() == 8 * 5


def test_in_the_cutoff_a_row_of_weight_two_counts_twice(invoke, deals, tmp_path):
    path = tmp_path / "m.toprank"
    invoke(
        *("fit", deals / "known.csv", "--target", "bought", "--ranker", "ir-push"),
        *("--weight", "weight", "--budget", "20", "-o", path),
    )
    known, model = read_table(deals / "known.csv"), load(path)
    above = model.scores(known) > model.cut
    weights = known.column("weight").values
    assert 19 < weights[above].sum() <= 20


@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_interrupt_or_a_kill_during_fit_leaves_the_old_model(start, deals, tmp_path, how, code):
    target = tmp_path / "m.toprank"
    target.write_bytes((deals / "model.toprank").read_bytes())
    script = """
import sys, toprank.app.fitting
from toprank.app.cli import app
real = toprank.app.fitting.fit_model
def announced(*args, **kwargs):
    real(*args, **kwargs)  # an interrupt while compiled loops are loaded may be lost
    print("at work", flush=True)
    while True:
        real(*args, **kwargs)
toprank.app.fitting.fit_model = announced
app(sys.argv[1:])
"""
    arguments = ("fit", deals / "known.csv", "--target", "bought", "--budget", "20", "-o", target)
    process = start(script, *arguments)
    assert process.stdout.readline() == "at work\n"
    time.sleep(0.3)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    assert load(target).facts["class"] == "PNormPush"
    assert [path.name for path in tmp_path.iterdir()] == ["m.toprank"]


def test_held_out_rows_calibrate_the_model_and_a_blend_has_its_own(invoke, deals, tmp_path):
    known, path = deals / "known.csv", tmp_path / "m.toprank"
    named = ("fit", known, "--target", "bought", "--budget", "20", "-o", path, "-q")
    assert invoke(*named, "--ranker", "pnorm-push", "--folds", "0").exit_code == 0
    assert load(path).calibration is None
    done = invoke(*named, "--ranker", "pnorm-push", "--hold-out", "20%")
    assert done.exit_code == 0, done.output
    model = load(path)
    assert model.calibration.is_exact
    assert model.calibration.n_rows == 60
    assert model.facts["n_rows"] == 240
    assert invoke(*named, "--ranker", "logistic", "--ranker", "ir-push").exit_code == 0
    again = load(path).calibration
    assert not again.is_exact
    assert again.n_rows > 250
    done = invoke(*named, "--hold-out", "20%", "--group", "branch", "--ranker", "pnorm-push")
    assert (done.exit_code, "holds out single rows" in done.output) == (2, True)
    done = invoke(*named, "--hold-out", "all")
    assert (done.exit_code, "is not a share between 0 and 1" in done.output) == (2, True)


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost", "catboost"])
def test_an_engine_is_fitted_saved_and_ranked_with(invoke, words, deals, tmp_path, engine):
    pytest.importorskip(engine)
    table, model = deals / "known.csv", tmp_path / "m.toprank"
    roles = ("--target", "bought", "--budget", "20", "--ranker", engine, "--folds", "2")
    assert f"Use {engine}: expect" in words(invoke("fit", table, *roles, "-o", model))
    text = words(invoke("rank", model, deals / "new.csv", "-o", tmp_path / "s.csv"))
    assert re.search(r"20 of 100 rows.* Expect \d+ of them \(\d+ to \d+\) to be bought = yes", text)


def test_an_assumed_positive_value_is_said_in_every_output(invoke, words, tmp_path):
    rng = np.random.default_rng(0)
    kinds = np.where(rng.random(200) < 0.1, "fraud", "legit")
    write_table(tmp_path / "t.csv", pl.DataFrame({"a": rng.normal(size=200), "kind": kinds}))
    table, model = tmp_path / "t.csv", tmp_path / "m.toprank"
    roles = (table, "--target", "kind", "--budget", "9")
    one = ("--ranker", "logistic", "--folds", "0")
    calls = [
        ("fit", *roles, *one, "-o", model),
        ("rank", model, table, "-o", tmp_path / "s.csv"),
        ("evaluate", model, table),
        ("explain", model),
        ("compare", *roles, "--ranker", "ir-push", "--no-engines", "--journal", tmp_path / "j"),
    ]
    for call in calls:
        assert "ASSUMED: kind = fraud belongs at the top" in words(invoke(*call))
    words(invoke("report", model, table, "-o", tmp_path / "r.html"))
    assert "ASSUMED: kind = fraud" in (tmp_path / "r.html").read_text(encoding="utf-8")
