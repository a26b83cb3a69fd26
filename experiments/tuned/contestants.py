"""Every method as four settings: what a person would try who has time for four.

Linear models get missing values filled with medians; trees and thresholds take them as they are.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

from toprank import IRPush, LinearRankSVM, PNormPush, PrecisionAtKRanker, RankBoost
from toprank.integrations.lightgbm import objective

SETTINGS = 4
RATE = 0.1
ROUNDS = (50, 150)
ALPHAS = (1e-1, 1e-2, 1e-3, 1e-4)
FAMILY = "toprank family"


def _filled(*steps):
    return make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), *steps)


def _pushes():
    return [
        _filled(PNormPush(p=p, alpha=alpha, tol=1e-6)) for p, alpha in product((2, 8), (0.1, 1e-3))
    ]


def _threshold_pushes():
    return [
        PNormPush(p=p, alpha=alpha, weak_rankers="stumps", tol=1e-6)
        for p, alpha in product((2, 8), (0.1, 1e-2))
    ]


def _precisions(k):
    return [
        _filled(PrecisionAtKRanker(k, surrogate=surrogate, alpha=alpha, random_state=0))
        for surrogate, alpha in product(("avg", "ramp"), (1e-2, 1e-4))
    ]


def _lightgbm(kind, **options):
    return kind(learning_rate=RATE, n_jobs=1, verbose=-1, random_state=0, **options)


def contestants(share_of_positives: float) -> dict[str, list]:
    """Four settings a method; precision at k is told the budget as a share of the positives."""
    k = float(np.clip(share_of_positives, 0.01, 1.0))
    found = {
        "PNormPush": _pushes(),
        "PNormPush, thresholds": _threshold_pushes(),
        "IRPush": [_filled(IRPush(alpha=alpha, tol=1e-6)) for alpha in ALPHAS],
        "RankBoost": [RankBoost(max_iter=n) for n in (25, 50, 100, 200)],
        "PrecisionAtKRanker": _precisions(k),
        "LinearRankSVM": [_filled(LinearRankSVM(alpha=alpha)) for alpha in ALPHAS],
        "LogisticRegression": [
            _filled(StandardScaler(), LogisticRegression(C=C, max_iter=1000))
            for C in (1e-2, 1e-1, 1.0, 1e1)
        ],
        "HistGradientBoosting": [
            HistGradientBoostingClassifier(
                learning_rate=RATE, max_iter=n, max_leaf_nodes=leaves, random_state=0
            )
            for leaves, n in product((7, 31), ROUNDS)
        ],
        "LightGBM": [
            _lightgbm(LGBMClassifier, n_estimators=n, num_leaves=leaves)
            for leaves, n in product((7, 31), ROUNDS)
        ],
        "LightGBM with push": [
            _lightgbm(
                LGBMRegressor, n_estimators=n, num_leaves=15, objective=objective("pnorm_push", p=p)
            )
            for p, n in product((1, 4), ROUNDS)
        ],
        "XGBoost": [
            XGBClassifier(
                learning_rate=RATE, n_estimators=n, max_depth=depth, n_jobs=1, random_state=0
            )
            for depth, n in product((3, 6), ROUNDS)
        ],
        "CatBoost": [
            CatBoostClassifier(
                learning_rate=RATE, iterations=n, depth=depth, thread_count=1, random_seed=0,
                verbose=False, allow_writing_files=False,
            )
            for depth, n in product((4, 6), ROUNDS)
        ],
    }  # fmt: skip
    # The same budget spent across our rankers instead of within one.
    found[FAMILY] = [
        found["PNormPush"][3],
        found["PNormPush, thresholds"][2],
        found["RankBoost"][2],
        found["PrecisionAtKRanker"][3],
    ]
    return found


OURS = (
    "PNormPush", "PNormPush, thresholds", "IRPush", "RankBoost", "PrecisionAtKRanker",
    "LinearRankSVM", "LightGBM with push", FAMILY,
)  # fmt: skip


def scores(model, X) -> np.ndarray:
    """What a method ranks by."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))[:, 1]
    return np.asarray(model.predict(X))
