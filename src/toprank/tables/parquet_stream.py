"""Parquet files read batch by batch: any number of rows in the memory of a few batches."""

from __future__ import annotations

import copy
import functools
import operator
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import joblib
import numpy as np
import polars as pl
from numpy.typing import NDArray

from toprank.blocks import Stopped, add_up
from toprank.inputs import check_number
from toprank.kernels.memory import available_memory
from toprank.kernels.threads import check_n_jobs
from toprank.tables.schema import Schema
from toprank.tables.table import (
    RowBatch,
    Table,
    check_names,
    check_unchanged,
    file_state,
    joined_misreads,
)

if TYPE_CHECKING:
    from threading import Event

    from toprank.blocks import Total
    from toprank.tables.table import Misreads

# Numbers of a batch: enough to be worth a call, few enough for the cache of a core.
CELLS = 1 << 21
# Batches that are read at once, at the most.
_READ_BATCHES = 4
# Rows and cells, at the most, that tell how columns are read, and in how many pieces they lie.
_SAMPLED_ROWS, _SAMPLED_CELLS, _PIECES = 100_000, 1 << 23, 16


class _Slice(NamedTuple):
    """Rows of a file that are read at once, and what comes before them."""

    path: Path
    start: int
    n_rows: int
    number: int
    first_row: int


class ParquetStream:
    """Rows of Parquet files, in batches, in threads that each read batches of their own.

    Parameters
    ----------
    paths : path or list of paths
        A file, several with the same columns, or a folder, of which all ``.parquet`` files are
        taken in the order of their names.
    batch_rows : int, optional
        Rows of a batch; by default about two million cells. A file ends its last batch.
    n_jobs : int, default=-1
        Threads; -1 takes all cores.

    Attributes
    ----------
    name : str, the file or folder, for messages
    names : list of str
    types : dict of column to its polars type
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
        self._sizes: dict[Path, int] = {}
        kinds = [_footer(file, self._sizes) for file in files]
        self.types = kinds[0]
        check_names(self.names, files[0].name)
        for file, other in zip(files, kinds, strict=True):
            _check_same(self.types, files[0].name, other, file.name)
        self._files = files
        self.n_rows = sum(self._sizes[file] for file in files)
        if not self.n_rows:
            raise ValueError(f"{self.name} has columns but no rows; there is nothing to rank.")
        self.n_jobs = n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)
        self._states = {file: file_state(file) for file in files}
        self.set_batch_rows(batch_rows or max(1024, CELLS // len(self.names)))
        self.watch: Callable[[int, int], None] | None = None
        self.notes: tuple[str, ...] = ()
        self._schema: Schema | None = None
        self._text_bytes: float | None = None
        self._misread: dict[int, Misreads] = {}
        self._guard = Lock()

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self.types)

    @property
    def schema(self) -> Schema:
        """How the cells are read; unless it was given, what a sample of rows says."""
        if self._schema is None:
            rows = self._sample(self.names)
            self._schema = Schema.infer({name: rows[name] for name in self.names})
            if rows.height < self.n_rows:
                note = (
                    f"how the columns of {self.name} are read is inferred from {rows.height:,} of "
                    f"its {self.n_rows:,} rows, from all parts of it."
                )
                self.notes = (note,)
        return self._schema

    def read_by(self, schema: Schema) -> Self:
        """The same cells, read by another schema."""
        if schema is self._schema:
            return self
        found = copy.copy(self)
        vars(found).update(_schema=schema, _misread={}, notes=())
        return found

    def set_batch_rows(self, batch_rows: int) -> None:
        """Read batches of so many rows from now on."""
        self.batch_rows = batch_rows
        self._slices: list[_Slice] = []
        n_rows = 0
        for file in self._files:
            for start in range(0, self._sizes[file], batch_rows):
                size = min(batch_rows, self._sizes[file] - start)
                self._slices.append(_Slice(file, start, size, len(self._slices), n_rows))
                n_rows += size

    def decoded_bytes(self) -> int:
        """Bytes of all columns in memory, texts by a sample of them."""
        widths = [_WIDTHS.get(kind.base_type()) for kind in self.types.values()]
        texts = [name for name, width in zip(self.names, widths, strict=True) if width is None]
        if self._text_bytes is None:
            rows = self._sample(texts) if texts else None
            self._text_bytes = 0.0 if rows is None else rows.estimated_size() / rows.height
        return int(self.n_rows * (sum(width or 0 for width in widths) + self._text_bytes))

    def rows_in_memory(self) -> int | None:
        """Rows of the table that fill half of the free memory; None if the system does not say."""
        free = available_memory()
        per_row = max(self.decoded_bytes() / self.n_rows, 8.0 * len(self.names))
        return None if free is None else int(free / 2 / per_row)

    def total(self, work: Callable[[RowBatch], Total], columns: Sequence[str]) -> Total:
        """Add up ``work(batch)`` over all batches, in their order: one pass over the rows.

        Only ``columns`` are read. The sum does not depend on the number of threads.
        """
        names = [name for name in columns if name in self.types]
        schema = self.schema

        def of_batch(rows: pl.DataFrame, part: _Slice) -> Total:
            table = Table({name: rows[name] for name in names}, self.name, schema=schema)
            result = work(RowBatch(table, part.number, part.first_row))
            found = table.misread()
            if found:
                with self._guard:
                    before = self._misread.setdefault(part.number, {})
                    before |= joined_misreads([(part.first_row, found)])
            return result

        def of_read(parts: list[_Slice], stop: Event) -> Total:
            def results() -> Iterator[Total]:
                first, size = parts[0], sum(part.n_rows for part in parts)
                rows = self._read(first._replace(n_rows=size), names)
                for part in parts:
                    if stop.is_set():
                        raise Stopped
                    yield of_batch(rows[part.start - first.start :][: part.n_rows], part)

            return functools.reduce(operator.add, results())

        def seen(parts: list[_Slice]) -> None:
            if self.watch is not None:
                self.watch(parts[-1].first_row + parts[-1].n_rows, self.n_rows)

        return add_up(of_read, self._reads(len(names)), self.n_jobs, seen)

    def _reads(self, width: int) -> list[list[_Slice]]:
        """Batches that are read at once: a scan decodes whole pages, however few of their rows."""
        most = max(1, min(_READ_BATCHES, 2 * CELLS // (self.batch_rows * max(1, width))))
        reads: list[list[_Slice]] = []
        for part in self._slices:
            if part.start and len(reads[-1]) < most:
                reads[-1].append(part)
            else:  # also where a file begins
                reads.append([part])
        return reads

    def misread(self) -> Misreads:
        """By column how many cells did not fit in the batches that were looked at so far."""
        return joined_misreads([(0, self._misread[number]) for number in sorted(self._misread)])

    def take(self, rows: NDArray[np.int64]) -> pl.DataFrame:
        """The given cells of these rows with all columns; ``rows`` is sorted."""
        parts = []
        for part, places in self._places(rows):
            narrow = part._replace(
                start=part.start + int(places[0]), n_rows=int(places[-1] - places[0]) + 1
            )
            parts.append((narrow, places - places[0]))
        if not parts:
            return pl.DataFrame(schema=self.types)

        def of_part(part: tuple[_Slice, NDArray[np.int64]], stop: Event) -> list[pl.DataFrame]:
            if stop.is_set():
                raise Stopped
            return [self._read(part[0], self.names)[part[1]]]

        return pl.concat(add_up(of_part, parts, self.n_jobs))

    def _places(self, rows: NDArray[Any]) -> Iterator[tuple[_Slice, NDArray[Any]]]:
        """Slices that hold some of the sorted rows, and where these lie in them."""
        ends = np.array([part.first_row + part.n_rows for part in self._slices])
        homes = np.searchsorted(ends, rows, side="right")
        for home in np.unique(homes):
            part = self._slices[home]
            yield part, rows[homes == home] - part.first_row

    def _sample(self, names: list[str]) -> pl.DataFrame:
        """Rows from all parts of the files; all rows where these are few."""
        n_rows = max(_PIECES, min(_SAMPLED_ROWS, _SAMPLED_CELLS // len(names)))
        if n_rows >= self.n_rows:
            parts = [_Slice(file, 0, self._sizes[file], 0, 0) for file in self._files]
        else:
            size = n_rows // _PIECES
            parts = []
            for part, places in self._places(np.linspace(0, self.n_rows - size, _PIECES)):
                last = max(0, self._sizes[part.path] - size)
                starts = np.minimum(part.start + places.astype(np.int64), last).tolist()
                parts += [part._replace(start=start, n_rows=size) for start in starts]
        return pl.concat([self._read(part, names) for part in parts])

    def _read(self, part: _Slice, names: list[str]) -> pl.DataFrame:
        """Cells of some rows; less than asked for where the file ends."""
        check_unchanged(part.path, self._states[part.path])
        try:
            rows = _scan(part.path).slice(part.start, part.n_rows).select(names).collect()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            check_unchanged(part.path, self._states[part.path])
            raise unreadable(part.path, error) from error
        check_unchanged(part.path, self._states[part.path])
        return rows


_WIDTHS: dict[Any, int] = {
    pl.Boolean: 1, pl.Int8: 1, pl.UInt8: 1, pl.Int16: 2, pl.UInt16: 2, pl.Int32: 4, pl.UInt32: 4,
    pl.Int64: 8, pl.UInt64: 8, pl.Float32: 4, pl.Float64: 8, pl.Date: 4, pl.Datetime: 8,
    pl.Time: 8, pl.Duration: 8, pl.Decimal: 16, pl.Categorical: 4, pl.Enum: 4, pl.Null: 1,
}  # fmt: skip


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


def _scan(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _footer(path: Path, sizes: dict[Path, int]) -> dict[str, pl.DataType]:
    """Columns of a file with their types; its rows go to ``sizes``."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}; check the name and the folder.")
    if not path.stat().st_size:
        raise ValueError(f"{path.name} is empty; it should be a Parquet file.")
    try:
        sizes[path] = int(_scan(path).select(pl.len()).collect().item())
        return dict(_scan(path).collect_schema())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> Exception:
    """What to raise where Parquet cannot be read, in words."""
    if isinstance(error, (FileNotFoundError, PermissionError)):
        return error
    reason = " ".join(str(error).split())[:160]
    if isinstance(error, pl.exceptions.DuplicateError):
        return ValueError(f"{path.name} has a name twice ({reason}); rename or remove one column.")
    return ValueError(
        f"{path.name} cannot be read as Parquet: it is cut off, damaged or another format "
        f"({reason}); write it again."
    )


def _check_same(
    first: dict[str, pl.DataType], first_name: str, other: dict[str, pl.DataType], name: str
) -> None:
    for column, kind in first.items():
        if other.get(column) != kind:
            found = f"has it as {other[column]}" if column in other else "does not have it"
            raise ValueError(
                f"files must have the same columns: {first_name} has {column!r} as {kind}, {name} "
                f"{found}; write them alike."
            )
