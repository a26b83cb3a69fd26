"""The commands that a file is given to, and what must hold however they end."""

import csv
import gzip
import json
import signal
from hashlib import sha256
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from toprank.models.file import load

OLD = b"what was there before\n"
MOST_MEGABYTES = 2048
MOST_LINES = 20
SIZES = ("out.csv", "out.tsv", "out.parquet", "out.csv.gz")


class Command(NamedTuple):
    """A call of the program, the file it reads that may be damaged, and the file it writes."""

    arguments: list
    reads: str
    writes: str | None = None


def commands_on_table(name, model, number):
    """Every command that reads a table."""
    shortlist = SIZES[number % len(SIZES)]
    target = ["--target", "label" if name.endswith(("libsvm", "letor")) else "t"]
    fit = ["fit", name, *target, "--ranker", "pnorm-push", "--budget", "5", "--json"]
    last = ["report", model, name, "--no-push-path", "-o", "out.html", "--json"]
    return [
        Command([*fit, "-o", "out.toprank"], name, "out.toprank"),
        Command(["rank", model, name, "-o", shortlist, "--json", "--force"], name, shortlist),
        Command(["evaluate", model, name], name),
        Command(["explain", model, name, "--row", "1"], name),
        Command(last, name, "out.html"),
    ]


def commands_on_model(name, table, number):
    """Every command that reads a model."""
    shortlist = SIZES[number % len(SIZES)]
    report = ["report", name, table, "--no-push-path", "-o", "out.html", "--json"]
    return [
        Command(["rank", name, table, "-o", shortlist, "--json", "--force"], name, shortlist),
        Command(["explain", name], name),
        Command(["explain", name, table, "--row", "3"], name),
        Command(["evaluate", name, table, "--json"], name),
        Command(["export", name, "--key", "id", "-o", "out.sql"], name, "out.sql"),
        Command(["export", name, "--to", "python", "-o", "out.py"], name, "out.py"),
        Command(report, name, "out.html"),
    ]


def set_up(folder, command, content):
    """A folder with the file that is read and an old one where the result will be."""
    for path in folder.iterdir():
        path.unlink()
    (folder / command.reads).write_bytes(content)
    if command.writes:
        (folder / command.writes).write_bytes(OLD)


def problems_of(folder, command, content, done, allowed=()):
    """What does not hold after a command; ``allowed`` are further ways to end.

    Negative numbers stand for signals, as in :mod:`subprocess`.
    """
    found = []
    ending = -done.signal if done.signal else done.code
    if done.signal in (signal.SIGALRM, signal.SIGXCPU):
        found.append("hang")
    elif ending not in (0, 2, *allowed) or "Traceback (most recent" in done.said:
        found.append("traceback" if not done.signal else "crash")
    if done.code == 2 and not 1 <= done.said.count("\n") <= MOST_LINES:
        found.append("no sentence")
    if "\x1b" in done.said + done.printed:
        found.append("escape")
    if done.megabytes > MOST_MEGABYTES:
        found.append("memory")
    if sha256((folder / command.reads).read_bytes()).digest() != sha256(content).digest():
        found.append("input changed")
    if command.writes and not _is_whole(folder / command.writes, done, ending):
        found.append("output lost")
    known = {command.reads, command.writes}
    left = {path.name for path in folder.iterdir()} - known
    if left and ending in (0, 2, 130):
        found.append("files left")
    return found


def _is_whole(path, done, ending):
    """Whether a file is the old one, or after success a whole new one."""
    if not path.exists():
        return False
    if path.read_bytes() == OLD:
        return ending != 0
    return ending != 2 and _is_right(path, done, ending)


def _is_right(path, done, ending):
    """Whether a result is complete; after a signal, nobody has said how many rows it has."""
    is_list = path.suffix not in (".toprank", ".html", ".sql", ".py")
    rows = json.loads(done.printed)["rows"] if ending == 0 and is_list else None
    try:
        if path.suffix == ".toprank":
            return bool(load(path).columns)
        if path.suffix == ".html":
            return path.read_text(encoding="utf-8").rstrip().endswith("</html>")
        if path.suffix == ".sql":
            return path.read_text(encoding="utf-8").endswith(";\n")
        if path.suffix == ".py":
            return bool(compile(path.read_text(encoding="utf-8"), path.name, "exec"))
        found = _rows_of(path)
    except (ValueError, OSError, pa.ArrowException):
        return False
    return found == rows or (rows is None and found is not None)


def _rows_of(path):
    """Rows of a list, None if it is ragged: without polars, whose threads children would lack."""
    if path.suffix == ".parquet":
        return pq.read_metadata(path).num_rows
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as text:
        lines = list(csv.reader(text, delimiter="\t" if path.suffix == ".tsv" else ","))
    return len(lines) - 1 if len(set(map(len, lines))) == 1 else None
