"""Commands in children of a process that has imported and compiled everything: a few per second.

A child that crashes, hangs or fills the memory is seen as what it is, as if it had been started.
"""

import gc
import importlib
import os
import pkgutil
import resource
import signal
import sys
import tempfile
import time
import traceback
from typing import NamedTuple

import toprank
from toprank.app.cli import main

CPU_SECONDS = 30
WALL_SECONDS = 600  # other processes may keep the machine busy


class Done(NamedTuple):
    """How a command ended: its exit code, or the signal that ended it, and what it took."""

    code: int
    signal: int
    printed: str
    said: str
    seconds: float
    megabytes: float


def warm_up(commands, folder):
    """Import what the commands need, before any child is forked, and compile it to the disk.

    The commands run in children, too: threads of polars would not survive a fork.
    """
    os.environ["RUST_BACKTRACE"] = "0"  # as on most machines
    for module in pkgutil.walk_packages(toprank.__path__, "toprank."):
        if not module.name.startswith(("toprank.integrations", "toprank.__main__")):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()  # children share the memory of what is not counted any more
    for command in commands:
        done = run(command, folder)
        if done.code or done.signal:
            raise RuntimeError(f"{command} ended with {done.code or done.signal}: {done.said}")


def run(arguments, folder, *, prepare=None, signals=()):
    """Run the program in a folder.

    ``prepare`` is called in the child before the command, whose messages then go to a pipe: limits
    on files do not hold there. ``signals`` are pairs of a delay in seconds and a signal to send
    after it.
    """
    arguments = [str(argument) for argument in arguments]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        if prepare is not None:
            pipes = [os.pipe() for _ in range(2)]
            targets = [write_end for _, write_end in pipes]
        else:
            targets = [out.fileno(), err.fileno()]
        code, ended_by, usage = _forked(arguments, folder, prepare, signals, targets)
        if prepare is not None:
            for (read_end, write_end), stream in zip(pipes, (out, err), strict=True):
                os.close(write_end)
                with os.fdopen(read_end, "rb") as source:
                    stream.write(source.read())
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    seconds = usage.ru_utime + usage.ru_stime
    return Done(code, ended_by, *texts, seconds, usage.ru_maxrss / scale)


def _forked(arguments, folder, prepare, signals, targets):
    child = os.fork()
    if not child:
        code = 70
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
            signal.alarm(WALL_SECONDS)
            code = _called(arguments, folder, targets, prepare)
        except KeyboardInterrupt:  # before the first line of the program, or behind its last
            code = 130
        finally:
            os._exit(code)
    for delay, number in signals:
        time.sleep(delay)
        os.kill(child, number)  # it is there until it is waited for
    _, status, usage = os.wait4(child, 0)
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return (0 if ended_by else os.WEXITSTATUS(status)), ended_by, usage


def _called(arguments, folder, targets, prepare=None):
    """Call the program with its output in files or pipes; gives the exit code."""
    for number, target in enumerate(targets, start=1):
        os.dup2(target, number)
    os.chdir(folder)
    code = 0
    try:
        if prepare is not None:
            prepare()
        sys.argv = ["toprank", *arguments]
        main()
    except SystemExit as end:
        code = end.code or 0
    except KeyboardInterrupt:  # before the first line of the program
        code = 130
    except BaseException:  # noqa: BLE001  (what a person would see as a traceback)
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code
