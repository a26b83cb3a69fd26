"""Precision at a budget on every suitable data set, all methods with the same tuning budget.

Writes docs/experiments/quality.md and its picture. What a method reached on a data set is kept in
experiments/tuned/results.json as soon as it is known, so that ``python -m experiments quality
--resume`` goes on where a run was cut, and ``--page`` only writes the page again.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from experiments.datasets import DatasetNotFoundError
from experiments.tuned.contestants import SETTINGS, contestants, scores
from experiments.tuned.page import write_page
from experiments.tuned.problems import SETS, Problem, budget, read, splits
from toprank.metrics import average_precision, precision_at_k, roc_auc

RESULTS = Path(__file__).parent / "tuned" / "results.json"
N_SPLITS, N_FOLDS = 2, 3


class Tuning:
    """Inner cross-validation of settings on the training rows, each setting once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
        self.folds = list(folds.split(problem.X, problem.y))
        self.known: dict[int, tuple[float, float]] = {}

    def judged(self, setting) -> tuple[float, float]:
        """Mean precision at the budget over the folds; average precision decides between equals."""
        if id(setting) not in self.known:
            X, y = self.problem.X, self.problem.y
            found = []
            for train, held in self.folds:
                ranked = scores(clone(setting).fit(X[train], y[train]), X[held])
                k = budget(y[held])
                found.append(
                    (precision_at_k(y[held], ranked, k=k), average_precision(y[held], ranked))
                )
            self.known[id(setting)] = tuple(np.mean(found, axis=0))
        return self.known[id(setting)]

    def best(self, settings: list) -> int:
        """Number of the setting that the folds prefer, the first of equals."""
        return max(range(len(settings)), key=lambda at: self.judged(settings[at]))

    def test(self, setting) -> dict[str, float]:
        """Learn from all training rows and rank the test rows."""
        p = self.problem
        ranked = scores(clone(setting).fit(p.X, p.y), p.X_test)
        return {
            "precision": float(precision_at_k(p.y_test, ranked, k=p.budget)),
            "average precision": float(average_precision(p.y_test, ranked)),
            "auc": float(roc_auc(p.y_test, ranked)),
        }


def one_set(name: str, known: dict) -> dict:
    """Results of all methods on a data set; ``known`` are those that an earlier run left."""
    X, y = read(name)
    problems = splits(X, y, N_SPLITS)
    p = problems[0]
    facts = {
        "rows": int(y.size), "features": int(X.shape[1]), "positives": float(y.mean()),
        "training": int(p.y.size), "test": int(p.y_test.size), "budget": p.budget,
    }  # fmt: skip
    tunings = [Tuning(problem) for problem in problems]
    methods = contestants(p.budget / p.y_test.sum())
    found = {"facts": facts, "methods": dict(known.get("methods", {}))}
    for method, settings in methods.items():
        if method in found["methods"]:
            continue
        assert len(settings) == SETTINGS  # noqa: S101
        start = time.process_time()
        chosen = [tuning.best(settings) for tuning in tunings]
        tested = [t.test(settings[at]) for t, at in zip(tunings, chosen, strict=True)]
        found["methods"][method] = {
            "chosen": chosen,
            "seconds": round(time.process_time() - start, 1),
        } | {kind: [round(each[kind], 5) for each in tested] for kind in tested[0]}
        told = np.mean(found["methods"][method]["precision"])
        print(f"{name}, {method}: {told:.3f} ({time.process_time() - start:.0f} s)", flush=True)
        yield found


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
        for name in () if "--page" in options else SETS:
            try:
                for found in one_set(name, results.get(name, {})):
                    results[name] = found
                    keep(results)
            except DatasetNotFoundError:
                print(f"{name}: not in the data home, left out", flush=True)
    write_page(results)
