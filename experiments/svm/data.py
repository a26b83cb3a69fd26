"""The artificial data of Suehiro, Hatano and Takimoto (2018): r-of-k threshold functions."""

import numpy as np
from scipy.stats import binom

__all__ = ["threshold_rows"]


def threshold_rows(
    n_rows,
    *,
    r=8,
    k=30,
    n_variables=100,
    noise=0.05,
    positive_share=0.5,
    seed=0,
    dtype=np.float64,
):
    """Boolean variables in {-1, 1} and the constant 1; positive where r of k chosen ones are 1.

    Rows are drawn within each class, for at r = 1 a negative has the chance 2⁻³⁰: first how many
    of the k variables are 1, by the binomial law cut to the class, then which. The target's
    variables are the first k. Last, every label is flipped with the chance ``noise``.
    """
    rng = np.random.default_rng(seed)
    n_positives = round(positive_share * n_rows)
    labels = np.arange(n_rows) < n_positives
    counts = np.arange(k + 1)
    law = binom.pmf(counts, k, 0.5)
    X = np.ones((n_rows, n_variables + 1), dtype=dtype)
    for rows, allowed in ((labels, counts >= r), (~labels, counts < r)):
        size = int(rows.sum())
        n_true = rng.choice(counts, size=size, p=law * allowed / (law @ allowed))
        places = np.argsort(rng.random((size, k)), axis=1)
        free = 2 * rng.integers(0, 2, (size, n_variables - k), dtype=np.int8) - 1
        X[rows, :k] = np.where(places < n_true[:, None], 1, -1)
        X[rows, k:n_variables] = free
    order = rng.permutation(n_rows)
    flipped = rng.random(n_rows) < noise
    return X[order], labels[order] ^ flipped
