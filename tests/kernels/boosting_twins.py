"""Naive twins of boosting's compiled loops: every row, pair, code and threshold by itself."""

import numpy as np

from toprank.kernels.bins import MISSING


def histogram_naive(codes, values):
    """The twin of :func:`histogram`: 256 masked sums."""
    return np.array([values[codes == code].sum(dtype=np.float64) for code in range(256)])


def bin_rows_naive(X, rows, thresholds):
    """The twin of :func:`bin_rows`: every value beside every threshold."""
    codes = np.empty((X.shape[1], rows.size), dtype=np.uint8)
    for j, mine in enumerate(thresholds):
        values = X[rows, j].astype(np.float64)
        codes[j] = (values[:, None] > mine).sum(axis=1)
        codes[j, np.isnan(values)] = MISSING
    return codes


def histograms_by_class_naive(codes, tables, positives, log_weights):
    """The sums of :func:`histograms_by_class` themselves, one column and code after the other."""
    scores = sum(table[mine] for table, mine in zip(tables, codes, strict=True))
    masses = np.exp(np.where(positives, -scores, scores))
    if log_weights.size:
        masses *= np.exp(log_weights)
    sums = np.empty((2, len(codes), 256))
    for side, members in enumerate((positives, ~positives)):
        for j, mine in enumerate(codes):
            for code in range(256):
                sums[side, j, code] = masses[members & (mine == code)].sum()
    return sums


def pair_masses_naive(values, pairs, weights):
    """The four shares from a list of all pairs and the values of one weak ranker."""
    moved = values[pairs[:, 0]] - values[pairs[:, 1]]
    shares = np.array([weights[moved == level].sum() for level in (1.0, 0.5, -0.5, -1.0)])
    shares /= weights.sum()
    return shares


def ladder_pairs_naive(grades, groups):
    """All pairs (better, worse) of rows that the ladder stands for."""
    pairs = [
        (i, k)
        for i in range(grades.size)
        for k in range(grades.size)
        if groups[i] == groups[k] and grades[i] > grades[k]
    ]
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def label_masses_naive(values, weights, relevant):
    """The twin for one weak ranker: two masked sums."""
    on = values == 1
    return float(weights[on & relevant].sum()), float(weights[on & ~relevant].sum())
