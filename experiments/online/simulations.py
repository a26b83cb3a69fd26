"""Figure 1: subset ranking on lists drawn by the paper's recipe.

Document i of a list is Gaussian around μ_i; with ζ_j = 1/j its grade is m − j where
ζ_{j+1} ≤ ⟨x, w*⟩ ≤ ζ_j. The text leaves open p₀, m in (a), μ_i, the covariance and s. Here w* has
length 1 and a random direction, and ⟨μ_i, w*⟩ is in the middle of the i-th band of scores (3/4 for
the first, 1/(m + 1) for the last).
"""

from typing import NamedTuple

import numpy as np

from toprank.predtron import PredtronSubsetRanker

SEEDS = range(60)
TEST_LISTS = 100
N_DOCUMENTS = 10
N_RELEVANT_FEATURES = 5
PROFILES = {"1/i": "reciprocal", "-i^1.1": 1.1, "-i^2": 2.0}
CHECKPOINTS = (5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
LENGTHS = (5, 10, 15, 20, 25, 30, 40)
WIDTHS = (20, 50, 100, 200, 500, 1000)


class Recipe(NamedTuple):
    """What the text leaves open about the Gaussians."""

    n_features: int
    apart: float  # standard deviation of the centres off w*, in every direction
    deviation: float  # of the rows around their centres
    unit_lists: bool = False  # whether training lists are scaled to Σ‖x‖² = 1


ON_A_LINE = Recipe(50, 0.0, 1.0)
APART = Recipe(100, 0.5, 0.2, unit_lists=True)


def grades(scores, m):
    """Number of thresholds 1/m, ..., 1/2 that a score has passed: m − j."""
    return np.searchsorted(1.0 / np.arange(m, 1, -1), scores, side="right")


def centres(m):
    """The middle of every band of scores, from the best grade down."""
    inner = 1.0 / np.arange(2, m + 1)
    return np.concatenate([[0.75], (inner[:-1] + inner[1:]) / 2, [1.0 / (m + 1)]])


def draw(rng, recipe, m):
    """A scoring function of length 1 and the centre of every document."""
    w = rng.normal(size=recipe.n_features)
    w /= np.linalg.norm(w)
    off = recipe.apart * rng.normal(size=(m, w.size))
    return w, np.outer(centres(m) - off @ w, w) + off


def gaussian_lists(rng, recipe, w, mu, n_lists):
    """Lists of the recipe: rows, grades and list ids."""
    m = mu.shape[0]
    X = mu + recipe.deviation * rng.normal(size=(n_lists, m, w.size))
    X = X.reshape(-1, w.size)
    return X, grades(X @ w, m), np.repeat(np.arange(n_lists), m)


def learner(profile, link="none"):
    """The basic Predtron of the paper's section 6: Algorithm 1 with η = 1, no average."""
    return PredtronSubsetRanker(
        variant="standard", eta=1.0, representation=profile, link=link, average=False
    )


def part_a():
    """Test loss of each f after n lists, for every seed: f → (seeds, checkpoints)."""
    losses = {name: np.zeros((len(SEEDS), len(CHECKPOINTS))) for name in PROFILES}
    for at, seed in enumerate(SEEDS):
        rng = np.random.default_rng(seed)
        w, mu = draw(rng, ON_A_LINE, N_DOCUMENTS)
        X, y, ids = gaussian_lists(rng, ON_A_LINE, w, mu, max(CHECKPOINTS))
        test = gaussian_lists(rng, ON_A_LINE, w, mu, TEST_LISTS)
        for name, profile in PROFILES.items():
            model, seen = learner(profile), 0
            for column, n in enumerate(CHECKPOINTS):
                rows = slice(seen * N_DOCUMENTS, n * N_DOCUMENTS)
                model.partial_fit(X[rows], y[rows], groups=ids[rows])
                losses[name][at, column] = 1.0 - model.score(test[0], test[1], groups=test[2])
                seen = n
    return losses


def part_b(recipe):
    """Test loss of each f after 30 lists of m documents: f → (seeds, lengths)."""
    losses = {name: np.zeros((len(SEEDS), len(LENGTHS))) for name in PROFILES}
    for at, seed in enumerate(SEEDS):
        for column, m in enumerate(LENGTHS):
            rng = np.random.default_rng((seed, m))
            w, mu = draw(rng, recipe, m)
            X, y, ids = gaussian_lists(rng, recipe, w, mu, 30)
            if recipe.unit_lists:
                X = X / np.repeat(np.linalg.norm(X.reshape(30, -1), axis=1), m)[:, None]
            test = gaussian_lists(rng, recipe, w, mu, TEST_LISTS)
            for name, profile in PROFILES.items():
                model = learner(profile).partial_fit(X, y, groups=ids)
                losses[name][at, column] = 1.0 - model.score(test[0], test[1], groups=test[2])
    return losses


def part_c():
    """Test loss under both margins after 30 lists, as p₀ grows: link → (seeds, widths)."""
    links = {"L2 margin (no link)": "none", "L1 margin (l_r link)": "l_r"}
    losses = {name: np.zeros((len(SEEDS), len(WIDTHS))) for name in links}
    ids = np.repeat(np.arange(30), N_DOCUMENTS)
    test_ids = np.repeat(np.arange(TEST_LISTS), N_DOCUMENTS)
    for at, seed in enumerate(SEEDS):
        for column, p in enumerate(WIDTHS):
            rng = np.random.default_rng((seed, p))
            w = np.zeros(p)
            chosen = rng.choice(p, N_RELEVANT_FEATURES, replace=False)
            w[chosen] = rng.choice([-1, 1], chosen.size) * rng.uniform(0.5, 1.5, chosen.size)
            w /= np.abs(w).sum()
            X = rng.uniform(-1, 1, size=(ids.size, p))
            test = rng.uniform(-1, 1, size=(test_ids.size, p))
            for name, link in links.items():
                model = learner(1.1, link).partial_fit(X, grades(X @ w, N_DOCUMENTS), groups=ids)
                reached = model.score(test, grades(test @ w, N_DOCUMENTS), groups=test_ids)
                losses[name][at, column] = 1.0 - reached
    return losses
