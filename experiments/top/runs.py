"""Training runs of every method, with the test precision along the way."""

import warnings
from time import process_time
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from toprank import PNormPush, PrecisionAtKRanker
from toprank.metrics import precision_at_k
from toprank.objectives import PrecisionAtK
from toprank.solvers.cutting_plane import minimize_by_cutting_planes
from toprank.solvers.mini_batch import (
    MiniBatches,
    Stream,
    ball_of_optimum,
    perceptron_aim,
    sgd_aim,
)
from toprank.truth import Truth
from toprank.weak_rankers.features import StandardFeatures

ALPHA = 1e-4
STEP = 1.0
STOCHASTIC = {
    "SGD@k-avg": ("sgd", "avg"),
    "SGD@k-max": ("sgd", "max"),
    "SGD@k-ramp": ("sgd", "ramp"),
    "Perceptron@k-avg": ("perceptron", "avg"),
    "Perceptron@k-max": ("perceptron", "max"),
    "1PMB": ("sgd", "struct"),
}
PLANES = "SVMPerf"
PEERS = {
    "logistic regression": lambda: LogisticRegression(max_iter=200),
    "linear SVM": lambda: LinearSVC(dual=False),
    "PNormPush(p=4)": lambda: PNormPush(p=4),
}


class Split(NamedTuple):
    """Training and test rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


class Point(NamedTuple):
    """Seconds of training so far, and the test precision they bought."""

    seconds: float
    precision: float


def split(X, y, seed):
    """70 % to train, 30 % to test."""
    order = np.random.default_rng(seed).permutation(y.size)
    train, test = np.split(order, [int(0.7 * y.size)])
    return Split(X[train], y[train], X[test], y[test])


def judged(data, scores, share):
    """Share of positives among the ⌈share·positives⌉ best test rows."""
    k = int(np.ceil(share * data.y_test.sum()))
    return precision_at_k(data.y_test, scores, k=k)


def stochastic_run(data, name, *, share, batch_size, passes, seed):
    """Points after the scaling (of no precision yet), within the first pass and after each."""
    solver, surrogate = STOCHASTIC[name]
    start = process_time()
    family = StandardFeatures().fit(data.X)
    if solver == "sgd":
        options = {"alpha": ALPHA, "radius": ball_of_optimum(ALPHA), "step": STEP}
        aim = sgd_aim(share, surrogate, whole=True, average=True, **options)
    else:
        aim = perceptron_aim(share, surrogate, whole=True, average=True)
    stream = Stream(aim, family.low_, family.span_)
    truth = Truth.of_labels(data.y)
    batches = MiniBatches(truth, batch_size, seed)
    seconds = process_time() - start
    points = [Point(seconds, np.nan)]
    for number, batch in zip(range(passes), batches.passes(), strict=False):
        n_batches = batch.starts.size - 1
        # ramp is linearised once a call, so its passes stay whole
        is_cut = number == 0 and surrogate != "ramp"
        ends = np.unique(np.geomspace(1, n_batches, 8).astype(int)) if is_cut else [n_batches]
        first = 0
        for end in ends:
            start = process_time()
            part = batch._replace(starts=batch.starts[first : end + 1])
            stream.learn(data.X, truth, part)
            seconds += process_time() - start
            first = end
            points.append(Point(seconds, _of_weights(data, family, stream.weights, share)))
    return points


def planes_run(data, *, share, is_traced=True):
    """Points after the scaling and after every cutting plane, or after the last one only."""
    start = process_time()
    family = StandardFeatures().fit(data.X)
    taken, scaled = [], Point(process_time() - start, np.nan)

    def watch(progress):
        taken.append((process_time() - start, progress.weights))
        return False

    minimize_by_cutting_planes(
        family.design(data.X),
        PrecisionAtK(share, "struct").on(data.y),
        ALPHA,
        tol=1e-4,
        max_iter=200,
        monitor=watch,
    )
    told = taken if is_traced else taken[-1:]
    points = [Point(at, _of_weights(data, family, weights, share)) for at, weights in told]
    return [scaled, *points]


def _of_weights(data, family, weights, share):
    return judged(data, data.X_test @ (weights / family.span_), share)


def peer_scores(data, name):
    """Seconds and test scores of a method that knows nothing of k."""
    start = process_time()
    scaler = StandardScaler(with_mean=not sparse.issparse(data.X)).fit(data.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few more iterations change nothing here
        model = PEERS[name]().fit(scaler.transform(data.X), data.y)
    seconds = process_time() - start
    return seconds, model.decision_function(scaler.transform(data.X_test))


def compile_all():
    """Let the loops compile before anything is timed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    tiny = Split(X, X[:, 0] > 0.5, X, X[:, 0] > 0.5)
    for name in STOCHASTIC:
        stochastic_run(tiny, name, share=0.25, batch_size=100, passes=1, seed=0)
    planes_run(tiny, share=0.25)
    PrecisionAtKRanker().fit(tiny.X, tiny.y)
