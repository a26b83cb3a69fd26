"""Real tables: error control with held-out and out-of-fold scores, and the profit of lists."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from experiments.lists.simulated import LEVELS, false_share
from experiments.tuned.problems import read
from toprank import TopRanker
from toprank.shortlists import Calibration, hits_at_least, make_shortlist, select_rows

SETS = (
    "adult", "ann_thyroid", "bank_marketing", "covtype", "letter", "magic", "page_blocks",
    "pendigits", "sick", "spambase",
)  # fmt: skip
MOST_ROWS = 18_000
TRAIN_ROWS = 2_000
N_SPLITS, N_CUTS = 50, 20  # splits with a fit each, and cuts of the other rows for the bound
CONFIDENCE = 0.9
OUT_OF_FOLD_ROWS = 2_000
CANDIDATES = ("logistic", "pnorm-push", "random-forest")


def sampled(name: str, seed: int = 0):
    X, y = read(name)
    rows = np.random.default_rng(seed).permutation(y.size)[:MOST_ROWS]
    return X[rows], y[rows].astype(bool)


def fitted_scores(X, y, train, others, seed: int):
    model = HistGradientBoostingClassifier(max_iter=60, random_state=seed)
    return model.fit(X[train], y[train]).decision_function(X[others])


def held_out(name: str) -> dict:
    """False alarms over 50 splits, recall beside the oracle's, and coverage of the bound.

    Every split draws the rows to learn from anew and fits anew. Given a fit, a random cut of the
    other rows into calibration and new rows is all that the promises are about: the first cut
    gives the figures of the split, and more cuts say how often the bound holds.
    """
    X, y = sampled(name)
    n_train = min(TRAIN_ROWS, y.size // 3)
    shares, recalls, best = ({q: [] for q in LEVELS} for _ in range(3))
    held = []
    for split in range(N_SPLITS):
        rng = np.random.default_rng([split, 7])
        train, others = np.split(rng.permutation(y.size), [n_train])
        scores, labels = fitted_scores(X, y, train, others, split), y[others]
        held.append([])
        for cut in range(N_CUTS):
            known, new = np.array_split(rng.permutation(others.size), 2)
            calibration = Calibration.of(scores[known], labels[known])
            held[-1].append(is_bound_kept(calibration, scores[new], labels[new], y.mean()))
            for q in LEVELS if cut == 0 else ():
                rows = select_rows(calibration, scores[new], false_alarms=q)
                shares[q].append(false_share(labels[new], rows))
                recalls[q].append(labels[new][rows].sum() / labels[new].sum())
                best[q].append(oracle_recall(scores[new], labels[new], q))
    per_fit = np.mean(held, axis=1)
    return {
        "rows": y.size, "positives": float(y.mean()),
        "levels": {
            q: (
                np.mean(shares[q]), np.std(shares[q], ddof=1) / np.sqrt(N_SPLITS),
                np.mean(recalls[q]), np.mean(best[q]),
            )
            for q in LEVELS
        },
        "covered_splits": int(np.sum([each[0] for each in held])),
        "covered": (np.mean(per_fit), np.std(per_fit, ddof=1) / np.sqrt(N_SPLITS)),
    }  # fmt: skip


def is_bound_kept(calibration, scores, labels, share: float) -> bool:
    """Whether the first rows, half as many as positives are expected, hold the promised hits."""
    k = max(10, int(0.5 * share * labels.size))
    hits = labels[np.argsort(-scores, kind="stable")[:k]].sum()
    return bool(hits >= hits_at_least(calibration, scores, k, confidence=CONFIDENCE))


def oracle_recall(scores, y, q: float) -> float:
    """Recall of the longest head of this very list with at most a share q of negatives."""
    hits = np.cumsum(y[np.argsort(-scores, kind="stable")])
    lengths = np.arange(1, y.size + 1)
    allowed = np.flatnonzero(lengths - hits <= q * lengths)
    return float(hits[allowed[-1]] / y.sum()) if allowed.size else 0.0


def out_of_fold(name: str, n_splits: int = 4) -> dict:
    """False alarms of a blend that keeps its out-of-fold scores."""
    X, y = sampled(name)
    shares = {q: [] for q in LEVELS}
    for split in range(n_splits):
        order = np.random.default_rng([split, 11]).permutation(y.size)
        train, new = np.split(
            order[: OUT_OF_FOLD_ROWS + 6_000], [min(OUT_OF_FOLD_ROWS, y.size // 2)]
        )
        filled = np.nan_to_num(X)
        model = TopRanker(100, candidates=CANDIDATES).fit(filled[train], y[train])
        scores = model.decision_function(filled[new])
        for q in LEVELS:
            rows = select_rows(model.calibration_, scores, false_alarms=q)
            shares[q].append(false_share(y[new], rows))
    return {q: float(np.mean(each)) for q, each in shares.items()}


def profit(name: str, n_splits: int = 20, value: float = 10.0, cost: float = 1.0) -> dict:
    """Profit of the chosen list beside the best length in hindsight."""
    X, y = sampled(name)
    third = y.size // 3
    ratios, inside, lengths, best_lengths = [], 0, [], []
    for split in range(n_splits):
        order = np.random.default_rng([split, 13]).permutation(y.size)
        train, others = order[:third], order[third:]
        scores, labels = fitted_scores(X, y, train, others, split), y[others]
        known, new = np.arange(third), np.arange(third, others.size)
        calibration = Calibration.of(scores[known], labels[known])
        made = make_shortlist(scores[new], calibration, value=value, cost=cost)
        found = value * labels[new][made.rows].sum() - cost * len(made)
        ranked = labels[new][np.argsort(-scores[new], kind="stable")]
        curve = np.cumsum(value * ranked - cost)
        ratios.append(found / curve.max())
        inside += made.profit.low <= found <= made.profit.high
        lengths.append(len(made))
        best_lengths.append(int(curve.argmax()) + 1)
    return {
        "ratio": float(np.mean(ratios)),
        "worst": float(np.min(ratios)),
        "inside": inside / n_splits,
        "length": float(np.mean(lengths)),
        "best": float(np.mean(best_lengths)),
    }
