"""Figures 1 to 3 of the paper."""

import matplotlib.pyplot as plt
import numpy as np

from experiments.svm.comparison import TOL
from toprank import RankSVM
from toprank.objectives.margin import TangentMargin
from toprank.solvers.margin_ball import maximize_on_ball
from toprank.weak_rankers.features import SymmetricFeatures

STARTS = 6  # of the search for ν⁺ in Figure 2
POSITIVE, NEGATIVE, LINE = "#1b6ca8", "#c8553d", "#444444"


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def figure_1(path):
    """Equal accuracy, different AUC."""
    lists = {
        "(a)": ([-2.2, 0.6, 1.2, 1.9], [-1.7, -1.2, -0.6, 0.3]),
        "(b)": ([-0.9, 0.6, 1.2, 1.9], [-1.9, -1.5, -1.2, 0.3]),
    }
    figure, axes = plt.subplots(2, 1, figsize=(6.4, 2.6), sharex=True)
    for ax, (name, (positives, negatives)) in zip(axes, lists.items(), strict=True):
        pairs = np.subtract.outer(positives, negatives) > 0
        right = (np.array(positives) > 0).sum() + (np.array(negatives) < 0).sum()
        ax.axhline(0, color="#cccccc", zorder=0)
        ax.axvline(0, color=LINE, linestyle="--", linewidth=1)
        ax.scatter(positives, np.zeros(4), marker="P", s=90, color=POSITIVE, label="positive")
        ax.scatter(negatives, np.zeros(4), marker="o", s=70, color=NEGATIVE, label="negative")
        ax.set_title(
            f"{name} accuracy {right / 8:.3f}, AUC {pairs.mean():.4f}", fontsize=10, loc="left"
        )
        ax.set_yticks([])
        ax.spines[["left", "right", "top"]].set_visible(False)
    axes[0].legend(loc="upper left", bbox_to_anchor=(0.62, 1.75), ncols=2, frameon=False)
    axes[1].set_xlabel("score")
    save(figure, path)


def figure_2(path, X, y, nu):
    """γ̂ as a function of ν⁺, and where the iteration ends from one start and from the best."""
    grid = np.linspace(nu, 1.0, 33)
    margins = [
        RankSVM(form="product", nu=nu, nu_plus=plus, signed=False, tol=TOL)
        .fit(X, y)
        .certificate_.soft_margin
        for plus in grid
    ]
    search = {"form": "product", "nu": nu, "signed": False, "tol": TOL, "nu_plus_tol": 1e-4}
    found, best = (RankSVM(n_starts=number, **search).fit(X, y) for number in (1, STARTS))
    figure, ax = plt.subplots(figsize=(6.4, 3.2))
    ax.plot(grid, margins, color=LINE)
    ax.plot(found.nu_plus_, found.certificate_.soft_margin, "o", color=NEGATIVE, markersize=8)
    root = np.sqrt(nu)
    at_root = np.interp(root, grid, margins)
    ax.plot(root, at_root, "s", color=POSITIVE)
    above = {"textcoords": "offset points", "xytext": (0, 10)}
    ax.annotate("start, √ν", (root, at_root), ha="center", **above)
    ended = (found.nu_plus_, found.certificate_.soft_margin)
    ax.annotate(f"end, ν⁺ = {found.nu_plus_:.3f}", ended, ha="right", **above)
    lowest = (best.nu_plus_, best.certificate_.soft_margin)
    ax.plot(*lowest, "D", color="#5a8f29", markersize=8)
    above["xytext"] = (0, 25)
    ax.annotate(f"best of {STARTS} starts, {best.nu_plus_:.3f}", lowest, ha="center", **above)
    ax.set(xlabel="ν⁺", ylabel="γ̂(ν⁺)")
    ax.spines[["right", "top"]].set_visible(False)
    save(figure, path)
    return found.nu_plus_, best.nu_plus_, float(grid[int(np.argmin(margins))])


def figure_3(path, X, y, nu):
    """The caps 1/ν⁺ and their tangents at each step of the iteration."""
    design = SymmetricFeatures().fit(X).design(X)
    centre, steps = np.sqrt(nu), []
    for _ in range(3):
        margin = TangentMargin(y, None, nu, centre, swapped=False)
        solution = maximize_on_ball(design, margin, signed=False, tol=TOL)
        steps.append((centre, solution.nu_plus, solution.value))
        centre = solution.nu_plus
    low = 0.7 * min(min(at, to) for at, to, _ in steps)
    plus = np.linspace(max(low, nu), 1.0, 300)
    figure, ax = plt.subplots(figsize=(6.4, 3.2))
    ax.plot(plus, 1 / plus, color=LINE, label="cap 1/ν⁺ (times p)")
    for number, ((at, to, value), color) in enumerate(
        zip(steps, (POSITIVE, NEGATIVE, "#6a994e"), strict=True), 1
    ):
        tangent = (2 - plus / at) / at
        shown = tangent > 0
        told = f"step {number}: tangent at {at:.3f}, to {to:.3f}, γ̃ = {value:.4f}"
        ax.plot(plus[shown], tangent[shown], "--", color=color, label=told)
        ax.plot(to, (2 - to / at) / at, "o", color=color)
    ax.set(xlabel="ν⁺", ylim=(0, 1.1 / plus[0]))
    ax.legend(frameon=False, fontsize=9)
    ax.spines[["right", "top"]].set_visible(False)
    save(figure, path)
    return [value for *_, value in steps]
