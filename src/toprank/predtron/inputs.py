"""The input of a round, a row of a table or all rows of a list, and its label.

Rows and lists compute scores from weights kept feature by feature (p × d), and add steps to the
weights.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from toprank.inputs import as_dense, as_lists, check_given, check_length, is_sparse
from toprank.kernels.rounds import add_rows, score_rows
from toprank.kernels.rows import rows_of

if TYPE_CHECKING:
    from toprank.predtron.links import Link

Floats = NDArray[np.float64]

# 2^1000 is near the largest number there is; beyond, gains would be infinite.
LARGEST_GRADE = 1000


class StreamInputs:
    """The inputs of a stream by number: the rows of a table, or lists of its rows.

    A row has d scores, one for each axis of the representation; the rows of a list are scored by
    one weight vector (d = 1). With an intercept the last feature of the weights is always 1.

    Parameters
    ----------
    X : array or CSR matrix
    lists : list of arrays of row numbers, or None for one row per round
    """

    def __init__(
        self, X: Any, lists: list[NDArray[np.intp]] | None = None, *, intercept: bool = False
    ) -> None:
        self.X = X
        self.intercept = intercept
        self.lists = lists
        self._table = rows_of(X)

    def __len__(self) -> int:
        return int(self.X.shape[0]) if self.lists is None else len(self.lists)

    def rows(self, number: int) -> NDArray[np.intp]:
        """Return the row numbers of one input."""
        return np.array([number]) if self.lists is None else self.lists[number]

    def block(self, number: int) -> Any:
        """Return one input as a table."""
        return self.X[self.rows(number)]

    def scores(self, number: int, weights: Floats) -> Floats:
        """Compute t = WX of one input."""
        scores = score_rows(self._table, self.rows(number), weights).ravel()
        return scores + weights[-1] if self.intercept else scores

    def add(self, number: int, step: Floats, weights: Floats) -> None:
        """Add the outer product of one input and the step to the weights, in place."""
        rows = self.rows(number)
        add_rows(self._table, rows, step.reshape(rows.size, -1), weights)
        if self.intercept:
            weights[-1] += step

    def radius(self, link: Link | None) -> float:
        """Return the R of the bound: the largest operator norm, or the longest column."""
        by_entries = link is not None and link.by_entries
        if self.lists is None and by_entries:
            return max(float(abs(self.X).max()), float(self.intercept))
        if self.lists is None:
            return math.hypot(_longest(self.X, axis=1), float(self.intercept))
        blocks = [self.block(number) for number in range(len(self))]
        if by_entries:
            return max(_longest(block, axis=0) for block in blocks)
        # No singular value exceeds the length of all entries: most lists need no decomposition.
        lengths = np.sqrt([_squares(block, 1).sum() for block in blocks])
        largest = 0.0
        for number in np.argsort(-lengths):
            if lengths[number] <= largest:
                break
            largest = max(largest, _operator_norm(blocks[number]))
        return largest


def lists_of_rows(groups: Any, n_rows: int) -> list[NDArray[np.intp]]:
    """Row numbers of every list, by their first rows; without groups all rows are one list."""
    lists = as_lists(groups, n_rows)
    if lists is None:
        return [np.arange(n_rows)]
    parts = np.split(lists.order, lists.starts[1:-1])
    return sorted(parts, key=lambda rows: int(rows[0]))


def _squares(block: Any, axis: int) -> Floats:
    """Sums of squares, in float64, of a dense or sparse block."""
    if is_sparse(block):
        return np.asarray(block.multiply(block).sum(axis=axis), dtype=np.float64)
    return np.asarray(np.square(block, dtype=np.float64).sum(axis=axis))


def _longest(block: Any, axis: int) -> float:
    """Length of the longest row (axis 1) or column (axis 0)."""
    return math.sqrt(float(_squares(block, axis).max(initial=0.0)))


def _operator_norm(block: Any) -> float:
    """Largest singular value, from the smaller of the two Gram matrices."""
    gram = block @ block.T if block.shape[0] <= block.shape[1] else block.T @ block
    gram = as_dense(gram)
    return math.sqrt(max(float(np.linalg.eigvalsh(gram.astype(np.float64))[-1]), 0.0))


def as_grades(y: Any, table: Any) -> NDArray[np.float64]:
    """One grade of relevance per row, at least 0."""
    check_given(y)
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind not in "biuf":
        raise TypeError(
            f"Unknown label type: y must be grades (numbers of at least 0), got {labels.dtype}."
        )
    check_length("y", len(labels), table.shape[0])
    grades: NDArray[np.float64] = labels.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(grades) & (grades >= 0) & (grades <= LARGEST_GRADE)))
    if bad.size:
        raise ValueError(
            f"y must be grades between 0 and {LARGEST_GRADE}, but y[{bad[0]}] is "
            f"{grades[bad[0]]:g} (NaN and infinity are not grades); shift, scale or drop such rows."
        )
    return grades
