"""Theorem 7 on two classes: what a round gains, beside what is promised."""

import numpy as np

from toprank import SmoothMarginRanker

N_ROWS = 500
SEED = 0


def follow_theorem_7():
    """Gains of smooth margin ranking on the majority of nine bits, in units of what is promised."""
    X = (np.random.default_rng(SEED).random((N_ROWS, 9)) < 0.5).astype(float)
    model = SmoothMarginRanker(max_iter=5000, tol=None).fit(X, X.sum(axis=1) > 4.5)
    steps, g = np.abs(model.steps_), model.smooth_margin_path_
    r, silent, alpha = model.edges_[1:], model.silent_shares_[1:], steps[1:]
    ratio = np.diff(g) / (0.5 * alpha * (r - g[:-1]) / np.cumsum(steps)[1:])
    counts = (g[:-1] > 0) & (r > g[:-1])
    applies = counts & (silent < 2 / 3 * (1 - r) * (1 - r**2))
    return {
        "n_rows": N_ROWS,
        "rounds": int(counts.sum()),
        "applies": int(applies.sum()),
        "low": silent[applies].min(),
        "high": silent[applies].max(),
        "least": ratio[applies].min(),
    }
