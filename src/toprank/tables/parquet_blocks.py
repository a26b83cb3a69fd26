"""Parquet files larger than memory as blocks that rankers learn from.

Blocks that a fit keeps are in memory or, where they would take more than half of what is free, in
a scratch file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from toprank.blocks import Block, Blocks, add_up
from toprank.kernels.memory import ScratchFile, StoredArray, available_memory, check_scratch
from toprank.tables.cells import type_of_cells
from toprank.tables.columns import as_row_weights, read_cells
from toprank.tables.notation import ColumnSchema
from toprank.tables.parquet_stream import ParquetStream
from toprank.tables.schema import Schema
from toprank.tables.table import check_has_column, listing

if TYPE_CHECKING:
    import os

    from toprank.blocks import Total
    from toprank.tables.table import RowBatch


class _Kept(NamedTuple):
    """A block whose arrays are in a file."""

    X: StoredArray
    y: StoredArray
    weights: StoredArray | None
    number: int


class SpillingBlocks(Blocks):
    """Blocks that keep what is made of them in memory or in a scratch file, in ``scratch``."""

    def __init__(
        self, n_rows: int, n_jobs: int, scratch: str | os.PathLike[str] | None = None
    ) -> None:
        check_scratch(scratch)
        self.n_rows, self.n_jobs, self.scratch = n_rows, n_jobs, scratch
        self.watch: Callable[[int, int], None] | None = None

    def kept(self, work: Callable[..., Block], *arguments: Any) -> KeptBlocks:
        found = KeptBlocks(self)
        try:
            found.blocks = self.total(
                lambda block: [found.put(work(block, *arguments), len(block.y))]
            )
        except BaseException:
            found.close()
            raise
        return found


class KeptBlocks(SpillingBlocks):
    """Blocks that threads put in and take out: in memory where they fit, else in a scratch file.

    In memory they take at most half of what is free. A ``scratch`` folder that is named is used
    always.
    """

    def __init__(self, source: SpillingBlocks) -> None:
        super().__init__(source.n_rows, source.n_jobs, source.scratch)
        self.feature_names, self.watch = source.feature_names, source.watch
        self._lock = Lock()
        self._file: ScratchFile | None = None
        self._is_begun = self._is_closed = False
        self.blocks: list[_Kept | Block] = []

    def put(self, block: Block, n_rows: int) -> _Kept | Block:
        """Store a block that was made of ``n_rows`` rows; by the first one the size is foreseen.

        A block of which nothing is left, as where all weights are 0, tells nothing.
        """
        X, y, weights, number, _ = block
        with self._lock:
            if not self._is_begun and len(y):
                size = X.nbytes + y.nbytes + (0 if weights is None else weights.nbytes)
                needed, free = -(-size * self.n_rows // n_rows), available_memory()
                if self.scratch is not None or free is None or 2 * needed > free:
                    self._file = ScratchFile(self.scratch, needed)
                self._is_begun = True
        if self._file is None:
            return block
        add = self._file.add
        return _Kept(add(X), add(y), None if weights is None else add(weights), number)

    def get(self, kept: _Kept | Block) -> Block:
        """Give a block back."""
        if isinstance(kept, Block):
            return kept
        assert self._file is not None  # noqa: S101  (for the type checker)
        get = self._file.get
        weights = None if kept.weights is None else get(kept.weights)
        return Block(get(kept.X), get(kept.y), weights, kept.number)

    def total(self, work: Callable[..., Total], *arguments: Any) -> Total:
        if self._is_closed:
            raise ValueError("these blocks are closed and their data are deleted; create new ones.")

        def seen(kept: _Kept | Block) -> None:
            if self.watch is not None:
                self.watch((kept.number + 1) * self.n_rows // len(self.blocks), self.n_rows)

        return add_up(
            lambda kept, _: work(self.get(kept), *arguments), self.blocks, self.n_jobs, seen
        )

    def close(self) -> None:
        self._is_closed = True
        self.blocks = []
        if self._file is not None:
            self._file.close()


class StreamBlocks(SpillingBlocks):
    """Batches of a stream, each made into a block in the thread that has read it.

    ``columns`` are read; ``scratch`` is the folder for what is kept.
    """

    def __init__(
        self,
        stream: ParquetStream,
        columns: Sequence[str],
        as_block: Callable[[RowBatch], Block],
        feature_names: list[str] | None,
        scratch: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(stream.n_rows, stream.n_jobs, scratch)
        self._stream, self._columns, self._as_block = stream, columns, as_block
        self.feature_names = feature_names

    def total(self, work: Callable[..., Total], *arguments: Any) -> Total:
        return self._stream.total(
            lambda batch: work(self._as_block(batch), *arguments), self._columns
        )


class ParquetBlocks(StreamBlocks):
    """Rows of Parquet files, streamed: for ``fit_blocks`` of pushes, boosted stumps and trees.

    Every pass reads the needed columns of the files again, in threads that read different rows;
    results are added up in order, so a model does not depend on the number of threads. The memory
    needed is that of a few batches, for any number of rows and size of row groups. A table of
    float32 columns stays float32; missing values become NaN.

    Parameters
    ----------
    path : path or list of paths
        A Parquet file, several with the same columns, or a folder of them.
    target : str
        Column of the labels: two values, of which the larger is the positive one.
    weight : str, optional
        Column of row weights.
    group : str, optional
        Column that names the list of each row; only rows of one list are compared. Pushes and
        :class:`toprank.LinearRankSVM` take lists, in any order.
    features : sequence of str, optional
        Columns to learn from; by default all other columns of numbers and booleans. Texts and
        dates are for ``toprank fit``, which encodes them.
    batch_rows : int, optional
        Rows of a block; by default about two million cells.
    n_jobs : int, default=-1
        Threads; -1 takes all cores.
    scratch : path, optional
        Folder for the bins of stumps and trees (one byte per cell and per label). By default they
        are in memory if they take at most half of the free memory, else in the system's folder for
        temporary files. They are deleted afterwards.

    Examples
    --------
    >>> import polars as pl
    >>> from toprank import PNormPush
    >>> from toprank.tables import ParquetBlocks
    >>> folder = getfixture("tmp_path")
    >>> table = pl.DataFrame({"age": [30.0, 40.0, 50.0, 60.0], "ill": [0, 1, 0, 1]})
    >>> table.write_parquet(folder / "patients.parquet")
    >>> rows = ParquetBlocks(folder / "patients.parquet", target="ill")
    >>> rows.feature_names
    ['age']
    >>> PNormPush().fit_blocks(rows).rank(table.select("age"))
    array([4, 3, 2, 1])
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        target: str,
        weight: str | None = None,
        group: str | None = None,
        features: Sequence[str] | None = None,
        batch_rows: int | None = None,
        n_jobs: int = -1,
        scratch: str | os.PathLike[str] | None = None,
    ) -> None:
        if not isinstance(target, str):
            raise TypeError(f"target must be the name of a column, got {target!r}.")
        stream = ParquetStream(path, batch_rows=batch_rows, n_jobs=n_jobs)
        stream = stream.read_by(Schema({}))  # cells are taken as they are
        roles = {"target": target, "weight": weight, "group": group}
        given = [name for name in roles.values() if name is not None]
        for what, name in roles.items():
            if name is not None:
                check_has_column(stream.name, stream.names, name, f"the {what}")
        _check_once(given, "target, weight and group")
        if features is None:
            kinds = stream.types.items()
            names = [name for name, kind in kinds if name not in given and _is_number(kind)]
        else:
            if isinstance(features, str):
                raise TypeError(f"features must be a list of column names; pass [{features!r}].")
            names = list(features)
            _check_features(stream, names, given)
        if not names:
            raise ValueError(f"{stream.name} has no column of numbers besides {listing(given)}.")
        self._target, self._weight, self._group = target, weight, group
        types = {stream.types[name] for name in names}
        is_narrow = pl.Float32 in types and types <= _NARROW
        self._type = pl.Float32 if is_narrow else pl.Float64
        super().__init__(stream, [*names, *given], self._block, names, scratch)

    def _block(self, batch: RowBatch) -> Block:
        cells, weights, groups = batch.table.cells, None, None
        if self._weight is not None:
            weights = _weights(cells[self._weight], self._weight)
        if self._group is not None:
            remedy = "give these rows a group"
            groups = _known(cells[self._group], f"the group of {self._stream.name}", remedy)
        remedy = "use toprank fit, which leaves them out"
        labels = _known(cells[self._target], f"the target of {self._stream.name}", remedy)
        columns = pl.DataFrame([cells[name] for name in self.feature_names or []])
        # column by column in memory, as Parquet has them and as passes want them
        X = columns.cast(self._type).to_numpy(order="fortran", writable=True)
        return Block(X, labels, weights, batch.number, groups)


# Types whose numbers a float32 holds.
_NARROW = {pl.Float32, pl.Boolean, pl.Int8, pl.UInt8, pl.Int16, pl.UInt16}


def _is_number(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind == pl.Boolean


def _check_once(names: list[str], what: str) -> None:
    if len(set(names)) < len(names):
        name = max(names, key=names.count)
        raise ValueError(f"{what} name the column {name!r} more than once; name another.")


def _check_features(stream: ParquetStream, names: list[str], given: list[str]) -> None:
    _check_once(names, "features")
    for name in names:
        check_has_column(stream.name, stream.names, name, "the features")
        kind = stream.types[name]
        if name in given:
            raise ValueError(
                f"features name {name!r}, which is the target, the weight or the group."
            )
        if not _is_number(kind):
            raise ValueError(
                f"the column {name!r} of {stream.name} holds {kind}, where blocks hold numbers; "
                "leave it out of features, or encode it first (toprank fit does)."
            )


def _weights(column: pl.Series, name: str) -> NDArray[np.float64]:
    kind = type_of_cells(column, name)
    schema = ColumnSchema(name, "category" if kind == "text" else kind)
    return as_row_weights(read_cells(column, schema), name)


def _known(column: pl.Series, what: str, remedy: str) -> NDArray[Any]:
    """Labels or lists, which every row must have."""
    name, kind = column.name, column.dtype
    if column.null_count():
        raise ValueError(
            f"{what}, {name!r}, is missing in some rows; write the file without them, or {remedy}."
        )
    if kind.is_nested():
        raise ValueError(f"{what}, {name!r}, holds {kind}; name a column of plain values.")
    values = (column.cast(pl.Float64) if kind.is_decimal() else column).to_numpy()
    return values if values.dtype != object else np.array(values.tolist())
