"""Boosted trees: a fit and scores of new rows beside the engines', on 1 and 2 threads.

YDF, ChimeraBoost and AutoGluon are measured where they are installed; where not the rows say so.
"""

import importlib.util
import tempfile

import lightgbm
import xgboost
from catboost import CatBoostClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from benchmarks.measure import absent, race
from benchmarks.tables import curved_rows
from toprank import TopRanker, TreeRanker
from toprank.metrics import precision_at_k

TREES, DEPTH, FEATURES, SMALL = 50, 6, 28, 1_500
FEW, MANY = 200_000, 1_000_000
QUIET = {"verbose": False, "allow_writing_files": False}


def results():
    X, y = curved_rows(FEW, FEATURES)
    for threads in (1, 2):
        peers = engines(threads) | others(threads)
        yield from fits(X, y, threads, peers, warm_up=threads == 1)
        yield from not_installed(threads)
    yield from scoring(X, y)
    X, y = curved_rows(MANY, FEATURES)
    yield from fits(X, y, 2, engines(2), warm_up=False)
    yield from scoring(X, y)
    yield from defaults(*curved_rows(SMALL, FEATURES))
    yield from chosen()


def engines(threads):
    return {
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


class Held:
    """HistGradientBoosting takes as many threads as it may."""

    def __init__(self, threads):
        self.threads = threads
        self.model = HistGradientBoostingClassifier(
            max_iter=TREES, max_depth=DEPTH, early_stopping=False
        )

    def fit(self, X, y):
        with threadpool_limits(self.threads):
            return self.model.fit(X, y)


class Yggdrasil:
    """YDF reads columns by name."""

    def __init__(self, threads):
        import ydf

        ydf.verbose(0)
        self.learner = ydf.GradientBoostedTreesLearner(
            label="label", num_trees=TREES, max_depth=DEPTH, num_threads=threads,
            validation_ratio=0.0, early_stopping="NONE", discretize_numerical_columns=True,
        )  # fmt: skip

    def fit(self, X, y):
        return self.learner.train({f"x{j}": X[:, j] for j in range(X.shape[1])} | {"label": y})


def chimera(threads):
    from chimeraboost import ChimeraBoostClassifier

    return ChimeraBoostClassifier(
        TREES, depth=DEPTH, thread_count=threads, early_stopping=False, linear_leaves=False,
        cross_features=False, n_ensembles=1, random_state=0,
    )  # fmt: skip


OPTIONAL = {
    "ydf": (f"YDF, depth {DEPTH}, bins", Yggdrasil),
    "chimeraboost": (f"ChimeraBoost, depth {DEPTH}", chimera),
}


def is_installed(package):
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # of the package that holds it
        return False


def others(threads):
    peers = {f"HistGradientBoosting, depth {DEPTH}": Held(threads)}
    found = {name: make for package, (name, make) in OPTIONAL.items() if is_installed(package)}
    return peers | {name: make(threads) for name, make in found.items()}


def task(n_rows, threads):
    return f"{TREES} trees, {n_rows:,} × {FEATURES} float32, threads: {threads}"


def not_installed(threads):
    for package, (name, _) in OPTIONAL.items():
        if not is_installed(package):
            yield absent("training", task(FEW, threads), "TreeRanker", name, "not installed")


def fits(X, y, threads, peers, *, warm_up=True):
    ours = TreeRanker(n_trees=TREES, depth=DEPTH, n_jobs=threads, random_state=0)
    yield from race(
        "training",
        task(len(X), threads),
        ("TreeRanker", lambda: ours.fit(X, y)),
        {peer: lambda model=model: model.fit(X, y) for peer, model in peers.items()},
        turns=2,
        processor=True,
        warm_up=warm_up,
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
        turns=2,
        processor=True,
    )


def chosen():
    """Members, weights and promise for a budget, beside a blend of the same families of models."""
    label, peer = "TopRanker(budget=0.01)", "AutoGluon, medium quality, trees"
    words = f"a blend chosen by cross-validation, {SMALL:,} × {FEATURES}"
    if not is_installed("autogluon.tabular"):
        yield absent("training", words, label, peer, "not installed")
        return
    import pandas as pd
    from autogluon.tabular import TabularPredictor

    (X, y), (X_new, y_new) = curved_rows(SMALL, FEATURES), curved_rows(100_000, FEATURES, seed=1)
    frame, new = (pd.DataFrame(rows).rename(columns=str) for rows in (X, X_new))
    families = {name: {} for name in ("GBM", "CAT", "XGB", "RF", "XT")}
    found = {}

    def theirs():
        with tempfile.TemporaryDirectory() as folder:
            model = TabularPredictor("y", eval_metric="average_precision", verbosity=0, path=folder)
            model.fit(frame.assign(y=y), hyperparameters=families, num_cpus=2)
            found[peer] = model.predict_proba(new)[1]

    def ours():
        model = TopRanker(budget=0.01, random_state=0, n_jobs=2).fit(X, y)
        found[label] = model.decision_function(X_new)

    for row in race("training", words, (label, ours), {peer: theirs}, turns=1, warm_up=False):
        mine, other = (precision_at_k(y_new, found[name], k=0.01) for name in (label, peer))
        note = (
            f"one turn; precision in the first 1 % of new rows: ours {mine:.3f}, theirs {other:.3f}"
        )
        yield row._replace(note=note)
