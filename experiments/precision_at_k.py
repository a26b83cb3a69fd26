"""Kar, Narasimhan and Jain (2015), Surrogate Functions for Maximizing Precision at the Top.

Figures 2 and 3 on those of the paper's data sets that are in the data home (see
docs/datasets.md). Writes docs/experiments/precision_at_k.md and its pictures.
"""

from typing import NamedTuple

import matplotlib as mpl
import numpy as np

from experiments import DOCS, IMAGES
from experiments.datasets import (
    DatasetNotFoundError,
    load_a9a,
    load_cod_rna,
    load_covtype,
    load_ijcnn1,
    load_letter,
)
from experiments.top import page, pictures
from experiments.top.runs import (
    PEERS,
    PLANES,
    STOCHASTIC,
    compile_all,
    judged,
    peer_scores,
    planes_run,
    split,
    stochastic_run,
)

SETS = {
    "Letter": load_letter,
    "Adult (a9a)": load_a9a,
    "IJCNN1": load_ijcnn1,
    "Covertype": load_covtype,
    "Cod-RNA": load_cod_rna,
}
KAPPA = 0.25
BATCH = 500


class Plan(NamedTuple):
    """How much is run: splits, passes, and the values of Figure 3.

    Its runs are shorter than those of Figure 2: nothing changes after ten passes.
    """

    seeds: range = range(5)
    passes: int = 25
    short_passes: int = 10
    kappas: tuple[float, ...] = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
    batches: tuple[int, ...] = (100, 250, 500, 1000, 2500, 5000)


def tables():
    """Those data sets that are there, as dense arrays."""
    for name, load in SETS.items():
        try:
            X, y = load(return_X_y=True)
        except DatasetNotFoundError:
            print(f"{name}: not in the data home, left out", flush=True)
            continue
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        yield name, np.ascontiguousarray(dense), np.asarray(y)


def figure_2(splits, scores, plan):
    """Curves of every method, averaged over the splits point by point, and the final values."""
    curves, finals = {}, {}
    for method in (*STOCHASTIC, PLANES):
        runs = []
        for seed, data in enumerate(splits):
            if method == PLANES:
                runs.append(planes_run(data, share=KAPPA))
            else:
                options = {"share": KAPPA, "batch_size": BATCH, "passes": plan.passes, "seed": seed}
                runs.append(stochastic_run(data, method, **options))
        shortest = min(map(len, runs))
        points = np.array([run[:shortest] for run in runs])
        curves[method] = points.mean(axis=0).T
        finals[method] = np.array([run[-1] for run in runs])
    for method in PEERS:
        found = [
            (seconds, judged(data, own, KAPPA))
            for data, (seconds, own) in zip(splits, scores[method], strict=True)
        ]
        finals[method] = np.array(found)
        curves[method] = finals[method].mean(axis=0)[:, None]
    return curves, finals


def figure_3_kappa(splits, scores, plan):
    """Test prec@κ of models learned for that κ."""
    lines = {}
    for method in STOCHASTIC:
        lines[method] = [
            [
                stochastic_run(
                    data, method, share=share, batch_size=BATCH, passes=plan.short_passes, seed=seed
                )[-1].precision
                for share in plan.kappas
            ]
            for seed, data in enumerate(splits)
        ]
    lines[PLANES] = [
        [planes_run(data, share=share, is_traced=False)[-1].precision for share in plan.kappas]
        for data in splits
    ]
    for method in PEERS:
        lines[method] = [
            [judged(data, own, share) for share in plan.kappas]
            for data, (_, own) in zip(splits, scores[method], strict=True)
        ]
    return lines


def figure_3_batches(splits, plan):
    """Test prec@0.25 against the length of the mini-batches."""
    return {
        method: [
            [
                stochastic_run(
                    data, method, share=KAPPA, batch_size=size, passes=plan.short_passes, seed=seed
                )[-1].precision
                for size in plan.batches
            ]
            for seed, data in enumerate(splits)
        ]
        for method in STOCHASTIC
    }


def measure(name, X, y, plan):
    """Both figures on one data set."""
    print(f"{name}: {y.size:,} rows, {X.shape[1]} features, {y.mean():.2%} positives", flush=True)
    splits = [split(X, y, seed) for seed in plan.seeds]
    scores = {method: [peer_scores(data, method) for data in splits] for method in PEERS}
    curves, finals = figure_2(splits, scores, plan)
    print(page.final_table({name: finals}), flush=True)
    kappas = figure_3_kappa(splits, scores, plan)
    batches = figure_3_batches(splits, plan)
    return page.Findings(name, X.shape, float(y.mean()), curves, finals, kappas, batches)


def draw(found, start, plan):
    """The three pictures, whose names have this start."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    pictures.times_picture(
        IMAGES / f"{start}_times.png", {f.name: f.curves for f in found}, f"prec@{KAPPA}"
    )
    pictures.lines_picture(
        IMAGES / f"{start}_kappas.png",
        {f.name: (plan.kappas, f.kappas) for f in found},
        "κ",
        "test prec@κ",
    )
    pictures.lines_picture(
        IMAGES / f"{start}_batches.png",
        {f.name: (plan.batches, f.batches) for f in found},
        "rows of a mini-batch",
        f"test prec@{KAPPA}",
        log=True,
    )


def main():
    mpl.use("Agg")
    compile_all()
    plan = Plan()
    found = [measure(name, X, y, plan) for name, X, y in tables()]
    draw(found, "precision", plan)
    target = DOCS / "precision_at_k.md"
    target.write_text(page.whole(found, plan.kappas, plan.batches), encoding="utf-8")
    print(f"wrote {target.name}")


if __name__ == "__main__":
    main()
