"""Subset ranking on OHSUMED and MQ2008, by the publisher's five folds."""

import numpy as np

import toprank
from toprank.datasets import load_mq2008, load_ohsumed
from toprank.metrics import ndcg
from toprank.predtron import PredtronSubsetRanker

LOADERS = {"OHSUMED": load_ohsumed, "MQ2008": load_mq2008}
FOLDS = range(1, 6)
SEEDS = range(3)


class Graded:
    """A ranker of the library that learns from grades by another name."""

    def __init__(self, ranker):
        self.ranker = ranker

    def fit(self, X, y, groups):
        self.ranker.fit_grades(X, y, groups=groups)
        return self

    def decision_function(self, X):
        return self.ranker.decision_function(X)


def learners(seed):
    """Ours, and the library's other rankers that learn from grades, where they exist."""
    options = {"random_state": seed, "max_iter": 30}
    found = {
        "loss-driven, -i^1.1": PredtronSubsetRanker(**options),
        "loss-driven, discount": PredtronSubsetRanker(representation="discount", **options),
        "loss-driven, 1/i": PredtronSubsetRanker(representation="reciprocal", **options),
        "standard, discount, theorem's step": PredtronSubsetRanker(
            variant="standard", representation="discount", **options
        ),
        "standard, discount, step 1": PredtronSubsetRanker(
            variant="standard", representation="discount", eta=1.0, **options
        ),
        "loss-driven, precision at 10": PredtronSubsetRanker(
            loss="precision_at_k", k=10, **options
        ),
    }
    if seed == 0:  # the others do not depend on an order of lists
        for name in ("RankBoost", "RankSVM", "PNormPush"):
            ranker = getattr(toprank, name, None)
            if ranker is not None and hasattr(ranker, "fit_grades"):
                found[name] = Graded(ranker())
    return found


def rankings(name):
    """Learner → mean and standard error over the folds of NDCG at 1, 10 and on the whole list."""
    runs = {}
    for fold in FOLDS:
        train, test = (LOADERS[name](fold=fold, subset=part) for part in ("train", "test"))
        for seed in SEEDS:
            for title, model in learners(seed).items():
                scores = model.fit(train.X, train.y, groups=train.groups).decision_function(test.X)
                values = [ndcg(test.y, scores, groups=test.groups, k=k) for k in (1, 10, None)]
                runs.setdefault(title, {}).setdefault(fold, []).append(values)
    found = {}
    for title, folds in runs.items():
        means = np.array([np.mean(values, axis=0) for values in folds.values()])
        found[title] = means.mean(axis=0), means.std(axis=0, ddof=1) / np.sqrt(len(means))
    return found
