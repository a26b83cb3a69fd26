"""The artificial data of Suehiro, Hatano and Takimoto (2018): r-of-k threshold functions."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from experiments import datasets

__all__ = ["even_chance", "real_tables", "threshold_rows"]


def even_chance(r, positive_share, k=30):
    """How often a variable must be 1 for at least r of k to be so in this share of all rows."""
    return float(brentq(lambda chance: binom.sf(r - 1, k, chance) - positive_share, 1e-9, 1 - 1e-9))


def threshold_rows(
    n_rows,
    *,
    r=8,
    k=30,
    n_variables=100,
    noise=0.05,
    positive_share=0.5,
    chance=0.5,
    seed=0,
    dtype=np.float64,
):
    """Boolean variables in {-1, 1} and the constant 1; positive where r of k chosen ones are 1.

    A variable is 1 with a ``chance``. Rows are drawn within each class, for at r = 1 and an even
    chance a negative has the chance 2⁻³⁰: first how many of the k variables are 1, by the binomial
    law cut to the class, then which. The target's variables are the first k. Last, every label is
    flipped with the chance ``noise``.
    """
    rng = np.random.default_rng(seed)
    n_positives = round(positive_share * n_rows)
    labels = np.arange(n_rows) < n_positives
    counts = np.arange(k + 1)
    law = binom.pmf(counts, k, chance)
    X = np.ones((n_rows, n_variables + 1), dtype=dtype)
    for rows, allowed in ((labels, counts >= r), (~labels, counts < r)):
        size = int(rows.sum())
        n_true = rng.choice(counts, size=size, p=law * allowed / (law @ allowed))
        places = np.argsort(rng.random((size, k)), axis=1)
        free = rng.random((size, n_variables - k), dtype=np.float32) < chance
        X[rows, :k] = np.where(places < n_true[:, None], 1, -1)
        X[rows, k:n_variables] = np.where(free, 1, -1)
    order = rng.permutation(n_rows)
    flipped = rng.random(n_rows) < noise
    return X[order], labels[order] ^ flipped


def real_tables():
    """The five data sets of Table 3, as functions that load them: features and labels."""
    loaders = {
        "hypothyroid": datasets.load_hypothyroid,
        "ionosphere": datasets.load_ionosphere,
        "australian": datasets.load_australian,
        "colon-cancer": datasets.load_colon_cancer,
        "duke": datasets.load_duke,
    }
    return {name: lambda load=load: _table(load) for name, load in loaders.items()}


def _table(load):
    """Features with medians where values are missing, and a mask of the positives."""
    X, y = load(return_X_y=True)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    known = np.isfinite(X).any(axis=0)
    X = X[:, known]
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X), np.asarray(y) == np.unique(y)[1]
