"""The program and its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from toprank.cli.compare import compare
from toprank.cli.demo import demo
from toprank.cli.evaluate import evaluate
from toprank.cli.explain import explain
from toprank.cli.fit import fit
from toprank.cli.rank import rank
from toprank.cli.report import report

__all__ = ["app"]

app = typer.Typer(
    name="toprank",
    help="Rankings that are right at the top of the list.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help answers twice as fast, and a screen reader can read it
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in (compare, fit, rank, evaluate, explain, report, demo):
    app.command()(_command)


def _show_version(*, wanted: bool) -> None:
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
            callback=lambda wanted: _show_version(wanted=wanted),
            is_eager=True,
            help="Say which version this is.",
        ),
    ] = False,
) -> None:
    """Rankings that are right at the top of the list."""
