"""Tables 3 to 5: the P-Norm Push and the IR Push on rows that they did not see."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from experiments.push.printed import POWERS, Row
from toprank import IRPush, PNormPush, metrics
from toprank.datasets import load_housing, load_ionosphere, load_magic

ROUNDS = 100  # of coordinate descent, the paper's budget
TRAINING_ROWS = 1000  # of MAGIC
FOLDS = 3
REPEATS = 50
# A difference of fewer standard errors than this is called noise.
CLEAR = 2.0


def rankers() -> list:
    """One ranker for each column of the tables."""
    pushes = [
        PNormPush(p=p, solver="coordinate", alpha=0, max_iter=ROUNDS, tol=None) for p in POWERS
    ]
    return [*pushes, IRPush(alpha=0)]


def measures(y, scores) -> dict[str, float]:
    """Every row of the tables, ties counted as the paper counts them."""
    powers = {f"R{p}": metrics.pnorm_error(y, scores, p=p) for p in (2, 4, 8, 16)}
    return {
        "AUC": metrics.roc_auc(y, scores),
        **powers,
        "DCG": metrics.dcg(y, scores, log_base=math.e, ties="together"),
        "AveR": metrics.average_reciprocal_rank(y, scores),
    }


def magic():
    data = load_magic()
    return data.X, data.y


def ionosphere():
    data = load_ionosphere(positive="bad")
    return data.X[:, -5:], data.y


def housing():
    data = load_housing()
    return data.X, data.y


def splits(X, y, *, folds: bool, seed: int) -> Iterator:
    """The splits of one repeat: three folds, or 1000 training rows."""
    if folds:
        yield from StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y)
    else:
        yield from ShuffleSplit(1, train_size=TRAINING_ROWS, random_state=seed).split(X)


def repeat(X, y, *, folds: bool, seed: int) -> dict[str, list[float]]:
    """Test measures of each column, the mean over the folds of one repeat."""
    found: dict[str, list[list[float]]] = {}
    for train, test in splits(X, y, folds=folds, seed=seed):
        columns: dict[str, list[float]] = {}
        for ranker in rankers():
            scores = ranker.fit(X[train], y[train]).decision_function(X[test])
            for name, value in measures(y[test], scores).items():
                columns.setdefault(name, []).append(value)
        for name, values in columns.items():
            found.setdefault(name, []).append(values)
    return {name: np.mean(values, axis=0).tolist() for name, values in found.items()}


def repeats(X, y, *, folds: bool, seeds: range) -> dict[str, np.ndarray]:
    """For each measure an array of shape (repeats, columns)."""
    runs = [repeat(X, y, folds=folds, seed=seed) for seed in seeds]
    return {name: np.array([run[name] for run in runs]) for name in runs[0]}


class Verdict(NamedTuple):
    """How a row of ours compares with the paper's."""

    best: int
    best_agrees: str
    change: float
    error: float
    follows: str
    near: int


def standard_error(values: np.ndarray) -> np.ndarray:
    return values.std(axis=0, ddof=1) / math.sqrt(values.shape[0])


def verdict(row: Row, values: np.ndarray) -> Verdict:
    """Whether our row has the paper's trend: the same best columns, the same way from p = 1 to 64.

    Columns are compared split by split, so that what all columns share drops out of the error.
    """
    sign = 1.0 if row.larger_is_better else -1.0
    mean = values.mean(axis=0)
    best = int(np.argmax(sign * mean))
    candidate = max(row.best_columns, key=lambda column: sign * mean[column])
    gap = sign * (values[:, best] - values[:, candidate])
    if best in row.best_columns:
        best_agrees = "yes"
    elif gap.mean() <= CLEAR * float(standard_error(gap)):
        best_agrees = "within noise"
    else:
        best_agrees = "no"
    difference = values[:, 5] - values[:, 0]
    change, error = float(difference.mean()), float(standard_error(difference))
    same_way = change * (row.values[5] - row.values[0]) > 0
    follows = _follows(best_agrees, same_way, change, error)
    # the paper's numbers are one repeat, which scatters by the deviation of single repeats
    near = np.abs(mean - row.values) <= 2.0 * values.std(axis=0, ddof=1)
    return Verdict(best, best_agrees, change, error, follows, int(near.sum()))


def _follows(best_agrees: str, same_way: bool, change: float, error: float) -> str:
    clear = abs(change) > CLEAR * error
    if best_agrees == "no" or (clear and not same_way):
        return "no"
    if best_agrees == "yes" and same_way and clear:
        return "yes"
    return "within noise"
