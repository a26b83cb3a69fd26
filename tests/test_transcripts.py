"""What the guides show of the command line is what it says."""

import gzip
import os
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from toprank.cli import app

GUIDE = Path(__file__).parents[1] / "docs" / "guide"
NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?")


def calls(page):
    """Each command of a page with what it prints there."""
    text = (GUIDE / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        for call in re.split(r"^\$ toprank ", block, flags=re.MULTILINE)[1:]:
            command, _, said = call.partition("\n")
            yield shlex.split(command), said


def numbers(text):
    found = NUMBER.findall(text)
    return [float(each.replace(",", "").replace("−", "-")) for each in found]


def check(page):
    for command, expected in calls(page):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, (command, done.output)
        # Words must agree; numbers nearly, since linear algebra rounds differently elsewhere.
        said = NUMBER.sub("#", done.stdout).split()
        assert said == NUMBER.sub("#", expected).split(), command
        assert numbers(done.stdout) == pytest.approx(numbers(expected), rel=0.05, abs=0.02)


def test_the_transcripts_of_the_guide_are_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check("commands.md")


def test_the_transcripts_on_real_tables_are_true(tmp_path, monkeypatch):
    home = Path(os.environ.get("TOPRANK_DATA", "nowhere"))
    needed = ("adult", "bank-marketing", "covtype", "MQ2008")
    if not all((home / name).is_dir() for name in needed):
        pytest.skip(f"TOPRANK_DATA names no folder with {', '.join(needed)}")
    monkeypatch.chdir(tmp_path)
    part = gzip.decompress((home / "MQ2008" / "S1.txt.gz").read_bytes())
    (tmp_path / "mq2008.letor").write_bytes(part)
    check("real_tables.md")
