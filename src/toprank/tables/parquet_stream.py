"""Tables read batch by batch, such as Parquet files: any number of rows in little memory."""

from __future__ import annotations

import copy
import functools
import glob
import operator
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import joblib
import numpy as np
import polars as pl
from numpy.typing import NDArray

from toprank.blocks import Sums, add_up
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

    from toprank.blocks import Part, Total
    from toprank.tables.table import Misreads

# Numbers of a batch: enough to be worth a call, few enough for the cache of a core.
CELLS = 1 << 21
# Batches that are read at once, at the most.
_READ_BATCHES = 4
# Rows and cells, at the most, that tell how columns are read, and in how many pieces they lie.
_SAMPLED_ROWS, _SAMPLED_CELLS, _PIECES = 100_000, 1 << 23, 16


class RowRange(NamedTuple):
    """Rows that are read at once, and what comes before them in all files.

    ``start`` is the first of them in their file: a row of Parquet, a byte of text.
    """

    path: Path
    start: int
    n_rows: int
    number: int
    first_row: int


class TableStream(ABC):
    """Rows of a table in batches, in threads that each read batches of their own.

    Attributes
    ----------
    name : str, the file or folder, for messages
    types : dict of column to its polars type
    n_rows : int
    notes : tuple of str
        What a reader has to tell the user.
    watch : function of the rows seen so far and of all, or None
        Called during every pass.
    """

    is_sparse = False
    watch: Callable[[int, int], None] | None = None
    notes: tuple[str, ...] = ()

    def __init__(
        self, name: str, types: dict[str, pl.DataType], parts: list[RowRange], n_jobs: int
    ) -> None:
        self.name, self.types, self.n_jobs = name, types, n_jobs
        self.n_rows = sum(part.n_rows for part in parts)
        self._parts = parts
        self._states = {path: file_state(path) for path in {part.path for part in parts}}
        self._schema: Schema | None = None
        self._misread: dict[int, Misreads] = {}

    @abstractmethod
    def decoded_bytes(self) -> int:
        """Bytes of all columns in memory, about."""

    @abstractmethod
    def _read(self, parts: list[RowRange], names: Sequence[str]) -> pl.DataFrame:
        """Cells of neighbouring parts."""

    @abstractmethod
    def _pick(
        self, part: RowRange, places: NDArray[np.int64], names: Sequence[str]
    ) -> pl.DataFrame:
        """Cells of some rows of a part."""

    def _reads(self, width: int) -> list[list[RowRange]]:  # noqa: ARG002
        """Parts that are read at once, where a pass needs ``width`` columns."""
        return [[part] for part in self._parts]

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self.types)

    @property
    def schema(self) -> Schema:
        """How the cells are read; unless it was given, what a sample of rows says."""
        if self._schema is None:
            rows = self.sample(self.names)
            self._schema = Schema.infer({name: rows[name] for name in self.names})
            if rows.height < self.n_rows:
                note = (
                    f"how the columns of {self.name} are read is inferred from {rows.height:,} of "
                    f"its {self.n_rows:,} rows, from all parts of it."
                )
                self.notes = (*self.notes, note)
        return self._schema

    def read_by(self, schema: Schema) -> Self:
        """The same cells, read by another schema."""
        if schema is self._schema:
            return self
        found = copy.copy(self)
        vars(found).update(_schema=schema, _misread={})
        return found

    def total(self, work: Callable[[RowBatch], Total], columns: Sequence[str]) -> Total:
        """Add up ``work(batch)`` over all batches, in their order: one pass over the rows.

        Only ``columns`` are read. The sum does not depend on the number of threads.
        """
        names = [name for name in columns if name in self.types]
        schema = self.schema

        def of_batch(rows: pl.DataFrame, part: RowRange) -> Sums:
            table = Table({name: rows[name] for name in names}, self.name, schema=schema)
            result = work(RowBatch(table, part.number, part.first_row))
            found = table.misread()
            return Sums([result, [(part, found)] if found else []])

        def of_read(parts: list[RowRange], stop: Event) -> Sums:
            def results() -> Iterator[Sums]:
                rows = self._read(parts, names)
                for part in parts:
                    if stop.is_set():
                        raise CancelledError
                    yield of_batch(rows[part.first_row - parts[0].first_row :][: part.n_rows], part)

            return functools.reduce(operator.add, results())

        def seen(parts: list[RowRange]) -> None:
            if self.watch is not None:
                self.watch(parts[-1].first_row + parts[-1].n_rows, self.n_rows)

        result, misread = self._add_up(of_read, self._reads(len(names)), seen).parts
        for part, found in misread:
            before = self._misread.setdefault(part.number, {})
            before |= joined_misreads([(part.first_row, found)])
        total: Total = result
        return total

    def _add_up(
        self,
        work: Callable[[Part, Event], Total],
        parts: Sequence[Part],
        watch: Callable[[Part], None] | None = None,
    ) -> Total:
        """Add up the work on parts, in their order; in threads here, elsewhere by a subclass."""
        return add_up(work, parts, self.n_jobs, watch)

    def rows_in_memory(self) -> int | None:
        """Rows of the table that fill half of the free memory; None if the system does not say."""
        free = available_memory()
        per_row = max(self.decoded_bytes() / self.n_rows, 8.0 * len(self.names))
        return None if free is None else int(free / 2 / per_row)

    def misread(self) -> Misreads:
        """By column how many cells did not fit in the batches that were looked at so far."""
        return joined_misreads([(0, self._misread[number]) for number in sorted(self._misread)])

    def take(self, rows: NDArray[np.int64], names: Sequence[str] | None = None) -> pl.DataFrame:
        """The given cells of these rows with all columns, or some; ``rows`` is sorted."""
        kept = self.names if names is None else list(names)
        ends = np.array([part.first_row + part.n_rows for part in self._parts])
        homes = np.searchsorted(ends, rows, side="right")
        if not homes.size:
            return pl.DataFrame(schema={name: self.types[name] for name in kept})

        def of_part(home: int, _: Event) -> list[pl.DataFrame]:
            part = self._parts[home]
            return [self._pick(part, rows[homes == home] - part.first_row, kept)]

        return pl.concat(self._add_up(of_part, np.unique(homes).tolist()))

    def sample(self, names: Sequence[str]) -> pl.DataFrame:
        """Cells of rows from all parts of the table; of all rows where these are few."""
        size = max(1, min(_SAMPLED_ROWS, _SAMPLED_CELLS // len(names)) // _PIECES)
        if size * _PIECES >= self.n_rows:
            return self.take(np.arange(self.n_rows), names)
        starts = np.linspace(0, self.n_rows - size, _PIECES).astype(np.int64)
        return self.take((starts[:, None] + np.arange(size)).ravel(), names)


class ParquetStream(TableStream):
    """Rows of Parquet files.

    Parameters
    ----------
    paths : path or list of paths
        A file, several with the same columns, a pattern such as ``2024-*.parquet``, or a folder,
        of which all ``.parquet`` files are taken in the order of their names.
    batch_rows : int, optional
        Rows of a batch; by default about two million cells. A file ends its last batch.
    n_jobs : int, default=-1
        Threads; -1 takes all cores.
    """

    def __init__(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        batch_rows: int | None = None,
        n_jobs: int = -1,
    ) -> None:
        check_number("batch_rows", batch_rows, 1, whole=True, optional=True)
        check_n_jobs(n_jobs, optional=False)
        files, name = _files(paths)
        sizes, kinds = zip(*map(_footer, files), strict=True)
        types = kinds[0]
        check_names(list(types), files[0].name)
        for file, other in zip(files, kinds, strict=True):
            _check_same(types, files[0].name, other, file.name)
        if not sum(sizes):
            raise ValueError(f"{name} has columns but no rows; there is nothing to rank.")
        self._sizes = list(zip(files, sizes, strict=True))
        self._text_bytes: float | None = None
        self.batch_rows = batch_rows or max(1024, CELLS // len(types))
        n_threads = n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)
        super().__init__(name, types, self._batches(), n_threads)

    def set_batch_rows(self, batch_rows: int) -> None:
        """Read batches of so many rows from now on."""
        self.batch_rows = batch_rows
        self._parts = self._batches()

    def _batches(self) -> list[RowRange]:
        found: list[RowRange] = []
        n_rows = 0
        for file, n_inside in self._sizes:
            for start in range(0, n_inside, self.batch_rows):
                size = min(self.batch_rows, n_inside - start)
                found.append(RowRange(file, start, size, len(found), n_rows))
                n_rows += size
        return found

    def decoded_bytes(self) -> int:
        """Bytes of all columns in memory, texts by a sample of them."""
        widths = [_WIDTHS.get(kind.base_type()) for kind in self.types.values()]
        texts = [name for name, width in zip(self.names, widths, strict=True) if width is None]
        if self._text_bytes is None:
            rows = self.sample(texts) if texts else None
            self._text_bytes = 0.0 if rows is None else rows.estimated_size() / rows.height
        return int(self.n_rows * (sum(width or 0 for width in widths) + self._text_bytes))

    def _reads(self, width: int) -> list[list[RowRange]]:
        """Batches that are read at once: a scan decodes whole pages, however few of their rows."""
        most = max(1, min(_READ_BATCHES, 2 * CELLS // (self.batch_rows * max(1, width))))
        reads: list[list[RowRange]] = []
        for part in self._parts:
            if part.start and len(reads[-1]) < most:
                reads[-1].append(part)
            else:  # also where a file begins
                reads.append([part])
        return reads

    def _read(self, parts: list[RowRange], names: Sequence[str]) -> pl.DataFrame:
        path, start, *_ = parts[0]
        size = sum(part.n_rows for part in parts)
        try:
            return _scan(path).slice(start, size).select(names).collect()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise unreadable(path, error) from error
        finally:  # that it has changed says more than what is wrong with a half of it
            check_unchanged(path, self._states[path])

    def _pick(
        self, part: RowRange, places: NDArray[np.int64], names: Sequence[str]
    ) -> pl.DataFrame:
        first, last = int(places[0]), int(places[-1])
        narrow = part._replace(start=part.start + first, n_rows=last - first + 1)
        return self._read([narrow], names)[places - first]


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
    if is_pattern(path):
        found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207 (any path)
        if not found:
            raise FileNotFoundError(f"no file has a name like {str(path)!r}; check the pattern.")
        return found, path.name
    if not path.is_dir():
        return [path], path.name
    files = sorted(file for file in path.rglob("*.parquet") if not file.name.startswith((".", "_")))
    if not files:
        raise FileNotFoundError(
            f"{str(path)!r} is a folder without any .parquet file; name a table inside it."
        )
    return files, path.name


def is_pattern(path: Path) -> bool:
    """Whether a path is no file but a pattern of names."""
    return glob.has_magic(str(path)) and not path.exists()


def _scan(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _footer(path: Path) -> tuple[int, dict[str, pl.DataType]]:
    """The number of rows of a file, and its columns with their types."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}; check the name and the folder.")
    if not path.stat().st_size:
        raise ValueError(f"{path.name} is empty; it should be a Parquet file.")
    try:
        n_rows = int(_scan(path).select(pl.len()).collect().item())
        return n_rows, dict(_scan(path).collect_schema())
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
