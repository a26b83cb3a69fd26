"""Kar, Narasimhan and Jain (2015): left sides of Theorems 12, 13, 15 and Corollary 14 as curves.

Writes docs/experiments/precision_rates.md and its picture. The paper gives these bounds in O()
only, so constants cannot be checked; how fast the left sides fall can.
"""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from experiments import DOCS, IMAGES
from experiments.datasets import load_cod_rna, load_letter
from experiments.top.rates import (
    SURROGATES,
    Population,
    deviations,
    losses,
    optimum,
    path_models,
    perceptron_curves,
    sgd_curve,
    slope,
)

PICTURE = IMAGES / "precision_rates.png"
SETS = {"Letter": load_letter, "Cod-RNA": load_cod_rna}
ROWS = 20_000  # of a population
BATCHES = (250, 500, 1000, 2000, 4000)
SAMPLES, MODELS, RUNS = 30, 24, 8
LENGTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
COLOURS = ("#1b6ca8", "#c1440e", "#5a8f29", "#7b3fa0", "#555555")
MEASURES = ("prec@κ", *SURROGATES)

PAGE = """\
# Precision at the top: how fast the bounds fall

Theorems 12, 13 and 15 and Corollary 14 of Kar, Narasimhan and Jain (2015) say how fast losses on
batches and losses on all rows approach each other. The paper gives them in O(), without constants.
This page measures their left sides (`make reproduce PAPER=precision-rates`). A population Z is
{rows} rows of a table, standardised; streams are rows of Z drawn with replacement; κ = 0.25; all
losses are divided by k. Means are over {samples} samples or {runs} streams.

![Deviations, running means and optimality gaps on log scales](images/precision_rates.png)

## Theorem 12: from a sample to all rows

sup over w of |loss(w; Z) - loss(w; b rows)|, here over {models} models (along a perceptron's path
on Z, scaled to norms from 0.1 to 3): a lower bound of the supremum over a ball. The theorem says
O(√(1/b)): a slope of -0.5 on log scales.

{deviations}

## Theorem 13: from mistakes on the stream to the models

Perceptron@k-avg on T = {longest} batches of b rows. Left side: the mean of prec@κ(wᵗ; Z) over the
models. Seen: the mean of Δ_t/k_t, what the models did on batches that they had not learned from
yet. The theorem bounds left - seen by O(√(log(T/δ)/b)) for every stream; the last column is the
largest difference over the streams.

{streams}

## Corollary 14: comparison with the best model

The same left side beside avg(w*; Z) of the model w* that minimises avg on Z with the penalty
0.0005·‖w‖². The corollary says √left ≤ √avg(w*) + O(‖w*‖R/√T + √(log(T/δ)/b)).

{corollary}

## Theorem 15: SGD@k-avg approaches the best model

Objective on Z (avg/k and the penalty 0.0005·‖w‖²) of the average of the first T models, less that
of w*. It may fall like √(1/T) down to a floor that falls like √(1/b), since a batch's top is not
the top of Z.

{gaps}

{remarks}
"""

REMARKS = """\
## Conclusions

- **Theorem 12.** Deviations fall like √(1/b) or a little faster, all four losses on both tables.
- **Theorem 13.** Left - seen is never far above 0, at any b. It is below 0 where batches are small
  and positives rare (Letter has 4 % of them): the top of such a batch, ⌈κ·n₊⌉ rows, is rounded up
  and its cut is noisy, so that batches see more negatives than Z holds.
- **Corollary 14.** The left side is below avg(w*) after ten batches, without the help of the O().
  On Letter the mean falls like 1/T: after a few batches the models hardly make mistakes any more.
- **Theorem 15.** On Letter the gap falls like √(1/T), on Cod-RNA faster. Small batches cost
  something at every T, and no gap has come to its floor after 256 batches.
"""


def table(head, rows):
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def population(load, rng):
    """Up to ROWS rows of a table, as a population."""
    X, y = load(return_X_y=True)
    chosen = rng.permutation(y.size)[:ROWS]
    return Population.of(np.asarray(X)[chosen], np.asarray(y)[chosen])


def measure(load):
    """All curves of one data set."""
    rng = np.random.default_rng(0)
    people = population(load, rng)
    models = path_models(people, MODELS, rng)
    found = {
        "deviations": np.array(
            [np.nanmean(deviations(people, models, b, SAMPLES, rng), axis=0) for b in BATCHES]
        ),
        "streams": np.array(
            [
                [perceptron_curves(people, b, LENGTHS[-1], rng) for _ in range(RUNS)]
                for b in BATCHES[::2]
            ]
        ),
    }
    weights, best = optimum(people)
    found["avg"] = losses(people.y, people.Z @ weights)[2]
    found["norm"] = float(np.linalg.norm(weights))
    found["gaps"] = np.array(
        [
            np.mean([sgd_curve(people, b, LENGTHS, rng) for _ in range(RUNS)], axis=0) - best
            for b in BATCHES[::2]
        ]
    )
    return found


def draw(found):
    """One row of panels per data set: Theorem 12, Theorem 13 and Corollary 14, Theorem 15."""
    figure, axes = plt.subplots(len(found), 3, figsize=(11, 3.4 * len(found)), layout="constrained")
    for row, (name, curves) in zip(axes, found.items(), strict=True):
        for column, (measure_name, colour) in enumerate(zip(MEASURES, COLOURS, strict=False)):
            row[0].loglog(
                BATCHES, curves["deviations"][:, column], "o-", color=colour, label=measure_name
            )
        top = curves["deviations"][0].max()
        row[0].loglog(
            BATCHES,
            top * np.sqrt(BATCHES[0] / np.array(BATCHES)),
            ":",
            color="black",
            label="√(1/b)",
        )
        row[0].set_xticks(BATCHES, [f"{b:,}" for b in BATCHES])
        row[0].minorticks_off()
        row[0].set(xlabel="b", ylabel="largest deviation", title=f"{name}: Theorem 12")
        numbers = np.arange(1, LENGTHS[-1] + 1)
        for b, runs, gaps, colour in zip(
            BATCHES[::2], curves["streams"], curves["gaps"], COLOURS, strict=False
        ):
            left, seen = runs.mean(axis=0)
            row[1].loglog(numbers, left, "-", color=colour, label=f"on Z, b = {b:,}")
            row[1].loglog(numbers, seen, "--", color=colour, label=f"seen, b = {b:,}")
            row[2].loglog(LENGTHS, gaps, "o-", color=colour, label=f"b = {b:,}")
        row[1].axhline(curves["avg"], color="black", linestyle=":", label="avg(w*)")
        row[1].set(xlabel="T", ylabel="mean of prec@κ", title="Theorem 13, Corollary 14")
        guide = curves["gaps"][0][0] / np.sqrt(LENGTHS)
        row[2].loglog(LENGTHS, guide, ":", color="black", label="√(1/T)")
        row[2].set(xlabel="T", ylabel="objective above the best", title="Theorem 15")
        for axis in row:
            axis.grid(alpha=0.25)
            axis.legend(frameon=False, fontsize=8)
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})
    plt.close(figure)


def page(found):
    """The page."""
    deviation_rows, stream_rows, corollary_rows, gap_rows = [], [], [], []
    for name, curves in found.items():
        for column, measure_name in enumerate(MEASURES):
            values = curves["deviations"][:, column]
            deviation_rows.append(
                [
                    name,
                    measure_name,
                    *(f"{value:.3f}" for value in values),
                    f"{slope(BATCHES, values):+.2f}",
                ]
            )
        for b, runs, gaps in zip(BATCHES[::2], curves["streams"], curves["gaps"], strict=True):
            left, seen = runs[:, 0, -1], runs[:, 1, -1]
            stream_rows.append(
                [
                    name,
                    f"{b:,}",
                    f"{left.mean():.3f}",
                    f"{seen.mean():.3f}",
                    f"{(left - seen).max():+.3f}",
                ]
            )
            corollary_rows.append(
                [
                    name,
                    f"{b:,}",
                    f"{left.mean():.3f}",
                    f"{curves['avg']:.3f}",
                    f"{np.sqrt(left.mean()) - np.sqrt(curves['avg']):+.3f}",
                ]
            )
            gap_rows.append([name, f"{b:,}", *(f"{gap:.3f}" for gap in gaps[::2])])
    return PAGE.format(
        rows=f"{ROWS:,}", samples=SAMPLES, runs=RUNS, models=MODELS, longest=LENGTHS[-1],
        deviations=table(["Z", "loss", *(f"b = {b:,}" for b in BATCHES), "slope"], deviation_rows),
        streams=table(["Z", "b", "left side", "seen", "largest left - seen"], stream_rows),
        corollary=table(["Z", "b", "left side", "avg(w*)", "√left - √avg(w*)"], corollary_rows),
        gaps=table(["Z", "b", *(f"T = {length}" for length in LENGTHS[::2])], gap_rows),
        remarks=REMARKS,
    )  # fmt: skip


def main() -> None:
    """Measure, draw and write."""
    mpl.use("Agg")
    found = {name: measure(load) for name, load in SETS.items()}
    draw(found)
    (DOCS / "precision_rates.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
