"""``python -m toprank`` is the command ``toprank``."""

from toprank.app.cli import app

app(prog_name="toprank")
