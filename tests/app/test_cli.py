"""The program: its version, its help, and how soon they answer."""

import os
import runpy
import signal
import subprocess
import sys
import time

import pytest
import typer
from typer.testing import CliRunner

import toprank
from tests.app.processes import toprank_command
from toprank.app.cli import Program


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


def ended(error):
    """How a program ends whose only command raises an error."""
    app = typer.Typer(cls=Program)

    @app.callback()
    def program():
        pass

    @app.command()
    def fails():
        raise error

    return CliRunner().invoke(app, ["fails"])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied", "page.html"), "page.html: Permission denied"),
        (ValueError("no \x1b[31mred\x9b0m\x07."), r"no \u001b[31mred\u009b0m\u0007."),
    ],
)
def test_errors_are_one_line_with_the_file_and_without_control_characters(error, said):
    done = ended(error)
    assert (done.exit_code, done.stderr) == (2, f"toprank: {said}\n")


def test_an_interrupt_that_compiled_code_wraps_is_one():
    error = SystemError("returned a result with an exception set")
    error.__cause__ = KeyboardInterrupt()
    done = ended(error)
    assert (done.exit_code, done.stderr) == (130, "toprank: interrupted; nothing was written.\n")


BUSY = "with ThreadPoolExecutor(1) as pool: pool.submit(wait)"
# Python can raise nothing through the C code that calls back.
SWALLOWED = "import ctypes; ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(2))(); wait()"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
@pytest.mark.parametrize("work", [BUSY, SWALLOWED])
def test_an_interrupt_ends_busy_threads_and_comes_through_callbacks(start, work):
    code = (
        "import time, typer; from concurrent.futures import ThreadPoolExecutor\n"
        "from toprank.app import cli, console\n"
        "def wait(): print('busy', flush=True); time.sleep(60)\n"
        "@cli.app.command()\n"
        "def compiles():\n"
        "    console.after_interrupt('all is kept.')\n"
        f"    {work}\n"
        "cli.main()\n"
    )
    program = start(code, "compiles")
    assert program.stdout.readline() == "busy\n"
    begun = time.monotonic()
    if work == BUSY:
        program.send_signal(signal.SIGINT)
    _, said = program.communicate()
    assert time.monotonic() - begun < 30
    assert (program.returncode, said) == (130, "toprank: interrupted; all is kept.\n")
