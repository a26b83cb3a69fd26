"""At which tolerance the head of a list no longer changes: ten data sets, one split each.

Writes docs/experiments/tolerance.md. Every model learns from half of the rows (at most 100,000)
with the tolerances below and once to 1e-10; the hundred best rows of the other half are compared.
"""

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from experiments import DOCS
from experiments.tuned.problems import read
from toprank import IRPush, PNormPush

PAGE = DOCS / "tolerance.md"
SETS = (
    "adult", "bank_marketing", "cod_rna", "covtype", "donors", "letter", "magic", "pendigits",
    "spambase", "sylva",
)  # fmt: skip
ROWS = 100_000
BUDGET = 100
TOLS = (1e-2, 1e-3, 1e-4, 1e-5)
EXACT = 1e-10
MODELS = {
    "PNormPush()": PNormPush,
    "PNormPush(p=16)": lambda tol: PNormPush(p=16, tol=tol),
    "IRPush()": IRPush,
    "LogisticRegression(), scaled before": lambda tol: LogisticRegression(
        tol=tol, max_iter=100_000
    ),
}

TEXT = """# Tolerances and the head of the list

`make reproduce PAPER=tolerance` writes this page. A fit may stop when more iterations would no
longer change what people look at. Every model learns from half of the rows of a data set (at most
{rows:,}), once to a tolerance of 1e-10 and once to each tolerance below. A cell says how many of
the {budget} best rows of the other half are the same, then how many of the {budget} are positive,
then the iterations it took.

At **1e-4**, the default of the pushes, at least {least} of {budget} rows are the same on all ten
sets and the number of positives among them changes by at most {change}. `LogisticRegression` has
the same number as its default; its tolerance is on a gradient of another scale, and at least
{peer} rows are the same.
"""


def halves(name: str) -> tuple[np.ndarray, ...]:
    X, y = read(name)
    X = np.nan_to_num(X)  # a missing value is 0 here: the lists are compared, not the models
    rows = np.random.default_rng(0).permutation(y.size)
    half = y.size // 2
    first, second = rows[:half][:ROWS], rows[half:][:ROWS]
    return X[first], y[first], X[second], y[second]


def head(model, X, y, X_new, y_new) -> tuple[set, int, int]:
    """The best rows, the positives among them, and the iterations of the fit."""
    scores = model.fit(X, y).decision_function(X_new)
    best = np.argsort(-scores, kind="stable")[:BUDGET]
    return set(best.tolist()), int(y_new[best].sum()), int(np.ravel(model.n_iter_)[0])


def compared(make, rows) -> tuple[list, list]:
    """Exact hits and iterations; then overlap, hits and iterations at each tolerance."""
    exact, hits, iterations = head(make(tol=EXACT), *rows)
    heads = [head(make(tol=tol), *rows) for tol in TOLS]
    return [BUDGET, hits, iterations], [[len(exact & best), *rest] for best, *rest in heads]


def table(results) -> str:
    names = [f"{tol:.0e}".replace("e-0", "e-") for tol in (EXACT, *TOLS)]
    lines = ["| data set | " + " | ".join(names) + " |", "|---" * (1 + len(names)) + "|"]
    for name, (exact, found) in results.items():
        cells = (" · ".join(map(str, cell)) for cell in (exact, *found))
        lines.append(f"| {name.replace('_', ' ')} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page(results) -> str:
    default = TOLS.index(1e-4)
    ours = [
        (found[default][0], abs(found[default][1] - exact[1]))
        for model, sets in results.items()
        if "Push" in model
        for exact, found in sets.values()
    ]
    *_, peer = results.values()
    text = TEXT.format(
        rows=ROWS,
        budget=BUDGET,
        least=min(overlap for overlap, _ in ours),
        change=max(change for _, change in ours),
        peer=min(found[default][0] for _, found in peer.values()),
    )
    return "\n".join([text, *(f"## {model}\n\n{table(sets)}\n" for model, sets in results.items())])


def main() -> None:
    warnings.simplefilter("ignore")
    results: dict = {model: {} for model in MODELS}
    for name in SETS:
        X, y, X_new, y_new = halves(name)
        scaler = StandardScaler().fit(X)
        scaled = scaler.transform(X), y, scaler.transform(X_new), y_new
        for model, make in MODELS.items():
            rows = scaled if "Logistic" in model else (X, y, X_new, y_new)
            results[model][name] = compared(make, rows)
            print(model, name, *results[model][name], flush=True)
    PAGE.write_text(page(results), encoding="utf-8")
