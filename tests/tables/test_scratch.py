"""What is kept in memory or on disk comes back, and leaves nothing."""

import os

import numpy as np
import pytest

from tests.tables.parquet_files import rows, table_of
from toprank.blocks import Block
from toprank.kernels.memory import ScratchFile
from toprank.tables import ParquetBlocks
from toprank.tables.parquet_blocks import KeptBlocks, SpillingBlocks


class SourceOf1000(SpillingBlocks):
    """What blocks of 1,000 rows are made of."""

    def __init__(self, scratch):
        super().__init__(1000, 1, scratch)

    def total(self, work, *arguments):
        raise NotImplementedError


@pytest.mark.parametrize("at_once", [True, False])
def test_what_is_kept_comes_back_also_where_threads_take_turns(
    tmp_path, file, monkeypatch, at_once
):
    monkeypatch.setattr("toprank.kernels.memory._AT_ONCE", at_once and os.name == "posix")
    blocks = ParquetBlocks(file, target="y", batch_rows=99, n_jobs=3, scratch=tmp_path)
    kept = blocks.kept(lambda block: block._replace(weights=np.arange(len(block.y)) / 2))
    np.testing.assert_array_equal(np.concatenate(kept.total(table_of)), rows()[0])
    found = kept.total(lambda block: [(block.number, block.weights[-1])])
    assert found == blocks.total(lambda block: [(block.number, (len(block.y) - 1) / 2)])
    kept.close()


@pytest.mark.parametrize(
    ("scratch", "free", "files"),
    [(None, 30_000, 0), (None, 29_999, 1), (None, None, 1), ("named", 30_000, 1)],
)
def test_what_fits_into_half_of_the_free_memory_stays_there_unless_a_folder_is_named(
    tmp_path, file, monkeypatch, scratch, free, files
):
    opened = []

    class Opened(ScratchFile):
        def __init__(self, folder, n_bytes):
            opened.append((folder, n_bytes))
            super().__init__(folder, n_bytes)

    monkeypatch.setattr("toprank.tables.parquet_blocks.ScratchFile", Opened)
    monkeypatch.setattr("toprank.tables.parquet_blocks.available_memory", lambda: free)
    folder = None if scratch is None else tmp_path
    blocks = ParquetBlocks(file, target="y", batch_rows=99, scratch=folder)
    kept = blocks.kept(lambda block: block._replace(X=block.X > 0, y=block.y > 0))
    assert opened == [(folder, 5 * len(rows()[1]))] * files  # four columns and the label
    expected = rows()[0] > 0
    np.testing.assert_array_equal(np.concatenate(kept.total(table_of)), expected)
    kept.close()


@pytest.mark.parametrize("is_named", [False, True])
def test_what_was_kept_goes_when_its_blocks_go(tmp_path, file, is_named):
    blocks = ParquetBlocks(file, target="y", scratch=tmp_path if is_named else None)
    kept = blocks.kept(lambda block: block)
    assert [each.name for each in tmp_path.iterdir()] == ["rows.parquet"]  # unlinked at once
    kept.close()
    with pytest.raises(ValueError, match="closed"):
        kept.total(table_of)


def test_a_disk_that_is_too_small_is_told_before_it_is_full(tmp_path, monkeypatch):
    usage = type("Usage", (), {"free": 10_000})()
    monkeypatch.setattr("toprank.kernels.memory.shutil.disk_usage", lambda _: usage)
    store = KeptBlocks(SourceOf1000(tmp_path))
    block = Block(np.zeros((10, 100), np.uint8), np.zeros(100, bool), None, 0)
    with pytest.raises(OSError, match=r"1e-05 GB free, but 1\.1e-05 are needed"):
        store.put(block, 100)
    store.close()


def test_a_first_block_of_nothing_does_not_foresee_that_nothing_comes(tmp_path, monkeypatch):
    monkeypatch.setattr("toprank.tables.parquet_blocks.available_memory", lambda: 1000)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    store = KeptBlocks(SourceOf1000(None))
    empty = Block(np.zeros((0, 8), np.uint8), np.zeros(0, bool), None, 0)
    full = Block(np.ones((100, 8), np.uint8), np.ones(100, bool), None, 1)
    first, second = store.put(empty, 100), store.put(full, 100)
    assert not isinstance(second, Block)  # on disk
    assert len(store.get(first).y) == 0
    np.testing.assert_array_equal(store.get(second).X, full.X)
    store.close()
