"""Parquet files read batch by batch: any number of rows in the memory of a few batches."""

from __future__ import annotations

import functools
import operator
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import joblib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from toprank.blocks import Stopped, add_up
from toprank.inputs import check_number
from toprank.kernels.memory import available_memory
from toprank.kernels.threads import check_n_jobs
from toprank.tables.table import (
    RowBatch,
    Table,
    check_names,
    check_unchanged,
    file_state,
    with_plain_texts,
)

if TYPE_CHECKING:
    from threading import Event

    from toprank.blocks import Total

# Numbers of a batch: enough to be worth a call, few enough for the cache of a core.
CELLS = 1 << 21
# Bytes read ahead in every column; a whole row group would be as large as its writer liked.
BUFFER = 1 << 18


class _Group(NamedTuple):
    """A row group, and what comes before it."""

    path: Path
    metadata: pq.FileMetaData
    number: int
    n_rows: int
    first_batch: int
    first_row: int


class ParquetStream:
    """Rows of Parquet files, in batches, in threads that each read row groups of their own.

    Parameters
    ----------
    paths : path or list of paths
        A file, several with the same columns, or a folder, of which all ``.parquet`` files are
        taken in the order of their names.
    batch_rows : int, optional
        Rows of a batch; by default about two million cells. A row group ends its last batch.
    n_jobs : int, default=-1
        Threads; -1 takes all cores.

    Attributes
    ----------
    name : str, the file or folder, for messages
    schema : pyarrow.Schema
    n_rows : int
    watch : function of the rows seen so far and of all, or None
        Called during every pass.
    """

    is_sparse = False

    def __init__(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        batch_rows: int | None = None,
        n_jobs: int = -1,
    ) -> None:
        check_number("batch_rows", batch_rows, 1, whole=True, optional=True)
        check_n_jobs(n_jobs, optional=False)
        files, self.name = _files(paths)
        footers = [_footer(file) for file in files]
        schema = footers[0].schema.to_arrow_schema().remove_metadata()
        self.schema = with_plain_texts(schema.empty_table(), self.name).schema
        check_names(list(self.schema.names), files[0].name)
        for file, footer in zip(files, footers, strict=True):
            _check_same(schema, files[0].name, footer.schema.to_arrow_schema(), file.name)
        self.n_rows = sum(footer.num_rows for footer in footers)
        if not self.n_rows:
            raise ValueError(f"{self.name} has columns but no rows; there is nothing to rank.")
        self.n_jobs = n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)
        self._footers = list(zip(files, footers, strict=True))
        self._states = {file: file_state(file) for file in files}
        self.set_batch_rows(batch_rows or max(1024, CELLS // len(self.schema.names)))
        self.watch: Callable[[int, int], None] | None = None

    def set_batch_rows(self, batch_rows: int) -> None:
        """Read batches of so many rows from now on."""
        self.batch_rows = batch_rows
        self._groups = list(self._row_groups())

    def _row_groups(self) -> Iterator[_Group]:
        n_batches, n_rows = 0, 0
        for file, footer in self._footers:
            for number in range(footer.num_row_groups):
                size = footer.row_group(number).num_rows
                if size:
                    yield _Group(file, footer, number, size, n_batches, n_rows)
                n_batches += -(-size // self.batch_rows)
                n_rows += size

    def decoded_bytes(self) -> int:
        """Bytes of all columns in memory, as far as the files tell: texts as if they were plain."""
        total = 0
        for _, footer in self._footers:
            for group in map(footer.row_group, range(footer.num_row_groups)):
                for column in map(group.column, range(group.num_columns)):
                    width = _WIDTHS.get(column.physical_type)
                    total += width * group.num_rows if width else column.total_uncompressed_size
        return total

    def rows_in_memory(self) -> int | None:
        """Rows of the table that fill half of the free memory; None if the system does not say."""
        free = available_memory()
        per_row = max(self.decoded_bytes() / self.n_rows, 8.0 * len(self.schema.names))
        return None if free is None else int(free / 2 / per_row)

    def total(self, work: Callable[[RowBatch], Total], columns: Sequence[str]) -> Total:
        """Add up ``work(batch)`` over all batches, in their order: one pass over the rows.

        Only ``columns`` are read. The sum does not depend on the number of threads.
        """

        def of_group(group: _Group, stop: Event) -> Total:
            results = (work(batch) for batch in self._batches(group, list(columns), stop))
            return functools.reduce(operator.add, results)

        def seen(group: _Group) -> None:
            if self.watch is not None:
                self.watch(group.first_row + group.n_rows, self.n_rows)

        return add_up(of_group, self._groups, self.n_jobs, seen)

    def take(self, rows: NDArray[np.int64]) -> pa.Table:
        """These rows with all their columns, in the order of the file; ``rows`` is sorted."""
        ends = np.array([group.first_row + group.n_rows for group in self._groups])
        wanted = [self._groups[place] for place in np.unique(np.searchsorted(ends, rows, "right"))]
        if not wanted:
            return self.schema.empty_table()

        def of_group(group: _Group, stop: Event) -> list[pa.Table]:
            found = []
            for batch in self._batches(group, list(self.schema.names), stop):
                last = batch.first_row + batch.table.n_rows
                start, end = np.searchsorted(rows, [batch.first_row, last])
                if end > start:
                    found.append(batch.table.take(rows[start:end] - batch.first_row))
            return found

        return pa.concat_tables(add_up(of_group, wanted, self.n_jobs))

    def _batches(self, group: _Group, columns: list[str], stop: Event) -> Iterator[RowBatch]:
        number, first_row = group.first_batch, group.first_row
        try:
            with pq.ParquetFile(
                group.path, metadata=group.metadata, pre_buffer=False, buffer_size=BUFFER
            ) as file:
                # where row groups are too few for the threads, columns are decoded side by side
                for batch in file.iter_batches(
                    self.batch_rows,
                    row_groups=[group.number],
                    columns=columns,
                    use_threads=len(self._groups) < self.n_jobs,
                ):
                    if stop.is_set():
                        raise Stopped
                    rows = pa.Table.from_batches([batch]).select(columns)
                    table = Table(with_plain_texts(rows, self.name), self.name)
                    yield RowBatch(table, number, first_row)
                    number, first_row = number + 1, first_row + batch.num_rows
        except (pa.ArrowException, OSError) as error:
            check_unchanged(group.path, self._states[group.path])
            raise unreadable(group.path, error) from error
        check_unchanged(group.path, self._states[group.path])


_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}


def _files(paths: Any) -> tuple[list[Path], str]:
    if isinstance(paths, (list, tuple)):
        if not paths:
            raise ValueError("paths is an empty list; name at least one Parquet file.")
        files = [Path(path) for path in paths]
        return files, files[0].name if len(files) == 1 else f"{files[0].name} and others"
    if not isinstance(paths, (str, os.PathLike)):
        raise TypeError(f"path must be a path or a list of paths, got {paths!r}; name the file.")
    path = Path(paths)
    if not path.is_dir():
        return [path], path.name
    files = sorted(file for file in path.rglob("*.parquet") if not file.name.startswith((".", "_")))
    if not files:
        raise FileNotFoundError(
            f"{str(path)!r} is a folder without any .parquet file; name a table inside it."
        )
    return files, path.name


def _footer(path: Path) -> pq.FileMetaData:
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}; check the name and the folder.")
    if not path.stat().st_size:
        raise ValueError(f"{path.name} is empty; it should be a Parquet file.")
    try:
        return pq.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> Exception:
    """What to raise where Parquet cannot be read, in words."""
    if isinstance(error, (FileNotFoundError, PermissionError)):
        return error
    reason = " ".join(str(error).split())[:160]
    return ValueError(
        f"{path.name} cannot be read as Parquet: it is cut off, damaged or another format "
        f"({reason}); write it again."
    )


def _check_same(first: pa.Schema, first_name: str, other: pa.Schema, name: str) -> None:
    for field in first:
        place = other.get_field_index(field.name)
        found = f"has it as {other.field(place).type}" if place >= 0 else "does not have it"
        if place < 0 or other.field(place).type != field.type:
            raise ValueError(
                f"files must have the same columns: {first_name} has {field.name!r} as "
                f"{field.type}, {name} {found}; write them alike."
            )
