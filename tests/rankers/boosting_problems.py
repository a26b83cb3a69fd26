"""Problems and rankers that the tests of boosting share."""

import numpy as np

from toprank import (
    AdaBoostRanker,
    RankBoost,
    SmoothMarginRanker,
    SoftRankBoost,
)

RANKERS = [RankBoost, SmoothMarginRanker, AdaBoostRanker, SoftRankBoost]


def data(seed=0, n_rows=200, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).round(2)
    y = (X[:, 0] - X[:, 1] + rng.normal(size=n_rows) > 0.5).astype(int)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def all_pairs(y):
    return np.array([(i, k) for i in np.flatnonzero(y == 1) for k in np.flatnonzero(y == 0)])
