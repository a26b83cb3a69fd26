"""What the guides show of the command line is what it says."""

import gzip
import os
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from experiments.datasets.__main__ import main
from toprank.app.cli import app

GUIDE = Path(__file__).parents[1] / "docs" / "guide"
ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,income"
)
BANK = (
    "age;job;marital;education;default;balance;housing;loan;contact;day;month;duration;campaign;"
    "pdays;previous;poutcome;y"
)
NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?")


def calls(page):
    """Program, arguments and output of each command of a page."""
    text = (GUIDE / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        for call in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, said = call.partition("\n")
            yield shlex.split(command), said


def seen_on_a_terminal(words):
    """Both outputs of a command, which may be piped from cat and to head."""
    pipe = [shlex.split(part) for part in shlex.join(words).split(" '|' ")]
    given = Path(pipe.pop(0)[1]).read_bytes() if pipe[0][0] == "cat" else None
    done = CliRunner().invoke(app, pipe.pop(0)[1:], input=given)
    assert done.exit_code in (0, 2), (words, done.output)
    if not pipe:
        return done.output
    program, option, count = pipe[0]
    assert (program, option) == ("head", "-n")
    return "".join(done.stdout.splitlines(keepends=True)[: int(count)]) + done.stderr


def numbers(text):
    found = NUMBER.findall(text)
    return [float(each.replace(",", "").replace("−", "-")) for each in found]


def published(home, folder):
    """Adult, bank marketing, Covertype and MQ2008 as people have them."""
    for part, name in (("train", "census.csv"), ("test", "census_new.csv")):
        lines = text_of(home / "adult" / f"adult-{part}.csv.gz").splitlines()
        rows = [line.rstrip(".") for line in lines if line.count(",") == 14]
        (folder / name).write_text("\n".join([ADULT, *rows]) + "\n")
    lines = text_of(home / "bank-marketing" / "bank-marketing.arff.gz").splitlines()
    start = [line.lower() for line in lines].index("@data") + 1
    rows = [line.replace(",", ";") for line in lines[start:] if line.strip()]
    (folder / "bank.txt").write_text("\n".join([BANK, *rows]) + "\n")
    (folder / "covtype.csv.gz").write_bytes((home / "covtype" / "covtype.csv.gz").read_bytes())
    rows = [line.split(",") for line in text_of(folder / "covtype.csv.gz").splitlines()[1:20_001]]
    lines = []
    for *values, label in rows:
        cells = [f"{at}:{value}" for at, value in enumerate(values, 1) if value != "0"]
        lines.append(" ".join([label, *cells]))
    (folder / "forest.libsvm").write_text("\n".join(lines) + "\n")
    part = home / "MQ2008" / "S1.txt.gz"
    (folder / "queries.txt.gz").write_bytes(part.read_bytes())
    (folder / "mq2008.letor").write_bytes(gzip.decompress(part.read_bytes()))


def text_of(path):
    return gzip.decompress(path.read_bytes()).decode()


def output_of(command, capsys):
    program, *arguments = command
    if program == "toprank":
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, (command, done.output)
        return done.stdout
    assert [program, *arguments[:2]] == ["python", "-m", "experiments.datasets"]
    main(arguments[2:])
    return capsys.readouterr().out


def check(page, output):
    for command, expected in calls(page):
        printed = output(command)
        # Words must agree; numbers nearly, since linear algebra rounds differently elsewhere.
        said = NUMBER.sub("#", printed).split()
        assert said == NUMBER.sub("#", expected).split(), command
        assert numbers(printed) == pytest.approx(numbers(expected), rel=0.05, abs=0.02)


def write_tables(page):
    """Run the code of a page that writes the tables of its transcripts."""
    text = (GUIDE / page).read_text(encoding="utf-8")
    code = re.search(r"^```py\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)[1]
    exec(compile(code, page, "exec"), {})  # noqa: S102


def test_the_transcripts_on_tables_as_they_come_are_true(tmp_path, monkeypatch):
    pytest.importorskip("openpyxl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    write_tables("tables.md")
    check("tables.md", seen_on_a_terminal)


def test_the_transcripts_of_the_guide_are_true(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_tables("commands.md")
    # In the order in which a reader needs them; the demo's is held by the demo's own test.
    pages = ("compare", "look", "fit", "rank", "evaluate", "explain", "report", "export")
    for page in pages:
        check(f"commands/{page}.md", lambda command: output_of(command, capsys))
    every = {path.stem for path in (GUIDE / "commands").glob("*.md")}
    assert every == {*pages, "demo"}
    assert every == {command.callback.__name__ for command in app.registered_commands}


def test_the_transcripts_on_real_tables_are_true(tmp_path, monkeypatch, capsys):
    home = Path(os.environ.get("TOPRANK_DATA", "nowhere"))
    needed = ("adult", "bank-marketing", "covtype", "MQ2008")
    if not all((home / name).is_dir() for name in needed):
        pytest.skip(f"TOPRANK_DATA names no folder with {', '.join(needed)}")
    monkeypatch.chdir(tmp_path)
    published(home, tmp_path)
    check("real_tables.md", lambda command: output_of(command, capsys))
