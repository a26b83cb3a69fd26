"""Left sides of Theorems 12, 13 and 15 and of Corollary 14, measured on streams.

A population Z is a table, and streams are rows of Z drawn with replacement. All losses are
normalised, divided by k. Z itself is judged with k = ⌈κ·n₊⌉.
"""

from typing import NamedTuple

import numpy as np

from toprank.objectives import PrecisionAtK
from toprank.solvers.cutting_plane import minimize_by_cutting_planes
from toprank.solvers.mini_batch import (
    MiniBatches,
    Stream,
    ball_of_optimum,
    perceptron_aim,
    sgd_aim,
)
from toprank.truth import Truth
from toprank.weak_rankers.features import StandardFeatures

__all__ = [
    "SURROGATES",
    "Population",
    "deviations",
    "losses",
    "optimum",
    "path_models",
    "perceptron_curves",
    "sgd_curve",
    "slope",
]

KAPPA = 0.25
ALPHA = 1e-3
SURROGATES = ("ramp", "avg", "max")


class Population(NamedTuple):
    """Standardised rows, and which are positive."""

    Z: np.ndarray
    y: np.ndarray

    @classmethod
    def of(cls, X, y):
        """Standardise the rows once, so that weights need no units."""
        family = StandardFeatures().fit(X)
        return cls((X - family.low_) / family.span_, np.asarray(y, dtype=bool))

    def sample(self, n_rows, rng):
        """Rows drawn with replacement."""
        chosen = rng.integers(self.y.size, size=n_rows)
        return Population(self.Z[chosen], self.y[chosen])


def mistakes(y, scores):
    """prec@κ divided by k; nan without a positive or a negative."""
    if y.all() or not y.any():
        return np.nan
    return PrecisionAtK(KAPPA, "avg").on(y).loss(scores)


def losses(y, scores):
    """prec@κ and its surrogates, each divided by k; nan without a positive or a negative."""
    if y.all() or not y.any():
        return np.full(1 + len(SURROGATES), np.nan)
    values = [PrecisionAtK(KAPPA, name).on(y).value(scores) for name in SURROGATES]
    return np.array([mistakes(y, scores), *values])


def deviations(population, models, batch, n_samples, rng):
    """Theorem 12: max over models of |loss on a sample of b rows - loss on Z|.

    One row per sample, with a column for prec@κ and for each of its surrogates. The models stand
    for the set W, so this is at most the left side of the theorem.
    """
    scores = population.Z @ models.T
    whole = np.array([losses(population.y, column) for column in scores.T])
    found = []
    for _ in range(n_samples):
        chosen = rng.integers(population.y.size, size=batch)
        part = [losses(population.y[chosen], column) for column in scores[chosen].T]
        found.append(np.abs(np.array(part) - whole).max(axis=0))
    return np.array(found)


def stream_run(population, aim, batch, n_batches, rng):
    """Models w¹ … w^T after every batch of a stream, and the batches."""
    drawn = population.sample(batch * n_batches, rng)
    truth = Truth.of_labels(drawn.y, is_part=True)
    size = population.Z.shape[1]
    models = np.zeros((n_batches, size))
    stream = Stream(aim, np.zeros(size), np.ones(size))
    batches = MiniBatches(truth, batch, seed=None)
    stream.learn(np.ascontiguousarray(drawn.Z), truth, next(batches.passes()), models)
    return models, drawn


def path_models(population, n_models, rng):
    """Directions along a perceptron's path, with norms that a solver would have."""
    aim = perceptron_aim(KAPPA, "avg", whole=True, average=False)
    models, _ = stream_run(population, aim, 500, n_models, rng)
    norms = np.linalg.norm(models, axis=1, keepdims=True)
    return models / norms * rng.permutation(np.geomspace(0.1, 3.0, n_models))[:, None]


def perceptron_curves(population, batch, n_batches, rng, surrogate="avg"):
    """Theorem 13 and Corollary 14: two running means over the models of a perceptron.

    The first is of prec@κ(w^t; Z), the left side of both; the second of Δ_t/k_t, the mistakes on
    the batches, which is all that a user sees. w^t has not seen batch t.
    """
    aim = perceptron_aim(KAPPA, surrogate, whole=True, average=False)
    models, drawn = stream_run(population, aim, batch, n_batches, rng)
    before = np.vstack([np.zeros(models.shape[1]), models[:-1]])
    parts = np.split(np.arange(drawn.y.size), n_batches)
    seen = [
        mistakes(drawn.y[part], drawn.Z[part] @ w) for w, part in zip(before, parts, strict=True)
    ]
    whole = [mistakes(population.y, population.Z @ w) for w in before]
    kept = np.isfinite(seen)
    sums = np.cumsum(np.where(kept, [whole, seen], 0.0), axis=1)
    return sums / np.maximum(np.cumsum(kept), 1)


def objective(population, weights):
    """avg/k on Z with the penalty."""
    value = PrecisionAtK(KAPPA, "avg").on(population.y).value(population.Z @ weights)
    return float(value + 0.5 * ALPHA * weights @ weights)


def optimum(population):
    """w*, the best model of Z for avg, and its objective, by cutting planes."""
    design = StandardFeatures().fit(population.Z).design(population.Z)
    criterion = PrecisionAtK(KAPPA, "avg").on(population.y)
    weights = minimize_by_cutting_planes(design, criterion, ALPHA, tol=1e-3, max_iter=500).weights
    return weights, objective(population, weights)


def sgd_curve(population, batch, lengths, rng):
    """Theorem 15: the objective on Z of the average of the first T models, for some lengths T."""
    options = {"alpha": ALPHA, "radius": ball_of_optimum(ALPHA), "step": 1.0}
    aim = sgd_aim(KAPPA, "avg", whole=True, average=False, **options)
    models, _ = stream_run(population, aim, batch, max(lengths), rng)
    means = np.cumsum(models, axis=0) / np.arange(1, len(models) + 1)[:, None]
    return np.array([objective(population, means[length - 1]) for length in lengths])


def slope(sizes, values):
    """The power of the growth: slope of log values over log sizes."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
