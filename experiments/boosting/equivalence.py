"""AdaBoost with the constant classifier beside RankBoost, round by round."""

from typing import NamedTuple

import numpy as np

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
    X, y = load(return_X_y=True)
    X = X if isinstance(X, np.ndarray) else X.toarray()
    rows = np.random.default_rng(SEED).permutation(len(y))[:N_ROWS]
    X, y = X[rows][:, :8], np.asarray(y)[rows].astype(int)
    options = {"weak_rankers": Stumps(n_bins=BINS), "max_iter": ROUNDS, "tol": 1e-9}
    models = {
        "AdaBoost": AdaBoostRanker(**options).fit(X, y),
        "RankBoost": RankBoost(**options).fit(X, y),
    }
    last = max(model.n_iter_ for model in models.values())
    rounds = np.unique(np.geomspace(1, last, 120).astype(int))
    result = {"rounds": rounds, "shape": X.shape, "positives": int(y.sum())}
    for name, model in models.items():
        result[name] = follow(model, X, y, rounds)
    least = min(result[name]["log_ranking"][-1] for name in models)
    for name in models:
        # rounding keeps losses some 1e-14 apart; a logarithmic axis needs a floor
        result[name]["loss"] = np.maximum(result[name]["log_ranking"] - least, 1e-15)
    return result


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
        skew = np.exp(losses.log_positives) - np.exp(losses.log_negatives)
        error = np.mean((scores > 0) != y)
        size = np.exp(losses.log_classification)
        auc = roc_auc(y, scores)
        found.append((n, abs(skew) / size, corrected.log_ranking, auc, error))
    table = np.array(found)
    places = np.minimum(np.searchsorted(table[:, 0], rounds), len(table) - 1)
    names = ("skew", "log_ranking", "auc", "errors")
    return dict(zip(names, table[places, 1:].T, strict=True)) | {"n_iter": model.n_iter_}
