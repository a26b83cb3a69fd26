"""``python -m toprank`` is the command ``toprank``."""

from toprank.app.cli import main

main()
