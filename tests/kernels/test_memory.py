"""Scratch files leave nothing, and a mapped table that does not fit into memory is refused."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from toprank import PNormPush, RankBoost, TopRanker
from toprank.kernels.memory import ScratchFile, check_room
from toprank.selection import ForestRanker, LogisticRanker

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc and /dev")


def table(n_rows=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0.5).astype(int)


def mapped(folder, X):
    """A table in a file of the user's own."""
    path = folder / "table.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


@LINUX
def test_a_disk_that_fills_up_is_told(tmp_path):
    scratch = ScratchFile(tmp_path, 1)
    scratch._file.close()
    scratch._file = open("/dev/full", "r+b", buffering=0)  # noqa: PTH123, SIM115
    with pytest.raises(OSError, match="is full; name another one"):
        scratch.write(np.zeros(100), 0)
    scratch._file.close()


FIT = """
import sys
import numpy as np
from toprank import LinearRankSVM
from toprank.blocks import ArrayBlocks

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 4))
y = (X[:, 0] + rng.normal(size=4000) > 0).astype(int)
LinearRankSVM("hinge").fit(X, y)  # an interrupt while compiled loops are loaded may be lost
blocks = ArrayBlocks.cut(X, y, size=1000)
blocks.scratch = sys.argv[1]
LinearRankSVM("hinge", alpha=1e-9, max_iter=10**6, tol=None).fit_blocks(blocks)
"""


@LINUX
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_a_fit_that_is_stopped_or_killed_leaves_nothing_on_disk(tmp_path, sign):
    fit = subprocess.Popen(
        [sys.executable, "-u", "-c", FIT, str(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    files = Path(f"/proc/{fit.pid}/maps")
    while str(tmp_path) not in files.read_text():
        assert fit.poll() is None
        time.sleep(0.05)
    assert not list(tmp_path.iterdir())  # it has no name
    os.kill(fit.pid, sign)
    assert fit.wait(60)
    assert not list(tmp_path.iterdir())


# Files that users have mapped ---------------------------------------------------------------------


def test_logistic_regression_scales_a_mapped_table_on_disk(tmp_path, monkeypatch):
    X, y = table()
    expected = LogisticRanker().fit(X, y).coef_.copy()
    monkeypatch.setattr("toprank.kernels.memory.available_memory", lambda: 10)
    np.testing.assert_array_equal(LogisticRanker().fit(mapped(tmp_path, X), y).coef_, expected)


@pytest.mark.parametrize(
    "ranker",
    [RankBoost(), PNormPush(weak_rankers="stumps"), ForestRanker(n_trees=2), TopRanker(5)],
    ids=lambda ranker: type(ranker).__name__,
)
def test_a_mapped_table_that_would_be_copied_into_too_little_memory_is_refused(
    tmp_path, monkeypatch, ranker
):
    X, y = table()
    monkeypatch.setattr("toprank.kernels.memory.available_memory", lambda: 3_200)
    with pytest.raises(ValueError, match="a sample of at most 100 of the 300 rows"):
        ranker.fit(mapped(tmp_path, X), y)
    check_room(X, "an array in memory")
