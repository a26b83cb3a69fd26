"""Multilabel ranking on five of Mulan's sets, by the publisher's split into train and test."""

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler, normalize

from experiments.datasets import load_mulan
from toprank import PrecisionAtKRanker
from toprank.predtron import NDCGLoss, PredtronLabelRanker, PredtronMultilabel, ShortlistLoss


class LabelShortlists:
    """Perceptron@k and SGD@k on label sets: the labels of a row are the list it is a query for.

    "Individual data points" of Kar, Narasimhan and Jain (2015): item l of the list of x is x itself
    in the l-th block of m, so that its score is ⟨w_l, x⟩. Time and memory grow with labels ×
    features.
    """

    def __init__(self, **options):
        self.ranker = PrecisionAtKRanker(**options)

    def set_params(self, **options):
        self.ranker.set_params(**options)
        return self

    def fit(self, X, Y):
        rows = sparse.csr_array(with_constant(X))
        kept = np.flatnonzero(Y.any(axis=1) & ~Y.all(axis=1))
        n_labels = Y.shape[1]
        items = sparse.kron(rows[kept], sparse.eye_array(n_labels), format="csr")
        # columns are feature by feature here, which decision_function undoes
        self.ranker.fit(items, Y[kept].ravel(), groups=np.repeat(kept, n_labels))
        self.weights_ = self.ranker.coef_.reshape(-1, n_labels)
        return self

    def decision_function(self, X):
        return np.asarray(with_constant(X) @ self.weights_)


def with_constant(X):
    ones = np.ones((X.shape[0], 1))
    return sparse.hstack([X, ones], format="csr") if sparse.issparse(X) else np.hstack([X, ones])


SETS = ("emotions", "scene", "yeast", "enron", "bibtex")
SEEDS = range(5)
LEARNERS = {
    "loss-driven, -i^1.1": PredtronLabelRanker(),
    "loss-driven, discount": PredtronLabelRanker(representation="discount"),
    "loss-driven, 1/i": PredtronLabelRanker(representation="reciprocal"),
    "standard, discount, theorem's step": PredtronLabelRanker(
        variant="standard", representation="discount"
    ),
    "standard, discount, step 1": PredtronLabelRanker(
        variant="standard", representation="discount", eta=1.0
    ),
    "loss-driven, precision at 3": PredtronLabelRanker(loss="precision_at_k", k=3),
    "label sets, Hamming": PredtronMultilabel(),
    "Perceptron@3-avg on label sets": LabelShortlists(k=3, solver="perceptron"),
    "SGD@3-avg on label sets": LabelShortlists(k=3, solver="sgd"),
}
# Where labels × features are too many for one block each.
TOO_WIDE = ("enron", "bibtex")


def tables(name):
    """Train and test tables; dense features standardised, sparse rows scaled to length 1."""
    train, test = (load_mulan(name, subset=part) for part in ("train", "test"))
    if hasattr(train.X, "tocsr"):
        return normalize(train.X), train.y, normalize(test.X), test.y
    scaler = StandardScaler().fit(train.X)
    return scaler.transform(train.X), train.y, scaler.transform(test.X), test.y


def places_of(scores):
    return (-scores).argsort(axis=1, kind="stable").argsort(axis=1) + 1


def measures(scores, Y):
    """Mean NDCG and precision at 1 and 3 over the rows that have a label."""
    rows = np.flatnonzero(Y.sum(axis=1))
    places = places_of(scores)
    return [
        np.mean([1.0 - loss(places[row], Y[row]) for row in rows])
        for loss in (NDCGLoss(), ShortlistLoss(1), ShortlistLoss(3))
    ]


def rankings(name):
    """Learner → (mean, standard deviation over the seeds) of each measure."""
    X, Y, X_test, Y_test = tables(name)
    found = {}
    for title, learner in LEARNERS.items():
        if name in TOO_WIDE and isinstance(learner, LabelShortlists):
            continue
        runs = []
        for seed in SEEDS:
            model = learner.set_params(random_state=seed).fit(X, Y)
            runs.append(measures(model.decision_function(X_test), Y_test))
        found[title] = np.mean(runs, axis=0), np.std(runs, axis=0)
    one_by_one = OneVsRestClassifier(LogisticRegression(max_iter=300))
    kept = np.flatnonzero(Y.any(axis=0) & ~Y.all(axis=0))
    scores = np.tile(Y.mean(axis=0) * 1e-9 - 1e9, (X_test.shape[0], 1))
    scores[:, kept] = one_by_one.fit(X, Y[:, kept]).decision_function(X_test)
    found["one logistic regression a label"] = measures(scores, Y_test), np.zeros(3)
    frequent = np.tile(Y.mean(axis=0), (X_test.shape[0], 1))
    found["most frequent labels first"] = measures(frequent, Y_test), np.zeros(3)
    return found
