"""P-Norm Push beside scikit-learn's logistic regression, and its losses beside each other.

Each fit runs to within 1e-6 relative of its own optimum, which a much tighter fit finds first.
Memory is what Python and NumPy allocate during the fit, at its peak.
"""

import tracemalloc
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from benchmarks.timing import best_times, table
from toprank import PNormPush
from toprank.objectives import ExponentialPush

ROWS, FEATURES, P = 1_000_000, 100, 8
ACCURACY = 1e-6


def make_data() -> tuple[np.ndarray, np.ndarray]:
    """A linear signal of unequal features, 18 % positives."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, FEATURES), dtype=np.float32)
    X *= np.linspace(0.5, 2.0, FEATURES, dtype=np.float32)
    signal = X @ (rng.normal(size=FEATURES) / 5).astype(np.float32)
    y = signal + rng.logistic(size=ROWS) > 3.0
    return X, y


def push_objective(model: PNormPush, X: np.ndarray, y: np.ndarray) -> float:
    scores = X @ model.coef_[0]
    penalty = 0.5 * model.alpha * float(model.weights_ @ model.weights_)
    return ExponentialPush(model.p).value(scores, y) + penalty


def logistic_objective(model: LogisticRegression, X: np.ndarray, y: np.ndarray) -> float:
    penalty = 0.5 * float(model.coef_[0] @ model.coef_[0]) / (model.C * len(y))
    return log_loss(y, model.predict_proba(X)) + penalty


def loosest_tol(make, objective, X, y) -> tuple[float, float]:
    """Largest tolerance of 1e-1, 1e-2, … that ends within ACCURACY of the optimum."""
    best = objective(make(1e-9).fit(X, y), X, y)
    for exponent in range(1, 10):
        tol = 10.0**-exponent
        gap = (objective(make(tol).fit(X, y), X, y) - best) / abs(best)
        if gap <= ACCURACY:
            return tol, gap
    return 1e-9, 0.0


def peak_memory(run) -> int:
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = make_data()
    beside_logistic_regression(X, y)
    beside_each_other(np.ascontiguousarray(X[:, :50]), y)


def beside_each_other(X, y) -> None:
    """Every loss at 1,000,000 × 50, to the same tolerance."""
    rankers = {
        loss: PNormPush(p=4, loss=loss, tol=1e-4)
        for loss in ("exponential", "logistic", "hinge", "squared_hinge")
    }
    times = best_times(
        {loss: lambda ranker=ranker: ranker.fit(X, y) for loss, ranker in rankers.items()},
        repeats=2,
    )
    table(
        f"Fit of {len(X):,} × {X.shape[1]} float32, PNormPush(p=4, tol=1e-4)",
        ("loss", "iterations", "seconds", "ratio"),
        [
            (loss, rankers[loss].n_iter_, seconds, seconds / times["exponential"])
            for loss, seconds in times.items()
        ],
    )


def beside_logistic_regression(X, y) -> None:

    def push(tol: float) -> PNormPush:
        return PNormPush(p=P, tol=tol)

    def logistic(tol: float) -> LogisticRegression:
        return LogisticRegression(solver="lbfgs", tol=tol, max_iter=1000)

    push_tol, push_gap = loosest_tol(push, push_objective, X, y)
    logistic_tol, logistic_gap = loosest_tol(logistic, logistic_objective, X, y)
    times = best_times(
        {
            "push": lambda: push(push_tol).fit(X, y),
            "logistic": lambda: logistic(logistic_tol).fit(X, y),
        },
        repeats=3,
    )
    memory = peak_memory(lambda: push(push_tol).fit(X, y))
    table(
        f"Fit of {ROWS:,} × {FEATURES} float32 to {ACCURACY:g} of the optimum",
        ("fit", "tol", "relative gap", "seconds", "ratio", "memory above X"),
        [
            (
                f"PNormPush(p={P})",
                push_tol,
                push_gap,
                times["push"],
                times["push"] / times["logistic"],
                f"{memory / X.nbytes:.1%} of X",
            ),
            (
                'LogisticRegression(solver="lbfgs")',
                logistic_tol,
                logistic_gap,
                times["logistic"],
                1.0,
                "",
            ),
        ],
    )


if __name__ == "__main__":
    main()
