"""Scores of few rows in numpy: twins of compiled loops, where loading numba would take longer.

Each adds in the order of its compiled twin, so that scores are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Answers of trees that are held at a time, one for each row and tree.
ANSWERS = 1 << 18


def add_oblivious_trees(
    X: Floats, questions: tuple[NDArray[Any], ...], values: Floats, scores: Floats
) -> None:
    """Add the trees' values to the scores, see :class:`toprank.trees.ObliviousTrees`.

    ``questions`` are columns, thresholds and missing_left.
    """
    columns, thresholds, missing_left = questions
    trees = np.arange(len(values))[:, None]
    for rows in _chunks(len(X), len(values)):
        by_column = np.ascontiguousarray(X[rows].T)
        leaves = np.zeros((len(values), by_column.shape[1]), dtype=np.intp)
        for column, threshold, left in zip(columns.T, thresholds.T, missing_left.T, strict=True):
            leaves *= 2
            leaves += _goes_right(by_column[column], threshold[:, None], left[:, None])
        for added in values[trees, leaves]:
            scores[rows] += added


def add_binary_trees(
    X: Floats,
    nodes: tuple[NDArray[Any], ...],
    values: Floats,
    scores: Floats,
) -> None:
    """Add the values of the rows' leaves; ``nodes`` are those of :func:`tree_scores.add_leaves`."""
    roots, columns, thresholds, missing_left, children = nodes
    for rows in _chunks(len(X), roots.size):
        part = X[rows]
        # all pairs of a tree and a row, tree after tree; the pairs at a leaf are done
        row, node = np.tile(np.arange(len(part)), roots.size), np.repeat(roots, len(part))
        asking = np.flatnonzero(children[node, 0] >= 0)
        while asking.size:
            at = node[asking]
            right = _goes_right(part[row[asking], columns[at]], thresholds[at], missing_left[at])
            node[asking] = children[at, right.astype(np.intp)]
            asking = asking[children[node[asking], 0] >= 0]
        for added in values[node].reshape(roots.size, len(part)):
            scores[rows] += added


def _goes_right(values: Floats, thresholds: Floats, missing_left: Any) -> NDArray[np.bool_]:
    return np.asarray((values > thresholds) | (np.isnan(values) & ~missing_left))


def _chunks(n_rows: int, n_trees: int) -> Iterator[slice]:
    step = max(1, ANSWERS // max(n_trees, 1))
    for start in range(0, n_rows, step):
        yield slice(start, start + step)


def add_stumps(
    X: Floats,
    thresholds: list[Floats],
    is_doubled: NDArray[np.bool_],
    weights: Floats,
    scores: Floats,
) -> None:
    """Add what each column's stumps give; ``weights`` are in the order of the columns."""
    start = 0
    for column, (mine, twice) in enumerate(zip(thresholds, is_doubled, strict=True)):
        stop = start + mine.size * (1 + int(twice))
        if weights[start:stop].any():
            levels, missing = stump_levels(weights[start:stop], mine.size, is_doubled=bool(twice))
            values = X[:, column]
            known = levels[np.minimum(np.searchsorted(mine, values), mine.size)]
            scores += np.where(np.isnan(values), missing, known)
        start = stop


def stump_levels(weights: Floats, n_thresholds: int, *, is_doubled: bool) -> tuple[Floats, float]:
    """What the stumps of a column give a value above the first 0, 1, … thresholds, or none.

    A doubled column has all its stumps with missing values below, then all with them above.

    Examples
    --------
    >>> stump_levels(np.array([0.5, 2.0]), 2, is_doubled=False)
    (array([0. , 0.5, 2.5]), 1.25)
    """
    below, above = weights[:n_thresholds], weights[n_thresholds:]
    levels = np.zeros(n_thresholds + 1)
    levels[1:] = np.cumsum(below)
    if is_doubled:
        levels[1:] += np.cumsum(above)
        return levels, float(above.sum())
    return levels, float(below.sum() / 2)


def linear_scores(X: Any, weights: Floats, start: float) -> Floats:
    """Σ x_j·w_j in the order of the columns, and ``start``."""
    if not isinstance(X, np.ndarray):
        return np.asarray(X @ weights + start)
    scores = np.zeros(X.shape[0])
    for column in np.flatnonzero(weights):
        scores += X[:, column] * weights[column]
    return scores + start
