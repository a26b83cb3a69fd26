"""AdaBoost with the constant classifier beside RankBoost, round by round."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from toprank import AdaBoostRanker, RankBoost
from toprank.metrics import roc_auc
from toprank.solvers.boosting_states import ClassificationLoss
from toprank.weak_rankers import Stumps

ROUNDS = 20_000
N_ROWS = 2000
# Few thresholds: both losses must have a finite minimum, or rounds would have no end.
BINS = 4
SEED = 0


class ClassLosses(NamedTuple):
    """ln F₊ = ln Σ e^{-s} over the positives, ln F₋ = ln Σ e^{s} over the negatives."""

    log_positives: float
    log_negatives: float

    @property
    def log_ranking(self) -> float:
        """ln F̃ = ln F₊·F₋, RankBoost's objective (equation 14)."""
        return self.log_positives + self.log_negatives

    @property
    def log_classification(self) -> float:
        """ln F = ln(F₊ + F₋), AdaBoost's objective."""
        return float(np.logaddexp(self.log_positives, self.log_negatives))


def class_losses(y, scores):
    """Exponential losses of both classes, as logarithms, so that no score is too large."""
    positives = np.asarray(y) > 0
    return ClassLosses(*ClassificationLoss(positives).class_losses(scores))


def compare(load):
    """Run both on the same rows and stumps until no stump has a rate above 1e-9."""
    X, y = some_rows(load, N_ROWS, SEED)
    X = X[:, :8]
    options = {"weak_rankers": Stumps(n_bins=BINS), "max_iter": ROUNDS, "tol": 1e-9}
    models = {
        "AdaBoost": AdaBoostRanker(**options).fit(X, y),
        "RankBoost": RankBoost(**options).fit(X, y),
    }
    last = max(model.n_iter_ for model in models.values())
    rounds = np.unique(np.geomspace(1, last, 120).astype(int))
    result = {"rounds": rounds, "shape": X.shape, "positives": int(y.sum())}
    result["finite"] = has_finite_minimum(models["RankBoost"].weak_rankers_.design(X).matrix(), y)
    for name, model in models.items():
        result[name] = follow(model, X, y, rounds)
    least = min(result[name]["log_ranking"][-1] for name in models)
    for name in models:
        # rounding keeps losses some 1e-14 apart; a logarithmic axis needs a floor
        result[name]["loss"] = np.maximum(result[name]["log_ranking"] - least, 1e-15)
    return result


def some_rows(load, n_rows, seed):
    """Random rows of a data set, dense, with labels 0 and 1."""
    X, y = load(return_X_y=True)
    X = X if isinstance(X, np.ndarray) else X.toarray()
    rows = np.random.default_rng(seed).permutation(len(y))[:n_rows]
    return X[rows], np.asarray(y)[rows].astype(int)


def has_finite_minimum(H, y):
    """Whether no weights move a pair the right way without moving another the wrong way.

    max Σ_i (f_i - t) + Σ_k (t - f_k)  s.t.  f_i ≥ t on positives, f_k ≤ t on negatives, |λ| ≤ 1:
    its value is 0 if and only if F̃ has a minimum.
    """
    sides = np.where(y > 0, 1.0, -1.0)[:, None]
    moves = np.unique(sides * np.column_stack([H, np.full(len(y), -1.0)]), axis=0)
    bounds = [(-1, 1)] * H.shape[1] + [(None, None)]
    found = linprog(-moves.sum(axis=0), -moves, np.zeros(len(moves)), bounds=bounds)
    return bool(found.fun > -1e-7)


def run_separable(load):
    """Both on all features and thresholds, until the loss is e^-30 of its start."""
    X, y = some_rows(load, N_ROWS, SEED)
    found = {"shape": X.shape, "positives": int(y.sum())}
    for kind in (AdaBoostRanker, RankBoost):
        model = kind(max_iter=ROUNDS).fit(X, y)
        scores = model.decision_function(X)
        losses = class_losses(y, scores)
        found[kind.__name__] = {
            "n_iter": model.n_iter_,
            "fell": model.objective_path_[0] - model.objective_path_[-1],
            "skew": abs(np.exp(losses.log_positives) - np.exp(losses.log_negatives)),
            "auc": roc_auc(y, scores),
            "errors": int(np.sum((scores > 0) != y)),
        }
    return found


def follow(model, X, y, rounds):
    """Skew, loss, AUC and errors after the given rounds; a model that ended stays as it is.

    RankBoost's scores carry Corollary 13's intercept, so its skew is 0 throughout; the
    one drawn is that of its scores without it.
    """
    wanted, found = set(rounds.tolist()), []
    is_rank = isinstance(model, RankBoost)
    for n, scores in enumerate(model.staged_decision_function(X), start=1):
        if n not in wanted and n != model.n_iter_:
            continue
        plain = scores - model.intercepts_[n - 1] if is_rank else scores
        losses, corrected = class_losses(y, plain), class_losses(y, scores)
        # |F₊ - F₋|/(F₊ + F₋), in a form in which neither can be too large
        skew = abs(np.tanh(0.5 * (losses.log_positives - losses.log_negatives)))
        error = np.mean((scores > 0) != y)
        found.append((n, skew, corrected.log_ranking, roc_auc(y, scores), error))
    table = np.array(found)
    places = np.minimum(np.searchsorted(table[:, 0], rounds), len(table) - 1)
    names = ("skew", "log_ranking", "auc", "errors")
    return dict(zip(names, table[places, 1:].T, strict=True)) | {"n_iter": model.n_iter_}
