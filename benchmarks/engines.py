"""Rounds of LightGBM and XGBoost on one list of 500,000 rows, beside their objective `binary`.

One thread, processor time: on a shared machine that is what a round costs.
"""

import time

import lightgbm
import numpy as np
import xgboost

from benchmarks.timing import table
from toprank.integrations import lightgbm as for_lightgbm
from toprank.integrations import xgboost as for_xgboost

ROWS, COLUMNS, ROUNDS, TURNS = 500_000, 30, 10, 3
OURS = {
    "push, p = 4": ("pnorm_push", {"p": 4}),
    "push at both ends, p = 4": ("pnorm_push", {"p": 4, "focus": "both"}),
    "IR push": ("ir_push", {}),
    "precision at 1000, avg": ("precision_at_k", {"k": 1000}),
    "push, squared hinge, p = 2": ("pnorm_push", {"p": 2, "loss": "squared_hinge"}),
    "push, logistic, p = 2": ("pnorm_push", {"p": 2, "loss": "logistic"}),
}


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] ** 2 + 2 * rng.normal(size=ROWS) > 6).astype(int)
    return X, y


def a_round(train) -> float:
    """Processor seconds of a round: the difference between a long and a short run."""
    best = float("inf")
    for _ in range(TURNS):
        start = time.process_time()
        train(1)
        short = time.process_time() - start
        start = time.process_time()
        train(1 + ROUNDS)
        best = min(best, (time.process_time() - start - short) / ROUNDS)
    return best


def main() -> None:
    """Print one table an engine."""
    X, y = rows()
    data = lightgbm.Dataset(X, y, params={"verbose": -1}).construct()
    matrix = xgboost.QuantileDMatrix(X, label=y, nthread=1)

    def with_lightgbm(objective):
        params = {"objective": objective, "num_threads": 1, "verbose": -1}
        return lambda n: lightgbm.train(params, data, num_boost_round=n)

    def with_xgboost(objective):
        own = isinstance(objective, str)
        params = {"nthread": 1} | ({"objective": objective} if own else for_xgboost.PARAMS)
        return lambda n: xgboost.train(params, matrix, n, obj=None if own else objective)

    for engine, make, module, own in (
        ("LightGBM", with_lightgbm, for_lightgbm, "binary"),
        ("XGBoost", with_xgboost, for_xgboost, "binary:logistic"),
    ):
        binary = a_round(make(own))
        lines = [(own, binary, 1.0)]
        for label, (name, options) in OURS.items():
            took = a_round(make(module.objective(name, **options)))
            lines.append((label, took, took / binary))
        title = f"{engine}: one list of {ROWS:,} rows, {COLUMNS} columns"
        table(title, ("objective", "processor seconds a round", f"over {own}"), lines)


if __name__ == "__main__":
    main()
