"""A journal saves what is done."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from toprank import TopRanker
from toprank.app.journal import Journal
from toprank.selection import blending as module


def test_a_journal_saves_what_is_done(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] > 1
    fits = []
    real = module.clone

    def counted(estimator):
        fits.append(1)
        return real(estimator)

    monkeypatch.setattr(module, "clone", counted)
    path, found = tmp_path / "journal", []
    for resume in (False, True):
        model = TopRanker(20, candidates=["logistic", "ir-push"])
        with Journal(path, "x", resume=resume) as journal:
            found.append(model._fit_table(X, y, journal=journal).comparison_)
    with Journal(path, "x", resume=True) as journal:
        assert len(fits) == len(journal)
    assert found[0].names == found[1].names
    assert np.array_equal(found[0].scores["blend"], found[1].scores["blend"])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"toprank": "journal", "of": "another"}\n', "another comparison"),
        ("age,bought\n31,yes\n", "not the journal"),
    ],
)
@pytest.mark.parametrize("resume", [True, False])
def test_a_file_that_is_not_its_journal_stays_as_it_is(tmp_path, content, reason, resume):
    path = tmp_path / "journal"
    path.write_text(content)
    with pytest.raises(ValueError, match=reason):
        Journal(path, "x", resume=resume)
    assert path.read_text() == content


def test_two_comparisons_do_not_write_one_journal(tmp_path, start):
    path = tmp_path / "journal"
    code = (
        "import sys, pathlib; from toprank.app.journal import Journal\n"
        "notes = Journal(pathlib.Path(sys.argv[1]), 'x', resume=False)\n"
        "notes['a'] = {'scores': [1.5]}\n"
        "print('written', flush=True); sys.stdin.read()"
    )
    other = start(code, path, stdin=subprocess.PIPE)
    assert other.stdout.readline() == "written\n"
    before = path.read_bytes()
    for fingerprint in ("x", "y"):
        with pytest.raises(ValueError, match="another comparison is writing to journal"):
            Journal(path, fingerprint, resume=True)
    other.kill()
    other.communicate()
    assert path.read_bytes() == before
    with Journal(path, "x", resume=True) as journal:
        assert dict(journal) == {"a": {"scores": [1.5]}}


def test_a_record_of_another_comparison_is_not_taken(tmp_path):
    for name in ("x", "y"):
        with Journal(tmp_path / name, name, resume=False) as journal:
            journal["a"] = {"scores": [1.0]}
    mixed = (tmp_path / "x").read_text() + (tmp_path / "y").read_text().split("\n")[1] + "\n"
    (tmp_path / "x").write_text(mixed)
    with pytest.raises(ValueError, match="damaged in line 3"):
        Journal(tmp_path / "x", "x", resume=True)


@pytest.mark.parametrize("line", ["{}", "[1]", "no json", '{"key": 1}', '{"key": [], "value": 1}'])
def test_a_bad_record_is_a_sentence(tmp_path, line):
    path = tmp_path / "journal"
    with Journal(path, "x", resume=False) as journal:
        journal["a"] = {"scores": [1.0]}
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(ValueError, match="journal is damaged in line 3; run again without"):
        Journal(path, "x", resume=True)


def test_a_journal_without_a_finished_fit_leaves_nothing(tmp_path):
    with Journal(tmp_path / "journal", "x", resume=False):
        pass
    assert not list(tmp_path.iterdir())


def test_a_journal_is_a_regular_file():
    with pytest.raises(ValueError, match="not a regular file"):
        Journal(Path(os.devnull), "x", resume=False)
