"""Learners with labels for each, and what tests of streams ask of them."""

import pickle
from itertools import permutations

import numpy as np
import pytest

from toprank.predtron import (
    PRank,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabel,
    PredtronOrdinal,
)
from toprank.predtron.losses import discounts, gains

N = 40
LABEL_SETS = [PredtronMultilabel, PredtronLabelRanker]
LEARNERS = {
    "classifier": (PredtronClassifier, lambda rng: rng.integers(0, 3, 120)),
    "binary": (PredtronClassifier, lambda rng: rng.integers(0, 2, 120)),
    "ordinal": (PredtronOrdinal, lambda rng: rng.integers(0, 3, 120)),
    "prank": (PRank, lambda rng: rng.integers(0, 3, 120)),
    "multilabel": (PredtronMultilabel, lambda rng: rng.integers(0, 2, (120, 4))),
    "label ranker": (PredtronLabelRanker, lambda rng: rng.integers(0, 2, (120, 4))),
}


def labels_for(learner, rng):
    return rng.integers(0, 2, (N, 4)) if learner in LABEL_SETS else rng.integers(0, 3, N)


def state(model):
    """Everything an estimator knows, as bytes."""
    return pickle.dumps(vars(model))


def refuses(model, complaint, X, y, error=ValueError, **options):
    """A call that fails in both ways of learning, and leaves no trace."""
    before = state(model)
    for method in ("partial_fit", "fit"):
        own = {} if method == "fit" else options
        with pytest.raises(error, match=complaint):
            getattr(model, method)(X, y, **own)
        assert state(model) == before


def table(rng, n_rows=300, n_features=9, sparsity=0.6):
    X = rng.normal(size=(n_rows, n_features))
    X[rng.random(X.shape) < sparsity] = 0
    return X


def ndcg_of_all(m, grades):
    """Orders of m items, and 1 − NDCG of each from its formula."""
    orders = np.array(list(permutations(range(m))))
    reached = gains(grades)[orders] @ discounts(m)
    ideal = reached.max()
    return orders, np.zeros(len(orders)) if ideal == 0 else 1 - reached / ideal
