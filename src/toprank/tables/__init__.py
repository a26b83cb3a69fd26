"""Tables of columns of any kind: as numbers that rankers learn from, in memory or in blocks."""

from toprank.tables.encoder import TableEncoder
from toprank.tables.parquet_blocks import ParquetBlocks
from toprank.tables.table import Table, as_table

__all__ = ["ParquetBlocks", "Table", "TableEncoder", "as_table"]
