"""Metrics of one long list, and of many short ones, beside scikit-learn's.

scikit-learn has no precision at k; what people write for it, a sort and a mean, stands in.
"""

import numpy as np
from sklearn import metrics as theirs

from benchmarks.measure import race
from toprank import metrics as ours

ROWS, BUDGET = 1_000_000, 1000
LISTS, LENGTH = 20_000, 20


def results():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=ROWS)
    y = (rng.random(ROWS) < 0.1).astype(np.int64)
    one, ones = y[None, :], scores[None, :]
    task = f"one list of {ROWS:,} rows"
    pairs = {
        "roc_auc": (
            lambda: ours.roc_auc(y, scores),
            {"roc_auc_score": lambda: theirs.roc_auc_score(y, scores)},
        ),
        "partial_auc(max_fpr=0.1)": (
            lambda: ours.partial_auc(y, scores, max_fpr=0.1),
            {"roc_auc_score(max_fpr=0.1)": lambda: theirs.roc_auc_score(y, scores, max_fpr=0.1)},
        ),
        "average_precision": (
            lambda: ours.average_precision(y, scores),
            {"average_precision_score": lambda: theirs.average_precision_score(y, scores)},
        ),
        "ndcg": (
            lambda: ours.ndcg(y, scores),
            {"ndcg_score": lambda: theirs.ndcg_score(one, ones)},
        ),
        "ndcg(k=100)": (
            lambda: ours.ndcg(y, scores, k=100),
            {"ndcg_score(k=100)": lambda: theirs.ndcg_score(one, ones, k=100)},
        ),
        f"precision_at_k(k={BUDGET})": (
            lambda: ours.precision_at_k(y, scores, k=BUDGET),
            {
                "argsort and a mean": lambda: np.mean(y[np.argsort(-scores)[:BUDGET]]),
                "argpartition and a mean": lambda: np.mean(
                    y[np.argpartition(scores, -BUDGET)[-BUDGET:]]
                ),
            },
        ),
    }
    for name, (call, peers) in pairs.items():
        yield from race("metrics", task, (name, call), peers)
    grades = rng.integers(0, 5, size=(LISTS, LENGTH))
    table = rng.normal(size=(LISTS, LENGTH))
    groups = np.repeat(np.arange(LISTS), LENGTH)
    yield from race(
        "metrics",
        f"{LISTS:,} lists of {LENGTH} rows, 5 grades",
        (
            'ndcg(groups=..., gain="linear")',
            lambda: ours.ndcg(grades.ravel(), table.ravel(), groups=groups, gain="linear"),
        ),
        {"ndcg_score of a table": lambda: theirs.ndcg_score(grades, table)},
    )
