"""The command line: one file a command, each of which imports what it needs when it runs."""

from toprank.cli.app import app

__all__ = ["app"]
