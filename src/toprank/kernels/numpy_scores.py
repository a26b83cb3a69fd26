"""Scores of few rows in numpy: twins of compiled loops, where loading numba would take longer.

Each adds in the order of its compiled twin, so that scores are the same to the last bit.
:func:`linear_scores` takes tables of any size: it goes on to its twin where that pays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Answers of trees that are held at a time, one for each row and tree.
ANSWERS = 1 << 18
# Cells from which on loading compiled loops pays.
MANY_CELLS = 1 << 18
# Fewer rows are added up all at once; of more, some at a time column by column, in the cache.
FEW_ROWS, ROWS = 256, 1 << 12


def linear_scores(
    X: Any, coef: NDArray[Any], intercept: float, n_jobs: int | None = None
) -> Floats:
    """((0 + x_0·w_0) + x_1·w_1) + … + intercept of every row of a table or a CSR matrix.

    Columns are added in their order, each product and each sum rounded to float64; columns of
    weight 0 and cells that a CSR matrix does not hold add nothing. So the score of a row depends
    neither on its place nor on the rows beside it, nor on how the table holds the same values.
    BLAS, which sums in an order of its own, gives equal rows scores that differ in the last bits.

    Examples
    --------
    >>> linear_scores(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, 0.25]), -1.0)
    array([0. , 1.5])
    """
    weights, scores = np.asarray(coef, dtype=np.float64), np.zeros(X.shape[0])
    if not isinstance(X, np.ndarray) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()  # sorts the columns of each row, too
    if X.size < MANY_CELLS:
        add_linear(X, weights, scores)
    else:
        from toprank.kernels.rows import add_linear_rows  # noqa: PLC0415  (it loads numba)

        add_linear_rows(X, weights, scores, n_jobs)
    scores += intercept
    return scores


def add_linear(X: Any, weights: Floats, scores: Floats) -> None:
    """Add the products of each row to its score, which is 0 at first."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not isinstance(X, np.ndarray):
            scores += _sparse_sums(X, weights)
            return
        used = np.flatnonzero(weights)
        if len(X) < FEW_ROWS and used.size:
            products = (X if used.size == weights.size else X[:, used]) * weights[used]
            scores += np.add.accumulate(products, axis=1, out=products)[:, -1]
            return
        product = np.empty(min(ROWS, len(X)))
        for start in range(0, len(X), ROWS):
            part, mine = X[start : start + ROWS], scores[start : start + ROWS]
            for column in used:
                added = product[: len(part)]
                np.multiply(part[:, column], weights[column], out=added, dtype=np.float64)
                mine += added


def _sparse_sums(X: Any, weights: Floats) -> Floats:
    """Sums of the products in each row, in order: of a product by a matrix, whose cells are 1.

    Multiplied by 1, a product and a sum are the same whether they are rounded once or twice.
    """
    own = weights[X.indices]
    products = np.multiply(X.data, own, out=np.zeros(own.size), where=own != 0.0)
    summed = type(X)((products, X.indices, X.indptr), shape=X.shape)
    return np.asarray(summed @ np.ones(weights.size))


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
