"""Precision at k beside scikit-learn's SGDClassifier: passes over the same rows, one thread."""

from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks.measure import race
from benchmarks.tables import linear_rows
from toprank import PrecisionAtKRanker

ROWS, FEATURES, PASSES = 400_000, 54, 5
SOLVERS = {
    "sgd, avg": {},
    "sgd, ramp": {"surrogate": "ramp"},
    "sgd, struct": {"surrogate": "struct"},
    "perceptron, avg": {"solver": "perceptron"},
    "perceptron, max": {"solver": "perceptron", "surrogate": "max"},
}


def results():
    X, y = linear_rows(ROWS, FEATURES, share=0.02)
    scaled = StandardScaler().fit_transform(X)
    hinge = SGDClassifier(loss="hinge", max_iter=PASSES, tol=None, random_state=0)
    for name, options in SOLVERS.items():
        model = PrecisionAtKRanker(max_iter=PASSES, tol=None, random_state=0, **options)
        yield from race(
            "training",
            f"{PASSES} passes over {ROWS:,} × {FEATURES} float32",
            (f"PrecisionAtKRanker ({name})", lambda model=model: model.fit(X, y)),
            {'SGDClassifier("hinge"), scaled before': lambda: hinge.fit(scaled, y)},
        )
