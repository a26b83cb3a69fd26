"""Every suitable data set of the data home, cut to training and test rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from experiments import datasets

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_TRAINING, MOST_TEST = 1_500, 5_000
LARGE = 10_000  # training rows of one more split, of sets with twice as many
MOST_CELLS = 500_000  # of a training table: wide sets learn from fewer rows
OF_POSITIVES, OF_LIST = 1 / 2, 1 / 10  # a budget is the smaller of the two

# One set of those that share rows: a9a and ada are made from adult, the digits from optdigits.
# Sets of fewer than 300 rows (colon_cancer, duke, leukemia) leave no list worth cutting.
BINARY = (
    "abalone", "adult", "ann_thyroid", "australian", "bank_marketing", "cod_rna", "covtype",
    "donors", "hiva", "housing", "hypothyroid", "ijcnn1", "ionosphere", "letter", "magic",
    "optdigits", "page_blocks", "pendigits", "sick", "sick_euthyroid", "spambase", "sylva",
)  # fmt: skip
# Of every multi-label set the label that one row in ten carries, or the nearest to it.
MULAN = (
    "bibtex", "delicious", "emotions", "enron", "medical", "scene", "tmc2007-500", "yeast",
)  # fmt: skip


WIDE = ("bibtex", "delicious", "enron", "hiva", "medical", "scene", "sylva", "tmc2007-500")


class Problem(NamedTuple):
    """One split of a data set."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def budget(self) -> int:
        """Number of test rows that count."""
        return budget(self.y_test)


def budget(y: np.ndarray) -> int:
    """Half as many rows as there are positives, and no more than a tenth of the list."""
    return max(1, int(np.ceil(min(OF_POSITIVES * y.sum(), OF_LIST * y.size))))


def _one_label(Y) -> np.ndarray:
    Y = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y)
    return Y[:, np.argmin(np.abs(Y.mean(axis=0) - 0.1))]


def _binary(name: str) -> Callable:
    return lambda: getattr(datasets, f"load_{name}")(return_X_y=True)


def _label_of(name: str) -> Callable:
    def load():
        X, Y = datasets.load_mulan(name, return_X_y=True)
        return X, _one_label(Y)

    return load


# Wide tables come last: they take longest.
SETS = {name: _binary(name) for name in BINARY} | {name: _label_of(name) for name in MULAN}
SETS = {name: SETS[name] for name in sorted(SETS, key=lambda name: name in WIDE)}


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Table and labels of a data set, dense, without columns that are empty."""
    X, y = SETS[name]()
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    return X[:, ~np.isnan(X).all(axis=0)], np.asarray(y).astype(int)


def splits(X: np.ndarray, y: np.ndarray, n_splits: int) -> list[Problem]:
    """Random halves, cut to the largest sizes; positives in the same share on both sides."""
    return _drawn(X, y, n_splits, min(y.size // 2, MOST_TRAINING, MOST_CELLS // X.shape[1]))


def large_split(X: np.ndarray, y: np.ndarray) -> Problem | None:
    """A split with more training rows, or None where there are too few or the table is wide."""
    is_enough = y.size >= 2 * LARGE and X.shape[1] * LARGE <= 3 * MOST_CELLS
    return _drawn(X, y, 1, LARGE)[0] if is_enough else None


def _drawn(X: np.ndarray, y: np.ndarray, n_splits: int, n_train: int) -> list[Problem]:
    n_test = min(y.size - n_train, MOST_TEST)
    draw = StratifiedShuffleSplit(n_splits, train_size=n_train, test_size=n_test, random_state=0)
    return [Problem(X[a], y[a], X[b], y[b]) for a, b in draw.split(X, y)]
