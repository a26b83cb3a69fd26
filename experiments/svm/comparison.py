"""The paper's comparison: five folds, the best of the paper's parameters."""

import time
import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold

from toprank import LinearRankSVM, RankBoost, RankSVM, SoftRankBoost
from toprank.metrics import roc_auc

NUS = (0.05, 0.1, 0.15, 0.2)
# On most artificial data RankBoost comes to its end before 1,000 rounds. Real data can be ranked
# without a mistake, so it never does, and the paper's 100,000 rounds would take most of the time.
ROUNDS, REAL_ROUNDS = (1_000, 10_000, 100_000), (1_000, 10_000)
# C of SVM-Perf on artificial and on real data, and its precision.
COSTS, REAL_COSTS = range(10, 101, 10), range(100, 1001, 100)
EPSILON = 1e-3
FOLDS = 5
# A gap well below what the folds differ by.
TOL = 5e-3


def rivals(*, signed, nus=NUS, rounds=ROUNDS, costs=COSTS):
    """Every method of the tables with its parameters to choose from, in the order of METHODS.

    Weights of one sign come without the constant hypothesis, which would take all weight
    wherever ν is below the label noise. With the 1-norm features stay on their own scale.
    """
    directions = "both" if signed else "increasing"
    shared = {"signed": signed, "constant": signed, "scale": False, "tol": TOL}
    return {
        "1-norm C. SVM": [RankSVM(nu=nu, form="classification", **shared) for nu in nus],
        "RankBoost": [
            RankBoost(directions=directions, max_iter=number, max_step=2) for number in rounds
        ],
        "SoftRankBoost": [
            SoftRankBoost(nu, weak_rankers="features", directions=directions) for nu in nus
        ],
        "exact 1-norm": [RankSVM(nu=nu, **shared) for nu in nus],
        "product 1-norm": [RankSVM(nu=nu, form="product", **shared) for nu in nus],
        "product 2-norm": [RankSVM(2, nu=nu, form="product", tol=TOL) for nu in nus],
        "SVM-Perf": [LinearRankSVM("hinge", alpha=1 / cost, tol=EPSILON) for cost in costs],
    }


def quiet_fit(ranker, X, y):
    """Fit where w = 0 or an unfinished boosting is an answer like another."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ranker.fit(X, y)


def strict_auc(ranker, X, y):
    """Share of pairs in right order; ties count as wrong, as in the paper's definition."""
    return ties_as_errors(y, ranker.decision_function(X))


def ties_as_errors(y, scores):
    """ROC AUC in which a tie, up to rounding, is an error."""
    step = 1e-8 * max(np.ptp(scores), 1e-300)
    return roc_auc(y, np.round(scores / step), ties="pessimistic")


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
