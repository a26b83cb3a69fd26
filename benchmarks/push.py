"""P-Norm Push and IR Push beside scikit-learn's linear classifiers, alone and on a busy machine.

Defaults run against defaults. To an accuracy, the push and logistic regression run to within 1e-6
relative of their own optimum, with the loosest tolerance that gets there; SGDClassifier stops by
its own rule. Processor time counts all threads.
"""

from contextlib import nullcontext

from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from benchmarks.measure import busy_processes, race
from benchmarks.tables import linear_rows
from toprank import IRPush, PNormPush
from toprank.metrics import precision_at_k
from toprank.objectives import pnorm_push

SIZES, FEATURES, P = (300_000, 1_000_000), 100, 8
BUSY = 2  # processes that do nothing but count, as many as a small machine has cores
TRIED = 50_000  # rows on which tolerances are looked for
ACCURACY = 1e-6
PEER = "LogisticRegression()"


def push(tol):
    return PNormPush(p=P, tol=tol)


def logistic(tol):
    return LogisticRegression(tol=tol, max_iter=1000)


def push_objective(model, X, y):
    penalty = 0.5 * model.alpha * float(model.weights_ @ model.weights_)
    return pnorm_push(model.p).value(X @ model.coef_[0], y) + penalty


def logistic_objective(model, X, y):
    penalty = 0.5 * float(model.coef_[0] @ model.coef_[0]) / (model.C * len(y))
    return log_loss(y, model.predict_proba(X)) + penalty


def loosest_tol(make, objective, X, y):
    """Largest tolerance of 1e-1, 1e-2, … that ends within ACCURACY of the optimum."""
    best = objective(make(1e-9).fit(X, y), X, y)
    for exponent in range(1, 9):
        tol = 10.0**-exponent
        if objective(make(tol).fit(X, y), X, y) - best <= ACCURACY * abs(best):
            return tol
    return 1e-9


def results():
    X, y = linear_rows(2 * SIZES[0], FEATURES)
    tols = [
        loosest_tol(make, objective, X[:TRIED], y[:TRIED])
        for make, objective in ((push, push_objective), (logistic, logistic_objective))
    ]
    yield from with_defaults(SIZES[0], X, y)
    yield from to_accuracy(SIZES[0], X, y, *tols)
    yield from other_rivals(SIZES[0], X, y)
    for n_rows in SIZES[1:]:
        X, y = linear_rows(n_rows, FEATURES)
        yield from with_defaults(n_rows, X, y)
        yield from to_accuracy(n_rows, X, y, *tols)


def task_of(n_rows):
    return f"fit of {n_rows:,} × {FEATURES} float32"


def with_defaults(n_rows, X, y):
    """Default against default, alone and beside busy processes, by the clock and by processor."""
    X, y = X[:n_rows], y[:n_rows]
    for is_busy in (False, True):
        with busy_processes(BUSY) if is_busy else nullcontext():
            yield from race(
                "training on a busy machine" if is_busy else "training",
                task_of(n_rows) + (f", {BUSY} busy processes beside" if is_busy else ""),
                (f"PNormPush(p={P})", lambda: PNormPush(p=P).fit(X, y)),
                {PEER: lambda: LogisticRegression().fit(X, y)},
                processor=True,
            )


def to_accuracy(n_rows, X, y, push_tol, logistic_tol):
    """Both to the same share above their own optimum."""
    X, y = X[:n_rows], y[:n_rows]
    yield from race(
        "training",
        task_of(n_rows),
        (f"PNormPush(p={P}), to {ACCURACY:g} of the optimum", lambda: push(push_tol).fit(X, y)),
        {f"LogisticRegression, to {ACCURACY:g}": lambda: logistic(logistic_tol).fit(X, y)},
        processor=True,
    )


def other_rivals(n_rows, X, y):
    """Stochastic gradients, and the IR push; what each is worth on new rows."""
    X, X_new, y, y_new = X[:n_rows], X[n_rows:], y[:n_rows], y[n_rows:]
    scaler = StandardScaler().fit(X)
    scaled = scaler.transform(X)
    stochastic = SGDClassifier(loss="log_loss", random_state=0)
    rival = 'SGDClassifier("log_loss"), scaled before'

    def found(model, table):
        return f"{precision_at_k(y_new, model.decision_function(table), k=0.01):.3f}"

    ours = found(PNormPush(p=P).fit(X, y), X_new)
    theirs = found(stochastic.fit(scaled, y), scaler.transform(X_new))
    logistic_too = found(LogisticRegression().fit(X, y), X_new)
    note = (
        f"precision in the first 1 % of new rows: ours {ours}, theirs {theirs}; "
        f"LogisticRegression {logistic_too}"
    )
    yield from race(
        "training",
        task_of(n_rows),
        (f"PNormPush(p={P})", lambda: PNormPush(p=P).fit(X, y)),
        {rival: lambda: stochastic.fit(scaled, y)},
        turns=3,
        notes={rival: note},
    )
    yield from race(
        "training",
        task_of(n_rows),
        ("IRPush()", lambda: IRPush().fit(X, y)),
        {PEER: lambda: LogisticRegression().fit(X, y)},
        turns=3,
    )
