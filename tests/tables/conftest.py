"""What tests of tables share."""

import pytest

from tests.tables.parquet_files import rows, write


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "rows.parquet", *rows())
