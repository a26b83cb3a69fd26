"""Predtron beside scikit-learn's online linear models: batches of a stream through partial_fit."""

import numpy as np
from scipy import sparse
from sklearn.linear_model import Perceptron, SGDClassifier

from benchmarks.measure import race
from toprank.predtron import PredtronClassifier

ROWS, FEATURES = 20_000, 100
SPARSE_FEATURES, NON_ZEROS = 100_000, 50


def stream(model, X, y, classes, batch):
    """Feed a table to partial_fit batch by batch."""
    for start in range(0, X.shape[0], batch):
        rows = slice(start, start + batch)
        model.partial_fit(X[rows], y[rows], classes=classes)


def beside(task, X, y, batch):
    classes = np.unique(y)
    yield from race(
        "training",
        f"a stream of {task}, batches of {batch:,}",
        (
            "PredtronClassifier",
            lambda: stream(PredtronClassifier(average=False), X, y, classes, batch),
        ),
        {
            "Perceptron": lambda: stream(Perceptron(), X, y, classes, batch),
            "SGDClassifier": lambda: stream(SGDClassifier(), X, y, classes, batch),
        },
    )


def text_like(rng):
    """CSR rows with about 50 non-zeros, features by Zipf's law, two classes."""
    features = rng.zipf(1.3, size=ROWS * NON_ZEROS) % SPARSE_FEATURES
    rows = np.repeat(np.arange(ROWS), NON_ZEROS)
    X = sparse.csr_array((np.ones(rows.size), (rows, features)), shape=(ROWS, SPARSE_FEATURES))
    X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, (X @ rng.normal(size=SPARSE_FEATURES) > 0).astype(int)


def results():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, FEATURES))
    margins = X @ rng.normal(size=(FEATURES, 10)) + 3 * rng.normal(size=(ROWS, 10))
    two, ten = (margins[:, 0] > 0).astype(int), margins.argmax(axis=1)
    for batch in (100, 1000):
        yield from beside(f"{ROWS:,} × {FEATURES}, two classes", X, two, batch)
        yield from beside(f"{ROWS:,} × {FEATURES}, ten classes", X, ten, batch)
    X, y = text_like(rng)
    yield from beside(f"{ROWS:,} × {SPARSE_FEATURES:,} sparse, two classes", X, y, 1000)
