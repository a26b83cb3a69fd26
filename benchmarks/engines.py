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
TASK = f"{ROUNDS} rounds of trees, one list of {ROWS:,} × {FEATURES}, one thread"


def results():
    X, y = curved_rows(ROWS, FEATURES)
    data = lightgbm.Dataset(X, y, params={"verbose": -1}).construct()
    matrix = xgboost.QuantileDMatrix(X, label=y, nthread=1)

    def light(objective):
        params = {"objective": objective, "num_threads": 1, "verbose": -1}
        return lightgbm.train(params, data, num_boost_round=ROUNDS)

    def extreme(objective):
        own = isinstance(objective, str)
        params = {"nthread": 1} | ({"objective": objective} if own else for_xgboost.PARAMS)
        return xgboost.train(params, matrix, ROUNDS, obj=None if own else objective)

    for name, (objective, options) in OURS.items():
        push = for_lightgbm.objective(objective, **options)
        yield from race(
            "training",
            TASK,
            (f"LightGBM with our {name}", lambda push=push: light(push)),
            {"LightGBM, binary": lambda: light("binary")},
        )
    push = for_xgboost.objective("pnorm_push", p=4)
    yield from race(
        "training",
        TASK,
        ("XGBoost with our push, p = 4", lambda: extreme(push)),
        {"XGBoost, binary:logistic": lambda: extreme("binary:logistic")},
    )
