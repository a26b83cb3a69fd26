"""What is kept on disk comes back, and leaves nothing."""

import os
import sys

import numpy as np
import pytest

from tests.tables.parquet_files import rows, table_of
from toprank.blocks import Block
from toprank.tables import ParquetBlocks
from toprank.tables.parquet_blocks import ScratchFile


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
