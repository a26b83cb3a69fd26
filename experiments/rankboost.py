"""Rudin and Schapire (2009): margins in ranking, and AdaBoost beside RankBoost.

The matrix of Theorem 6, the equivalence of section 5 on three data sets, Figure 2, and RankBoost
on two collections of ranked lists (see docs/datasets.md for the data). Writes
docs/experiments/rankboost.md and its pictures.
"""

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from experiments import DOCS, IMAGES
from experiments.boosting import page
from experiments.boosting.equivalence import compare, run_separable
from experiments.boosting.limits import compare_limits
from experiments.boosting.lists import five_folds
from experiments.boosting.matrix import EIGHT, best_margin_of_matrix, figure_2, margin_paths
from experiments.boosting.progress import follow_theorem_7
from experiments.datasets import (
    DatasetNotFoundError,
    load_abalone,
    load_adult,
    load_australian,
    load_bank_marketing,
    load_cod_rna,
    load_colon_cancer,
    load_covtype,
    load_housing,
    load_hypothyroid,
    load_ionosphere,
    load_letter,
    load_magic,
    load_mq2008,
    load_ohsumed,
    load_page_blocks,
    load_sick,
    load_spambase,
)
from toprank.datasets import load_digits_eights

TABLES = {
    "MAGIC": load_magic,
    "spambase": load_spambase,
    "bank marketing": load_bank_marketing,
    "adult": load_adult,
    "cod-rna": load_cod_rna,
    "abalone": load_abalone,
    "sick": load_sick,
    "letter": load_letter,
    "housing": load_housing,
    "ionosphere": load_ionosphere,
    "australian": load_australian,
    "covertype": load_covtype,
}
DRAWN = ("MAGIC", "spambase", "bank marketing")
SEPARABLE = {"ionosphere": load_ionosphere, "colon cancer": load_colon_cancer}
LIMITED = {
    "digits": load_digits_eights,
    "MAGIC": load_magic,
    "spambase": load_spambase,
    "ionosphere": load_ionosphere,
    "sick": load_sick,
    "page-blocks": load_page_blocks,
    "hypothyroid": load_hypothyroid,
}
LISTS = {"MQ2008": load_mq2008, "OHSUMED": load_ohsumed}
BLUE, ORANGE, GREEN, RED, GREY = "#1f5fa8", "#d9730d", "#2a8a57", "#b3362d", "#777777"


def there(loaders):
    """Those data sets that are in the data home."""
    for name, load in loaders.items():
        try:
            load()
        except DatasetNotFoundError as error:
            print(f"{name}: left out. {error}", flush=True)
            continue
        yield name, load


def draw_margins(paths, best):
    figure, axes = plt.subplots(figsize=(7, 4.2))
    colours = (BLUE, ORANGE, GREEN, RED)
    for (name, (rounds, margins)), colour in zip(paths.items(), colours, strict=True):
        style = "--" if colour in (ORANGE, RED) else "-"
        axes.plot(rounds, margins, style, color=colour, label=name, lw=1.8)
    axes.axhline(best, color=GREY, lw=1, ls=":")
    axes.text(1.2, best + 0.003, "best margin 3/8 (linear program)", color=GREY, fontsize=9)
    axes.axhline(1 / 3, color=GREY, lw=1, ls=":")
    axes.text(1.2, 1 / 3 + 0.003, "1/3", color=GREY, fontsize=9)
    axes.set(xscale="log", xlabel="round", ylabel="margin", ylim=(0.2, 0.39))
    axes.legend(loc="lower right", frameon=False)
    save(figure, "rankboost_margins")


def draw_equivalence(results):
    figure, grid = plt.subplots(
        4, len(results), figsize=(3.7 * len(results), 10), sharex="col", layout="constrained"
    )
    rows = (
        ("F-skew / F", "skew"),
        ("ln F̃ above the least", "loss"),
        ("ROC AUC", "auc"),
        ("misclassified", "errors"),
    )
    for column, (name, result) in enumerate(results.items()):
        for row, (label, key) in enumerate(rows):
            axes = grid[row, column]
            for who, colour in (("AdaBoost", ORANGE), ("RankBoost", BLUE)):
                axes.plot(result["rounds"], result[who][key], color=colour, label=who, lw=1.6)
            axes.set_xscale("log")
            if key in ("skew", "loss"):
                axes.set_yscale("log")
            if column == 0:
                axes.set_ylabel(label)
        grid[0, column].set_title(name)
        grid[-1, column].set_xlabel("round")
    grid[0, 0].legend(frameon=False)
    save(figure, "rankboost_equivalence")


def draw_surface(r, g, gained):
    figure = plt.figure(figsize=(6.4, 4.8))
    axes = figure.add_subplot(projection="3d")
    axes.plot_surface(r, g, gained, cmap="viridis", rstride=2, cstride=2, lw=0)
    axes.set(xlabel="edge r", ylabel="smooth margin g", zlabel="B(r, g)", zlim=(0.4, 1.0))
    axes.view_init(elev=24, azim=-130)
    save(figure, "rankboost_surface")


def save(figure, name):
    IMAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(IMAGES / f"{name}.png", dpi=120, bbox_inches="tight")
    plt.close(figure)


def main():
    mpl.use("Agg")
    best = best_margin_of_matrix(EIGHT).margin
    paths = margin_paths(200_000, page.SHOWN)
    draw_margins(paths, best)
    r, g, gained = figure_2(0.01)
    draw_surface(r, g, gained)
    results = {name: compare(load) for name, load in there(TABLES)}
    drawn = {name: results[name] for name in DRAWN if name in results}
    if drawn:
        draw_equivalence(drawn)
    lists = {name: five_folds(load) for name, load in there(LISTS)}
    separable = {name: run_separable(load) for name, load in there(SEPARABLE)}
    limits = {name: compare_limits(load) for name, load in there(LIMITED)}
    text = page.write(
        best,
        paths,
        np.nanmin(gained),
        follow_theorem_7(),
        results=results,
        separable=separable,
        limits=limits,
        lists=lists,
    )
    (DOCS / "rankboost.md").write_text(text, encoding="utf-8")
    print(f"wrote {DOCS / 'rankboost.md'}")
