"""A folder with small tables and models, and a way to call the program in this process."""

import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from toprank.app.cli import app
from toprank.app.writing import write_table


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


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
    table = pa.table(
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
    write_table(folder / "new.csv", table.slice(300).drop_columns(["bought"]))
    done = invoke(
        *(
            "fit",
            folder / "known.csv",
            "--target",
            "bought",
            "--budget",
            "20",
            "--ignore",
            "weight",
        ),
        *("--ranker", "pnorm-push", "--set", "p=8", "-o", folder / "model.toprank", "--quiet"),
    )
    assert (done.exit_code, done.output) == (0, ""), done.output
    return folder
