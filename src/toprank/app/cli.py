"""The program: its commands, and how it ends when the input is wrong or after Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from toprank.app.commands.compare import compare
from toprank.app.commands.demo import demo
from toprank.app.commands.evaluate import evaluate
from toprank.app.commands.explain import explain
from toprank.app.commands.export import export
from toprank.app.commands.fit import fit
from toprank.app.commands.look import look
from toprank.app.commands.rank import rank
from toprank.app.commands.report import report
from toprank.app.console import after_interrupt, echo, say_interrupted

_WRONG_INPUT = 2
_INTERRUPTED = 130
_SECONDS_TO_LEAVE = 1.0


class Program(TyperGroup):
    """Commands that turn wrong input, and files that cannot be read or written, into one line.

    Exit code 2, as for a wrong option; 130 after Ctrl-C, as shells have it. Other exceptions are
    bugs of ours and keep their traceback.
    """

    def invoke(self, ctx: Any) -> Any:
        """Read the options of a command, and run it."""
        after_interrupt("nothing was written.")
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise typer.Exit(0) from None  # the reader, such as head, has seen enough
        except (ValueError, TypeError, OSError, NotImplementedError, MemoryError) as error:
            echo(f"toprank: {_line(error)}", err=True)
            raise typer.Exit(_WRONG_INPUT) from None
        except BaseException as error:
            if _is_interrupt(error):
                say_interrupted()
                raise typer.Exit(_INTERRUPTED) from None
            if type(error).__name__ != "PanicException":
                raise
            echo(f"toprank: polars cannot work with a value of this table ({error}).", err=True)
            raise typer.Exit(_WRONG_INPUT) from None


def _line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}"
    if isinstance(error, MemoryError):
        return "not enough memory for this table; rank or fit a part of it."
    return " ".join(str(error).split()) or type(error).__name__


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether an exception is Ctrl-C, or what compiled code made of it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


app = typer.Typer(
    name="toprank",
    cls=Program,
    help="Rankings that are right at the top of the list.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help answers twice as fast, and a screen reader can read it
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in (look, compare, fit, rank, evaluate, explain, report, export, demo):
    app.command()(_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        from toprank import __version__

        typer.echo(f"toprank {__version__}")
        raise typer.Exit


@app.callback()
def _toprank(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Rankings that are right at the top of the list."""


def leave_at_once() -> None:
    """End the program a second after Ctrl-C, whatever it is doing.

    Python hands an interrupt to the main thread between two of its instructions, and waits for the
    other threads at its end; compiling a loop can keep either busy for many seconds. A callback of
    compiled code cannot raise it: Python reports it as ignored, which is said in one line here.
    """
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)

    def watch() -> None:
        while signal.SIGINT not in os.read(read_end, 64):
            pass
        time.sleep(_SECONDS_TO_LEAVE)
        say_interrupted()
        sys.stderr.flush()
        os._exit(_INTERRUPTED)

    # It is not stopped: the interpreter may wait for threads after the last line.
    threading.Thread(target=watch, daemon=True).start()
    former = sys.unraisablehook
    sys.unraisablehook = lambda ignored: (
        None if issubclass(ignored.exc_type, KeyboardInterrupt) else former(ignored)
    )


def main() -> None:
    """Run the program."""
    # no pipe can be woken on Windows, and signals are the main thread's
    if sys.platform != "win32" and threading.current_thread() is threading.main_thread():
        leave_at_once()
    try:
        app(prog_name="toprank")
    except KeyboardInterrupt:  # before or after the command
        sys.exit(_INTERRUPTED)
