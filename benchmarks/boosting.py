"""RankBoost on stumps beside libraries of boosted trees that are told to grow stumps.

All bin their features into 255 values within the timed call. Trees of one split are stumps, so a
round does the same work everywhere.
"""

import os

import lightgbm
import xgboost
from catboost import CatBoostClassifier
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks.measure import absent, race
from benchmarks.tables import curved_rows
from toprank import RankBoost

ROWS, FEATURES, ROUNDS, BINS = 300_000, 28, 50, 255
SMALL_ROWS, SMALL_ROUNDS = 20_000, 20  # what AdaBoostClassifier finishes in seconds


def light(X, y, threads):
    options = {"objective": "binary", "num_leaves": 2, "max_bin": BINS, "num_threads": threads}
    options["verbose"] = -1
    return lightgbm.train(options, lightgbm.Dataset(X, y, params=options), ROUNDS)


def extreme(X, y, threads):
    options = {"objective": "binary:logistic", "max_depth": 1, "max_bin": BINS, "nthread": threads}
    return xgboost.train(options, xgboost.QuantileDMatrix(X, y, max_bin=BINS), ROUNDS)


def cat(X, y, threads):
    return CatBoostClassifier(
        iterations=ROUNDS, depth=1, border_count=BINS - 1, thread_count=threads, verbose=False,
        allow_writing_files=False,
    ).fit(X, y)  # fmt: skip


def hist(X, y, threads):
    model = HistGradientBoostingClassifier(
        max_iter=ROUNDS, max_leaf_nodes=2, max_bins=BINS, early_stopping=False
    )
    with threadpool_limits(threads):
        return model.fit(X, y)


def one_long_list(X, y):
    """LightGBM's own ranking objective has a limit on the length of a list."""
    task = f"one list of {ROWS:,} rows"
    try:
        lightgbm.LGBMRanker(n_estimators=1, verbose=-1).fit(X, y, group=[ROWS])
    except lightgbm.basic.LightGBMError as error:
        return absent("training", task, "RankBoost (ranks it)", "LGBMRanker", f"refuses: {error}")
    return absent("training", task, "RankBoost (ranks it)", "LGBMRanker", "ranks it too")


def results():
    X, y = curved_rows(ROWS, FEATURES)
    for threads in sorted({1, os.cpu_count() or 1}):
        yield from race(
            "training",
            f"{ROUNDS} rounds of stumps, {ROWS:,} × {FEATURES} float32, {threads} thread(s)",
            ("RankBoost", lambda n=threads: RankBoost(max_iter=ROUNDS, n_jobs=n).fit(X, y)),
            {
                "LightGBM": lambda n=threads: light(X, y, n),
                "XGBoost": lambda n=threads: extreme(X, y, n),
                "CatBoost": lambda n=threads: cat(X, y, n),
                "HistGradientBoosting": lambda n=threads: hist(X, y, n),
            },
        )
    yield one_long_list(X, y)
    X, y = curved_rows(SMALL_ROWS, FEATURES)
    theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=SMALL_ROUNDS)
    yield from race(
        "training",
        f"{SMALL_ROUNDS} rounds of stumps, {SMALL_ROWS:,} × {FEATURES} float32",
        ("RankBoost", lambda: RankBoost(max_iter=SMALL_ROUNDS).fit(X, y)),
        {"AdaBoostClassifier": lambda: clone(theirs).fit(X, y)},
    )
