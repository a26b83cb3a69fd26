"""P-Norm Push and IR Push beside scikit-learn's linear classifiers.

The push and logistic regression run to within 1e-6 relative of their own optimum, with the loosest
tolerance that gets there; SGDClassifier stops by its own rule.
"""

from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from benchmarks.measure import race
from benchmarks.tables import linear_rows
from toprank import IRPush, PNormPush
from toprank.metrics import precision_at_k
from toprank.objectives import ExponentialPush

ROWS, FEATURES, P = 500_000, 50, 8
TRIED = 50_000  # rows on which tolerances are looked for
ACCURACY = 1e-6
TASK = f"fit of {ROWS:,} × {FEATURES} float32"


def push(tol):
    return PNormPush(p=P, tol=tol)


def logistic(tol):
    return LogisticRegression(tol=tol, max_iter=1000)


def push_objective(model, X, y):
    penalty = 0.5 * model.alpha * float(model.weights_ @ model.weights_)
    return ExponentialPush(model.p).value(X @ model.coef_[0], y) + penalty


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
    X, y = linear_rows(2 * ROWS, FEATURES)
    X, X_new, y, y_new = X[:ROWS], X[ROWS:], y[:ROWS], y[ROWS:]
    push_tol = loosest_tol(push, push_objective, X[:TRIED], y[:TRIED])
    logistic_tol = loosest_tol(logistic, logistic_objective, X[:TRIED], y[:TRIED])
    scaled = StandardScaler().fit_transform(X)
    stochastic = SGDClassifier(loss="log_loss", random_state=0)

    def found(model, table):
        return f"{precision_at_k(y_new, model.decision_function(table), k=0.01):.3f}"

    scaler = StandardScaler().fit(X)
    ours = found(push(push_tol).fit(X, y), X_new)
    top = f"precision in the first 1 % of new rows: ours {ours}"
    yield from race(
        "training",
        TASK,
        (f"PNormPush(p={P}), to {ACCURACY:g} of the optimum", lambda: push(push_tol).fit(X, y)),
        {
            f"LogisticRegression, to {ACCURACY:g}": lambda: logistic(logistic_tol).fit(X, y),
            'SGDClassifier("log_loss"), scaled before': lambda: stochastic.fit(scaled, y),
        },
        notes={
            f"LogisticRegression, to {ACCURACY:g}": (
                f"{top}, theirs {found(logistic(logistic_tol).fit(X, y), X_new)}"
            ),
            'SGDClassifier("log_loss"), scaled before': (
                f"{top}, theirs {found(stochastic.fit(scaled, y), scaler.transform(X_new))}"
            ),
        },
    )
    yield from race(
        "training",
        TASK,
        ("IRPush(), default tolerance", lambda: IRPush().fit(X, y)),
        {"LogisticRegression, default tolerance": lambda: LogisticRegression().fit(X, y)},
    )
