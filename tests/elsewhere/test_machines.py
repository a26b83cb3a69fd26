"""A run as on another machine does not begin where its settings did nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.skipif("TOPRANK_ELSEWHERE" in os.environ, reason="the settings are in place here")
def test_settings_that_did_nothing_are_named(tmp_path):
    path = os.pathsep.join([str(HERE), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "machines"],
        cwd=tmp_path,
        env=os.environ | {"TOPRANK_ELSEWHERE": "old", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "not as on the machine 'old': " in done.stderr
    assert "numba" in done.stderr
    assert "time zone" in done.stderr
