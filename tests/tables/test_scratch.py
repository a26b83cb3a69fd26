"""What is kept on disk comes back, and leaves nothing."""

import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from toprank.blocks import Block
from toprank.tables import ParquetBlocks
from toprank.tables.parquet_blocks import ScratchFile


def rows(n_rows=3000, n_features=4, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n_rows, n_features)) * np.arange(1, n_features + 1)).astype(dtype)
    y = (X[:, 0] + rng.normal(size=n_rows) > 1).astype(np.int8)
    return X, y


def write(path, X, y, group_rows=700, **more):
    columns = {f"x{j}": column for j, column in enumerate(X.T)} | {"y": y} | more
    pq.write_table(pa.table(columns), path, row_group_size=group_rows)
    return path


def table_of(block):
    return [block.X]


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "rows.parquet", *rows())


@pytest.mark.parametrize("at_once", [True, False])
def test_what_is_kept_comes_back_also_where_threads_take_turns(file, monkeypatch, at_once):
    monkeypatch.setattr("toprank.tables.parquet_blocks._AT_ONCE", at_once and os.name == "posix")
    kept = ParquetBlocks(file, target="y", batch_rows=99, n_jobs=3).kept(lambda block: block)
    np.testing.assert_array_equal(np.concatenate(kept.total(table_of)), rows()[0])
    kept.close()


def test_a_file_goes_when_its_blocks_go(tmp_path, file):
    blocks = ParquetBlocks(file, target="y", scratch=tmp_path)
    kept = blocks.kept(lambda block: block)
    assert [each.name for each in tmp_path.iterdir()] == ["rows.parquet"]  # unlinked at once
    kept.close()
    with pytest.raises(ValueError, match="closed"):
        kept.total(table_of)


def test_a_disk_that_is_too_small_is_told_before_it_is_full(tmp_path, monkeypatch):
    usage = type("Usage", (), {"free": 10_000})()
    monkeypatch.setattr("toprank.tables.parquet_blocks.shutil.disk_usage", lambda _: usage)
    scratch = ScratchFile(tmp_path, n_rows=1000)
    block = Block(np.zeros((10, 100), np.uint8), np.zeros(100, bool), None, 0)
    with pytest.raises(OSError, match=r"1e-05 GB free, but 1\.1e-05 are needed"):
        scratch.put(block, 100)
    scratch.close()


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_disk_that_fills_up_is_told(tmp_path):
    scratch = ScratchFile(tmp_path, n_rows=1)
    scratch._file.close()
    scratch._file = open("/dev/full", "r+b", buffering=0)  # noqa: PTH123, SIM115
    with pytest.raises(OSError, match="is full; name another one"):
        scratch._write(memoryview(bytes(100)), 0)
    scratch._file.close()
