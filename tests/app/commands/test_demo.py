"""The demo tells what the top gained, in a process of its own."""

import re
from pathlib import Path

import pytest

from tests.app.processes import toprank_command
from toprank.app.commands import demo as demo_file


@pytest.fixture
def few_folds(monkeypatch):
    """Two folds instead of five: enough to see that everything is told."""
    import toprank.app.commands.demo as module

    monkeypatch.setattr(module, "N_FOLDS", 2)


def test_the_demo_tells_what_the_top_gained_and_writes_the_report(tmp_path):
    done = toprank_command("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    guide = Path(__file__).parents[3] / "docs" / "guide" / "commands" / "demo.md"
    shown = guide.read_text(encoding="utf-8").split("$ toprank demo\n")[1].split("```")[0]
    in_words = re.compile(r"[-+−]?[\d.]+")  # numbers round differently elsewhere
    assert in_words.sub("#", words) == in_words.sub("#", " ".join(shown.split()))
    for ranker in (demo_file.LOGISTIC, demo_file.NO_PUSH, demo_file.PUSH):
        assert ranker in words
    for other in (demo_file.LOGISTIC, demo_file.NO_PUSH):
        assert re.search(rf"Over {other} the top (gained|lost) [\d.]+ rows", words) or (
            f"Over {other} the top gained nothing" in words
        )
    assert words.endswith("toprank-demo.html")
    page = (tmp_path / "toprank-demo.html").read_text(encoding="utf-8")
    sentence = re.search(r"Over logistic regression.*?(better|excludes zero)\.", words)[0]
    assert sentence in page
    assert [path.name for path in tmp_path.iterdir()] == ["toprank-demo.html"]


@pytest.mark.usefixtures("few_folds")
def test_quiet_writes_the_report_and_says_nothing(invoke, tmp_path):
    target = tmp_path / "page.html"
    done = invoke("demo", "--quiet", "--output", target, "--budget", 30, "--seed", 3)
    assert (done.exit_code, done.output) == (0, "")
    page = target.read_text(encoding="utf-8")
    assert "in the first 30" in page
    assert "seed 3" in page


@pytest.mark.usefixtures("few_folds")
def test_the_same_seed_gives_the_same_words_and_page(invoke, tmp_path):
    outputs = []
    for _ in range(2):
        done = invoke("demo", "--output", tmp_path / "page.html")
        outputs.append((done.stdout, (tmp_path / "page.html").read_bytes()))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--output", "no/such/folder.html"), "does not exist"),
        (("--budget", "5000"), "--budget 5000 covers all 1,797 rows"),
        (("--budget", "0"), "Invalid value for '--budget'"),
        (("--seed", "-1"), "Invalid value for '--seed'"),
        (("--colour", "red"), "No such option"),
    ],
)
def test_wrong_input_is_told_on_stderr(invoke, arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke("demo", *arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []
