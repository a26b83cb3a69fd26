"""Boosted trees: a fit and scores of new rows beside the engines', on 1 and 2 threads."""

import lightgbm
import xgboost
from catboost import CatBoostClassifier

from benchmarks.measure import race
from benchmarks.tables import curved_rows
from toprank import TreeRanker

TREES, DEPTH, FEATURES, SMALL = 50, 6, 28, 1_500
QUIET = {"verbose": False, "allow_writing_files": False}


def results():
    for n_rows in (200_000, 1_000_000):
        X, y = curved_rows(n_rows, FEATURES)
        for threads in (1, 2):
            yield from fits(X, y, threads)
        yield from scoring(X, y)
    yield from defaults(*curved_rows(SMALL, FEATURES))


def fits(X, y, threads):
    peers = {
        f"CatBoost, depth {DEPTH}": CatBoostClassifier(
            iterations=TREES, depth=DEPTH, thread_count=threads, **QUIET
        ),
        "LightGBM, 63 leaves": lightgbm.LGBMClassifier(
            n_estimators=TREES, num_leaves=63, n_jobs=threads, verbose=-1
        ),
        f"XGBoost, depth {DEPTH}": xgboost.XGBClassifier(
            n_estimators=TREES, max_depth=DEPTH, n_jobs=threads
        ),
    }
    ours = TreeRanker(n_trees=TREES, depth=DEPTH, n_jobs=threads, random_state=0)
    yield from race(
        "training",
        f"{TREES} trees, {len(X):,} × {FEATURES} float32, threads: {threads}",
        ("TreeRanker", lambda: ours.fit(X, y)),
        {peer: lambda model=model: model.fit(X, y) for peer, model in peers.items()},
        turns=2,
        processor=True,
    )


def scoring(X, y):
    some = slice(20_000)
    ours = TreeRanker(n_trees=TREES, n_jobs=1, random_state=0).fit(X[some], y[some])
    cat = CatBoostClassifier(iterations=TREES, depth=DEPTH, thread_count=1, **QUIET)
    cat.fit(X[some], y[some])
    yield from race(
        "prediction",
        f"scores of {TREES} trees, {len(X):,} × {FEATURES} float32",
        ("TreeRanker.decision_function", lambda: ours.decision_function(X)),
        {"CatBoost": lambda: cat.predict(X, prediction_type="RawFormulaVal", thread_count=1)},
    )


def defaults(X, y):
    ours = TreeRanker(n_jobs=1, random_state=0)
    cat = CatBoostClassifier(thread_count=1, **QUIET)
    yield from race(
        "training",
        f"trees with default settings, {SMALL:,} × {FEATURES}",
        ("TreeRanker", lambda: ours.fit(X, y)),
        {"CatBoost": lambda: cat.fit(X, y)},
        processor=True,
    )
