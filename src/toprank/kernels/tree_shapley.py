"""Shapley values of trees: what each column adds to a row's score.

The players of a leaf are the columns on its path. Where the columns S of a row are known, the row
comes to the leaf with the probability Π_{j in S} a_j · Π_{j not in S} z_j: a_j says whether the row
agrees with all answers about column j on the path, and z_j is the product of the shares of training
rows that gave these answers. As a known column arrives at a uniform time t, the Shapley value is

    φ_j = value·(a_j - z_j)·∫₀¹ Π_{i≠j} (a_i·t + z_i·(1 - t)) dt,

a polynomial of degree k - 1 for k players, which (k + 1)/2 points of Gauss and Legendre integrate
exactly. All factors are positive: nothing cancels. Cost: O(k) per node and row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled

Floats = NDArray[np.float64]


def quadrature(n_players: int) -> Floats:
    """Points and weights on (0, 1) for every number of players: rules[k, 0] and rules[k, 1]."""
    rules = np.zeros((n_players + 1, 2, (n_players + 1) // 2))
    for players in range(1, n_players + 1):
        size = (players + 1) // 2
        points, weights = np.polynomial.legendre.leggauss(size)
        rules[players, 0, :size], rules[players, 1, :size] = (points + 1) / 2, weights / 2
    return rules


# Each node but the root stands for the answer that leads to it. Its *former* is the last node above
# that answers a question about the same column: agreement and share of a player are products over
# such a chain. Agreement is 1.0 or 0.0, so that sums take the place of branches.


@compiled
def node_paths(
    children: NDArray[np.int32], columns: NDArray[np.int32], sums: Floats
) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats, NDArray[np.int32]]:
    """Parent and former of each node (-1 for none), its player's share, and players above it.

    ``sums`` is the cover below each node.
    """
    size = len(children)
    parents, formers = np.full(size, -1, dtype=np.int32), np.full(size, -1, dtype=np.int32)
    shares, n_players = np.ones(size), np.zeros(size, dtype=np.int32)
    for node in range(size):
        if children[node, 0] < 0:
            continue
        former = node
        while former >= 0 and (parents[former] < 0 or columns[parents[former]] != columns[node]):
            former = parents[former]
        for child in children[node]:
            parents[child], formers[child] = node, former
            share = sums[child] / sums[node] if sums[node] > 0.0 else 0.5
            shares[child] = share * (shares[former] if former >= 0 else 1.0)
            n_players[child] = n_players[node] + (former < 0)
    return parents, formers, shares, n_players


@compiled
def _inverse(number: float) -> float:
    return 1.0 / number if number > 0.0 else 0.0


@compiled
def _set_inverses(share: float, points: Floats, inverses: Floats) -> None:
    """1/factor at each point of a player that agrees, and of one that does not; 0 for 1/0."""
    for q in range(points.size):
        rest = share * (1.0 - points[q])
        inverses[0, q] = _inverse(points[q] + rest)
        inverses[1, q] = _inverse(rest)


@compiled
def _go_down(
    above: Floats,
    agrees: Floats,
    agreed: Floats,
    share: float,
    points: Floats,
    former: Floats,
    products: Floats,
) -> None:
    """Products of the players' factors below an answer, from those above it.

    ``agreed`` and the inverse factors ``former`` are those of the player before the answer.
    """
    for q in range(products.shape[0]):
        rest = share * (1.0 - points[q])
        both, broken = (points[q] + rest) * former[0, q], rest * former[0, q]
        neither = rest * former[1, q]
        for i in range(agrees.size):
            apart = (agreed[i] - agrees[i]) * broken + (1.0 - agreed[i]) * neither
            products[q, i] = above[q, i] * (agrees[i] * both + apart)


@compiled
def _add_term(
    sign: float,
    agrees: Floats,
    share: float,
    inverses: Floats,
    sums: Floats,
    total: Floats,
    found: Floats,
) -> None:
    """``found`` += sign·(a - z)·Σ_q sums[q]/(a·t + z·(1 - t)) for one player of some rows."""
    total[:] = 0.0
    for q in range(sums.shape[0]):
        agreeing, apart = inverses[0, q], inverses[1, q]
        for i in range(agrees.size):
            total[i] += sums[q, i] * (agrees[i] * agreeing + (1.0 - agrees[i]) * apart)
    for i in range(agrees.size):
        found[i] += sign * (agrees[i] - share) * total[i]


@compiled
def _add_both(left: Floats, right: Floats, sums: Floats) -> None:
    for q in range(sums.shape[0]):
        for i in range(sums.shape[1]):
            sums[q, i] = left[q, i] + right[q, i]


@compiled
def _answer(X: NDArray[Any], threshold: float, is_missing_left: bool, sides: Floats) -> None:
    """1 for the rows that go left, else 0; and in ``sides[1]`` for those that go right."""
    for i in range(X.size):
        left = X[i] <= threshold or (is_missing_left and np.isnan(X[i]))
        sides[0, i] = 1.0 if left else 0.0
        sides[1, i] = 1.0 - sides[0, i]


@compiled
def add_contributions(
    X: NDArray[Any],
    nodes: tuple[NDArray[Any], ...],
    paths: tuple[NDArray[Any], ...],
    values: Floats,
    rules: Floats,
    found: Floats,
) -> None:
    """Add what each column adds to the scores of a few rows, for trees of any shape.

    ``X`` and ``found`` have a row per column of the table. ``nodes`` are the roots and the end,
    columns, thresholds, missing_left and children; ``paths`` is of :func:`node_paths`. Down a tree
    go the products of factors, up come their sums over the leaves below, times the values.
    """
    roots, columns, thresholds, missing_left, children = nodes
    parents, formers, shares, n_players = paths
    n_rows, most = X.shape[1], np.max(np.diff(roots))
    # the last of agrees and inverses: a player of which nothing was asked has agreed, with share 1
    agrees, sides = np.ones((most + 1, n_rows)), np.empty((2, n_rows))
    inverses = np.empty((most + 1, 2, rules.shape[2]))
    products, total = np.empty((most, rules.shape[2], n_rows)), np.empty(n_rows)
    for t in range(roots.size - 1):
        first, last = roots[t], roots[t + 1]
        rule = rules[n_players[first:last].max()]
        points = rule[0, : np.count_nonzero(rule[1])]
        mine = products[:, : points.size]
        _set_inverses(1.0, points, inverses[most])
        for q in range(points.size):
            mine[0, q] = rule[1, q]
        for node in range(first, last):
            if children[node, 0] < 0:
                continue
            _answer(X[columns[node]], thresholds[node], missing_left[node], sides)
            for side in range(2):
                child = children[node, side]
                place, former = child - first, formers[child] - first
                former = former if formers[child] >= 0 else most
                for i in range(n_rows):
                    agrees[place, i] = sides[side, i] * agrees[former, i]
                _set_inverses(shares[child], points, inverses[place])
                above, before, own = mine[node - first], agrees[former], agrees[place]
                old = inverses[former]
                _go_down(above, own, before, shares[child], points, old, mine[place])
        for node in range(last - 1, first, -1):
            place, to = node - first, found[columns[parents[node]]]
            sums, former = mine[place], formers[node]
            if children[node, 0] >= 0:
                _add_both(mine[children[node, 0] - first], mine[children[node, 1] - first], sums)
            else:
                sums *= values[node]
            _add_term(1.0, agrees[place], shares[node], inverses[place], sums, total, to)
            if former >= 0:
                place = former - first
                _add_term(-1.0, agrees[place], shares[former], inverses[place], sums, total, to)
