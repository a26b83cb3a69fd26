"""Which reading of the paper's settings fits its tables: every reading, averaged over draws.

``python -m experiments.svm.readings 3`` takes three draws of every row of Tables 1 and 2 and three
shuffles of every table of Table 3. What is found is kept in experiments/svm/readings.json at once,
so that a run that was cut goes on where it was. A reading is

- the law of the variables at r = 1: fair coins within each class ("fair"), or 1 as often as makes
  the classes as large as they should be ("rare");
- the weights of the 1-norm and of boosting: w ≥ 0 with Σw = 1 ("simplex"), the same with the
  constant among the hypotheses, which takes the weight that features do not get ("constant"), or
  both signs ("signed", with which the constant changes nothing);
- for SoftRankBoost 3 or 200 rounds, for RankBoost on real tables thresholds or features;
- on real tables the scale of the features: as they are, [0, 1] or [-1, 1], and columns turned
  around ("turned": 1 - x) where the weights have one sign.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.model_selection import StratifiedKFold

from experiments.svm.comparison import FOLDS, quiet_fit, ties_as_errors
from experiments.svm.data import even_chance, real_tables, threshold_rows
from experiments.svm.printed import TABLE_1, TABLE_2, TABLE_3
from toprank import LinearRankSVM, RankBoost, RankSVM, SoftRankBoost

FOUND = Path(__file__).parent / "readings.json"
WEIGHTS = ("simplex", "constant", "signed")
SCALES = ("raw", "[0, 1]", "[-1, 1]")
GENES = ("colon-cancer", "duke")  # thousands of columns, standardised in the files
ROUNDS = (3, 200)
COSTS, REAL_COSTS = (10, 50, 100), (100, 1000)
NU = 0.2
# A gap that is small beside what folds differ by.
TOL = 5e-2


class ClassificationLP:
    """The 1-norm classification SVM as a linear program, the fastest way for a thousand rows.

    max ρ - Σξ/(νm)  s.t.  ±(w·x + b) ≥ ρ - ξ, ξ ≥ 0, and w in the set that ``weights`` names.
    """

    def __init__(self, weights, nu):
        self.weights, self.nu = weights, nu

    def fit(self, X, y):
        n_rows, n_columns = X.shape
        sign = np.where(y, 1.0, -1.0)[:, None]
        values = np.hstack([X, -X]) if self.weights == "signed" else X
        size = values.shape[1]
        rows = sparse.hstack(
            [sparse.csr_array(-sign * values), -sign, np.ones((n_rows, 1)), -sparse.eye(n_rows)]
        ).tocsc()
        total = sparse.csr_array(np.append(np.ones(size), np.zeros(2 + n_rows))[None, :])
        cost = np.concatenate([np.zeros(size + 1), [-1.0], np.full(n_rows, 1 / (self.nu * n_rows))])
        bounds = [(0, None)] * size + [(None, None)] * 2 + [(0, None)] * n_rows
        if self.weights == "simplex":
            limits = {"A_ub": rows, "b_ub": np.zeros(n_rows), "A_eq": total, "b_eq": [1.0]}
        else:
            limits = {"A_ub": sparse.vstack([rows, total]), "b_ub": np.append(np.zeros(n_rows), 1)}
        found = linprog(cost, **limits, bounds=bounds, method="highs-ds")
        if found.x is None:
            raise ValueError("no optimum: nu is above 2·min(p, n)/m")
        w = found.x[:size]
        self.coef_ = w[:n_columns] - w[n_columns:] if self.weights == "signed" else w
        return self

    def decision_function(self, X):
        return X @ np.where(np.abs(self.coef_) > 1e-9, self.coef_, 0.0)


def svms(weights):
    """The three 1-norm columns with the weights of a reading."""
    given = {"signed": weights == "signed", "constant": weights != "simplex"}
    shared = given | {"nu": NU, "scale": False, "tol": TOL}
    return {
        f"1-norm C. SVM, {weights}": [ClassificationLP(weights, nu) for nu in (0.1, NU)],
        f"exact 1-norm, {weights}": [RankSVM(**shared)],
        f"product 1-norm, {weights}": [RankSVM(form="product", **shared)],
    }


def dense(costs):
    """The columns that no reading of the weights changes."""
    return {
        "product 2-norm": [RankSVM(2, nu=NU, form="product", tol=TOL)],
        "SVM-Perf": [LinearRankSVM("hinge", alpha=1 / cost, tol=1e-3) for cost in costs],
    }


def by_folds(X, y, candidates, seed):
    """Mean over five folds and its standard error, for the candidate with the best mean."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    best = None
    for ranker in candidates:
        try:
            scores = []
            for train, test in folds.split(X, y):
                fitted = quiet_fit(ranker, X[train], y[train])
                scores.append(ties_as_errors(y[test], fitted.decision_function(X[test])))
        except ValueError:
            continue
        mean = float(np.mean(scores)), float(np.std(scores) / np.sqrt(FOLDS))
        best = mean if best is None else max(best, mean)
    return (0.0, 0.0) if best is None else best


def boosted(X, y, seed, directions):
    """RankBoost on thresholds."""
    ranker = RankBoost("steepest", directions=directions, max_iter=1000)
    return {f"RankBoost, {directions}": by_folds(X, y, [ranker], seed)}


def soft_boosted(X, y, seed):
    """SoftRankBoost after its first and after all rounds."""
    soft = SoftRankBoost(NU, weak_rankers="features", max_iter=ROUNDS[-1])
    scores = {rounds: [] for rounds in ROUNDS}
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y):
        stages = list(quiet_fit(soft, X[train], y[train]).staged_decision_function(X[test]))
        for rounds in ROUNDS:
            scores[rounds].append(ties_as_errors(y[test], stages[min(rounds, len(stages)) - 1]))
    return {
        f"SoftRankBoost {rounds}": (float(np.mean(folds)), float(np.std(folds) / np.sqrt(FOLDS)))
        for rounds, folds in scores.items()
    }


def artificial(r, noise, tenths, law, draw, part):
    """One draw of a row of Table 1 or 2: a reading of the weights, or the columns without one."""
    chance = even_chance(r, tenths / 10) if law == "rare" else 0.5
    seed = 1000 * draw + 10 * tenths + r
    X, y = threshold_rows(
        1000, r=r, noise=noise / 100, positive_share=tenths / 10, chance=chance, seed=seed
    )
    X = np.ascontiguousarray(X[:, :-1])
    candidates = dense(COSTS) if part == "others" else svms(part)
    found = {name: by_folds(X, y, choices, seed) for name, choices in candidates.items()}
    if part == "others":
        for directions in ("increasing", "both"):
            found |= boosted(X, y, seed, directions)
        found |= soft_boosted(X, y, seed)
    return found


def scaled(X, scale):
    """Features of a scale; constant ones go, as the constant is a hypothesis of its own."""
    low, high = X.min(axis=0), X.max(axis=0)
    X, low, high = (values[..., high > low] for values in (X, low, high))
    if scale == "raw":
        return np.ascontiguousarray(X)
    unit = (X - low) / (high - low)
    return np.ascontiguousarray(unit if scale == "[0, 1]" else 2 * unit - 1)


def real(name, scale, draw, part):
    """One shuffle of a table of Table 3 in one scale, likewise."""
    X, y = real_tables()[name]()
    X = scaled(X, scale)
    if part == "turned":
        X = X.max(axis=0) + X.min(axis=0) - X
    weights = "simplex" if part == "turned" else part
    candidates = dense(REAL_COSTS) if part == "others" else svms(weights)
    found = {key: by_folds(X, y, few, draw) for key, few in candidates.items()}
    if part == "others":
        for directions in ("increasing", "both"):
            found |= boosted(X, y, draw, directions)
            linear = RankBoost("steepest", weak_rankers="features", directions=directions)
            found[f"RankBoost on features, {directions}"] = by_folds(X, y, [linear], draw)
        found |= soft_boosted(X, y, draw)
    return found


def work(n_draws):
    """Every piece by its name; what tells most comes first."""
    rows = [(r, noise, 5) for r, noise in TABLE_1] + [(r, 5, tenths) for tenths, r in TABLE_2]
    ones, more = [row for row in rows if row[0] == 1], [row for row in rows if row[0] > 1]
    for draw in range(n_draws):
        yield from drawn(ones, ("others", "simplex"), draw, ("fair",))
        yield from shuffled(("others", "simplex", "signed"), draw, SCALES[:1])
        yield from drawn(more, ("others", "simplex"), draw, ("fair",))
        yield from drawn(ones, ("constant",), draw, ("fair",))
        yield from drawn(ones, ("others", "simplex", "constant"), draw, ("rare",))
        yield from shuffled(("others", "simplex", "signed", "turned", "constant"), draw, SCALES)
        yield from drawn(more, ("constant", "signed"), draw, ("fair",))
        yield from drawn(ones, ("signed",), draw, ("fair", "rare"))


def drawn(rows, parts, draw, laws):
    """Pieces of Tables 1 and 2."""
    for part in parts:
        for r, noise, tenths in rows:
            for law in laws:
                key = f"r {r}, {noise} %, {tenths} tenths, {law}, {part}, draw {draw}"
                yield key, (artificial, r, noise, tenths, law, draw, part)


def shuffled(parts, draw, scales):
    """Pieces of Table 3."""
    for part in parts:
        for name in TABLE_3:
            if name in GENES and part == "turned":
                continue
            for scale in scales[:1] if name in GENES else scales:
                yield f"{name}, {scale}, {part}, draw {draw}", (real, name, scale, draw, part)


def main() -> None:
    """Compute what is not there yet."""
    found = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else {}
    for key, (function, *arguments) in work(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
        if key in found:
            continue
        begun = time.process_time()
        found[key] = function(*arguments)
        FOUND.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"{time.process_time() - begun:7.1f} CPU s  {key}", flush=True)


if __name__ == "__main__":
    main()
