"""What a list promises, as the definitions read: every row and every draw looked at."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np


def p_value(calibration, score):
    """One and the negatives at or above the score, out of one and all rows."""
    weights = np.ones(calibration.n_rows) if calibration.weights is None else calibration.weights
    counts = weights * weights.sum() / (weights**2).sum()
    above = sum(counts[~calibration.positives & (calibration.scores >= score)])
    return (1 + above) / (1 + sum(counts))


def benjamini_hochberg(p, q):
    """The largest set of r rows that all have p ≤ q·r/m."""
    m = len(p)
    for r in range(m, 0, -1):
        chosen = [row for row in range(m) if p[row] <= q * r / m * (1 + 1e-12)]
        if len(chosen) >= r:
            return set(chosen)
    return set()


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
