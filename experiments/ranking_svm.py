"""Suehiro, Hatano and Takimoto (2018), Efficient 1-norm Ranking SVM: Tables 1 to 5, Figures 1 to 3.

Writes docs/experiments/ranking_svm.md and its pictures. Real data must be in the data home (see
docs/datasets.md); data sets that are not there are left out, and the page says so. What is found is
kept in experiments/svm/results.json at once: ``python -m experiments ranking-svm --resume`` goes on
where a run was cut. ``python -m experiments.svm.readings 3`` compares readings of the paper's
settings on three draws of every row, also resumable, for the section "Which reading fits".
"""

import json
import os
import sys
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
from joblib import Parallel, delayed

from experiments import DOCS, IMAGES
from experiments.svm import pictures
from experiments.svm.comparison import REAL_COSTS, REAL_ROUNDS, judge, n_nonzero, rivals, seconds
from experiments.svm.data import even_chance, real_tables, threshold_rows
from experiments.svm.fits import section
from experiments.svm.page import page
from experiments.svm.printed import TABLE_1, TABLE_2, TABLE_3, TABLE_4
from toprank.metrics import roc_auc

RESULTS = Path(__file__).parent / "svm" / "results.json"
ROWS, VARIABLES = 1000, 30  # of a data set, of its target
JOBS = int(os.environ.get("JOBS", "-1"))  # processes; -1 is one a core


def artificial(seed, r, noise, positive_share):
    """A row of Table 1 or 2: mean AUC and standard error of every method.

    ``target`` is the AUC of the target function itself against the flipped labels. At r = 1
    variables are 1 as often as makes the classes as large as they should be; see the page.
    """
    chance = even_chance(r, positive_share) if r == 1 else 0.5
    X, y = threshold_rows(
        ROWS, r=r, noise=noise, positive_share=positive_share, chance=chance, seed=seed
    )
    truth = (X[:, :VARIABLES] > 0).sum(axis=1) >= r
    return {
        "target": roc_auc(y, truth),
        "auc": [judge(X[:, :-1], y, choices) for choices in rivals(signed=False).values()],
    }


def real(name):
    """A row of Table 3 and one of Table 5; None where the data set is not there."""
    try:
        X, y = real_tables()[name]()
    except FileNotFoundError:
        return None
    candidates = rivals(signed=True, rounds=REAL_ROUNDS, costs=REAL_COSTS).values()
    return {
        "features": X.shape[1],
        "auc": [judge(X, y, choices) for choices in candidates],
        "nonzero": [n_nonzero(X, y, choices) for choices in candidates],
    }


def times(n_rows):
    """A row of Table 4, in processor seconds."""
    X, y = threshold_rows(n_rows)
    X = np.ascontiguousarray(X[:, :-1])
    methods = rivals(signed=False, nus=(0.2,), rounds=(100,), costs=(100, 10_000)).values()
    return [seconds(X, y, ranker) for choices in methods for ranker in choices]


def drawn():
    """Figures 1 to 3, and the numbers that their captions tell."""
    mpl.use("Agg")
    IMAGES.mkdir(parents=True, exist_ok=True)
    pictures.figure_1(IMAGES / "ranking_svm_1.png")
    # the data set of Table 1 with r = 1 and 10 % of noise, where γ̂ has two valleys
    X, y = threshold_rows(ROWS, r=1, noise=0.1, chance=even_chance(1, 0.5), seed=3)
    ended, deepest, best = pictures.figure_2(IMAGES / "ranking_svm_2.png", X[:, :-1], y, 0.1)
    path = pictures.figure_3(IMAGES / "ranking_svm_3.png", X[:, :-1], y, 0.1)
    return {"ended": ended, "deepest": deepest, "best": best, "path": path}


def work():
    """Every piece of the page by its name; timings first, while one process runs alone."""
    pieces = {f"times {n_rows}": delayed(times)(n_rows) for n_rows in TABLE_4}
    pieces["figures"] = delayed(drawn)()
    pieces |= {f"real {name}": delayed(real)(name) for name in TABLE_3}
    for seed, (r, noise) in enumerate(TABLE_1):
        pieces[f"noise {noise} r {r}"] = delayed(artificial)(seed, r, noise / 100, 0.5)
    for seed, (tenths, r) in enumerate(TABLE_2, 100):
        pieces[f"tenths {tenths} r {r}"] = delayed(artificial)(seed, r, 0.05, tenths / 10)
    return pieces


def told(name, piece):
    """A piece of the work, with its name and the processor seconds that it took."""
    begun = time.process_time()
    function, arguments, options = piece
    return name, function(*arguments, **options), time.process_time() - begun


def main() -> None:
    """Compute everything and write the page."""
    is_resumed = "--resume" in sys.argv and RESULTS.exists()
    found = json.loads(RESULTS.read_text(encoding="utf-8")) if is_resumed else {}
    missing = {name: piece for name, piece in work().items() if name not in found}
    timed = [name for name in missing if name.startswith("times")]
    others = [name for name in missing if name not in timed]
    for names, jobs in ((timed, 1), (others, JOBS)):
        pool = Parallel(n_jobs=jobs, return_as="generator_unordered")
        for name, result, taken in pool(delayed(told)(name, missing[name]) for name in names):
            found[name] = result
            RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            print(f"{taken:8.0f} CPU s  {name}", flush=True)
    (DOCS / "ranking_svm.md").write_text(page(found, section(found)), encoding="utf-8")


if __name__ == "__main__":
    main()
