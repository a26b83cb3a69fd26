from .encoder import TableEncoder as TableEncoder
from .parquet_blocks import ParquetBlocks as ParquetBlocks
from .table import Table as Table
from .table import as_table as as_table
