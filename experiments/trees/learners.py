"""Every engine and objective as one function: fit, then scores after several numbers of rounds."""

from collections.abc import Callable
from typing import NamedTuple

import catboost
import lightgbm
import numpy as np
import xgboost

from toprank.integrations import lightgbm as for_lightgbm
from toprank.integrations import xgboost as for_xgboost

ROUNDS = (20, 50, 100, 200)
RATE = 0.1


class Learner(NamedTuple):
    """An engine with an objective; ``twin`` is the engine's own objective for two classes."""

    engine: str
    objective: str
    fit: Callable
    twin: str


def with_lightgbm(objective) -> Callable:
    """Scores of LightGBM's trees on each table, by number of rounds."""

    def fit(X, y, tables):
        params = {"objective": objective, "learning_rate": RATE, "num_leaves": 15}
        params |= {"num_threads": 1, "verbose": -1, "seed": 0}
        data = lightgbm.Dataset(X, y, group=[y.size])
        model = lightgbm.train(params, data, num_boost_round=ROUNDS[-1])
        return {n: [model.predict(t, num_iteration=n) for t in tables] for n in ROUNDS}

    return fit


def with_xgboost(objective) -> Callable:
    """Scores of XGBoost's trees on each table, by number of rounds."""

    def fit(X, y, tables):
        params = {"eta": RATE, "max_depth": 4, "nthread": 1, "seed": 0}
        own = isinstance(objective, str)
        params |= {"objective": objective} if own else for_xgboost.PARAMS
        data = xgboost.DMatrix(X, label=y, group=[y.size])
        model = xgboost.train(params, data, ROUNDS[-1], obj=None if own else objective)
        ready = [xgboost.DMatrix(t) for t in tables]
        return {
            n: [model.predict(t, iteration_range=(0, n), output_margin=True) for t in ready]
            for n in ROUNDS
        }

    return fit


def with_catboost(loss: str) -> Callable:
    """Scores of CatBoost's trees on each table, by number of rounds."""

    def fit(X, y, tables):
        model = catboost.CatBoost(
            {"loss_function": loss, "learning_rate": RATE, "depth": 4, "iterations": ROUNDS[-1]}
            | {"thread_count": 1, "random_seed": 0, "verbose": False, "allow_writing_files": False}
        )
        ids = np.zeros(y.size, int) if loss.startswith("Query") else None
        model.fit(catboost.Pool(X, y, group_id=ids))
        return {n: [model.predict(t, ntree_end=n) for t in tables] for n in ROUNDS}

    return fit


def learners(budget: int) -> list[Learner]:
    """All that are compared."""
    push, ir = ("pnorm_push", {"p": 4}), ("ir_push", {})
    top = ("precision_at_k", {"k": budget})
    ours = [("push, p = 4", push), ("IR push", ir), (f"precision at {budget}", top)]
    lightgbm_ours = [
        Learner("LightGBM", label, with_lightgbm(for_lightgbm.objective(name, **options)), "binary")
        for label, (name, options) in ours
    ]
    xgboost_ours = [
        Learner(
            "XGBoost", label, with_xgboost(for_xgboost.objective(name, **options)),
            "binary:logistic",
        )
        for label, (name, options) in ours[:1]
    ]  # fmt: skip
    return [
        Learner("LightGBM", "binary", with_lightgbm("binary"), "binary"),
        Learner("LightGBM", "lambdarank", with_lightgbm("lambdarank"), "binary"),
        *lightgbm_ours,
        Learner("XGBoost", "binary:logistic", with_xgboost("binary:logistic"), "binary:logistic"),
        Learner("XGBoost", "rank:ndcg", with_xgboost("rank:ndcg"), "binary:logistic"),
        *xgboost_ours,
        Learner("CatBoost", "Logloss", with_catboost("Logloss"), "Logloss"),
        Learner("CatBoost", "QuerySoftMax", with_catboost("QuerySoftMax"), "Logloss"),
    ]
