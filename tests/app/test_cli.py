"""The program: its version, its help, and how soon they answer."""

import os
import runpy
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


class Interrupted:
    """Finds modules, and is interrupted at the program."""

    @staticmethod
    def find_spec(name, path, target=None):  # noqa: ARG004
        if name == "toprank.app.cli":
            raise KeyboardInterrupt


def test_an_interrupt_while_the_program_is_imported_ends_it_without_a_traceback(monkeypatch):
    monkeypatch.delitem(sys.modules, "toprank.app.cli", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupted, *sys.meta_path])
    with pytest.raises((SystemExit, KeyboardInterrupt)) as ended:
        runpy.run_module("toprank", run_name="__main__")
    assert isinstance(ended.value, SystemExit)
    assert ended.value.code == 130


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
