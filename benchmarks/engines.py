"""Ten rounds of LightGBM and XGBoost with our objectives, beside their own for two classes."""

import lightgbm
import xgboost

from benchmarks.measure import race
from benchmarks.tables import curved_rows
from toprank.integrations import lightgbm as for_lightgbm
from toprank.integrations import xgboost as for_xgboost

ROWS, FEATURES, ROUNDS = 300_000, 28, 10
OURS = {
    "push, p = 4": ("pnorm_push", {"p": 4}),
    "IR push": ("ir_push", {}),
    "precision at 1000": ("precision_at_k", {"k": 1000}),
    "push, squared hinge, p = 2": ("pnorm_push", {"p": 2, "loss": "squared_hinge"}),
    "push, logistic, p = 2": ("pnorm_push", {"p": 2, "loss": "logistic"}),
}
THREADS = {1: "one thread", 2: "two threads"}


def results():
    X, y = curved_rows(ROWS, FEATURES)
    for threads, words in THREADS.items():
        task = f"{ROUNDS} rounds of trees, one list of {ROWS:,} × {FEATURES}, {words}"
        yield from on_lightgbm(X, y, threads, task)
        yield from on_xgboost(X, y, threads, task)


def on_lightgbm(X, y, threads, task):
    data = lightgbm.Dataset(X, y, params={"verbose": -1}).construct()

    def train(objective):
        params = {"objective": objective, "num_threads": threads, "verbose": -1}
        return lightgbm.train(params, data, num_boost_round=ROUNDS)

    for name, (objective, options) in OURS.items():
        ours = for_lightgbm.objective(objective, n_jobs=threads, **options)
        yield from race(
            "training",
            task,
            (f"LightGBM with our {name}", lambda ours=ours: train(ours)),
            {"LightGBM, binary": lambda: train("binary")},
        )


def on_xgboost(X, y, threads, task):
    matrix = xgboost.QuantileDMatrix(X, label=y, nthread=threads)
    push = for_xgboost.objective("pnorm_push", p=4, n_jobs=threads)
    ours = {"nthread": threads} | for_xgboost.PARAMS
    theirs = {"nthread": threads, "objective": "binary:logistic"}
    yield from race(
        "training",
        task,
        ("XGBoost with our push, p = 4", lambda: xgboost.train(ours, matrix, ROUNDS, obj=push)),
        {"XGBoost, binary:logistic": lambda: xgboost.train(theirs, matrix, ROUNDS)},
    )
