"""Options are read as people write them."""

import json

import numpy as np
import pytest

from toprank.app.options import parse_settings
from toprank.selection.candidates import make_ranker


def test_settings_are_read_as_people_write_them():
    assert parse_settings(["p=inf", "loss=logistic", "tol=none", "alpha=1e-2"]) == {
        "p": np.inf,
        "loss": "logistic",
        "tol": None,
        "alpha": 0.01,
    }
    with pytest.raises(ValueError, match="NAME=VALUE"):
        parse_settings(["p"])
    with pytest.raises(ValueError, match="no setting 'q'"):
        make_ranker("pnorm-push", {"q": 1})
    with pytest.raises(ValueError, match="no ranker 'magic'"):
        make_ranker("magic")


@pytest.fixture
def config(tmp_path):
    def written(text):
        path = tmp_path / "toprank.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_options_of_a_file_are_defaults(invoke, deals, tmp_path, config):
    shared = "target = 'bought'\nbudget = 20\nignore = ['weight']\nnames = ''\n"
    path = config(f"{shared}[fit]\nranker = 'logistic'\nfolds = 0\nset = ['C=0.5']\njson = true\n")
    call = ("fit", deals / "known.csv", "--config", path, "-o", tmp_path / "m.toprank")
    facts = json.loads(invoke(*call).stdout)
    assert facts["parameters"]["C"] == 0.5
    assert facts["budget"] == 20
    assert facts["left_out"] == {"weight": "ignored"}
    assert json.loads(invoke(*call, "--budget", "9").stdout)["budget"] == 9


def test_an_option_of_a_file_may_be_called_like_a_command(invoke, deals, tmp_path, config):
    path, model = config("report = 'page.html'\ntarget = 'bought'\n"), tmp_path / "m.toprank"
    given = ("--ranker", "logistic", "--folds", "0", "--config", path, "-o", model)
    assert invoke("fit", deals / "known.csv", *given).exit_code == 0
    done = invoke("report", model, deals / "known.csv", "--config", path, "-o", tmp_path / "p.html")
    assert (done.exit_code, (tmp_path / "p.html").exists()) == (0, True), done.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[fit]\nbudgett = 3\n", "has 'budgett' for fit, which has no such option (did you mean"),
        ("[fit\n", "is not valid TOML"),
        ("[fit]\nfolds = 'many'\n", "'--folds'"),
    ],
)
def test_a_file_that_is_wrong_is_told(invoke, deals, config, text, words):
    done = invoke("fit", deals / "known.csv", "--config", config(text), "-o", "m", "--target", "y")
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert (
        "no file 'none.toml'" in invoke("fit", "t.csv", "--config", "none.toml", "-o", "m").stderr
    )
