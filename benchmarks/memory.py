"""Most memory of a fit or a metric above the table it is given, each in a process of its own."""

import lightgbm
import numpy as np
import xgboost
from sklearn import metrics as theirs
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from benchmarks.measure import memory_race, peak_bytes
from benchmarks.tables import curved_rows, linear_rows
from toprank import PNormPush, RankBoost, TreeRanker
from toprank import metrics as ours

ROWS, FEATURES, ROUNDS, LIST = 1_000_000, 28, 20, 5_000_000


def fit_peak(model, rows):
    """Peak of a fit, after a small one that loads and compiles what is needed."""
    X, y = rows(ROWS, FEATURES)
    model.fit(X[:1000], y[:1000])
    return peak_bytes(lambda: model.fit(X, y))


def push():
    return fit_peak(PNormPush(max_iter=ROUNDS), linear_rows)


def logistic():
    return fit_peak(LogisticRegression(max_iter=ROUNDS), linear_rows)


def rankboost():
    return fit_peak(RankBoost(max_iter=ROUNDS), curved_rows)


def light():
    model = lightgbm.LGBMClassifier(n_estimators=ROUNDS, num_leaves=2, verbose=-1)
    return fit_peak(model, curved_rows)


def extreme():
    return fit_peak(xgboost.XGBClassifier(n_estimators=ROUNDS, max_depth=1), curved_rows)


def hist():
    model = HistGradientBoostingClassifier(max_iter=ROUNDS, max_leaf_nodes=2, early_stopping=False)
    return fit_peak(model, curved_rows)


def trees():
    return fit_peak(TreeRanker(n_trees=ROUNDS), curved_rows)


def light_trees():
    model = lightgbm.LGBMClassifier(n_estimators=ROUNDS, num_leaves=63, verbose=-1)
    return fit_peak(model, curved_rows)


def extreme_trees():
    return fit_peak(xgboost.XGBClassifier(n_estimators=ROUNDS, max_depth=6), curved_rows)


def metric_peak(metric):
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=LIST), rng.random(LIST) < 0.1
    metric(y[:100_000], scores[:100_000])
    return peak_bytes(lambda: metric(y, scores))


def our_auc():
    return metric_peak(ours.roc_auc)


def their_auc():
    return metric_peak(theirs.roc_auc_score)


def our_precision():
    return metric_peak(ours.average_precision)


def their_precision():
    return metric_peak(theirs.average_precision_score)


def results():
    table = f"{ROWS:,} × {FEATURES} float32 ({ROWS * FEATURES * 4 / 1e6:.0f} MB)"
    yield from memory_race(
        f"{ROUNDS} iterations on {table}", ("PNormPush", push), {"LogisticRegression": logistic}
    )
    yield from memory_race(
        f"{ROUNDS} stumps on {table}",
        ("RankBoost", rankboost),
        {"LightGBM": light, "XGBoost": extreme, "HistGradientBoosting": hist},
    )
    yield from memory_race(
        f"{ROUNDS} trees on {table}",
        ("TreeRanker", trees),
        {"LightGBM, 63 leaves": light_trees, "XGBoost, depth 6": extreme_trees},
    )
    task = f"one list of {LIST:,} rows ({LIST * 9 / 1e6:.0f} MB)"
    yield from memory_race(task, ("roc_auc", our_auc), {"roc_auc_score": their_auc})
    yield from memory_race(
        task, ("average_precision", our_precision), {"average_precision_score": their_precision}
    )
