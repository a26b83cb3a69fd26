"""RankBoost on ranked lists, by the five folds of their publisher."""

import lightgbm
import numpy as np

from toprank import PNormPush, RankBoost
from toprank.metrics import average_precision, ndcg

ROUNDS = 300


def judged_by_map(model, X, y, groups):
    """A scorer: mean average precision, with grades above 0 as relevant."""
    return average_precision(np.asarray(y) > 0, model.decision_function(X), groups=groups)


def boosted(selection):
    """RankBoost with the number of rounds that ranks the validation lists best."""

    def fit(train, held):
        model = RankBoost(
            selection, max_iter=ROUNDS, n_iter_no_change=ROUNDS, scoring=judged_by_map
        )
        model.fit_grades(
            train.X, train.y, groups=train.groups, validation=(held.X, held.y, held.groups)
        )
        return model.decision_function

    return fit


def linear(train, held):  # noqa: ARG001
    """The same loss on a sum of features: the push with p = 1."""
    model = PNormPush(1).fit_grades(train.X, train.y, groups=train.groups)
    return model.decision_function


def single_feature(train, held):  # noqa: ARG001
    """The feature, up or down, that ranks the training lists best."""
    candidates = [(sign, j) for j in range(train.X.shape[1]) for sign in (1.0, -1.0)]
    relevant = train.y > 0
    sign, j = max(
        candidates,
        key=lambda way: average_precision(
            relevant, way[0] * train.X[:, way[1]], groups=train.groups
        ),
    )
    return lambda X: sign * X[:, j]


def trees(train, held):
    """LightGBM's LambdaMART with its own defaults, rounds chosen by NDCG@10."""

    def in_lists(data, **options):
        order = np.argsort(data.groups, kind="stable")
        sizes = np.unique(data.groups, return_counts=True)[1]
        return lightgbm.Dataset(data.X[order], data.y[order], group=sizes, **options)

    learning = in_lists(train)
    model = lightgbm.train(
        {"objective": "lambdarank", "eval_at": [10], "seed": 0, "num_threads": 1, "verbose": -1},
        learning,
        ROUNDS,
        valid_sets=[in_lists(held, reference=learning)],
        callbacks=[lightgbm.early_stopping(50, verbose=False)],
    )
    return model.predict


METHODS = {
    "RankBoost, largest decrease": boosted("largest_decrease"),
    "RankBoost, steepest": boosted("steepest"),
    "PNormPush(p=1), linear": linear,
    "LambdaMART (LightGBM)": trees,
    "best single feature": single_feature,
}


def five_folds(load):
    """MAP and NDCG@10 of every fold. A list without a relevant row counts 0."""
    found = {name: [] for name in METHODS}
    for fold in range(1, 6):
        train, held, test = (load(fold=fold, subset=s) for s in ("train", "vali", "test"))
        lists = {"groups": test.groups, "undefined": 0.0}
        for name, fit in METHODS.items():
            scores = fit(train, held)(test.X)
            found[name].append(
                (
                    average_precision(test.y > 0, scores, **lists),
                    ndcg(test.y, scores, k=10, **lists),
                )
            )
    return {name: np.array(rows) for name, rows in found.items()}
