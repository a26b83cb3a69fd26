"""What a person at a terminal sees, also when something is wrong."""

import io
import json
import os
import signal
import time
from types import SimpleNamespace

import pytest
import rich.console
import typer

from toprank.app.console import Console, in_one_line


def test_tables_put_numbers_to_the_right_and_words_to_the_left(capsys):
    Console().table(
        ["column", "share", "through"],
        [["32", "8.2%", "+1.98"], ["job", "10.1%", "nurse: +0.3; smith: -0.1"]],
    )
    assert capsys.readouterr().out == (
        "column  share  through\n32       8.2%  +1.98\njob     10.1%  nurse: +0.3; smith: -0.1\n"
    )


def test_messages_of_the_system_name_the_file(capsys):
    @in_one_line
    def fails():
        raise PermissionError(13, "Permission denied", "page.html")

    with pytest.raises(Exception, match="2"):
        fails()
    assert capsys.readouterr().err == "toprank: page.html: Permission denied\n"


def test_an_interrupt_that_compiled_code_wraps_is_one(capsys):
    @in_one_line
    def fails():
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    with pytest.raises(typer.Exit) as stopped:
        fails()
    assert stopped.value.exit_code == 130
    assert capsys.readouterr().err == "toprank: interrupted; nothing was written.\n"


def test_results_in_json_have_null_where_json_has_no_number(capsys):
    Console(as_json=True).result({"value": float("nan"), "interval": (float("-inf"), 1.5)})
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == {
        "value": None,
        "interval": [None, 1.5],
    }


def test_control_characters_are_spelled_out(capfd):
    evil = "\x1b[31mred\x9b0m\x07"
    spelled = r"\u001b[31mred\u009b0m\u0007"
    console = Console()
    console.say(f"one\ttwo\n{evil}")
    console.note(evil)
    console.table(["column"], [[evil]])
    Console(as_json=True).result({"a": evil})

    @in_one_line
    def fails():
        raise ValueError(f"no {evil}.")

    with pytest.raises(typer.Exit):
        fails()
    found = capfd.readouterr()
    assert found.out.startswith(f"one\ttwo\n{spelled}\n")
    assert found.out.count("red") == 3
    assert found.err == f"toprank: note: {spelled}\ntoprank: no {spelled}.\n"
    assert not {"\x1b", "\x9b", "\x07"} & {*found.out, *found.err}


BUSY = "with ThreadPoolExecutor(1) as pool: pool.submit(wait)"
# Python can raise nothing through the C code that calls back.
SWALLOWED = "import ctypes; ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(2))(); wait()"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
@pytest.mark.parametrize("work", [BUSY, SWALLOWED])
def test_an_interrupt_ends_busy_threads_and_comes_through_callbacks(start, work):
    code = (
        "import time, typer; from concurrent.futures import ThreadPoolExecutor\n"
        "from toprank.app.console import in_one_line, leaving_at_once\n"
        "def wait(): print('busy', flush=True); time.sleep(60)\n"
        "def compiles():\n"
        f"    {work}\n"
        "compiles.after_interrupt = 'all is kept.'\n"
        "app = typer.Typer(); app.command()(in_one_line(compiles))\n"
        "with leaving_at_once(): app([])\n"
    )
    program = start(code)
    assert program.stdout.readline() == "busy\n"
    begun = time.monotonic()
    if work == BUSY:
        program.send_signal(signal.SIGINT)
    _, said = program.communicate()
    assert time.monotonic() - begun < 30
    assert (program.returncode, said) == (130, "toprank: interrupted; all is kept.\n")


def test_bars_inside_bars_share_the_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")  # a dumb one shows no bars
    screen = rich.console.Console(file=io.StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr("toprank.app.console._terminal", lambda: screen)
    console, stream = Console(), SimpleNamespace(watch=None)
    for _ in range(2):
        with console.passes(stream), console.progress("choosing") as step:
            stream.watch(5, 10)
            step(1, 3)
    assert stream.watch is None
    shown = screen.file.getvalue()
    assert "rows of this pass" in shown
    assert "choosing" in shown
