"""Few rows scored and explained in NumPy, where loading numba would take longer.

Scores are added in the order of the compiled twins, so that they are the same to the last bit.
:func:`linear_scores` takes tables of any size: it goes on to its twin where that pays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Answers of trees that are held at a time, one for each row and tree.
ANSWERS = 1 << 18
# Cells from which on loading compiled loops pays.
MANY_CELLS = 1 << 18
# Fewer rows are added up at once; more column by column, as many at a time as the cache holds.
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


# Trees are anything with the arrays of the classes in :mod:`toprank.trees`, which load numba.


def add_oblivious_trees(X: Floats, trees: Any, scores: Floats) -> None:
    """Add the values of the rows' leaves of :class:`toprank.trees.ObliviousTrees`."""
    questions = trees.columns.T, trees.thresholds.T, trees.missing_left.T
    every_tree = np.arange(trees.n_trees)[:, None]
    for rows in _chunks(len(X), trees.n_trees):
        by_column = np.ascontiguousarray(X[rows].T)
        leaves = np.zeros((trees.n_trees, by_column.shape[1]), dtype=np.intp)
        for column, threshold, left in zip(*questions, strict=True):
            leaves *= 2
            leaves += _goes_right(by_column[column], threshold[:, None], left[:, None])
        for added in trees.values[every_tree, leaves]:
            scores[rows] += added


def add_binary_trees(X: Floats, trees: Any, scores: Floats) -> None:
    """Add the values of the rows' leaves of :class:`toprank.trees.BinaryTrees`."""
    roots, children = trees.roots, trees.children
    columns, thresholds, missing_left = trees.columns, trees.thresholds, trees.missing_left
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
        for added in trees.values[node].reshape(roots.size, len(part)):
            scores[rows] += added


def _goes_right(values: Floats, thresholds: Floats, missing_left: Any) -> NDArray[np.bool_]:
    return np.asarray((values > thresholds) | (np.isnan(values) & ~missing_left))


def _chunks(n_rows: int, n_trees: int) -> Iterator[slice]:
    step = max(1, ANSWERS // max(n_trees, 1))
    for start in range(0, n_rows, step):
        yield slice(start, start + step)


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


class LeafPaths(NamedTuple):
    """Leaves of trees with the questions on their paths, all of shape (n_leaves, n_questions).

    ``is_right`` says which answer leads to the leaf, ``shares`` how many of the training rows gave
    it. Paths that are shorter have the column -1, and share 1.
    """

    columns: NDArray[np.intp]
    thresholds: Floats
    missing_left: NDArray[np.bool_]
    is_right: NDArray[np.bool_]
    shares: Floats
    values: Floats


def paths_of_oblivious_trees(trees: Any) -> LeafPaths:
    """The paths of :class:`toprank.trees.ObliviousTrees`."""
    questions, cover = (trees.columns, trees.thresholds, trees.missing_left), trees.cover
    (n_trees, depth), n_leaves = trees.columns.shape, cover.shape[1]
    leaf, shares = np.arange(n_leaves), np.ones((n_trees, n_leaves, depth))
    for level in range(depth):
        before = cover.reshape(n_trees, 1 << level, -1).sum(axis=2)[:, leaf >> (depth - level)]
        after = cover.reshape(n_trees, 2 << level, -1).sum(axis=2)[:, leaf >> (depth - level - 1)]
        shares[:, :, level] = _share(after, before)
    bits = (leaf[:, None] >> np.arange(depth)[::-1]) & 1
    columns, thresholds, missing_left = (np.repeat(each, n_leaves, axis=0) for each in questions)
    is_right = np.tile(bits.astype(bool), (n_trees, 1))
    known = columns, thresholds, missing_left, is_right
    return LeafPaths(*known, shares.reshape(-1, depth), trees.values.ravel())


def paths_of_binary_trees(trees: Any) -> LeafPaths:
    """The paths of :class:`toprank.trees.BinaryTrees`."""
    children, columns = trees.children, trees.columns
    thresholds, missing_left = trees.thresholds, trees.missing_left
    parents, sums, levels = np.full(columns.size, -1), trees.cover.copy(), [trees.roots]
    while levels[-1].size:
        asking = levels[-1][children[levels[-1], 0] >= 0]
        parents[children[asking]] = asking[:, None]
        levels.append(children[asking].ravel())
    for below in reversed(levels[1:]):
        np.add.at(sums, parents[below], sums[below])
    leaves, parts = np.flatnonzero(children[:, 0] < 0), []
    node = leaves
    for _ in range(len(levels) - 2):
        above = parents[node]
        share = np.where(above < 0, 1.0, _share(sums[node], sums[above]))
        answers = missing_left[above], children[above, 1] == node, share
        parts.append((np.where(above < 0, -1, columns[above]), thresholds[above], *answers))
        node = np.where(above < 0, node, above)
    nothing = [np.zeros((leaves.size, 0), dtype=kind) for kind in (int, float, bool, bool, float)]
    stacked = [np.column_stack(each) for each in zip(nothing, *parts, strict=True)]
    return LeafPaths._make([*stacked, trees.values[leaves]])


def _share(part: Floats, whole: Floats) -> Floats:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 0.5)


def add_shapley_values(X: Floats, paths: LeafPaths, found: Floats) -> None:
    """Add what each column adds to the trees' sums, as :mod:`toprank.kernels.tree_shapley` has it.

    A column that is asked again on a path is the same player: its share and its agreement are put
    together at the first question.
    """
    columns, depth = paths.columns.astype(np.intp), paths.columns.shape[1]
    first = np.argmax(columns[:, :, None] == columns[:, None, :], axis=2)
    at = (np.arange(len(columns))[:, None], first)
    z = np.ones(columns.shape)
    np.multiply.at(z, at, paths.shares)
    is_player = (first == np.arange(depth)) & (columns >= 0)
    points, weights = np.polynomial.legendre.leggauss(max(1, (depth + 1) // 2))
    for number, row in enumerate(X):
        right = _goes_right(row[columns], paths.thresholds, paths.missing_left)
        agrees = np.ones(columns.shape)
        np.minimum.at(agrees, at, (right == paths.is_right) | (columns < 0))
        total = np.zeros(columns.shape)
        for t, weight in zip((points + 1) / 2, weights / 2, strict=True):
            factors = np.where(is_player, agrees * t + z * (1 - t), 1.0)
            inverse = np.divide(1.0, factors, out=np.zeros_like(factors), where=factors > 0)
            total += weight * factors.prod(axis=1, keepdims=True) * inverse
        added = paths.values[:, None] * (agrees - z) * total
        found[number] += np.bincount(columns[is_player], added[is_player], row.size)
