"""Trees as tables of constants that a query joins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.models.terms import BinarySum

if TYPE_CHECKING:
    from toprank.models.sql import Query
    from toprank.models.terms import ObliviousSum

# Trees whose leaves are computed in one expression.
MOST_TREES = 200
# Bits that the sum of the leaves' whole numbers may have; a sum of 64-bit numbers stays below.
SUM_BITS = 61


def add_trees(query: Query, trees: ObliviousSum | BinarySum, number: int) -> float:
    """Add the parts of a sum of trees, the last of which has totals; gives the unit of these."""
    add, dialect = query.add, query.dialect
    used = [query.cells[cell] for cell in trees.used]
    may_miss = any(None in (getattr(cell, "fill", 0), getattr(cell, "missing", 0)) for cell in used)
    if isinstance(trees, BinarySum):
        values = _walked(query, trees, number, may_miss=may_miss)
        # the sum over the trees of the largest value of a leaf
        largest = np.maximum.reduceat(np.abs(trees.values), trees.roots) if trees.n_trees else 0.0
    else:
        values, largest = trees.values.ravel(), np.abs(trees.values).max(axis=1, initial=0.0)
        _add_bit_indexes(query, trees, number, may_miss=may_miss)
    bound = float(np.sum(largest))
    power = SUM_BITS - int(np.frexp(bound)[1]) if bound else 0
    whole = np.rint(np.ldexp(values, power)).astype(np.int64)
    add(f"leaves_{number}", dialect.rows({"value": ("bigint", whole.tolist() or [0])}))
    sums = (
        f"SELECT reached.toprank_row, {dialect.total('leaves.value')} AS total\n"
        f"  FROM reached_{number} AS reached\n"
        f"  JOIN leaves_{number} AS leaves ON leaves.place = reached.leaf\n"
        "  GROUP BY reached.toprank_row"
    )
    add(f"member_{number}", sums)
    return float(np.ldexp(1.0, -power))


def _add_bit_indexes(query: Query, trees: ObliviousSum, number: int, *, may_miss: bool) -> None:
    """Numbers of the leaves that a row reaches: the answers of a tree are their bits."""
    indexes, depth = [], trees.columns.shape[1]
    for tree in range(trees.n_trees):
        bits = [str(tree << depth)]
        for level in range(depth):
            cell = f"c{trees.columns[tree, level]}"
            is_above = f"{cell} > {query.dialect.number(trees.thresholds[tree, level])}"
            if may_miss and not trees.missing_left[tree, level]:
                is_above += f" OR {cell} IS NULL"
            bits.append(f"CASE WHEN {is_above} THEN {1 << (depth - 1 - level)} ELSE 0 END")
        indexes.append(" + ".join(bits))
    selects = [
        query.dialect.unnested(indexes[start : start + MOST_TREES], "leaf", "integer")
        for start in range(0, trees.n_trees, MOST_TREES)
    ]
    nothing = "SELECT toprank_row, 0 AS leaf, 0 AS place FROM numbered WHERE 1 = 0"
    query.add(f"reached_{number}", "\n  UNION ALL ".join(selects or [nothing]), "")


def _walked(query: Query, trees: BinarySum, number: int, *, may_miss: bool) -> Any:
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
        columns = {name: ("integer", each.tolist()) for name, each in whole.items()}
        columns["threshold"] = ("float8", trees.thresholds[asking].tolist())
        add(f"nodes_{number}", dialect.rows(columns))
        names = [f"c{column}" for column in used]
        add(f"cells_{number}", dialect.unnested(names, "number", "float8"))
    roots = [str(root) for root in numbers[trees.roots].tolist()]
    start = f"walk_{number}_0"
    add(start, dialect.unnested(roots, "node", "integer"))
    reached = [start]
    is_above = "cells.number > asked.threshold"
    if may_miss:
        is_above += " OR cells.number IS NULL AND asked.missing_high = 1"
    for level in range(trees.trees.depth if asking.size else 0):
        # Two joins in two parts: together, a wrong order of theirs would join all with all.
        asked, after = f"asked_{number}_{level}", f"walk_{number}_{level + 1}"
        questions = (
            "SELECT walk.toprank_row, nodes.*\n"
            f"  FROM walk_{number}_{level} AS walk\n"
            f"  JOIN nodes_{number} AS nodes ON nodes.place = walk.node"
        )
        add(asked, questions)
        answers = (
            "SELECT asked.toprank_row,\n"
            f"    CASE WHEN {is_above} THEN asked.high ELSE asked.low END AS node\n"
            f"  FROM {asked} AS asked\n"
            f"  JOIN cells_{number} AS cells\n"
            "    ON cells.toprank_row = asked.toprank_row AND cells.place = asked.cell"
        )
        add(after, answers)
        reached.append(after)
    selects = [
        f"SELECT toprank_row, -1 - node AS leaf FROM {name} WHERE node < 0" for name in reached
    ]
    add(f"reached_{number}", "\n  UNION ALL ".join(selects), "")
    return trees.values[is_leaf]
