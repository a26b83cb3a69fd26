"""Figures 3 and 5 to 8, and the training sets of section 10.1, as pictures of the page."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from experiments.push.comparison import rankers, splits
from experiments.push.illustrations import FAR_OUT, Choice
from experiments.push.printed import COLUMNS
from experiments.push.theory import discount_factors, root_bounds
from toprank.plots import roc_curve
from toprank.plots.style import dress, series

LEFT_END = 0.15  # share of the negatives that the zoomed panels show
DOTS = 80  # to the inch: pictures stay small


def roc_picture(path: Path, X, y, *, folds: bool, seed: int) -> None:
    """Counts of true against false positives, training rows above, test rows below."""
    train, test = next(splits(X, y, folds=folds, seed=seed))
    fitted = [ranker.fit(X[train], y[train]) for ranker in rankers()]
    figure, panels = plt.subplots(2, 2, figsize=(9.6, 8.2), layout="constrained")
    for row, rows, name in zip(panels, (train, test), ("Training rows", "Test rows"), strict=True):
        scores = {
            column: ranker.decision_function(X[rows])
            for column, ranker in zip(COLUMNS, fitted, strict=True)
        }
        n_negatives = np.count_nonzero(~y[rows])
        zoom = max(10, round(LEFT_END * n_negatives))
        roc_curve(y[rows], scores, counts=True, zoom=zoom, ax=row)
        for panel in row:
            panel.lines[-1].set(color="black", linewidth=1.2)  # IR, beside six colours
            for axis in (panel.xaxis, panel.yaxis):
                axis.set_major_locator(MaxNLocator(6, integer=True))
        row[0].legend(loc="lower right", frameon=False)
        row[0].set_title(f"{name}, whole list", loc="left", fontsize="medium")
        row[1].set_title(f"{name}, left end", loc="left", fontsize="medium")
    save(figure, path)


def discounts_picture(path: Path) -> None:
    save(discount_factors().figure, path)


def roots_picture(path: Path) -> None:
    save(root_bounds().figure, path)


def choices_picture(path: Path, found: list[Choice]) -> None:
    """How often a training set of section 10.1 chooses wrongly."""
    figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    sizes = np.array([choice.n_rows for choice in found])
    lines = {
        r"$x$ chosen by $R_{max}$ (wrong)": [choice.wrong for choice in found],
        r"neither: $R_{max}$ is the same": [choice.undecided for choice in found],
        r"$-x$ chosen by AUC (wrong for AUC)": [choice.wrong_by_auc for choice in found],
    }
    for number, (label, shares) in enumerate(lines.items()):
        ax.plot(sizes, shares, marker="o", label=label, **series(number).line)
    fine = np.geomspace(sizes[0], sizes[-1], 200)
    ax.plot(fine, (1 - FAR_OUT) ** fine, label=r"$(1 - \epsilon)^m$", **series(3).line)
    ax.plot(fine, (1 - FAR_OUT / 2) ** fine, label=r"$(1 - \epsilon/2)^m$", **series(4).line)
    ax.set_xscale("log")
    ax.set_xticks(sizes, labels=sizes)
    ax.minorticks_off()
    dress(ax, x="Training rows m", y="Share of training sets")
    ax.legend(frameon=False, fontsize="small")
    save(figure, path)


def save(figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # without the date and the version of the drawing library, the same picture is the same file
    figure.savefig(path, dpi=DOTS, metadata={"Software": None})
    plt.close(figure)
