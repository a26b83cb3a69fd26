"""The program: its version, its help, and how soon they answer."""

import os
import subprocess
import sys

import pytest

import toprank
from tests.app.processes import toprank_command


def test_version_and_help_answer():
    version = toprank_command("--version")
    assert version.stdout.strip() == f"toprank {toprank.__version__}"
    text = toprank_command("--help")
    assert text.returncode == 0
    assert "demo" in text.stdout
    assert "compare" in text.stdout


@pytest.mark.skipif(os.name == "nt", reason="Windows does not count the time of children")
def test_help_answers_within_half_a_second():
    import resource

    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def once():
        # Seconds of the processor: those of the clock depend on what else the machine does.
        before = spent()
        command = [sys.executable, "-c", "from toprank.app.cli import app; app()", "--help"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        for name in ("compare", "fit", "rank", "evaluate", "explain", "report"):
            assert name in done.stdout
        return spent() - before

    assert min(once() for _ in range(5)) < 0.5
