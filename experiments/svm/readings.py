"""Which reading of the paper's settings fits its tables: every reading, averaged over draws.

``python -m experiments.svm.readings 3`` takes up to three draws of every row of Tables 1 and 2, of
each two of the five folds (draws differ by more than folds), and the five folds of every table of
Table 3. What is found is kept in experiments/svm/readings.json at once, so that a run that was cut
goes on where it was. A reading is

- the law of the variables at r = 1: fair coins within each class ("fair"), or 1 as often as makes
  the classes as large as they should be ("rare");
- in Table 2 the ratio of the classes: that of the rows drawn, or that of the labels given, after
  the flips ("given");
- the weights of the 1-norm and of boosting: w ≥ 0 with Σw = 1 ("simplex"), the same with the
  constant among the hypotheses, which takes the weight that features do not get ("constant"), or
  both signs ("signed", with which the constant changes nothing);
- for SoftRankBoost 3 or 200 rounds, for RankBoost on real tables thresholds or features;
- for SVM-Perf the unit of its loss, a share of the pairs or a percentage;
- on real tables the scale of the features: as they are or [-1, 1], and columns turned around
  ("turned") where the weights have one sign. [0, 1] is no reading of its own: it halves all
  differences of scores, under which every method but SVM-Perf has the same ranking.

The constant needs no fits of its own. Margins are homogeneous in w: where the best margin over the
simplex is positive the constant gets no weight, and elsewhere it gets all of it, so that all rows
are tied.
"""

import itertools
import json
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from experiments.svm.comparison import FOLDS, quiet_fit, ties_as_errors
from experiments.svm.data import even_chance, real_tables, threshold_rows
from experiments.svm.printed import TABLE_1, TABLE_2, TABLE_3
from toprank import LinearRankSVM, RankBoost, RankSVM, SoftRankBoost

FOUND = Path(__file__).parent / "readings.json"
SCALES = ("raw", "[-1, 1]")
GENES = ("colon-cancer", "duke")  # thousands of columns, standardised in the files
# Folds of the five that one draw of artificial rows is judged on; their seeds are not smaller.
DRAWN_FOLDS, DRAWN_SEED = 2, 50
ROUNDS = (3, 200)
# Where C is in units of a percentage it is a hundred times as large; the smallest one is the best.
COSTS = {"share": (10, 100), "percent": (1000,)}
REAL_COSTS = {"share": (100, 1000), "percent": (10_000,)}
NU = 0.2
# ν of the classification SVM; above 2·min(p, n)/m (hypothyroid: 0.095) it has no optimum.
CLASSIFICATION_NUS, REAL_NUS = (0.1, NU), (0.05, NU)
# A gap that is small beside what folds differ by, and the most cuts, vertices or planes: where ν is
# near the noise of the pairs, or raw columns are very unequal, thousands change no ranking.
TOL, MOST_STEPS = 5e-2, 150


class MarginLP:
    """A 1-norm SVM as a linear program, the fastest way for few rows and for the classification.

    max ρ - Σ c_i·ξ_i  s.t.  z_i·w + b_i·b ≥ ρ - ξ_i, ξ ≥ 0, and w ≥ 0 with Σw = 1, or ‖w‖₁ ≤ 1.

    "classification": z = ±x, b_i = ±1, c = 1/(νm). "product" at ν⁺ = √ν: the same with
    c = 1/(2√ν·p) and 1/(2√ν·n). "exact": all pairs, z = (x⁺ - x⁻)/2, b_i = 0, c = 1/(νpn).
    """

    def __init__(self, form, nu, *, signed):
        self.form, self.nu, self.signed = form, nu, signed

    def _rows(self, X, y):
        """z, the signs of b, and c."""
        if self.form == "exact":
            Z = ((X[y][:, None, :] - X[~y][None, :, :]) / 2).reshape(-1, X.shape[1])
            return Z, np.zeros((len(Z), 1)), np.full(len(Z), 1 / (self.nu * len(Z)))
        sign = np.where(y, 1.0, -1.0)[:, None]
        if self.form == "classification":
            return sign * X, sign, np.full(y.size, 1 / (self.nu * y.size))
        return sign * X, sign, 0.5 / np.sqrt(self.nu) / np.where(y, y.sum(), (~y).sum())

    def fit(self, X, y):
        Z, sign, prices = self._rows(X, y)
        (n_rows, n_columns), signed = Z.shape, self.signed
        values = np.hstack([Z, -Z]) if signed else Z
        size = values.shape[1]
        rows = sparse.hstack(
            [sparse.csr_array(-values), -sign, np.ones((n_rows, 1)), -sparse.eye(n_rows)]
        ).tocsc()
        total = sparse.csr_array(np.append(np.ones(size), np.zeros(2 + n_rows))[None, :])
        cost = np.concatenate([np.zeros(size + 1), [-1.0], prices])
        bounds = [(0, None)] * size + [(None, None)] * 2 + [(0, None)] * n_rows
        if signed:
            limits = {"A_ub": sparse.vstack([rows, total]), "b_ub": np.append(np.zeros(n_rows), 1)}
        else:
            limits = {"A_ub": rows, "b_ub": np.zeros(n_rows), "A_eq": total, "b_eq": [1.0]}
        found = linprog(cost, **limits, bounds=bounds, method="highs-ds")
        if found.x is None:
            raise ValueError("no optimum: nu is above 2·min(p, n)/m")
        w = found.x[:size]
        self.coef_ = w[:n_columns] - w[n_columns:] if signed else w
        self.soft_margin_ = -found.fun
        return self

    def decision_function(self, X):
        return X @ np.where(np.abs(self.coef_) > 1e-9, self.coef_, 0.0)


def has_margin(fitted):
    """Whether the best margin is positive, without which the constant takes all weight."""
    if isinstance(fitted, MarginLP):
        return fitted.soft_margin_ > 1e-9
    return fitted.certificate_.soft_margin > 0


def classifiers(nus, *, signed):
    """The classification SVM."""
    return {"1-norm C. SVM": [MarginLP("classification", nu, signed=signed) for nu in nus]}


def rankers(nu, *, signed, is_wide):
    """The two 1-norm ranking SVMs at a ν, in wide tables of few rows as linear programs."""
    shared = {"signed": signed, "constant": signed, "nu": nu, "scale": False, "tol": TOL}
    shared["max_iter"] = MOST_STEPS
    return {
        f"{form} 1-norm": [
            MarginLP(form, nu, signed=signed) if is_wide else RankSVM(form=form, **shared)
        ]
        for form in ("exact", "product")
    }


def told(scores):
    """Mean over the folds, the standard error of a mean over five, and how many they were."""
    return float(np.mean(scores)), float(np.std(scores, ddof=1) / np.sqrt(FOLDS)), len(scores)


def folds_of(X, y, seed):
    """Training and test rows: all five folds of a real table, fewer of an artificial one."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y)
    return itertools.islice(folds, DRAWN_FOLDS if seed >= DRAWN_SEED else FOLDS)


def fold_scores(X, y, fit, seed):
    """AUC on every fold, and what was fitted there."""
    for train, test in folds_of(X, y, seed):
        fitted = fit(X[train], y[train])
        yield ties_as_errors(y[test], fitted.decision_function(X[test])), fitted


def by_folds(X, y, candidates, seed):
    """Mean and standard error of the candidate with the best mean."""
    fits = [partial(quiet_fit, one) for one in candidates]
    return max(told([score for score, _ in fold_scores(X, y, fit, seed)]) for fit in fits)


def one_norm(X, y, seed, part, nus):
    """The 1-norm columns with weights of one or of both signs; the constant comes with the first.

    A part such as "signed at 0.1" has the ranking SVMs at that ν, and says so in their names. A ν
    that the classification SVM cannot have on these classes is left out.
    """
    weights, _, other = part.partition(" at ")
    signed, is_wide = weights == "signed", X.shape[1] > len(X)
    models = rankers(float(other or NU), signed=signed, is_wide=is_wide)
    if not other:
        models |= classifiers(nus, signed=signed)
    found = {}
    for column, one in ((column, one) for column, few in models.items() for one in few):
        try:
            folds = list(fold_scores(X, y, partial(quiet_fit, one), seed))
        except ValueError:
            continue
        scores = np.array([score for score, _ in folds])
        readings = {"signed": scores}
        if not signed:
            kept = np.array([has_margin(fitted) for _, fitted in folds])
            readings = {"simplex": scores, "constant": scores * kept}
        for name, values in readings.items():
            key = f"{column}, {name}" + (f", {other}" if other else "")
            found[key] = max(found.get(key, (0.0, 0.0, len(folds))), told(values))
    return found


def last_nonzero(ranker, X, y):
    """Fit the 2-norm; where w = 0 is the optimum give the last model on the way that is not 0.

    Then the fitted ranker has an attribute ``is_zero_`` that is true.
    """
    fitted = quiet_fit(ranker, X, y)
    fitted.is_zero_ = not fitted.coef_.any()
    if not fitted.is_zero_:
        return fitted
    for n_iter in range(max(fitted.n_iter_, 1), 0, -1):
        shorter = clone(ranker).set_params(nu_plus=fitted.nu_plus_, tol=None, max_iter=n_iter)
        shorter = quiet_fit(shorter, X, y)
        if shorter.coef_.any():
            shorter.is_zero_ = True
            return shorter
    return fitted


def dense(X, y, seed, costs):
    """The columns of the 2-norm, which no reading of the weights changes."""
    ranker = RankSVM(2, nu=NU, form="product", scale=False, tol=TOL, max_iter=MOST_STEPS)
    folds = list(fold_scores(X, y, partial(last_nonzero, ranker), seed))
    found = {
        "product 2-norm": told([score for score, _ in folds]),
        "product 2-norm, w = 0": told([fitted.is_zero_ for _, fitted in folds]),
    }
    for unit, values in costs.items():
        shared = {"scale": False, "tol": 1e-3, "max_iter": MOST_STEPS}
        candidates = [LinearRankSVM("hinge", alpha=1 / cost, **shared) for cost in values]
        found[f"SVM-Perf, {unit}"] = by_folds(X, y, candidates, seed)
    return found


def boosting(X, y, seed, kinds):
    """RankBoost and, after its first and after all rounds, SoftRankBoost."""
    found = {}
    for directions in ("increasing", "both"):
        for kind in kinds:
            options = {} if kind == "features" else {"max_iter": 1000}
            weak = "features" if kind == "features" else "stumps"
            ranker = RankBoost("steepest", weak_rankers=weak, directions=directions, **options)
            found[f"RankBoost on {kind}, {directions}"] = by_folds(X, y, [ranker], seed)
    soft = SoftRankBoost(NU, weak_rankers="features", max_iter=ROUNDS[-1])
    scores = {rounds: [] for rounds in ROUNDS}
    for train, test in folds_of(X, y, seed):
        stages = list(quiet_fit(soft, X[train], y[train]).staged_decision_function(X[test]))
        for rounds in ROUNDS:
            scores[rounds].append(ties_as_errors(y[test], stages[min(rounds, len(stages)) - 1]))
    return found | {f"SoftRankBoost {rounds}": told(folds) for rounds, folds in scores.items()}


def share_before(tenths, noise):
    """Share of positives among the rows drawn that makes the ratio right after the flips."""
    return (tenths / 10 - noise / 100) / (1 - 2 * noise / 100)


def artificial(r, noise, tenths, law, draw, part, ratio="drawn"):
    """One draw of a row of Table 1 or 2, for a part of the columns."""
    share = share_before(tenths, noise) if ratio == "given" else tenths / 10
    chance = even_chance(r, share) if law == "rare" else 0.5
    seed = 1000 * draw + 10 * tenths + r
    X, y = threshold_rows(
        1000, r=r, noise=noise / 100, positive_share=share, chance=chance, seed=seed
    )
    X = np.ascontiguousarray(X[:, :-1])
    if part == "dense":
        return dense(X, y, seed, COSTS)
    if part == "boosting":
        return boosting(X, y, seed, ("thresholds",))
    return one_norm(X, y, seed, part, CLASSIFICATION_NUS)


def scaled(X, scale):
    """Features of a scale; constant ones go, as the constant is a hypothesis of its own."""
    low, high = X.min(axis=0), X.max(axis=0)
    X, low, high = (values[..., high > low] for values in (X, low, high))
    return np.ascontiguousarray(X if scale == "raw" else 2 * (X - low) / (high - low) - 1)


def real(name, scale, draw, part):
    """One shuffle of a table of Table 3 in one scale, likewise."""
    X, y = real_tables()[name]()
    X = scaled(X, scale)
    if part == "dense":
        return dense(X, y, draw, REAL_COSTS)
    if part == "boosting":
        return boosting(X, y, draw, ("thresholds", "features"))
    if part != "turned":
        return one_norm(X, y, draw, part, REAL_NUS)
    found = one_norm(X.max(axis=0) + X.min(axis=0) - X, y, draw, "simplex", REAL_NUS)
    return {f"{key}, turned": cell for key, cell in found.items() if key.endswith("simplex")}


def work(n_draws):
    """Every piece by its name: first each reading once, then more draws."""
    few_columns = [name for name in TABLE_3 if name not in GENES]
    parts = ("simplex", "dense", "boosting", "signed", "simplex at 0.1", "signed at 0.1")
    for part in ("simplex", "signed", "turned", "boosting", "dense"):
        yield from shuffled(part, few_columns)
    for part in ("simplex", "boosting", "dense"):
        yield from shuffled(part, GENES)
    for part in parts[:4]:
        yield from drawn(part, 0)
    for part, nu in itertools.product(("simplex", "signed"), (0.05, 0.1, 0.15)):
        yield from shuffled(f"{part} at {nu}", few_columns)
    for draw in range(n_draws):
        for part in parts:
            yield from drawn(part, draw)
    yield from shuffled("signed", GENES)


def drawn(part, draw):
    """Pieces of Tables 1 and 2; at 5:5 both ratios are the same."""
    rows = [(r, noise, 5) for r, noise in TABLE_1] + [(r, 5, tenths) for tenths, r in TABLE_2]
    for r, noise, tenths in rows:
        for law in ("fair", "rare") if r == 1 else ("fair",):
            for ratio in ("drawn",) if tenths == 5 else ("drawn", "given"):
                told = " given" if ratio == "given" else ""
                key = f"r {r}, {noise} %, {tenths} tenths{told}, {law}, {part}, draw {draw}"
                yield key, (artificial, r, noise, tenths, law, draw, part, ratio)


def shuffled(part, names):
    """Pieces of Table 3. Boosting has a scale of its own, so it needs one only."""
    for name in names:
        for scale in SCALES[:1] if name in GENES or part == "boosting" else SCALES:
            yield f"{name}, {scale}, {part}, draw 0", (real, name, scale, 0, part)


def as_lines(found):
    """JSON with one line per piece."""
    lines = (f"{json.dumps(key)}: {json.dumps(found[key])}" for key in found)
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> None:
    """Compute what is not there yet."""
    found = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else {}
    for key, (function, *arguments) in work(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
        if key in found:
            continue
        begun = time.process_time()
        found[key] = function(*arguments)
        FOUND.write_text(as_lines(found), encoding="utf-8")
        print(f"{time.process_time() - begun:7.1f} CPU s  {key}", flush=True)


if __name__ == "__main__":
    main()
