"""Kar, Narasimhan and Jain (2015), Surrogate Functions for Maximizing Precision at the Top.

Figures 2 and 3 on those of the paper's data sets that are in the data home (see
docs/datasets.md). Writes docs/experiments/precision_at_k.md and its pictures.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np

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

DOCS = Path(__file__).parents[1] / "docs" / "experiments"
IMAGES = DOCS / "images"
SETS = {
    "Letter": load_letter,
    "Adult (a9a)": load_a9a,
    "IJCNN1": load_ijcnn1,
    "Covertype": load_covtype,
    "Cod-RNA": load_cod_rna,
}
SEEDS = range(5)
KAPPA = 0.25
BATCH = 500
PASSES = 25
KAPPAS = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
BATCHES = (100, 250, 500, 1000, 2500, 5000)
# The runs of Figure 3 are shorter: nothing changes after ten passes.
FIGURE_3_PASSES = 10


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


def figure_2(splits, scores):
    """Curves of every method, averaged over the splits point by point, and the final values."""
    curves, finals = {}, {}
    for method in (*STOCHASTIC, PLANES):
        runs = []
        for seed, data in enumerate(splits):
            if method == PLANES:
                runs.append(planes_run(data, share=KAPPA))
            else:
                options = {"share": KAPPA, "batch_size": BATCH, "passes": PASSES, "seed": seed}
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


def figure_3_kappa(splits, scores):
    """Test prec@κ of models learned for that κ."""
    lines = {}
    for method in STOCHASTIC:
        lines[method] = [
            [
                stochastic_run(
                    data, method, share=share, batch_size=BATCH, passes=FIGURE_3_PASSES, seed=seed
                )[-1].precision
                for share in KAPPAS
            ]
            for seed, data in enumerate(splits)
        ]
    lines[PLANES] = [
        [planes_run(data, share=share, is_traced=False)[-1].precision for share in KAPPAS]
        for data in splits
    ]
    for method in PEERS:
        lines[method] = [
            [judged(data, own, share) for share in KAPPAS]
            for data, (_, own) in zip(splits, scores[method], strict=True)
        ]
    return lines


def figure_3_batches(splits):
    """Test prec@0.25 against the length of the mini-batches."""
    return {
        method: [
            [
                stochastic_run(
                    data, method, share=KAPPA, batch_size=size, passes=FIGURE_3_PASSES, seed=seed
                )[-1].precision
                for size in BATCHES
            ]
            for seed, data in enumerate(splits)
        ]
        for method in STOCHASTIC
    }


def main():
    mpl.use("Agg")
    IMAGES.mkdir(parents=True, exist_ok=True)
    compile_all()
    found = []
    for name, X, y in tables():
        print(
            f"{name}: {y.size:,} rows, {X.shape[1]} features, {y.mean():.2%} positives", flush=True
        )
        splits = [split(X, y, seed) for seed in SEEDS]
        scores = {method: [peer_scores(data, method) for data in splits] for method in PEERS}
        curves, finals = figure_2(splits, scores)
        print(page.final_table({name: finals}), flush=True)
        kappas = figure_3_kappa(splits, scores)
        batches = figure_3_batches(splits)
        found.append(page.Findings(name, X.shape, float(y.mean()), curves, finals, kappas, batches))
    pictures.times_picture(
        IMAGES / "precision_times.png", {f.name: f.curves for f in found}, f"prec@{KAPPA}"
    )
    pictures.lines_picture(
        IMAGES / "precision_kappas.png",
        {f.name: (KAPPAS, f.kappas) for f in found},
        "κ",
        "test prec@κ",
    )
    pictures.lines_picture(
        IMAGES / "precision_batches.png",
        {f.name: (BATCHES, f.batches) for f in found},
        "rows of a mini-batch",
        f"test prec@{KAPPA}",
        log=True,
    )
    target = DOCS / "precision_at_k.md"
    target.write_text(page.whole(found, KAPPAS, BATCHES), encoding="utf-8")
    print(f"wrote {target.name}")


if __name__ == "__main__":
    main()
