"""The matrix of Theorem 6 and the surface of Figure 2."""

import numpy as np

from experiments.boosting.matrix_boosting import boost_matrix
from toprank.guarantees import best_margin

# Rudin, Daubechies and Schapire (2004): rows are examples, columns weak classifiers.
EIGHT = np.array(
    [
        [-1, 1, 1, 1, 1, -1, -1, 1],
        [-1, 1, 1, -1, -1, 1, 1, 1],
        [1, -1, 1, 1, 1, -1, 1, 1],
        [1, -1, 1, 1, -1, 1, 1, 1],
        [1, -1, 1, -1, 1, 1, 1, -1],
        [1, 1, -1, 1, 1, 1, 1, -1],
        [1, 1, -1, 1, 1, 1, -1, 1],
        [1, 1, 1, 1, -1, -1, 1, -1],
    ],
    dtype=float,
)
# largest decrease, smooth
KINDS = {
    "RankBoost": (True, 0),
    "coordinate descent RankBoost": (False, 0),
    "smooth margin ranking": (False, 1),
    "exact ascent (10)": (False, 2),
}


def best_margin_of_matrix(M, *, directions="increasing"):
    """ρ = max_λ min_i (Mλ)_i over ‖λ‖₁ = 1: every row of M belongs above a row of zeros."""
    margins = np.asarray(M, dtype=float)
    rows = np.vstack([np.zeros(margins.shape[1]), margins])
    return best_margin(rows, np.arange(len(rows)) > 0, directions=directions)


def margin_paths(max_iter, shown=()):
    """Margin after rounds spread evenly on a logarithmic scale, and after those to be shown."""
    spread = np.geomspace(1, max_iter, 400).astype(int)
    rounds = np.union1d(spread, np.array(shown, dtype=int))
    found = {}
    for name, (largest_decrease, smooth) in KINDS.items():
        run = boost_matrix(EIGHT, np.ones(8), max_iter, largest_decrease, smooth, False)
        weights, margins, done = np.zeros(8), [], 0
        for stop in rounds:
            np.add.at(weights, run[0][done:stop], run[1][done:stop])
            done = stop
            margins.append((EIGHT @ weights).min() / weights.sum())
        found[name] = (rounds, np.array(margins))
    return found


def figure_2(silent):
    """B(r, g) = (-ln τ/α - g)/(r - g) with the unlimited step (12), where Lemma 20 applies."""
    r, g = np.meshgrid(np.linspace(0.01, 0.85, 120), np.linspace(0.0, 0.84, 120))
    applies = (g < r - 1e-6) & (silent < 2 / 3 * (1 - r) * (1 - r**2))
    plus, minus = (1 + r - silent) / 2, (1 - r - silent) / 2
    with np.errstate(all="ignore"):
        root = np.sqrt((g * silent) ** 2 + 4 * (1 - g**2) * plus * minus)
        step = np.log(2 * (1 - g) * plus / (g * silent + root))
        tau = plus * np.exp(-step) + minus * np.exp(step) + silent
        gained = (-np.log(tau) / step - g) / (r - g)
    return r, g, np.where(applies, gained, np.nan)
