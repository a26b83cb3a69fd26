"""Rows whose law is known: what is promised beside what happens, also where rows drift."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from toprank.shortlists import (
    Calibration,
    hits_at_least,
    measure_drift,
    select_among_models,
    select_rows,
)

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


def chosen_models(n_repeats: int, n_models: int = 20, q: float = 0.1) -> dict:
    """The longest of many models' lists, taken as it is, and chosen validly."""
    rng = np.random.default_rng(1)
    found = {"the longest list as it is": [], "`select_among_models`": [], "one model": []}
    lengths = {name: [] for name in found}
    for _ in range(n_repeats):
        known, new = rng.random(200) < SHARE, rng.random(100) < SHARE
        tables = [
            (rng.normal(size=200) + 1.2 * known, rng.normal(size=100) + 1.2 * new)
            for _ in range(n_models)
        ]
        calibrations = [Calibration.of(old, known) for old, _ in tables]
        lists = [
            select_rows(calibration, scores, false_alarms=q)
            for calibration, (_, scores) in zip(calibrations, tables, strict=True)
        ]
        valid = select_among_models(calibrations, [s for _, s in tables], false_alarms=q)
        taken = dict(zip(found, (max(lists, key=len), valid, lists[0]), strict=True))
        for name, rows in taken.items():
            found[name].append(false_share(new, rows))
            lengths[name].append(rows.size)
    return {
        name: (
            np.mean(found[name]),
            np.std(found[name]) / np.sqrt(n_repeats),
            np.mean(lengths[name]),
        )
        for name in found
    }


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


def known_shift(n_repeats: int, q: float = 0.1) -> dict:
    """A kind of rows that is more common among new rows, with and without weights.

    Rows of this kind are mostly negative with higher scores; weights are the ratio of densities.
    """
    rng = np.random.default_rng(3)
    found = {"without weights": [], "with weights": []}
    held = dict.fromkeys(found, 0)
    recalls = {name: [] for name in found}

    def rows(n_rows: int, common: float):
        hard = rng.random(n_rows) < common
        y = rng.random(n_rows) < np.where(hard, 0.1, 0.4)
        return rng.normal(size=n_rows) + GAP * y + 0.5 * hard, y, hard

    for _ in range(n_repeats):
        old, known, was_hard = rows(N_KNOWN, 0.3)
        scores, y, hard = rows(N_NEW, 0.8)
        ratio = {True: 0.8 / 0.3, False: 0.2 / 0.7}
        weights = np.where(was_hard, ratio[True], ratio[False])
        own = np.where(hard, ratio[True], ratio[False])
        unweighted = Calibration.of(old, known)
        reweighted = Calibration.of(old, known, sample_weight=weights)
        plain = select_rows(unweighted, scores, false_alarms=q)
        weighted = select_rows(reweighted, scores, false_alarms=q, weight=own, random_state=rng)
        hits = y[np.argsort(-scores)[:100]].sum()
        held["without weights"] += hits >= hits_at_least(unweighted, scores, 100, confidence=0.9)
        held["with weights"] += hits >= hits_at_least(
            reweighted, scores, 100, weight=own, confidence=0.9
        )
        found["without weights"].append(false_share(y, plain))
        found["with weights"].append(false_share(y, weighted))
        recalls["without weights"].append(y[plain].sum() / y.sum())
        recalls["with weights"].append(y[weighted].sum() / y.sum())
    return {
        name: (
            np.mean(each),
            np.std(each) / np.sqrt(n_repeats),
            np.mean(recalls[name]),
            held[name] / n_repeats,
        )
        for name, each in found.items()
    }
