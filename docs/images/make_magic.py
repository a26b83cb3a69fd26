"""Draws magic.png, the picture of the README, from the MAGIC telescope data.

Run from the root of a clone, with the data set in the data home (see docs/datasets.md) and CatBoost
installed::

    python -m docs.images.make_magic
"""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from catboost import CatBoostClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from experiments.datasets import load_magic
from toprank import PNormPush, TopRanker
from toprank.metrics import precision_at_k
from toprank.plots import precision_curve

TRAINING_ROWS = 1000  # as in the paper on the p-norm push
BUDGET = 500
N_SPLITS = 5


def rankers(list_size):
    """Methods by name, all with their defaults."""
    return {
        "logistic regression": make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=1000)),
        "linear push, p = 8": PNormPush(p=8),
        "random forest": RandomForestClassifier(500, random_state=0),
        "CatBoost": CatBoostClassifier(random_seed=0, verbose=False, allow_writing_files=False),
        "TopRanker": TopRanker(BUDGET, list_size=list_size),
    }


def scores_of(model, X):
    """What a method ranks by."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


def main():
    mpl.use("Agg")
    X, y = load_magic(return_X_y=True)
    found, first = {}, {}
    splits = ShuffleSplit(N_SPLITS, train_size=TRAINING_ROWS, random_state=0).split(X)
    for number, (train, test) in enumerate(splits):
        for name, model in rankers(test.size).items():
            scores = scores_of(model.fit(X[train], y[train]), X[test])
            found.setdefault(name, []).append(precision_at_k(y[test], scores, k=BUDGET))
            if not number:
                first[name], labels = scores, y[test]

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.9), layout="constrained")
    precision_curve(labels, first, max_k=4000, ax=left)
    left.set_ylim(0.82, 1.005)
    left.set_title("The first rows of one list", loc="left", fontsize="medium")
    for place, (name, values) in enumerate(found.items()):
        right.plot(values, np.full(len(values), place), "o", color="#999999", markersize=4)
        right.plot(np.mean(values), place, "D", color="#0072B2", markersize=7)
        print(f"{name}: {np.mean(values):.3f}")  # noqa: T201
    right.set_yticks(range(len(found)), list(found))
    right.invert_yaxis()
    right.set_xlabel(f"Positives in the first {BUDGET} (share)")
    right.set_title(f"{N_SPLITS} training sets, and their mean", loc="left", fontsize="medium")
    figure.savefig(Path(__file__).with_name("magic.png"), dpi=110)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
