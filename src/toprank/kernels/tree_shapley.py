"""Shapley values of trees: what each column adds to a row's score.

The players of a leaf are the columns on its path. Where the columns S of a row are known, the row
comes to the leaf with the probability Π_{j in S} a_j · Π_{j not in S} z_j: a_j says whether the row
agrees with all answers about column j on the path, and z_j is the product of the shares of training
rows that gave these answers. As a known column arrives at a uniform time t, the Shapley value is

    φ_j = value·(a_j - z_j)·∫₀¹ Π_{i≠j} (a_i·t + z_i·(1 - t)) dt,

a polynomial of degree k - 1 for k players, which (k + 1)/2 points of Gauss and Legendre integrate
exactly. All factors are positive: nothing cancels. Cost: O(k²) per leaf and row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["add_contributions", "leaf_contributions", "node_parents", "quadrature"]


def quadrature(n_players: int) -> Floats:
    """Points and weights on (0, 1) for every number of players: rules[k, 0] and rules[k, 1]."""
    rules = np.zeros((n_players + 1, 2, (n_players + 1) // 2))
    for players in range(1, n_players + 1):
        size = (players + 1) // 2
        points, weights = np.polynomial.legendre.leggauss(size)
        rules[players, 0, :size], rules[players, 1, :size] = (points + 1) / 2, weights / 2
    return rules


@compiled
def _set_factors(shares: Floats, points: Floats, factors: Floats) -> None:
    """``factors[0, j, q]`` = t + z_j·(1 - t) at the point t of number q; factors[1] = 1/that."""
    for j in range(shares.size):
        for q in range(points.size):
            factors[0, j, q] = points[q] + shares[j] * (1.0 - points[q])
            factors[1, j, q] = 1.0 / factors[0, j, q]


@compiled
def _set_product(
    agrees: NDArray[np.bool_], shares: Floats, rule: Floats, factors: Floats, product: Floats
) -> float:
    """Weight × Π of all players' factors at each point, without Π z_j of those that disagree.

    The latter comes back.
    """
    scale = 1.0
    product[:] = rule[1, : product.size]
    for j in range(shares.size):
        if agrees[j]:
            for q in range(product.size):
                product[q] *= factors[0, j, q]
        else:
            scale *= shares[j]
            for q in range(product.size):
                product[q] *= 1.0 - rule[0, q]
    return scale


@compiled
def _add_leaf(
    value: float,
    agrees: NDArray[np.bool_],
    shares: Floats,
    rule: Floats,
    factors: Floats,
    product: Floats,
    found: Floats,
) -> None:
    """Add a leaf's part to what each of its players adds to a row's score.

    Players that disagree have equal parts: the factor z_j is in all of them.
    """
    value *= _set_product(agrees, shares, rule, factors, product)
    if value == 0.0:
        return
    against = 0.0
    for q in range(product.size):
        against += product[q] / (1.0 - rule[0, q])
    for j in range(shares.size):
        if agrees[j]:
            total = 0.0
            for q in range(product.size):
                total += product[q] * factors[1, j, q]
            found[j] += value * (1.0 - shares[j]) * total
        else:
            found[j] -= value * against


# oblivious trees ------------------------------------------------------------------------------


@compiled
def _path_shares(cover: Floats, leaf: int, slots: NDArray[np.int32], shares: Floats) -> None:
    """Product of the shares of rows on the path to a leaf, by the player of each question."""
    shares[:] = 1.0
    size = cover.size
    start = 0
    for level in range(slots.size):
        before = cover[start : start + size].sum()
        size //= 2
        if leaf & size:
            start += size
        after = cover[start : start + size].sum()
        shares[slots[level]] *= after / before if before > 0.0 else 0.5


@compiled
def _set_slots(
    columns: NDArray[np.int32], slots: NDArray[np.int32], first: NDArray[np.int32]
) -> int:
    """Player of each question and the first question of each player; gives their number."""
    n_players = 0
    for level in range(columns.size):
        slots[level] = n_players
        for j in range(n_players):
            if columns[first[j]] == columns[level]:
                slots[level] = j
        if slots[level] == n_players:
            first[n_players] = level
            n_players += 1
    return n_players


@compiled
def leaf_contributions(
    columns: NDArray[np.int32],
    values: Floats,
    cover: Floats,
    present: NDArray[np.bool_],
    rules: Floats,
    found: Floats,
) -> None:
    """What each question's column adds to the rows of each leaf, for oblivious trees.

    ``found[t, leaf, d]`` is for the column of question d; a column that is asked about again has
    its part at the first question. Leaves that are not ``present`` are left out.
    """
    n_trees, depth = columns.shape
    slots, first = np.empty(depth, dtype=np.int32), np.empty(depth, dtype=np.int32)
    agrees, parts = np.empty(depth, dtype=np.bool_), np.empty(depth)
    for t in range(n_trees):
        n_players = _set_slots(columns[t], slots, first)
        shares, rule, size = np.empty(n_players), rules[n_players], (n_players + 1) // 2
        factors, product = np.empty((2, n_players, size)), np.empty(size)
        leaves = np.flatnonzero(present[t])
        for end in range(values.shape[1]):
            _path_shares(cover[t], end, slots, shares)
            _set_factors(shares, rule[0, :size], factors)
            for leaf in leaves:
                agrees[:] = True
                for level in range(depth):
                    agrees[slots[level]] &= not ((leaf ^ end) >> (depth - 1 - level)) & 1
                parts[:] = 0.0
                _add_leaf(values[t, end], agrees, shares, rule, factors, product, parts)
                for j in range(n_players):
                    found[t, leaf, first[j]] += parts[j]


# trees of any shape ---------------------------------------------------------------------------


@compiled
def node_parents(children: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """Parent of each node, -1 at roots, and the most questions on a path."""
    parents = np.full(len(children), -1, dtype=np.int32)
    depths = np.zeros(len(children), dtype=np.int32)
    for node in range(len(children)):
        for child in children[node]:
            if child >= 0:
                parents[child] = node
                depths[child] = depths[node] + 1
    return parents, depths.max() if len(children) else 0


@compiled
def _set_box(
    leaf: int,
    nodes: tuple[NDArray[Any], ...],
    players: NDArray[np.int32],
    bounds: Floats,
    takes_missing: NDArray[np.bool_],
    shares: Floats,
) -> int:
    """Players of a leaf and the box of values that come to it; gives their number.

    Rows agree with player j where ``bounds[j, 0]`` < value ≤ ``bounds[j, 1]``.
    """
    columns, thresholds, missing_left, children, parents, sums = nodes
    n_players, node = 0, leaf
    while parents[node] >= 0:
        parent = parents[node]
        j = 0
        while j < n_players and players[j] != columns[parent]:
            j += 1
        if j == n_players:
            players[j], takes_missing[j], shares[j] = columns[parent], True, 1.0
            bounds[j] = -np.inf, np.inf
            n_players += 1
        is_left = children[parent, 0] == node
        if is_left:
            bounds[j, 1] = min(bounds[j, 1], thresholds[parent])
        else:
            bounds[j, 0] = max(bounds[j, 0], thresholds[parent])
        takes_missing[j] &= missing_left[parent] == is_left
        shares[j] *= sums[node] / sums[parent] if sums[parent] > 0.0 else 0.5
        node = parent
    return n_players


@compiled
def add_contributions(
    X: NDArray[Any],
    nodes: tuple[NDArray[Any], ...],
    values: Floats,
    rules: Floats,
    found: Floats,
) -> None:
    """Add what each column adds to the scores of some rows, for trees of any shape.

    ``nodes`` are columns, thresholds, missing_left, children, parents and the cover below each
    node. ``X`` and ``found`` have a row per column of the table.
    """
    children, most = nodes[3], len(rules) - 1
    players, bounds = np.empty(most, dtype=np.int32), np.empty((most, 2))
    takes_missing, agrees = np.empty(most, dtype=np.bool_), np.empty(most, dtype=np.bool_)
    shares, parts, product = np.empty(most), np.empty(most), np.empty((most + 1) // 2)
    factors = np.empty((2, most, product.size))
    for leaf in range(values.size):
        if children[leaf, 0] >= 0:
            continue
        size = _set_box(leaf, nodes, players, bounds, takes_missing, shares)
        rule, mine, products = rules[size], shares[:size], product[: (size + 1) // 2]
        _set_factors(mine, rule[0, : products.size], factors)
        for i in range(X.shape[1]):
            for j in range(size):
                x = X[players[j], i]
                agrees[j] = takes_missing[j] if np.isnan(x) else bounds[j, 0] < x <= bounds[j, 1]
            parts[:size] = 0.0
            _add_leaf(values[leaf], agrees, mine, rule, factors, products, parts)
            for j in range(size):
                found[players[j], i] += parts[j]
