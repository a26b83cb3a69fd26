"""The data set that needs no files."""

import subprocess
import sys

import pytest

from toprank.datasets import load_digits_eights


def test_the_embedded_set_needs_no_files(monkeypatch, tmp_path):
    monkeypatch.setenv("TOPRANK_DATA", str(tmp_path / "nowhere"))
    data = load_digits_eights()
    assert data.X.shape == (1797, 64)
    assert data.y.sum() == 174
    assert repr(data) == (
        "<Dataset digits_eights: 1797 rows, 64 features, 174 positives (the digit 8)>"
    )


def test_without_pandas_a_frame_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="as_frame=True needs pandas"):
        load_digits_eights(as_frame=True)


def test_the_room_opens_without_the_heavy_libraries():
    heavy = {"sklearn", "pandas", "numba", "matplotlib", "pyarrow", "scipy"}
    code = f"import sys, toprank.datasets; print(*sorted({heavy!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
