"""Rows whose law is known: what is promised beside what happens, also where rows drift."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from toprank.shortlists import Calibration, hits_at_least, measure_drift, select_rows

LEVELS = (0.05, 0.1, 0.2)
N_KNOWN, N_NEW = 1_000, 500
SHARE, GAP = 0.2, 2.0  # of positives; between the means of both classes


def draw(rng, n_rows: int, *, share: float = SHARE, shift: float = 0.0):
    """Scores and labels; ``shift`` moves the scores of the negatives up."""
    y = rng.random(n_rows) < share
    return rng.normal(size=n_rows) + np.where(y, GAP, shift), y


def false_share(y, rows) -> float:
    return float(np.mean(~y[rows])) if rows.size else 0.0


def oracle_recall(q: float) -> float:
    """Recall at the score above which a share q of all rows is negative."""

    def excess(cut: float) -> float:
        negative, positive = (1 - SHARE) * norm.sf(cut), SHARE * norm.sf(cut - GAP)
        return negative / (negative + positive) - q

    return float(norm.sf(brentq(excess, -1, 6) - GAP))


def error_control(n_repeats: int) -> dict:
    """False alarms and recall at each level, and how often bounds were wrong."""
    rng = np.random.default_rng(0)
    shares = {q: [] for q in LEVELS}
    recalls = {q: [] for q in LEVELS}
    wrong = {"k = 50": 0, "k = 100": 0, "every k": 0}
    for _ in range(n_repeats):
        calibration = Calibration.of(*draw(rng, N_KNOWN))
        scores, y = draw(rng, N_NEW)
        for q in LEVELS:
            rows = select_rows(calibration, scores, false_alarms=q)
            shares[q].append(false_share(y, rows))
            recalls[q].append(y[rows].sum() / y.sum())
        hits = np.cumsum(y[np.argsort(-scores)])
        for k in (50, 100):
            wrong[f"k = {k}"] += hits[k - 1] < hits_at_least(calibration, scores, k, confidence=0.9)
        wrong["every k"] += (hits < hits_at_least(calibration, scores, confidence=0.9)).any()
    return {
        "levels": {
            q: (np.mean(shares[q]), np.std(shares[q]) / np.sqrt(n_repeats), np.mean(recalls[q]))
            for q in LEVELS
        },
        "covered": {name: 1 - count / n_repeats for name, count in wrong.items()},
    }


def bounded(n_repeats: int, confidence: float = 0.9) -> dict:
    """How often the bound on the hits of the first k rows holds, by rows, positives and k."""
    found = {}
    for n_known, n_new in ((100, 100), (1_000, 300), (300, 1_000), (3_000, 3_000)):
        for share in (0.02, 0.2, 0.65):
            rng = np.random.default_rng([n_known, n_new, int(100 * share)])
            held = {k: [] for k in (5, 20, 100, 500) if k < n_new}
            for _ in range(n_repeats):
                old, known = draw(rng, n_known, share=share)
                scores, y = draw(rng, n_new, share=share)
                if not known.any():
                    continue  # no calibration without positives
                calibration = Calibration.of(old, known)
                hits = np.cumsum(y[np.argsort(-scores)])
                for k, each in held.items():
                    least = hits_at_least(calibration, scores, k, confidence=confidence)
                    each.append(hits[k - 1] >= least)
            found[f"{n_known:,} · {n_new:,} · {100 * share:g} %"] = {
                k: float(np.mean(each)) for k, each in held.items()
            }
    return found


def drifted(n_repeats: int, q: float = 0.1) -> dict:
    """False alarms where new rows are not like the calibration rows, and whether that is told."""
    cases = {
        "none": {},
        "negatives 0.25 higher": {"shift": 0.25},
        "negatives 0.5 higher": {"shift": 0.5},
        "half as many positives": {"share": SHARE / 2},
        "twice as many positives": {"share": 2 * SHARE},
    }
    result = {}
    for name, change in cases.items():
        rng = np.random.default_rng(2)
        shares, told = [], 0
        for _ in range(n_repeats):
            calibration = Calibration.of(*draw(rng, N_KNOWN))
            scores, y = draw(rng, N_NEW, **change)
            shares.append(false_share(y, select_rows(calibration, scores, false_alarms=q)))
            told += measure_drift(calibration, scores).is_clear
        result[name] = (np.mean(shares), told / n_repeats)
    return result
