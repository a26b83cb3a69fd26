"""Draws magic.png, the picture of the README, from the MAGIC telescope data.

Run from the root of a clone, with the data set in the data home (see docs/datasets.md)::

    python -m docs.images.make_magic
"""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from experiments.datasets import load_magic
from toprank import PNormPush
from toprank.metrics import precision_at_k
from toprank.plots import fit_push_path, precision_curve, push_path

TRAINING_ROWS = 1000  # as in the paper
BUDGET = 500
TOP = {"precision_at_k": {"k": BUDGET}}


def main():
    mpl.use("Agg")
    X, y = load_magic(return_X_y=True)
    splits = ShuffleSplit(10, train_size=TRAINING_ROWS, random_state=0)
    train, test = next(splits.split(X))
    logistic = make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=1000))
    models = {
        "logistic regression": logistic,
        "p = 1": PNormPush(p=1),
        "p = 8": PNormPush(p=8),
    }
    scores = {
        name: model.fit(X[train], y[train]).decision_function(X[test])
        for name, model in models.items()
    }

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.9), layout="constrained")
    precision_curve(y[test], scores, max_k=4000, ax=left)
    left.set_ylim(0.82, 1.005)
    left.set_title("The first rows of one list", loc="left", fontsize="medium")
    push_path(fit_push_path(PNormPush(), X, y, measures=TOP, cv=splits), ax=right)
    others = [
        precision_at_k(y[b], logistic.fit(X[a], y[a]).decision_function(X[b]), k=BUDGET)
        for a, b in splits.split(X)
    ]
    mean = sum(others) / len(others)
    right.axhline(mean, color="#444444", linestyle="--")
    right.annotate("logistic regression, mean", (6, mean), (0, -11), textcoords="offset points",
                   ha="right", color="#444444", fontsize="small")  # fmt: skip
    right.set_ylabel(f"Positives in the first {BUDGET} (share)")
    right.set_title("Ten training sets (thin) and their mean", loc="left", fontsize="medium")
    figure.savefig(Path(__file__).with_name("magic.png"), dpi=110)


if __name__ == "__main__":
    main()
