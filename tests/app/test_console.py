"""What a person at a terminal sees, also when something is wrong."""

import io
import json
from types import SimpleNamespace

import pytest
import rich.console

from toprank.app.console import Console


def test_tables_put_numbers_to_the_right_and_words_to_the_left(capsys):
    Console().table(
        ["column", "share", "through"],
        [["32", "8.2%", "+1.98"], ["job", "10.1%", "nurse: +0.3; smith: -0.1"]],
    )
    assert capsys.readouterr().out == (
        "column  share  through\n32       8.2%  +1.98\njob     10.1%  nurse: +0.3; smith: -0.1\n"
    )


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
    found = capfd.readouterr()
    assert found.out.startswith(f"one\ttwo\n{spelled}\n")
    assert found.out.count("red") == 3
    assert found.err == f"toprank: note: {spelled}\n"
    assert not {"\x1b", "\x9b", "\x07"} & {*found.out, *found.err}


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
