"""The short form of ``make fuzz-files``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="commands run in forked children")
def test_damaged_files_end_in_a_sentence_and_nothing_is_lost():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", Path(__file__).parent, "9", "0", "--short"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    assert "| all | " in done.stdout
