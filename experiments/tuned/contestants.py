"""Every method with its defaults, and again as the best of four settings by cross-validation.

Linear models and scikit-learn's forests get missing values filled with medians; the others take
them as they are.
"""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from itertools import product

import numpy as np
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

from toprank import TopRanker, TreeRanker

BLEND = "TopRanker"
OURS = (BLEND, "TreeRanker")
TUNED = ", tuned"
AUTOGLUON = "AutoGluon"
ROUNDS = (50, 150)
QUIET = {"thread_count": 1, "random_seed": 0, "verbose": False, "allow_writing_files": False}


def _filled(*steps):
    return make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), *steps)


def _logistic(C):
    return _filled(StandardScaler(), LogisticRegression(C=C, max_iter=1000))


def _forest(n_trees=500, **options):
    return _filled(RandomForestClassifier(n_trees, random_state=0, n_jobs=1, **options))


def _lightgbm(**options):
    return LGBMClassifier(n_jobs=1, verbose=-1, random_state=0, **options)


def _xgboost(**options):
    return XGBClassifier(n_jobs=1, random_state=0, **options)


class _AutoGluon(BaseEstimator):
    """Its preset of medium quality, chosen by average precision, for at most a minute."""

    def fit(self, X, y):
        import pandas as pd  # noqa: PLC0415
        from autogluon.tabular import TabularPredictor  # noqa: PLC0415

        self.folder_ = tempfile.TemporaryDirectory()
        self.predictor_ = TabularPredictor(
            "label", eval_metric="average_precision", path=self.folder_.name, verbosity=0
        ).fit(
            pd.DataFrame(X).add_prefix("x").assign(label=y),
            presets="medium_quality",
            time_limit=60,
            num_cpus=1,
        )
        return self

    def predict_proba(self, X):
        import pandas as pd  # noqa: PLC0415

        return self.predictor_.predict_proba(pd.DataFrame(X).add_prefix("x")).to_numpy()


def contestants(budget: int, list_size: int) -> dict[str, list]:
    """Settings of each method: one, its defaults, or four to choose among."""
    rated = {"learning_rate": 0.1}
    found = {
        BLEND: [TopRanker(budget, list_size=list_size)],
        "TreeRanker": [TreeRanker(n_jobs=1, random_state=0)],
        "CatBoost": [CatBoostClassifier(**QUIET)],
        "LightGBM": [_lightgbm()],
        "XGBoost": [_xgboost()],
        "random forest": [_forest()],
        "logistic regression": [_logistic(1.0)],
        f"CatBoost{TUNED}": [
            CatBoostClassifier(iterations=n, depth=depth, **rated, **QUIET)
            for depth, n in product((4, 6), ROUNDS)
        ],
        f"LightGBM{TUNED}": [
            _lightgbm(n_estimators=n, num_leaves=leaves, **rated)
            for leaves, n in product((7, 31), ROUNDS)
        ],
        f"XGBoost{TUNED}": [
            _xgboost(n_estimators=n, max_depth=depth, **rated)
            for depth, n in product((3, 6), ROUNDS)
        ],
        f"random forest{TUNED}": [
            _forest(200, max_features=share, min_samples_leaf=rows)
            for share, rows in product(("sqrt", 0.4), (1, 3))
        ],
        f"logistic regression{TUNED}": [_logistic(C) for C in (1e-2, 1e-1, 1.0, 1e1)],
    }
    return found | ({AUTOGLUON: [_AutoGluon()]} if find_spec("autogluon") else {})


def scores(model, X) -> np.ndarray:
    """What a method ranks by."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    return np.asarray(model.predict_proba(X))[:, 1]
