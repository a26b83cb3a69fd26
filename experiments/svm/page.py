"""The page on the ranking SVM experiments: tables of what was found beside what is printed."""

import numpy as np

from experiments.svm.printed import METHODS, TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5, TIMED
from experiments.svm.text import CLOSING, OPENING, TEXTS

__all__ = ["page"]

ROWS = 1000


def page(found, readings=""):
    """All of the page, from the results by their names and what was found about the readings."""
    present = {name: found[f"real {name}"] for name in TABLE_3 if found[f"real {name}"]}
    missing = [name for name in TABLE_3 if name not in present]
    figures = found["figures"]
    table_1 = auc_table(
        (
            f"r = {r}, {noise} % ({found[f'noise {noise} r {r}']['target']:.3f})",
            found[f"noise {noise} r {r}"]["auc"],
            printed,
            label_error(noise, 5),
        )
        for (r, noise), printed in TABLE_1.items()
    )
    table_2 = auc_table(
        (
            f"{p}:{10 - p}, r = {r} ({found[f'tenths {p} r {r}']['target']:.3f})",
            found[f"tenths {p} r {r}"]["auc"],
            printed,
            label_error(5, p),
        )
        for (p, r), printed in TABLE_2.items()
    )
    table_3 = auc_table((name, row["auc"], TABLE_3[name], None) for name, row in present.items())
    table_4 = number_table(
        "m", TIMED, ((m, found[f"times {m}"], TABLE_4[m]) for m in TABLE_4), "%.3g"
    )
    table_5 = number_table(
        "data",
        METHODS,
        (
            (f"{name} ({row['features']})", row["nonzero"], TABLE_5[name])
            for name, row in present.items()
        ),
        "%d",
    )
    parts = [
        OPENING,
        TEXTS["table 1"], table_1,
        TEXTS["table 2"], table_2,
        TEXTS["table 3"], table_3,
        *([f"Not in the data home, so left out: {', '.join(missing)}."] if missing else []),
        TEXTS["table 4"], table_4,
        TEXTS["table 5"], table_5,
        TEXTS["figures"].format(
            ended=figures["ended"],
            deepest=figures["deepest"],
            best=figures["best"],
            path=", ".join(f"{value:.4f}" for value in figures["path"]),
        ),
        *([readings] if readings else []),
        CLOSING.format(
            *(f"{_stars(table)} of {_cells(table)}" for table in (table_1, table_2, table_3))
        ),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _stars(table):
    return table.count("\\*")


def _cells(table):
    return table.count("±")


def label_error(percent, tenths):
    """Standard error of an AUC from one draw of the flipped labels.

    With shares a and b of wrong labels among the rows labelled positive and negative, the target
    has an AUC of 1 - (a + b)/2. To first order a share rises by wrong/all² with a flip that takes
    a right label out of its rows, and by right/all² with one that brings a wrong label in.
    """
    noise, p = percent / 100, tenths / 10 * ROWS
    n = ROWS - p
    labelled = np.array([p, n]) * (1 - noise) + np.array([n, p]) * noise
    right, wrong = np.array([p, n]) * (1 - noise), np.array([n, p]) * noise
    # rows: a and b; columns: flips of positives and of negatives
    moves = np.array(
        [[wrong[0] / labelled[0] ** 2, right[0] / labelled[0] ** 2],
         [right[1] / labelled[1] ** 2, wrong[1] / labelled[1] ** 2]]
    )  # fmt: skip
    spreads = noise * (1 - noise) * np.array([p, n])
    return float(np.sqrt(moves.sum(axis=0) ** 2 @ spreads) / 2)


def cell(found, printed, spread):
    """Ours ± its standard error, then the paper's; a star where they differ by more than two.

    Where nothing is known of the spread of the paper's number, it is taken to be ours.
    """
    mean, error = found
    both = np.hypot(error, error if spread is None else spread)
    star = "" if abs(mean - printed) <= 2 * both else " \\*"
    return f"{mean:.3f} ± {error:.3f} / {printed:.3f}{star}"


def auc_table(rows):
    """A table of the methods' AUCs."""
    return _table(
        "data",
        METHODS,
        (
            (name, [cell(f, p, spread) for f, p in zip(founds, printed, strict=True)])
            for name, founds, printed, spread in rows
        ),
    )


def number_table(head, methods, rows, form):
    """A table of one number per method beside the printed one."""
    return _table(
        head,
        methods,
        (
            (name, [f"{form % f} / {form % p}" for f, p in zip(founds, printed, strict=True)])
            for name, founds, printed in rows
        ),
    )


def _table(head, methods, rows):
    lines = [f"| {head} | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows]
    return "\n".join(lines)
