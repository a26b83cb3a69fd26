"""Ranking SVMs beside solvers that write every pair out, and beside a classifier of single rows.

Data of RankSVM are the paper's: 100 Boolean variables and the constant, an 8-of-30 threshold
function, 5 % of the labels flipped. The pair problem is handed to HiGHS as it stands in the paper.
"""

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks.measure import race
from benchmarks.tables import linear_rows
from experiments.svm.data import threshold_rows
from experiments.svm.growth import NU, pair_problem
from toprank import LinearRankSVM, RankSVM

FEW, SOME, MANY = 120, 1_000, 200_000
ALPHA = 1e-3


def results():
    X, y = threshold_rows(FEW)
    yield from race(
        "training",
        f"exact 1-norm soft margin, {FEW} rows, {FEW * FEW // 4:,} pairs",
        ("RankSVM(scale=False, tol=1e-7)", lambda: RankSVM(nu=NU, scale=False, tol=1e-7).fit(X, y)),
        {"HiGHS on all pairs": lambda: pair_problem(X, y, np.inf)},
        notes={"HiGHS on all pairs": "the pairs grow with the square of the rows"},
    )
    yield from beside_pairs()
    yield from beside_rows()


def beside_pairs():
    """LinearSVC on the differences of all pairs, with the loosest tolerance that ends as low."""
    X, y = threshold_rows(SOME)
    X = np.ascontiguousarray(X[:, :100])
    Z = (X[y][:, None, :] - X[~y][None, :, :]).reshape(-1, 100)
    signs = np.where(np.arange(len(Z)) % 2 == 0, 1.0, -1.0)  # it insists on two classes
    signed, cost = Z * signs[:, None], 1 / (ALPHA * len(Z))

    def objective(weights):
        return float((np.maximum(1 - Z @ weights, 0) ** 2).mean() + ALPHA / 2 * weights @ weights)

    def ours():
        return LinearRankSVM(alpha=ALPHA, scale=False).fit(X, y)

    def theirs(tol):
        return LinearSVC(C=cost, fit_intercept=False, tol=tol, dual=False).fit(signed, signs)

    goal = objective(ours().coef_[0]) * (1 + 1e-6)
    tols = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
    tol = next((t for t in tols if objective(theirs(t).coef_[0]) <= goal), tols[-1])
    yield from race(
        "training",
        f"2-norm SVM of {len(Z):,} pairs of {SOME:,} rows, to the same objective",
        ("LinearRankSVM", ours),
        {f"LinearSVC(tol={tol:g}) on all pairs": lambda: theirs(tol)},
    )


def beside_rows():
    """Ranking all pairs of many rows beside classifying the rows."""
    X, y = linear_rows(MANY, 50)
    yield from race(
        "training",
        f"fit of {MANY:,} × 50 float32",
        ("LinearRankSVM (all pairs)", lambda: LinearRankSVM().fit(X, y)),
        {"LinearSVC (single rows)": lambda: LinearSVC(dual=False).fit(X, y)},
    )
