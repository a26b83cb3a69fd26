"""The program and its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from toprank.app.commands.compare import compare
from toprank.app.commands.demo import demo
from toprank.app.commands.evaluate import evaluate
from toprank.app.commands.explain import explain
from toprank.app.commands.export import export
from toprank.app.commands.fit import fit
from toprank.app.commands.look import look
from toprank.app.commands.rank import rank
from toprank.app.commands.report import report
from toprank.app.console import leaving_at_once

app = typer.Typer(
    name="toprank",
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
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Print the version.",
        ),
    ] = False,
) -> None:
    """Rankings that are right at the top of the list."""


def main() -> None:
    """Run the program."""
    with leaving_at_once():
        app(prog_name="toprank")
