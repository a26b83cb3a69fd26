"""Files are written as their names say."""

import datetime as dt
import os
import stat
import subprocess

import polars as pl
import pytest

from toprank.app.reading import read_table
from toprank.app.writing import write_table
from toprank.models.writing import check_writable, write_atomically

ON_POSIX = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz"])
def test_formulas_are_written_as_text_and_read_as_they_were(tmp_path, name):
    texts = ["=1+1", "+1 x", "-1 x", "@x", "'=1", "''@", "'x", "x=1", "", None]
    words = pl.Series(texts, dtype=pl.Categorical)
    columns = pl.DataFrame({"=a": texts, "b": [-1.5] * 10, "c": words})
    path = write_table(tmp_path / name, columns)
    found = read_table(path)
    assert found.names == ["=a", "b", "c"]
    for key in ("=a", "c"):
        assert found.cells[key].to_list() == texts
    assert found.column("b").values.tolist() == [-1.5] * 10
    if name == "a.csv":
        assert path.read_text().split("\n")[:2] == ["'=a,b,c", "'=1+1,-1.5,'=1+1"]
        raw = write_table(tmp_path / "raw.csv", columns, raw=True).read_text()
        assert raw.split("\n")[1] == "=1+1,-1.5,=1+1"


def test_signed_numbers_and_dashes_are_written_as_they_are(tmp_path):
    texts = ["-0.5", "+1,234.5", "-1e-5", "-12 €", "-$4.50", "-5%", "+49 170 1234567", "-", "--"]
    path = write_table(tmp_path / "a.tsv", pl.DataFrame({"a": texts}))
    assert path.read_text().split("\n")[1:-1] == texts


def test_moments_spans_and_lists_are_written_as_texts_that_are_read_again(tmp_path):
    moment = dt.datetime.fromisoformat("2026-05-01T12:30")
    columns = pl.DataFrame(
        {
            "at": [moment, moment.replace(microsecond=500_000)],
            "zoned": pl.Series([moment] * 2).dt.replace_time_zone("Europe/Berlin"),
            "span": [dt.timedelta(hours=25), dt.timedelta(minutes=-90)],
            "list": [[1, 2], []],
        }
    )
    found = read_table(write_table(tmp_path / "a.csv", columns))
    assert found.cells["at"].to_list() == ["2026-05-01 12:30:00", "2026-05-01 12:30:00.500"]
    assert found.cells["zoned"].to_list()[0] == "2026-05-01 12:30:00+02:00"
    assert found.cells["span"].to_list() == ["25:00:00", "-01:30:00"]
    assert found.cells["list"].to_list() == ["[1, 2]", "[]"]
    typed = read_table(write_table(tmp_path / "a.parquet", columns))
    for name in ("at", "zoned", "span"):
        assert found.column(name).values.tolist() == typed.column(name).values.tolist()


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@ON_POSIX
def test_a_replaced_file_keeps_its_permissions_and_a_new_one_has_the_usual(tmp_path):
    usual = tmp_path / "usual"
    usual.touch()
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("old")
    old.chmod(0o604)
    for path in (old, new):
        assert write_atomically(path, b"new") == path
        assert path.read_text() == "new"
    assert (mode(old), mode(new)) == (0o604, mode(usual))


@ON_POSIX
def test_a_link_stays_a_link_to_what_is_written(tmp_path):
    (tmp_path / "real").mkdir()
    for name in ("there", "not yet"):
        link, file = tmp_path / f"link {name}", tmp_path / "real" / name
        if name == "there":
            file.write_text("old")
        link.symlink_to(file)
        write_atomically(link, b"new")
        assert link.is_symlink()
        assert file.read_text() == "new"
    assert {path.name for path in (tmp_path / "real").iterdir()} == {"there", "not yet"}


@ON_POSIX
def test_what_must_not_be_replaced_is_not(tmp_path):
    locked = tmp_path / "locked"
    locked.write_text("old")
    locked.chmod(0o444)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for path, reason in [
        (locked, "read-only"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / "loop", "not a regular file"),
        ("/dev/null", "not a regular file"),
    ]:
        with pytest.raises(OSError, match=reason):
            write_atomically(path, b"new")
    assert locked.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 3


def test_a_command_does_not_replace_what_it_reads(invoke, deals, tmp_path):
    table, model = tmp_path / "table.csv", tmp_path / "model.toprank"
    table.write_bytes((deals / "known.csv").read_bytes())
    model.write_bytes((deals / "model.toprank").read_bytes())
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.parquet").write_bytes((deals / "new.parquet").read_bytes())
    os.link(table, tmp_path / "again.csv")
    target = ("--target", "bought", "--budget", "20")
    for arguments in [
        ("rank", model, table, "-o", table),
        ("rank", model, table, "-o", tmp_path / "again.csv"),
        ("rank", model, folder, "-o", folder / "a.parquet"),
        ("rank", model, folder, "-o", folder / "b.parquet"),
        ("report", model, table, "-o", model),
        ("fit", table, *target, "-o", table),
        ("compare", table, *target, "--journal", table),
        ("compare", table, *target, "--report", table),
    ]:
        done = invoke(*arguments)
        assert done.exit_code == 2
        assert "is an input of this command; name another file to write" in done.stderr
    assert table.read_bytes() == (deals / "known.csv").read_bytes()
    assert model.read_bytes() == (deals / "model.toprank").read_bytes()
    assert check_writable(folder / "best.csv", inputs=[folder, None])


def test_a_killed_write_leaves_the_old_file_and_what_it_left_goes_with_the_next(tmp_path, start):
    path = tmp_path / "a [1].csv"
    path.write_text("old")
    (tmp_path / ".b.csv.x.part").write_text("of another file")
    code = (
        "import sys; from toprank.models.writing import write_atomically\n"
        "def write(part):\n"
        "    part.write_text('ne'); print('begun', flush=True); sys.stdin.read()\n"
        "write_atomically(sys.argv[1], write)"
    )
    writer = start(code, path, stdin=subprocess.PIPE)
    assert writer.stdout.readline() == "begun\n"
    write_atomically(path, b"of a second writer")
    assert len(list(tmp_path.glob(".a*.part"))) == 1  # that of the first is in use
    writer.kill()
    writer.communicate()
    assert len(list(tmp_path.glob(".a*.part"))) == 1
    assert path.read_text() == "of a second writer"
    write_atomically(path, b"new")
    assert {each.name for each in tmp_path.iterdir()} == {path.name, ".b.csv.x.part"}


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path):
    def interrupted(part):
        part.write_text("ne")
        raise KeyboardInterrupt

    (tmp_path / "a").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a", interrupted)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]


def test_content_is_on_the_disk_before_its_name(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(os, "fsync", lambda _: seen.append((tmp_path / "a").exists()))
    write_atomically(tmp_path / "a", b"new")
    assert seen == [False]
