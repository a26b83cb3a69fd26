"""Tables 3 to 5: the P-Norm Push and the IR Push on rows that they did not see."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from experiments.datasets import load_housing, load_ionosphere, load_magic
from experiments.push.printed import POWERS, Row
from toprank import IRPush, PNormPush, metrics

ROUNDS = 100  # of coordinate descent, the paper's budget
TRAINING_ROWS = 1000  # of MAGIC
FOLDS = 3
REPEATS = 50
# A difference of fewer standard errors than this is called noise.
CLEAR = 2.0
ENDS = (0, 5)  # the columns p = 1 and p = 64


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
    """How a row of ours compares with the paper's.

    ``unbeaten`` are the ends (p = 1, p = 64) that the paper does not count among its best, but
    that are not clearly worse than our best column. ``idle`` are columns that it does count among
    them, but that are not clearly better than such an end.
    """

    best: int
    best_agrees: str
    unbeaten: tuple[int, ...]
    idle: tuple[int, ...]
    change: float
    error: float
    near: int

    @property
    def follows(self) -> str:
        """Whether the row has the paper's trend: "yes", "no" or "within noise"."""
        if self.best_agrees == "no":
            return "no"
        return "yes" if self.best_agrees == "yes" and not self.unbeaten else "within noise"


def standard_error(values: np.ndarray) -> np.ndarray:
    return values.std(axis=0, ddof=1) / math.sqrt(values.shape[0])


def verdict(row: Row, values: np.ndarray) -> Verdict:
    """Compare our best column with the paper's best columns, and with the ends it does not name.

    Columns are compared split by split, so that what all columns share drops out of the error.
    """
    better = values if row.larger_is_better else -values
    mean = better.mean(axis=0)
    best = int(np.argmax(mean))

    def beats(winner: int, loser: int) -> bool:
        gap = better[:, winner] - better[:, loser]
        return bool(gap.mean() > CLEAR * standard_error(gap))

    named = max(row.best_columns, key=lambda column: mean[column])
    agrees = "yes" if best in row.best_columns else "no" if beats(best, named) else "within noise"
    others = [end for end in ENDS if end not in row.best_columns and end != best]
    unbeaten = tuple(end for end in others if not beats(best, end))
    idle = tuple(c for c in row.best_columns if not all(beats(c, end) for end in others))
    difference = values[:, ENDS[1]] - values[:, ENDS[0]]
    # the paper's numbers are one repeat, which scatters by the deviation of single repeats
    near = np.abs(values.mean(axis=0) - row.values) <= 2.0 * values.std(axis=0, ddof=1)
    change, error = float(difference.mean()), float(standard_error(difference))
    return Verdict(best, agrees, unbeaten, idle, change, error, int(near.sum()))
