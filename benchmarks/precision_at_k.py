"""Precision at k beside scikit-learn's SGDClassifier and cutting planes, and a long stream.

Times are processor times of one thread, the least of several interleaved runs: what else the
machine does falls on all alike. ``python -m benchmarks.precision_at_k stream`` runs the stream of
100 million rows alone.
"""

import sys
import warnings
from time import process_time

import numpy as np
import psutil
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from toprank import PrecisionAtKRanker
from toprank.datasets import DatasetNotFoundError, load_covtype
from toprank.metrics import precision_at_k

PASSES = 25
REPEATS = 3
SHARE = 0.25
STREAM_ROWS, STREAM_CHUNK, STREAM_FEATURES = 100_000_000, 100_000, 10


def seconds(call):
    start = process_time()
    result = call()
    return process_time() - start, result


def split(X, y, seed=0):
    rows = np.random.default_rng(seed).permutation(y.size)
    train, test = np.split(rows, [int(0.7 * y.size)])
    return X[train], y[train], X[test], y[test]


def passes_beside_hinge(X, y):
    """25 passes of each over the same rows."""
    scaled = StandardScaler().fit_transform(X)
    ours = {"max_iter": PASSES, "tol": None, "random_state": 0}
    calls = {
        "SGDClassifier(loss='hinge')": lambda: SGDClassifier(
            loss="hinge", max_iter=PASSES, tol=None, random_state=0
        ).fit(scaled, y),
        "sgd, avg": lambda: PrecisionAtKRanker(**ours).fit(X, y),
        "sgd, max": lambda: PrecisionAtKRanker(surrogate="max", **ours).fit(X, y),
        "sgd, ramp": lambda: PrecisionAtKRanker(surrogate="ramp", **ours).fit(X, y),
        "sgd, struct": lambda: PrecisionAtKRanker(surrogate="struct", **ours).fit(X, y),
        "perceptron, avg": lambda: PrecisionAtKRanker(solver="perceptron", **ours).fit(X, y),
        "perceptron, max": lambda: PrecisionAtKRanker(
            solver="perceptron", surrogate="max", **ours
        ).fit(X, y),
    }
    for call in calls.values():
        call()  # compiles, and warms the cache
    taken = {name: [] for name in calls}
    for _ in range(REPEATS):
        for name, call in calls.items():
            taken[name].append(seconds(call)[0])
    peer = min(taken["SGDClassifier(loss='hinge')"])
    print(f"{PASSES} passes over {len(y):,} rows of {X.shape[1]} features\n")
    print(f"{'solver':<28} {'seconds':>8} {'ratio':>6}")
    for name, times in taken.items():
        print(f"{name:<28} {min(times):8.2f} {min(times) / peer:6.2f}")


def time_to_reach(X, y, X_test, y_test, surrogate):
    """Seconds of cutting planes, and of mini-batch steps until they rank the test rows as well."""
    k = int(np.ceil(SHARE * y_test.sum()))

    def judged(model):
        return precision_at_k(y_test, model.decision_function(X_test), k=k)

    planes = PrecisionAtKRanker(SHARE, surrogate=surrogate, solver="cutting_plane", max_iter=300)
    planes_time, _ = seconds(lambda: planes.fit(X, y))
    goal = judged(planes)
    print(
        f"\nsurrogate {surrogate}: cutting planes {planes_time:.2f} s, {planes.n_iter_} planes, "
        f"gap {planes.certificate_.gap:.2g}, test prec@{SHARE} {goal:.4f}"
    )
    for name in ("avg", "ramp", "struct"):
        model = PrecisionAtKRanker(SHARE, surrogate=name)
        taken, reached = 0.0, False
        order = np.random.default_rng(0).permutation(y.size)
        for rows in np.array_split(order, max(1, y.size // 2500)):
            chunk, labels = X[rows], y[rows]
            taken += seconds(lambda: model.partial_fit(chunk, labels, classes=[False, True]))[0]  # noqa: B023
            reached = judged(model) >= goal
            if reached:
                break
        told = f"{planes_time / taken:8.0f} times less" if reached else "  not reached in a pass"
        print(f"  sgd, {name:<8} {taken:8.4f} s {told}")


def stream(n_rows=STREAM_ROWS):
    """Rows made on the fly through partial_fit, in constant memory."""
    rng = np.random.default_rng(0)
    model, process = PrecisionAtKRanker(), psutil.Process()
    direction = rng.normal(size=STREAM_FEATURES)
    learned, resident = 0.0, []
    for _ in range(n_rows // STREAM_CHUNK):
        X = rng.standard_normal((STREAM_CHUNK, STREAM_FEATURES), dtype=np.float32)
        y = X @ direction + 2.0 * rng.normal(size=STREAM_CHUNK) > 5.0
        learned += seconds(lambda: model.partial_fit(X, y, classes=[False, True]))[0]  # noqa: B023
        resident.append(process.memory_info().rss / 2**20)
    print(f"\n{n_rows:,} rows of {STREAM_FEATURES} features through partial_fit")
    print(f"{n_rows / learned:,.0f} rows a second in partial_fit")
    tenth = len(resident) // 10
    print(f"memory {max(resident[:tenth]):.0f} MiB after a tenth, {max(resident):.0f} MiB at most")


def main():
    warnings.simplefilter("ignore")
    try:
        data = load_covtype()
    except DatasetNotFoundError as error:
        print(error)
        return
    X, y, X_test, y_test = split(data.X, data.y)
    passes_beside_hinge(X, y)
    for surrogate in ("struct", "avg"):
        time_to_reach(X, y, X_test, y_test, surrogate)
    stream(STREAM_ROWS // 100)


if __name__ == "__main__":
    stream() if sys.argv[1:] == ["stream"] else main()
