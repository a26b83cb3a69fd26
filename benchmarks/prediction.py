"""Scoring new rows: seconds beside the peers' models of the same size, one thread each."""

import lightgbm
import numpy as np
import xgboost
from catboost import CatBoostClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from benchmarks.measure import race
from benchmarks.tables import curved_rows
from toprank import PNormPush, RankBoost

ROWS, FEATURES, ROUNDS, TOP = 1_000_000, 28, 100, 100
LEARNED = 20_000


def results():
    X, y = curved_rows(ROWS, FEATURES)
    some = slice(LEARNED)
    with threadpool_limits(1):
        yield from linear(X, PNormPush().fit(X[some], y[some]), X[some], y[some])
        yield from stumps(X, X[some], y[some])


def linear(X, push, X_some, y_some):
    theirs = LogisticRegression().fit(X_some, y_some)
    task = f"{ROWS:,} × {FEATURES} float32"
    yield from race(
        "prediction",
        f"linear scores of {task}",
        ("PNormPush.decision_function", lambda: push.decision_function(X)),
        {"LogisticRegression.decision_function": lambda: theirs.decision_function(X)},
    )
    yield from race(
        "prediction",
        f"the {TOP} best of {task}",
        (f"PNormPush.top({TOP})", lambda: push.top(X, TOP)),
        {"LogisticRegression and argsort": lambda: np.argsort(-theirs.decision_function(X))[:TOP]},
    )


def stumps(X, X_some, y_some):
    ours = RankBoost(max_iter=ROUNDS, tol=None).fit(X_some, y_some)
    options = {"objective": "binary", "num_leaves": 2, "num_threads": 1, "verbose": -1}
    light = lightgbm.train(options, lightgbm.Dataset(X_some, y_some), ROUNDS)
    options = {"objective": "binary:logistic", "max_depth": 1, "nthread": 1}
    extreme = xgboost.train(options, xgboost.DMatrix(X_some, y_some), ROUNDS)
    hist = HistGradientBoostingClassifier(max_iter=ROUNDS, max_leaf_nodes=2).fit(X_some, y_some)
    cat = CatBoostClassifier(
        iterations=ROUNDS, depth=1, thread_count=1, verbose=False, allow_writing_files=False
    ).fit(X_some, y_some)
    yield from race(
        "prediction",
        f"scores of {ROUNDS} stumps, {ROWS:,} × {FEATURES} float32",
        ("RankBoost.decision_function", lambda: ours.decision_function(X)),
        {
            "LightGBM": lambda: light.predict(X, raw_score=True, num_threads=1),
            "XGBoost": lambda: extreme.inplace_predict(X, predict_type="margin"),
            "CatBoost": lambda: cat.predict(X, prediction_type="RawFormulaVal", thread_count=1),
            "HistGradientBoosting": lambda: hist.decision_function(X),
        },
    )
