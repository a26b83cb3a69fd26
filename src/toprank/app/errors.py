"""What a person at a terminal sees when something is wrong: one line, and an exit code."""

from __future__ import annotations

import _thread
import contextlib
import functools
import sys
import threading
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["in_one_line"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

_WRONG_INPUT = 2
_INTERRUPTED = 130


def in_one_line(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """Turn wrong input, and files that cannot be read or written, into one line on stderr.

    Exit code 2, as for a wrong option; 130 after Ctrl-C, as shells have it. Other exceptions are
    bugs of ours and keep their traceback.
    """

    @functools.wraps(command)
    def answered(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            with _interrupts_come_through():
                return command(*args, **kwargs)
        except BrokenPipeError:
            raise typer.Exit(0) from None  # the reader, such as head, has seen enough
        except (ValueError, TypeError, OSError, NotImplementedError, MemoryError) as error:
            typer.echo(f"toprank: {_line(error)}", err=True)
            raise typer.Exit(_WRONG_INPUT) from None
        except KeyboardInterrupt:
            # A comparison leaves a journal and says how to go on.
            remedy = getattr(answered, "after_interrupt", "nothing was written.")
            typer.echo(f"toprank: interrupted; {remedy}", err=True)
            raise typer.Exit(_INTERRUPTED) from None

    return answered


@contextlib.contextmanager
def _interrupts_come_through() -> Iterator[None]:
    """Send an interrupt again where a callback has swallowed it.

    No exception can leave a Python function that C code called, and the compiler of the numerical
    loops calls some: there Python reports Ctrl-C as ignored, and the command would go on.
    """
    former, timers = sys.unraisablehook, []

    def send_again(ignored: sys.UnraisableHookArgs) -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            former(ignored)
            return
        # A moment later, so that the callback has returned.
        timers.append(threading.Timer(0.02, _thread.interrupt_main))
        timers[-1].daemon = True
        timers[-1].start()

    sys.unraisablehook = send_again
    try:
        yield
    finally:
        sys.unraisablehook = former
        for timer in timers:
            timer.cancel()


def _line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}"
    if isinstance(error, MemoryError):
        return "not enough memory for this table; rank or fit a part of it."
    return " ".join(str(error).split()) or type(error).__name__
