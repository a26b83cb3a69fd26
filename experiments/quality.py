"""TopRanker beside single methods on every suitable data set, with defaults and tuned.

Writes docs/experiments/quality.md and its picture. What a method reached on a split is kept in
experiments/tuned/results.json as soon as it is known, so that ``python -m experiments quality
--resume`` goes on where a run was cut, and ``--page`` only writes the page again.
"""

import json
import sys
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from experiments.datasets import DatasetNotFoundError
from experiments.tuned.contestants import BLEND, TUNED, contestants, scores
from experiments.tuned.page import write_page
from experiments.tuned.problems import SETS, WIDE, Problem, budget, large_split, read, splits
from toprank.metrics import average_precision, positives_at_top, precision_at_k

RESULTS = Path(__file__).parent / "tuned" / "results.json"
N_SPLITS, N_FOLDS = 3, 4


def chosen(settings: list, problem: Problem):
    """The setting that inner folds prefer: precision at the budget, then average precision."""
    if len(settings) == 1:
        return settings[0]
    X, y = problem.X, problem.y
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y))

    def merit(setting) -> tuple[float, ...]:
        found = []
        for train, held in folds:
            ranked = scores(clone(setting).fit(X[train], y[train]), X[held])
            k = budget(y[held])
            found.append((precision_at_k(y[held], ranked, k=k), average_precision(y[held], ranked)))
        return tuple(np.mean(found, axis=0))

    return max(settings, key=merit)


def tested(name: str, settings: list, p: Problem) -> dict:
    """Choose, learn from all training rows, rank the test rows."""
    start = time.process_time()
    model = clone(chosen(settings, p)).fit(p.X, p.y)
    seconds = time.process_time() - start
    ranked, k = scores(model, p.X_test), p.budget
    found = {
        "precision": precision_at_k(p.y_test, ranked, k=k),
        "at half the budget": precision_at_k(p.y_test, ranked, k=max(1, k // 2)),
        "at twice the budget": precision_at_k(p.y_test, ranked, k=2 * k),
        "average precision": average_precision(p.y_test, ranked),
        "positives at top": positives_at_top(p.y_test, ranked),
        "seconds": seconds,
    }
    if name == BLEND and model.precision_ is not None:
        found |= {"low": model.precision_.low, "high": model.precision_.high}
    return {key: round(float(value), 5) for key, value in found.items()}


def run(results: dict):
    """Go through data sets, splits and methods, and yield after each that was not known.

    Wide tables and large splits come last, tuned methods after those with their defaults: all of
    them take longer.
    """
    rounds = [*product((False, True), range(N_SPLITS), (False, True)), (False, "large", False)]
    for is_wide, number, is_tuned in rounds:
        for name in SETS:
            if (name in WIDE) != is_wide:
                continue
            try:
                X, y = read(name)
            except DatasetNotFoundError:
                print(f"{name}: not in the data home, left out", flush=True)
                continue
            p = large_split(X, y) if number == "large" else splits(X, y, N_SPLITS)[number]
            if p is None:
                continue
            known = results.setdefault(name, _facts(p, X, y))["splits"].setdefault(str(number), {})
            for method, settings in contestants(p.budget, p.y_test.size).items():
                if method not in known and method.endswith(TUNED) == is_tuned:
                    known[method] = tested(method, settings, p)
                    yield
            print(f"{name} {number}: {known[BLEND]}", flush=True)


def _facts(p: Problem, X: np.ndarray, y: np.ndarray) -> dict:
    return {
        "rows": int(y.size), "features": int(X.shape[1]), "positives": float(y.mean()),
        "training": int(p.y.size), "test": int(p.y_test.size), "budget": p.budget, "splits": {},
    }  # fmt: skip


def keep(results: dict) -> None:
    """Write the results beside the old ones, then put them in their place."""
    fresh = RESULTS.with_suffix(".new")
    fresh.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    fresh.replace(RESULTS)


def main() -> None:
    options = sys.argv[2:]
    is_old = {"--resume", "--page"} & set(options) and RESULTS.exists()
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if is_old else {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for _ in () if "--page" in options else run(results):
            keep(results)
    write_page(results)
