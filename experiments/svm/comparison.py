"""The paper's comparison: five folds, the best of the paper's parameters."""

import time
import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold

from toprank import RankBoost, RankSVM, SoftRankBoost
from toprank.guarantees import auc_at_margin

# The two smaller values of the paper, 0.05 and 0.1, lie at or below the noise of the pairs (9.75 %
# at 5 % of flipped labels), where the optimum is w = 0 or next to it.
NUS = (0.15, 0.2)
REAL_NUS = (0.05, 0.2)
FOLDS = 5
# A gap well below what the folds differ by.
TOL = 5e-3


def rivals(*, signed, rounds=1000, nus=NUS):
    """Every method of the tables with its parameters to choose from, in the order of METHODS."""
    directions = "both" if signed else "increasing"
    shared = {"signed": signed, "tol": TOL}
    return {
        "1-norm C. SVM": [RankSVM(nu=nu, form="classification", **shared) for nu in nus],
        "RankBoost": [RankBoost(directions=directions, max_iter=rounds)],
        "SoftRankBoost": [
            SoftRankBoost(nu, weak_rankers="features", directions=directions, max_iter=100)
            for nu in nus
        ],
        "exact 1-norm": [RankSVM(nu=nu, **shared) for nu in nus],
        "product 1-norm": [RankSVM(nu=nu, form="product", **shared) for nu in nus],
        "product 2-norm": [RankSVM(2, nu=nu, form="product", tol=TOL) for nu in nus],
        "SVM-Perf / exact 2-norm": [RankSVM(2, nu=nu, tol=TOL) for nu in nus],
    }


def quiet_fit(ranker, X, y):
    """Fit where w = 0 or an unfinished boosting is an answer like another."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ranker.fit(X, y)


def strict_auc(ranker, X, y):
    """Share of pairs in right order; ties count as wrong, as in the paper's definition."""
    return auc_at_margin(y, ranker.decision_function(X), np.nextafter(0.0, 1.0))


def judge(X, y, candidates, seed=0):
    """Mean and standard error over the folds of the candidate with the best mean."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    best = (-1.0, 0.0)
    for ranker in candidates:
        try:
            scores = [
                strict_auc(quiet_fit(ranker, X[train], y[train]), X[test], y[test])
                for train, test in folds.split(X, y)
            ]
        except ValueError:  # a ν that this form cannot have on these classes
            continue
        best = max(best, (float(np.mean(scores)), float(np.std(scores) / np.sqrt(FOLDS))))
    return best


def seconds(X, y, ranker):
    """Processor seconds of a fit, averaged over the training parts of five folds."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    quiet_fit(ranker, X[:200], y[:200])
    begun = time.process_time()
    for train, _ in folds.split(X, y):
        quiet_fit(ranker, X[train], y[train])
    return (time.process_time() - begun) / FOLDS


def n_nonzero(X, y, candidates):
    """How many features have a weight, at the last parameter that the form can have here."""
    for ranker in reversed(candidates):
        try:
            fitted = quiet_fit(ranker, X, y)
        except ValueError:
            continue
        if hasattr(fitted, "coef_"):
            return int(np.count_nonzero(fitted.coef_))
        names = fitted.weak_rankers_.names(np.arange(X.shape[1]))
        if len(names) == X.shape[1]:
            return int(np.count_nonzero(fitted.weights_))
        chosen = np.flatnonzero(fitted.weights_)
        return len({fitted.weak_rankers_.stump(int(index)).column for index in chosen})
    return 0
