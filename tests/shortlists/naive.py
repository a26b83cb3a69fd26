"""What a list promises, as the definitions read: every row and every draw looked at."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np


def p_value(calibration, score, own, counted=()):
    """Weight of the negatives at or above the score, its own added; ``counted`` rows join them."""
    rows = list(zip(calibration.scores, calibration.positives, calibration.masses, strict=True))
    above = sum(w for s, y, w in rows if not y and s >= score)
    above += sum(w for s, w in counted if s >= score)
    total = sum(w for _, _, w in rows) + sum(w for _, w in counted)
    return (above + own) / (total + own)


def benjamini_hochberg(p, q):
    """The largest set of r rows that all have p ≤ q·r/m."""
    m = len(p)
    for r in range(m, 0, -1):
        chosen = [row for row in range(m) if p[row] <= q * r / m * (1 + 1e-12)]
        if len(chosen) >= r:
            return set(chosen)
    return set()


def list_size(calibration, scores, weights, j, q):
    """Rows that are listed if row j is taken for a negative calibration row."""
    p = [
        0.0 if row == j else p_value(calibration, scores[row], 0.0, [(scores[j], weights[j])])
        for row in range(len(scores))
    ]
    return len(benjamini_hochberg(p, q))


def pruned(p, sizes, q, chance=1.0):
    """Rows that pass, the largest number r of them whose sizes times ``chance`` are at most r."""
    m = len(p)
    passed = [row for row in range(m) if p[row] <= q * sizes[row] / m * (1 + 1e-12)]
    for r in range(m, 0, -1):
        kept = {row for row in passed if chance * sizes[row] <= r}
        if len(kept) >= r:
            return kept
    return set()


def weighted_selection(calibration, scores, weights, q, chance=1.0):
    p = [p_value(calibration, s, w) for s, w in zip(scores, weights, strict=True)]
    sizes = [list_size(calibration, scores, weights, j, q) for j in range(len(scores))]
    return pruned(p, sizes, q, chance)


def selection_among_models(calibrations, scores, q):
    n_new = len(scores[0])
    p, sizes = [], []
    for j in range(n_new):
        found = [
            list_size(each, table, np.ones(n_new), j, q)
            for each, table in zip(calibrations, scores, strict=True)
        ]
        best = found.index(max(found))
        sizes.append(found[best])
        p.append(p_value(calibrations[best], scores[best][j], 1.0))
    return pruned(p, sizes, q)


def most_among_new(n_known, n_marked, n_new, error):
    """The largest number of marked new rows that a draw of few marked known rows allows."""
    allowed = -1
    for more in range(n_new + 1):
        marked, total = n_marked + more, n_known + n_new
        ways = sum(
            comb(marked, drawn) * comb(total - marked, n_known - drawn)
            for drawn in range(n_marked + 1)
            if n_known - drawn >= 0
        )
        if Fraction(ways, comb(total, n_known)) > error:
            allowed = more
    return allowed


def most_among_weighted(marked, others, new, error):
    """The same where a draw's chance is the product of its weights, over every marking and draw."""
    weights = np.concatenate([marked, others, new])
    n_known, n_new = weights.size - new.size, new.size
    draws = np.array([*combinations(range(weights.size), n_new)], dtype=int)
    chances = weights[draws].prod(axis=1)
    allowed = 0
    for more in range(n_new + 1):
        for chosen in combinations(range(n_known, weights.size), more):
            is_marked = np.arange(weights.size) < marked.size
            is_marked[list(chosen)] = True
            many = chances[is_marked[draws].sum(axis=1) >= more].sum()
            if many > error * chances.sum() * (1 + 1e-9):
                allowed = more
    return allowed


def draws(n_known, n_new):
    """Which places of a common order are new rows, every way once."""
    for new in combinations(range(n_known + n_new), n_new):
        yield np.isin(np.arange(n_known + n_new), new)


def best_choice(gains, k, allowed):
    """The largest sum over every set of at most k rows that ``allowed`` accepts."""
    best = -np.inf
    for size in range(k + 1):
        for rows in combinations(range(len(gains)), size):
            if allowed(rows):
                best = max(best, sum(gains[row] for row in rows))
    return best
