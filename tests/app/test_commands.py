"""Each command does on a table what its help promises."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from toprank.app.cli import app
from toprank.app.model_file import load_model, save_model
from toprank.app.reading import read_table


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def words(done):
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


@pytest.mark.skipif(os.name == "nt", reason="Windows does not count the time of children")
def test_help_answers_within_half_a_second():
    import resource

    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def once():
        # Seconds of the processor: those of the clock depend on what else the machine does.
        before = spent()
        command = [sys.executable, "-c", "from toprank.app.cli import app; app()", "--help"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        for name in ("compare", "fit", "rank", "evaluate", "explain", "report"):
            assert name in done.stdout
        return spent() - before

    assert min(once() for _ in range(5)) < 0.5


def test_fit_says_what_it_learned_and_writes_the_model(deals, tmp_path):
    text = words(
        invoke(
            *("fit", deals / "known.csv", "--target", "bought", "--budget", "10%"),
            *("--ranker", "rankboost", "--set", "max_iter=20", "-o", tmp_path / "m.toprank"),
            *("--group", "branch", "--weight", "weight"),
        )
    )
    assert "300 rows" in text
    assert "bought is yes" in text
    model = load_model(tmp_path / "m.toprank")
    assert model.budget == 0.1
    assert model.roles.group == "branch"
    assert "branch" not in model.columns
    assert [path.name for path in tmp_path.iterdir()] == ["m.toprank"]


def test_fit_without_a_name_chooses_and_says_how_sure_it_is(deals, tmp_path):
    done = invoke(
        *("fit", deals / "known.csv", "--target", "bought", "--budget", "20", "--outer", "2"),
        *("--ignore", "weight", "--json", "-o", tmp_path / "m.toprank"),
    )
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    mean, low, high = facts["precision"]
    assert 0 <= low <= mean <= high <= 1
    assert mean > 0.2
    assert len(facts["finalists"]) == 6
    assert "toprank: choosing a ranker:" in done.stderr


def test_rank_keeps_all_columns_and_orders_the_rows(deals, tmp_path):
    target = tmp_path / "shortlist.csv"
    text = words(invoke("rank", deals / "model.toprank", deals / "new.csv", "-o", target))
    assert text.startswith("20 of 100 rows")
    shortlist = read_table(target)
    assert shortlist.names[:2] == ["rank", "score"]
    assert set(read_table(deals / "new.csv").names) < set(shortlist.names)
    scores = shortlist.columns.column("score").to_pylist()
    assert scores == sorted(scores, reverse=True)
    assert shortlist.columns.column("rank").to_pylist() == list(range(1, 21))


def test_rank_gives_the_best_of_every_list(deals, tmp_path):
    model, target = tmp_path / "m.toprank", tmp_path / "s.csv"
    invoke(
        *("fit", deals / "known.csv", "--target", "bought", "--ranker", "ir-push"),
        *("--group", "branch", "--budget", "5", "-o", model),
    )
    assert words(invoke("rank", model, deals / "new.csv", "--top", 2, "-o", target))
    shortlist = read_table(target).columns
    assert shortlist.column("rank").to_pylist() == [1, 2] * 8
    assert shortlist.column("branch").to_pylist() == [each for each in range(8) for _ in "ab"]


def test_rank_at_a_cutoff_takes_what_lies_above(deals, tmp_path):
    whole, above = tmp_path / "whole.parquet", tmp_path / "above.parquet"
    invoke("rank", deals / "model.toprank", deals / "new.csv", "--top", 100, "-o", whole)
    scores = read_table(whole).columns.column("score").to_pylist()
    cut = (scores[6] + scores[7]) / 2
    done = invoke("rank", deals / "model.toprank", deals / "new.csv", "--cutoff", cut, "-o", above)
    assert done.exit_code == 0, done.output
    assert read_table(above).columns.column("score").to_pylist() == scores[:7]


def test_the_model_carries_the_cutoff_of_its_budget(deals, tmp_path):
    above = tmp_path / "above.csv"
    model = load_model(deals / "model.toprank")
    known = read_table(deals / "known.csv")
    assert (model.scores(known) > model.cutoff).sum() == 20
    done = invoke(
        *("rank", deals / "model.toprank", deals / "known.csv", "--cutoff", "model", "-o", above)
    )
    assert words(done).startswith("20 of 300 rows")
    assert read_table(above).n_rows == 20
    # on other rows: those above it, however many they are
    invoke("rank", deals / "model.toprank", deals / "new.csv", "--cutoff", "model", "-o", above)
    scores = model.scores(read_table(deals / "new.csv"))
    assert read_table(above).n_rows == (scores > model.cutoff).sum()


def test_with_lists_the_cutoff_admits_as_many_rows_as_all_shortlists(deals, tmp_path):
    path = tmp_path / "m.toprank"
    invoke(
        *("fit", deals / "known.csv", "--target", "bought", "--ranker", "ir-push"),
        *("--group", "branch", "--budget", "5", "-o", path),
    )
    model = load_model(path)
    assert (model.scores(read_table(deals / "known.csv")) > model.cutoff).sum() == 8 * 5


def test_in_the_cutoff_a_row_of_weight_two_counts_twice(deals, tmp_path):
    path = tmp_path / "m.toprank"
    invoke(
        *("fit", deals / "known.csv", "--target", "bought", "--ranker", "ir-push"),
        *("--weight", "weight", "--budget", "20", "-o", path),
    )
    known, model = read_table(deals / "known.csv"), load_model(path)
    above = model.scores(known) > model.cutoff
    weights = known.columns.column("weight").to_numpy()
    assert 19 < weights[above].sum() <= 20


def test_a_share_of_each_list_is_cut_from_each(deals, tmp_path):
    model, target = tmp_path / "m.toprank", tmp_path / "s.csv"
    invoke(
        *("fit", deals / "known.csv", "--target", "bought", "--ranker", "ir-push"),
        *("--group", "branch", "--budget", "20%", "-o", model),
    )
    assert words(invoke("rank", model, deals / "new.csv", "-o", target))
    sizes = np.bincount(read_table(deals / "new.csv").columns.column("branch").to_numpy())
    kept = np.bincount(read_table(target).columns.column("branch").to_numpy())
    assert kept.tolist() == np.ceil(0.2 * sizes).tolist()


def test_a_model_without_a_cutoff_says_so(deals, tmp_path):
    path = tmp_path / "m.toprank"
    save_model(path, replace(load_model(deals / "model.toprank"), cutoff=None))
    done = invoke("rank", path, deals / "new.csv", "--cutoff", "model", "-o", tmp_path / "s.csv")
    assert done.exit_code == 2
    assert "holds no cutoff" in done.stderr


def test_evaluate_measures_and_compares_two_shortlists(deals, tmp_path):
    other = tmp_path / "other.toprank"
    invoke(
        *("fit", deals / "known.csv", "--target", "bought", "--ranker", "logistic"),
        *("--budget", "20", "--ignore", "age", "-o", other),
    )
    text = words(
        invoke("evaluate", deals / "model.toprank", deals / "new.parquet", "--against", other)
    )
    for name in ("precision", "recall", "lift", "average precision", "ROC"):
        assert name in text
    assert "of the shortlist is the same" in text
    values = json.loads(
        invoke("evaluate", deals / "model.toprank", deals / "new.parquet", "--json").stdout
    )
    found = values["metrics"]["precision"]
    assert 0 <= found["low"] <= found["value"] <= found["high"] <= 1


def test_explain_names_what_drives_the_model_and_a_row(deals):
    text = words(invoke("explain", deals / "model.toprank"))
    assert text.index("age") < text.index("member")
    assert "nurse: +" in text
    assert "Training list of" in text
    row = words(invoke("explain", deals / "model.toprank", deals / "new.csv", "--row", 3))
    assert "Row 3 of new.csv has the score" in row


def test_a_row_is_placed_within_its_list(deals, tmp_path):
    path = tmp_path / "m.toprank"
    invoke(
        *("fit", deals / "known.csv", "--target", "bought", "--ranker", "ir-push"),
        *("--group", "branch", "--budget", "5", "-o", path),
    )
    table = read_table(deals / "new.csv")
    branches = table.columns.column("branch").to_numpy()
    scores = load_model(path).scores(table)
    rivals = scores[branches == branches[2]]
    place = (rivals > scores[2]).sum() + 1
    text = words(invoke("explain", path, deals / "new.csv", "--row", 3))
    assert f"place {place} of {rivals.size} in its list." in text


def test_compare_gives_a_verdict_and_a_report(deals, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = words(
        invoke(
            *("compare", deals / "known.csv", "--target", "bought", "--budget", "20"),
            *("--ranker", "pnorm-push", "--no-engines", "--splits", "2", "--report", "page.html"),
        )
    )
    assert "logistic" in text
    verdicts = ("The push does not help here", "A ranker for the top helps", "rows cannot tell")
    assert any(verdict in text for verdict in verdicts)
    typed = f"toprank fit {deals / 'known.csv'} --target bought --budget 20 --ranker"
    assert re.search(rf"Next: {re.escape(typed)} (pnorm-push|logistic) -o model.toprank", text)
    assert "Which ranker for known.csv" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_an_interrupted_comparison_goes_on_where_it_was(deals, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    import toprank.selection.comparison as module

    arguments = (
        *("compare", deals / "known.csv", "--target", "bought", "--budget", "20", "--json"),
        *("--ranker", "pnorm-push", "--no-engines", "--splits", "2"),
    )
    whole = json.loads(invoke(*arguments).stdout)
    real, calls = module.judge, []

    def interrupted(*given):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(module, "judge", interrupted)
    stopped = invoke(*arguments)
    assert stopped.exit_code == 130
    assert "go on with --resume" in stopped.stderr
    monkeypatch.setattr(module, "judge", real)
    journal = tmp_path / "toprank-compare.journal"
    journal.write_text(journal.read_text() + '{"key": "cut o')  # as a kill would leave it
    resumed = invoke(*arguments, "--resume")
    assert "2 finished fits are taken" in resumed.stderr
    assert json.loads(resumed.stdout) == whole
    assert not journal.exists()


def test_a_journal_of_another_comparison_is_refused(deals, tmp_path):
    journal = tmp_path / "j"
    journal.write_text('{"toprank": "journal", "of": "another"}\n')
    done = invoke(
        *("compare", deals / "known.csv", "--target", "bought", "--budget", "20"),
        *("--ranker", "pnorm-push", "--no-engines", "--journal", journal, "--resume"),
    )
    assert done.exit_code == 2
    assert "another comparison" in done.stderr


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
    print("at work", flush=True)
    return real(*args, **kwargs)
toprank.app.fitting.fit_model = announced
app(sys.argv[1:])
"""
    arguments = ("fit", deals / "known.csv", "--target", "bought", "--budget", "20", "-o", target)
    process = start(script, *arguments)
    assert process.stdout.readline() == "at work\n"
    time.sleep(0.3)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in errors
    assert load_model(target).facts["class"] == "PNormPush"
    assert [path.name for path in tmp_path.iterdir()] == ["m.toprank"]
