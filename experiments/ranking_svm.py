"""Suehiro, Hatano and Takimoto (2018), Efficient 1-norm Ranking SVM: Tables 1 to 5, Figures 1 to 3.

Writes docs/experiments/ranking_svm.md and its pictures. Real data must be in the data home (see
docs/datasets.md); data sets that are not there are left out, and the page says so.
"""

import os
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
from joblib import Parallel, delayed

from experiments.svm import pictures
from experiments.svm.comparison import REAL_NUS, judge, n_nonzero, rivals, seconds
from experiments.svm.data import real_tables, threshold_rows
from experiments.svm.printed import METHODS, TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5
from experiments.svm.text import CLOSING, OPENING, TEXTS

DOCS = Path(__file__).parents[1] / "docs" / "experiments"
IMAGES = DOCS / "images"
ROWS = 1000
JOBS = int(os.environ.get("JOBS", "-1"))  # processes; -1 is one a core


def label_error(noise, positive_share):
    """Standard error of an AUC from one draw of the flipped labels.

    With shares a and b of wrong labels among the positives and the negatives, a perfect scorer
    has an AUC of 1 - (a + b)/2.
    """
    p = positive_share * ROWS
    spread = noise * (1 - noise) * (1 / p + 1 / (ROWS - p))
    return float(np.sqrt(spread) / 2)


def compare(X, y, *, signed):
    """Mean AUC and its standard error of every method."""
    return [judge(X, y, candidates) for candidates in rivals(signed=signed).values()]


def cell(found, printed, spread):
    """Ours ± its standard error, then the paper's; a star where they differ by more than two."""
    mean, error = found
    both = np.hypot(error, spread)
    star = "" if abs(mean - printed) <= 2 * both else " \\*"
    return f"{mean:.3f} ± {error:.3f} / {printed:.3f}{star}"


def auc_table(head, rows):
    """A table of the methods' AUCs."""
    lines = [f"| {head} | " + " | ".join(METHODS) + " |", "|---" * (len(METHODS) + 1) + "|"]
    for name, founds, printed, spread in rows:
        cells = [cell(f, p, spread) for f, p in zip(founds, printed, strict=True)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def number_table(head, rows, form):
    """A table of one number a method beside the printed one."""
    lines = [f"| {head} | " + " | ".join(METHODS) + " |", "|---" * (len(METHODS) + 1) + "|"]
    for name, founds, printed in rows:
        cells = [f"{form % f} / {form % p}" for f, p in zip(founds, printed, strict=True)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def artificial_row(name, printed, seed, *, r, noise, positive_share):
    """A row of Table 1 or 2."""
    X, y = threshold_rows(ROWS, r=r, noise=noise, positive_share=positive_share, seed=seed)
    founds = compare(X, y, signed=False)
    say(f"Tables 1 and 2, {name}")
    return name, founds, printed, label_error(noise, positive_share)


def artificial():
    """Tables 1 and 2, a process for every draw of the data."""
    rows = [
        delayed(artificial_row)(
            f"r = {r}, {noise} %", printed, seed, r=r, noise=noise / 100, positive_share=0.5
        )
        for seed, ((r, noise), printed) in enumerate(TABLE_1.items())
    ]
    rows += [
        delayed(artificial_row)(
            f"{tenths}:{10 - tenths}, r = {r}", printed, 100 + seed,
            r=r, noise=0.05, positive_share=tenths / 10,
        )
        for seed, ((tenths, r), printed) in enumerate(TABLE_2.items())
    ]  # fmt: skip
    done = Parallel(n_jobs=JOBS)(rows)
    return auc_table("data", done[: len(TABLE_1)]), auc_table("data", done[len(TABLE_1) :])


def real_row(name):
    """A row of Table 3 and one of Table 5; None where the data set is not there."""
    try:
        X, y = real_tables()[name]()
    except FileNotFoundError:
        return None
    founds, nonzero = [], []
    for candidates in rivals(signed=True, nus=REAL_NUS).values():
        founds.append(judge(X, y, candidates))
        nonzero.append(n_nonzero(X, y, candidates))
    say(f"Tables 3 and 5, {name}")
    return (name, founds, TABLE_3[name], 0.0), (f"{name} ({X.shape[1]})", nonzero, TABLE_5[name])


def real():
    """Tables 3 and 5, on the data sets that are there."""
    done = dict(
        zip(TABLE_3, Parallel(n_jobs=JOBS)(delayed(real_row)(n) for n in TABLE_3), strict=True)
    )
    present = [rows for rows in done.values() if rows is not None]
    return (
        auc_table("data", [row for row, _ in present]),
        number_table("data", [row for _, row in present], "%d"),
        [name for name, rows in done.items() if rows is None],
    )


def times():
    """Table 4, in processor seconds."""
    rows = []
    for n_rows, printed in TABLE_4.items():
        X, y = threshold_rows(n_rows)
        methods = rivals(signed=False, rounds=100, nus=(0.2,)).values()
        rows.append((n_rows, [seconds(X, y, choices[0]) for choices in methods], printed))
        say(f"Table 4, m={n_rows}")
    return number_table("m", rows, "%.3g")


def say(what):
    """Tell the terminal how far we are."""
    print(f"{time.process_time():8.0f} CPU s  {what}", flush=True)


def main() -> None:
    """Compute everything and write the page."""
    mpl.use("Agg")
    IMAGES.mkdir(parents=True, exist_ok=True)
    pictures.figure_1(IMAGES / "ranking_svm_1.png")
    X, y = threshold_rows(400, noise=0.05, seed=1)
    ended, best = pictures.figure_2(IMAGES / "ranking_svm_2.png", X, y, 0.2)
    path = pictures.figure_3(IMAGES / "ranking_svm_3.png", X, y, 0.2)
    say("Figures 1 to 3")
    table_4 = times()
    table_3, table_5, missing = real()
    table_1, table_2 = artificial()
    page = [
        OPENING,
        TEXTS["table 1"], table_1,
        TEXTS["table 2"], table_2,
        TEXTS["table 3"], table_3,
        *([f"Not in the data home, so left out: {', '.join(missing)}."] if missing else []),
        TEXTS["table 4"], table_4,
        TEXTS["table 5"], table_5,
        TEXTS["figures"].format(
            ended=ended, best=best, path=", ".join(f"{value:.4f}" for value in path)
        ),
        CLOSING,
    ]  # fmt: skip
    (DOCS / "ranking_svm.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
