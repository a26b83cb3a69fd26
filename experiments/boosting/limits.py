"""RankBoost with its exact steps, and with shorter ones."""

import numpy as np

from experiments.boosting.equivalence import some_rows
from toprank import RankBoost
from toprank.metrics import average_precision

LIMITS = (None, 5.0, 2.0)
N_ROWS = 3000


def compare_limits(load):
    """Share of positives, and average precision on held-out halves for each limit."""
    found = []
    for seed in range(3):
        X, y = some_rows(load, N_ROWS, seed)
        half = len(y) // 2
        row = [y.mean()]
        for limit in LIMITS:
            model = RankBoost(max_step=limit).fit(X[:half], y[:half])
            row.append(average_precision(y[half:], model.decision_function(X[half:])))
        found.append(row)
    return np.mean(found, axis=0)
