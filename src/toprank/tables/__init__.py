"""Tables of real columns: read from files, turned into numbers, written back whole."""

from toprank.tables.encoder import TableEncoder
from toprank.tables.labels import Roles, Supervision, supervise
from toprank.tables.parquet_blocks import ParquetBlocks
from toprank.tables.reading import read_table
from toprank.tables.table import Table, as_table
from toprank.tables.writing import check_writable, write_atomically, write_table

__all__ = [
    "ParquetBlocks",
    "Roles",
    "Supervision",
    "Table",
    "TableEncoder",
    "as_table",
    "check_writable",
    "read_table",
    "supervise",
    "write_atomically",
    "write_table",
]
