"""Lists with promises, amounts, limits, audits and daily budgets, from the options to the file."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from toprank.app.options import RuleOptions
from toprank.app.promises import parse_rules, rank_by_rules
from toprank.app.reading import read_table
from toprank.app.writing import write_table
from toprank.models.file import load
from toprank.shortlists import make_shortlist


def table_of(n_rows, seed):
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 10, n_rows)
    bought = age + rng.normal(0, 5, n_rows) > 60
    return pl.DataFrame(
        {
            "age": age,
            "branch": rng.choice(["north", "south", "west"], n_rows),
            "amount": rng.integers(1, 50, n_rows),
            "bought": np.where(bought, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A model with held-out rows, one without, and new rows."""
    from typer.testing import CliRunner

    from toprank.app.cli import app

    folder = tmp_path_factory.mktemp("shop")
    write_table(folder / "known.csv", table_of(1500, 0))
    write_table(folder / "new.csv", table_of(600, 1))
    named = ["fit", str(folder / "known.csv"), "--target", "bought", "--ranker", "logistic"]
    for name, more in (("model", ["--hold-out", "40%"]), ("bare", ["--folds", "0"])):
        path = str(folder / f"{name}.toprank")
        ignored = ["--ignore", "amount", "--ignore", "branch", "--budget", "30"]
        done = CliRunner().invoke(app, [*named, *ignored, "-q", "-o", path, *more])
        assert done.exit_code == 0, done.output
    return folder


def lists_of_cells(path):
    """The columns of a list as numbers or texts."""
    return pl.read_csv(path).to_dict(as_series=False)


@pytest.fixture
def ranked(invoke, shop, tmp_path):
    """The list of a call, and what it said."""

    def call(*options, code=0, model="model"):
        target = tmp_path / "list.csv"
        named = ("rank", shop / f"{model}.toprank", shop / "new.csv", "-o", target, "--force")
        done = invoke(*named, *options)
        assert done.exit_code == code, done.output
        said = " ".join(done.output.split())
        return (lists_of_cells(target) if code == 0 else None), said

    return call


def test_few_false_alarms_are_promised_and_nearly_kept(ranked, shop):
    found, said = ranked("--false-alarms", "10%")
    model = load(shop / "model.toprank")
    expected = make_shortlist(
        model.scores(read_table(shop / "new.csv")), model.calibration, false_alarms=0.1
    )
    assert len(found["rank"]) == len(expected)
    assert "at most 10 % false alarms" in said
    assert np.mean(np.array(found["bought"]) == "no") < 0.2
    assert list(found)[:3] == ["rank", "score", "chance"]


def test_amounts_are_numbers_or_columns(ranked):
    found, said = ranked("--value", "10", "--cost", "2")
    assert min(found["chance"]) > 0.2
    assert "expected profit" in said
    found, _ = ranked("--value", "amount", "--cost", "5", "--top", "10")
    gain = np.array(found["chance"]) * np.array(found["amount"]) - 5
    assert found["gain"] == pytest.approx(gain)
    assert len(gain) == 10
    assert (np.diff(gain) <= 1e-9).all()


def test_limits_are_kept_and_priced(ranked):
    found, said = ranked("--at-most", "12:branch", "--at-least", "40%:branch=west")
    branches = found["branch"]
    assert len(branches) == 30
    assert max(branches.count(each) for each in ("north", "south", "west")) == 12
    assert branches.count("west") == 12
    assert "30 rows" in said
    found, said = ranked("--top", "150", "--at-least", "90:branch=west")
    assert found["branch"].count("west") == 90
    assert "caps and quotas cost" in said


def test_an_audited_list_can_be_judged_for_all_rows(ranked, invoke, shop, tmp_path):
    found, said = ranked("--top", "200", "--audit", "50%")
    assert "100 of the 200 rows are random" in said
    assert found["audit_weight"] == pytest.approx(1 / np.array(found["propensity"]))
    call = ("evaluate", shop / "model.toprank", tmp_path / "list.csv", "--propensity", "propensity")
    done = invoke(*call, "--budget", "150", "--json")
    assert done.exit_code == 0, done.output
    judged = json.loads(done.stdout)["metrics"]["recall"]["value"]
    done = invoke("evaluate", shop / "model.toprank", shop / "new.csv", "--budget", "150", "--json")
    assert judged == pytest.approx(json.loads(done.stdout)["metrics"]["recall"]["value"], abs=0.12)
    said = invoke(*call).output
    assert "200 opened rows represent 600 rows" in " ".join(said.split())
    done = invoke(*call[:-1], "chance")
    assert (done.exit_code, "no column 'chance' for --propensity" in done.output) == (2, True)


def test_a_daily_budget_is_spent_once(ranked, tmp_path, shop):
    state = tmp_path / "state.json"
    found, said = ranked("--daily", state, "--top", "7")
    assert len(found["rank"]) == 7
    assert "Opened today: 7 of 7 rows, from 600." in said
    ranked("--daily", state, "--top", "8")
    assert (tmp_path / "list.csv").read_text().count("\n") == 2  # a header and one row more
    # the next day has a budget of its own, and knows what a day brings
    rules = parse_rules(RuleOptions(daily=state))
    model, new = load(shop / "model.toprank"), read_table(shop / "new.csv")
    promised = rank_by_rules(model, new, 7, rules, day="tomorrow")
    assert promised.facts["opened_today"] <= 7
    assert promised.facts["day"] == "tomorrow"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--false-alarms", "ten"], "is not a share between 0 and 1"),
        (["--false-alarms", ""], "is not a share between 0 and 1"),
        (["--false-alarms", "10%", "--value", "3"], "both say how long the list is"),
        (["--false-alarms", "10%", "--top", "3"], "both say how long the list is"),
        (["--false-alarms", "10%", "--cutoff", "3"], "--cutoff cannot be combined"),
        (["--value", "price"], "no column 'price'"),
        (["--value", "branch"], "the value 'branch' holds text"),
        (["--daily", "nowhere/state.json"], "nowhere:"),
        (["--at-most", "branch"], "is not NUMBER:COLUMN"),
        (["--at-most", "0:branch"], "is not NUMBER:COLUMN"),
        (["--at-least", "3:branch"], "is not NUMBER:COLUMN=VALUE"),
        (["--at-least", "3:branch=east"], "no row has branch=east"),
        (["--audit", "5%", "--value", "3"], "--audit and --daily can be combined with --top only"),
        (["--top", "999", "--at-most", "3:branch"], "more than the 600 rows"),
    ],
)
def test_options_that_make_no_list_are_told(ranked, options, words):
    _, said = ranked(*options, code=2)
    assert words in said


def test_a_model_without_calibration_rows_says_how_to_fit_again(ranked):
    _, said = ranked("--false-alarms", "10%", model="bare", code=2)
    assert "holds no calibration rows" in said
    assert "--hold-out 20%" in said
    assert ranked("--audit", "10%", model="bare")[0]


def test_a_drift_of_the_scores_is_noted(invoke, shop, tmp_path):
    older = table_of(600, 2)
    moved = older.with_columns(pl.col("age") + 8.0)
    write_table(tmp_path / "moved.csv", moved)
    done = invoke(
        *("rank", shop / "model.toprank", tmp_path / "moved.csv", "--false-alarms", "10%"),
        *("-o", tmp_path / "list.csv"),
    )
    assert "note: the scores of the new rows differ" in done.stderr


def test_a_stream_gives_the_same_list_as_memory(shop, tmp_path):
    from toprank.app.reading import open_rows

    new = table_of(600, 1)
    new.write_parquet(tmp_path / "new.parquet", row_group_size=100)
    model = load(shop / "model.toprank")
    rules = parse_rules(RuleOptions(value="amount", cost="4", at_most=["20:branch"]))
    one = rank_by_rules(model, read_table(tmp_path / "new.parquet"), None, rules, day="today")
    stream = open_rows(Path(tmp_path / "new.parquet"), stream=True)
    other = rank_by_rules(model, stream, None, rules, day="today")
    assert one.columns.equals(other.columns)
    assert one.words == other.words


def test_lists_within_a_list_are_refused(invoke, deals, by_branch, tmp_path):
    done = invoke("rank", by_branch, deals / "new.csv", "--audit", "5%", "-o", tmp_path / "s.csv")
    assert (done.exit_code, "ranks within the lists of 'branch'" in done.output) == (2, True)
