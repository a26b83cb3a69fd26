"""Shapley values by their definition, over all subsets of columns."""

from itertools import combinations
from math import comb

import numpy as np


def brute_force(value_of_known, n_columns):
    """φ_j = Σ_S (v(S ∪ j) - v(S)) / (n·C(n - 1, |S|)) over the subsets S without j."""
    found = np.zeros(n_columns)
    for j in range(n_columns):
        others = [column for column in range(n_columns) if column != j]
        for size in range(n_columns):
            for known in combinations(others, size):
                gain = value_of_known({*known, j}) - value_of_known(set(known))
                found[j] += gain / (n_columns * comb(n_columns - 1, size))
    return found


def walk(node, row, known):
    """Value below a node: follow what is known of a row, else weigh both sides by cover.

    A node is a value, or (column, threshold, missing_left, left, right, left cover, right cover).
    """
    if not isinstance(node, tuple):
        return node
    column, threshold, missing_left, left, right, *cover = node
    if column in known:
        x = row[column]
        goes_left = missing_left if np.isnan(x) else x <= threshold
        return walk(left if goes_left else right, row, known)
    share = cover[0] / sum(cover) if sum(cover) else 0.5
    return share * walk(left, row, known) + (1 - share) * walk(right, row, known)
