"""A folder with small tables and models, and a way to call the program in this process."""

import subprocess
import sys
import threading

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from toprank.app.cli import app
from toprank.app.fitting import fit_model
from toprank.app.training_data import label_rows
from toprank.app.writing import write_table
from toprank.selection.candidates import make_ranker
from toprank.tables import as_table


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def invoke():
    """Calls the program in this process."""
    return call


@pytest.fixture
def words():
    """The words that a call has printed, if all went well."""

    def said(done):
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    return said


@pytest.fixture
def start():
    """Run Python code in a process that heeds interrupts and does not outlive the test.

    A shell starts what runs in its background with interrupts ignored, and children inherit that.
    """
    processes, timers = [], []

    def started(code, *arguments, **options):
        heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        process = subprocess.Popen(
            [sys.executable, "-c", heeding + code, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        processes.append(process)
        timers.append(threading.Timer(120, process.kill))
        timers[-1].start()
        return process

    yield started
    for process, timer in zip(processes, timers, strict=True):
        timer.cancel()
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def deals(tmp_path_factory):
    """Customers who bought or did not, as tables, and a model of them."""
    folder = tmp_path_factory.mktemp("deals")
    rng = np.random.default_rng(0)
    n = 400
    age = rng.integers(18, 80, n)
    job = rng.choice(["clerk", "smith", "nurse"], n)
    score = 0.1 * age + 2.0 * (job == "nurse") + rng.logistic(size=n)
    table = pl.DataFrame(
        {
            "age": age,
            "job": job,
            "member": rng.random(n) < 0.5,
            "branch": rng.integers(0, 8, n),
            "weight": rng.random(n),
            "bought": np.where(score > np.quantile(score, 0.8), "yes", "no"),
        }
    )
    write_table(folder / "known.csv", table.slice(0, 300))
    write_table(folder / "new.parquet", table.slice(300))
    write_table(folder / "new.csv", table.slice(300).drop("bought"))
    done = call(
        *("fit", folder / "known.csv", "--target", "bought", "--budget", "20", "--ignore"),
        *("weight", "--ranker", "pnorm-push", "--set", "p=8", "-q", "-o", folder / "model.toprank"),
    )
    assert (done.exit_code, done.output) == (0, ""), done.output
    return folder


@pytest.fixture(scope="session")
def by_branch(deals, tmp_path_factory):
    """A model whose lists are the branches, with a budget of 5 rows each."""
    path = tmp_path_factory.mktemp("lists") / "m.toprank"
    call(
        *("fit", deals / "known.csv", "--target", "bought", "--ranker", "ir-push"),
        *("--group", "branch", "--budget", "5", "-o", path),
    )
    return path


@pytest.fixture(scope="session")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3))
    job = rng.choice(["clerk", "smith"], 120)
    positive = x[:, 0] + (job == "smith") + rng.normal(size=120) > 1
    columns = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "job": job, "sold": positive}
    return label_rows(as_table(pl.DataFrame(columns), name="deals.csv"), target="sold")


@pytest.fixture(scope="session")
def model(data):
    return fit_model(data, make_ranker("pnorm-push", {"p": 8}), budget=10, name="pnorm-push")


def table_of_people(n_rows=1500, seed=0):
    """Numbers, texts, dates, booleans, all with gaps; some rows without a target."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 10, n_rows)
    job = rng.choice(np.array(["clerk", "smith", "baker", "?", None], dtype=object), n_rows)
    bad = age + 10 * (job == "smith") + rng.normal(0, 5, n_rows) > 62
    target = np.where(bad, "ill", "well").astype(object)
    target[rng.random(n_rows) < 0.03] = None

    def holes(values):
        return pl.Series(values).scatter(np.flatnonzero(rng.random(n_rows) < 0.1), None)

    return pl.DataFrame(
        {
            "number": np.arange(n_rows),
            "age": holes(age.round(1)),
            "visits": holes(rng.integers(0, 9, n_rows)),
            "job": job.tolist(),
            "since": holes(np.datetime64("2020-01-01") + rng.integers(0, 900, n_rows)),
            "smokes": holes(rng.random(n_rows) < 0.3),
            "heavy": rng.integers(1, 4, n_rows).astype(float),
            "state": target.tolist(),
        }
    )


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("streaming") / "people.parquet"
    table_of_people().write_parquet(path, row_group_size=170)
    return path


@pytest.fixture
def people():
    """Makes a table of so many people."""
    return table_of_people
