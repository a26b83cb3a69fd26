"""Trees as tables of constants that a query joins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.trees import BinaryTrees

if TYPE_CHECKING:
    from toprank.export.formula import Summand
    from toprank.export.sql import Query

# Trees whose leaves are computed in one expression.
MOST_TREES = 200
# Bits that the sum of the leaves' whole numbers may have; a sum of 64-bit numbers stays below.
SUM_BITS = 61


class _WholeLeaves(NamedTuple):
    """Values of leaves as whole numbers times a power of two."""

    values: NDArray[np.int64]
    scale: float


def member_ctes(query: Query, member: Summand, number: int) -> tuple[str, float]:
    """Add the parts of a member; the name of the last one, and what its totals are in units of."""
    trees: Any = member.term
    add, dialect, cells = query.add, query.dialect, query.formula.cells
    may_miss = any(cell.kind == "number" and cell.fill is None for cell in cells)
    if isinstance(trees, BinaryTrees):
        leaves = _walked(query, trees, number, may_miss=may_miss)
    else:
        largest = np.abs(trees.values).max(axis=1, initial=0.0).sum()
        leaves = _whole(trees.values.ravel(), float(largest))
        _add_bit_indexes(query, trees, number, may_miss=may_miss)
    values = [str(value) for value in leaves.values.tolist()] or ["0"]
    add(f"leaves_{number}", dialect.rows({"value": ("bigint", values)}), once=True)
    sums = (
        f"SELECT reached.toprank_row, {dialect.total('leaves.value')} AS total\n"
        f"  FROM reached_{number} AS reached\n"
        f"  JOIN leaves_{number} AS leaves ON leaves.place = reached.leaf\n"
        "  GROUP BY reached.toprank_row"
    )
    add(f"member_{number}", sums, once=True)
    return f"member_{number}", leaves.scale


def _whole(values: NDArray[np.float64], largest: float) -> _WholeLeaves:
    """``largest`` bounds the sum of one value per tree."""
    power = SUM_BITS - int(np.frexp(largest)[1]) if largest else 0
    whole = np.rint(np.ldexp(values, power)).astype(np.int64)
    return _WholeLeaves(whole, float(np.ldexp(1.0, -power)))


def _add_bit_indexes(query: Query, trees: Any, number: int, *, may_miss: bool) -> None:
    """Numbers of the leaves that a row reaches: the answers of a tree are their bits."""
    indexes = []
    for tree in range(trees.n_trees):
        bits = [str(tree << trees.depth)]
        for level in range(trees.depth):
            cell = f"toprank_c{trees.columns[tree, level]}"
            is_above = f"{cell} > {query.dialect.number(trees.thresholds[tree, level])}"
            if may_miss and not trees.missing_left[tree, level]:
                is_above += f" OR {cell} IS NULL"
            bits.append(f"CASE WHEN {is_above} THEN {1 << (trees.depth - 1 - level)} ELSE 0 END")
        indexes.append(" + ".join(bits))
    selects = [
        query.dialect.unnested(indexes[start : start + MOST_TREES], "leaf", "integer", "numbered")
        for start in range(0, trees.n_trees, MOST_TREES)
    ]
    nothing = "SELECT toprank_row, 0 AS leaf, 0 AS place FROM numbered WHERE 1 = 0"
    query.add(f"reached_{number}", "\n  UNION ALL ".join(selects or [nothing]))


def _walked(query: Query, trees: BinaryTrees, number: int, *, may_miss: bool) -> _WholeLeaves:
    """Walk down all trees of a row, one level at a time; below 0 is -1 - the number of a leaf."""
    add, dialect = query.add, query.dialect
    is_leaf = trees.children[:, 0] < 0
    asking = np.flatnonzero(~is_leaf)
    numbers = np.where(is_leaf, 0 - np.cumsum(is_leaf), np.cumsum(~is_leaf) - 1)
    if asking.size:
        used, cell = np.unique(trees.columns[asking], return_inverse=True)
        low, high = numbers[trees.children[asking]].T
        missing_high = (~trees.missing_left[asking]).astype(int)
        whole = {"cell": cell, "low": low, "high": high, "missing_high": missing_high}
        columns = {name: ("integer", list(map(str, each.tolist()))) for name, each in whole.items()}
        columns["threshold"] = ("float8", list(map(repr, trees.thresholds[asking].tolist())))
        add(f"nodes_{number}", dialect.rows(columns), once=True)
        names = [f"toprank_c{column}" for column in used]
        add(f"cells_{number}", dialect.unnested(names, "number", "float8", "numbered"), once=True)
    roots = [str(root) for root in numbers[trees.roots].tolist()]
    start = f"walk_{number}_0"
    add(start, dialect.unnested(roots, "node", "integer", "numbered"), once=True)
    reached = [start]
    is_above = "cells.number > asked.threshold"
    if may_miss:
        is_above += " OR cells.number IS NULL AND asked.missing_high = 1"
    for level in range(trees.depth if asking.size else 0):
        # Two joins in two parts: together, a wrong order of theirs would join all with all.
        asked, after = f"asked_{number}_{level}", f"walk_{number}_{level + 1}"
        questions = (
            "SELECT walk.toprank_row, nodes.*\n"
            f"  FROM walk_{number}_{level} AS walk\n"
            f"  JOIN nodes_{number} AS nodes ON nodes.place = walk.node"
        )
        add(asked, questions, once=True)
        answers = (
            "SELECT asked.toprank_row,\n"
            f"    CASE WHEN {is_above} THEN asked.high ELSE asked.low END AS node\n"
            f"  FROM {asked} AS asked\n"
            f"  JOIN cells_{number} AS cells\n"
            "    ON cells.toprank_row = asked.toprank_row AND cells.place = asked.cell"
        )
        add(after, answers, once=True)
        reached.append(after)
    selects = [
        f"SELECT toprank_row, -1 - node AS leaf FROM {name} WHERE node < 0" for name in reached
    ]
    add(f"reached_{number}", "\n  UNION ALL ".join(selects))
    # the sum over the trees of the largest value of a leaf
    largest = np.maximum.reduceat(np.abs(trees.values), trees.roots).sum() if trees.n_trees else 0.0
    return _whole(trees.values[is_leaf], float(largest))
