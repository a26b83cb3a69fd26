"""The command line in a process of its own."""

import os
import subprocess
import sys


def toprank_command(*arguments, **options):
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from toprank.app.cli import app; app()", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": "utf-8", "COLUMNS": "100"},
        **options,
    )
