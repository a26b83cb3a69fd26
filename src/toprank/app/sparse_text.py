"""LIBSVM and LETOR text: ``label [qid:list] feature:value …``, dense or sparse in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from toprank.kernels.memory import available_memory
from toprank.tables.table import Table

# Columns that such text gets beside its features.
LABEL, GROUP = "label", "qid"
# Features beyond this, of which less than this share is written, are held sparse.
WIDE, WRITTEN = 1000, 0.25
# Bytes of lines that are parsed at once.
_BLOCK = 1 << 20
_LARGEST = 1 << 53


class _Lines(NamedTuple):
    """Rows of some lines: features and values of all, one after the other, and their counts."""

    labels: NDArray[np.float64]
    lists: list[str]
    features: NDArray[np.int64]
    values: NDArray[np.float64]
    counts: NDArray[np.int64]


def read_sparse_text(content: bytes, name: str) -> Table:
    """Read rows whose features that are 0 are left out.

    The columns are ``label``, ``qid`` where there are lists, then each feature. A table of many
    features of which few are written is held sparse, and so is one that would fill the memory.
    """
    from toprank.tables.sparse import SparseTable, rows_of

    parts = list(_read_lines(content, name))
    lists = [each for part in parts for each in part.lists]
    labels, features, values, counts = (
        np.concatenate([getattr(part, field) for part in parts])
        for field in ("labels", "features", "values", "counts")
    )
    if not labels.size:
        raise ValueError(f"{name} holds no rows; a line is 'label [qid:list] feature:value …'.")
    if lists and len(lists) != labels.size:
        raise ValueError(
            f"{name} has a qid on {len(lists)} of {labels.size} lines; give every line one."
        )
    if not features.size:
        raise ValueError(f"{name} has labels but no feature; a line is 'label feature:value …'.")
    is_whole = (np.abs(labels) < _LARGEST).all() and (labels == np.floor(labels)).all()
    columns = {LABEL: pa.array(labels.astype(np.int64) if is_whole else labels)}
    if lists:
        columns[GROUP] = pa.array(lists)
    numbers, matrix = rows_of(features, values, counts)
    if not matrix.has_canonical_format:
        raise ValueError(f"{name} has a row with the same feature twice; write each once.")
    cells, free = matrix.shape[0] * matrix.shape[1], available_memory()
    is_wide = numbers.size > WIDE and matrix.nnz < WRITTEN * cells
    if is_wide or (free is not None and 3 * 8 * cells > free):  # read, encoded, ranked
        bad = np.flatnonzero(~np.isfinite(matrix.data))
        if bad.size:
            row = int(np.searchsorted(matrix.indptr, bad[0], side="right"))
            raise ValueError(
                f"{name} has the value {matrix.data[bad[0]]} in row {row:,} of {labels.size:,}; "
                "leave the feature out, or write a number."
            )
        matrix.eliminate_zeros()
        return SparseTable(pa.table(columns), name, numbers=numbers, matrix=matrix)
    dense = matrix.T.toarray()
    dense_columns = {str(each): pa.array(dense[at]) for at, each in enumerate(numbers.tolist())}
    return Table(pa.table(columns | dense_columns), name, is_sparse=True)


def _read_lines(content: bytes, name: str) -> Iterator[_Lines]:
    """Read block after block: the arrays of one take less memory than its numbers one by one."""
    start, n_lines = 0, 0
    while start < len(content) or not start:
        end = content.find(b"\n", start + _BLOCK) + 1 or len(content)
        block = content[start:end]
        yield _block(block, n_lines, name)
        n_lines += block.count(b"\n")
        start = end or 1


def _block(block: bytes, n_before: int, name: str) -> _Lines:
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not text in UTF-8; is it another format?") from error
    labels: list[float] = []
    lists: list[str] = []
    features: list[int] = []
    values: list[float] = []
    counts: list[int] = []
    for number, line in enumerate(text.split("\n"), start=n_before + 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        try:
            labels.append(float(words[0]))
            if len(words) > 1 and words[1].startswith("qid:"):
                lists.append(words.pop(1)[4:])
            pairs = [word.split(":") for word in words[1:]]
            features += [int(feature) for feature, _ in pairs]
            values += [float(value) for _, value in pairs]
        except ValueError:
            raise ValueError(
                f"{name}, line {number} is not 'label [qid:list] feature:value …': {line[:60]!r}."
            ) from None
        counts.append(len(pairs))
    for feature in (min(features, default=0), max(features, default=0)):
        if not 0 <= feature < _LARGEST:
            raise ValueError(f"{name} has the feature number {feature}; they start at 0 or 1.")
    return _Lines(
        np.array(labels, dtype=np.float64),
        lists,
        np.array(features, dtype=np.int64),
        np.array(values, dtype=np.float64),
        np.array(counts, dtype=np.int64),
    )
