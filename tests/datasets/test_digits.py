"""The data set that needs no files."""

import subprocess
import sys

from toprank.datasets import load_digits_eights


def test_the_embedded_set_needs_no_files(monkeypatch, tmp_path):
    monkeypatch.setenv("TOPRANK_DATA", str(tmp_path / "nowhere"))
    data = load_digits_eights()
    assert data.X.shape == (1797, 64)
    assert data.y.sum() == 174


def test_a_frame_holds_features_and_target():
    frame = load_digits_eights(as_frame=True).frame
    assert list(frame.columns[-2:]) == ["pixel_7_7", "target"]
    X, y = load_digits_eights(return_X_y=True, as_frame=True)
    assert frame["target"].equals(y)
    assert frame.drop(columns="target").equals(X)


def test_the_room_opens_without_the_heavy_libraries():
    heavy = {"sklearn", "pandas", "numba", "matplotlib", "pyarrow", "scipy"}
    code = f"import sys, toprank.datasets; print(*sorted({heavy!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
