"""Kar, Narasimhan and Jain (2015): Figures 2 and 3 on stand-ins for IJCNN, KDD08 and PPI.

These three data sets of the paper cannot be had here. Each stand-in is a public table that has
about as rare positives, so that what rarity does to the methods can be seen; it says nothing about
the paper's numbers. Writes docs/experiments/precision_stand_ins.md and its pictures.
"""

import matplotlib as mpl
import numpy as np

from experiments import DOCS
from experiments.datasets import load_bank_marketing, load_covtype, load_mulan
from experiments.precision_at_k import Plan, draw, measure
from experiments.top import page
from experiments.top.runs import compile_all

PLAN = Plan(range(2), 8, 4, (0.1, 0.25, 0.5, 1.0), (100, 500, 2500))
KDD_ROWS = 102_294
RAREST_REPORT = 20  # column of the label with the fewest flight reports

PAGE = """\
# Precision at the top: stand-ins

Figures 2 and 3 of Kar, Narasimhan and Jain (2015) use IJCNN, KDD08 and PPI, too, which could not be
had (of IJCNN1 one copy was found, with ten of its 22 columns empty). In their place stand three
public tables with about as rare positives (`make reproduce PAPER=precision-stand-ins`). They are
**not** the paper's data: compare methods within a table here, not numbers with the paper's.

| the paper's | what is known of it | stand-in | rows | features | positives |
|---|---|---|---|---|---|
{sets}

Settings are those of {{doc}}`precision_at_k`, with {splits} splits, {passes} passes for Figure 2
and {short} for Figure 3.

## Figure 2: test precision against training time

![Test precision against seconds of training, one panel per stand-in](images/stand_ins_times.png)

Test prec@0.25 at the end, mean and standard deviation over the splits:

{finals}

**The paper's claim:** methods based on avg are the most consistent, those based on struct often
end with worse models.

{verdicts}

**The paper's claim:** stochastic methods are much faster than cutting planes.

{reach}

## Figure 3: other κ, other batches

![Test precision at κ against κ, one panel per stand-in](images/stand_ins_kappas.png)

{kappas}

![Test precision against the length of the mini-batches](images/stand_ins_batches.png)

**The paper's claim:** all methods vary by less than 5 % in relative terms.

{spreads}

{remarks}
"""

REMARKS = """\
## Conclusions

Bank marketing asks who buys a deposit, cottonwood which patches of the covertype table have the
rarest trees (102,294 patches, drawn once), flight reports which ones have the rarest of the 22
problems of tmc2007. With two splits, differences of a standard deviation mean nothing.

- **avg against struct.** The better method based on avg is at least as good as both based on struct
  on all three, as the paper claims, and far better on the rarest positives.
- **Compared with classifiers.** On cottonwood the classifiers and `PNormPush` are far ahead of all
  methods for precision at k: a batch of 500 rows holds two or three positives, and its top is one
  row.
- **Batch length.** Eight of the twelve changes stay under the paper's 5 %; the largest is that of
  SGD@k-avg on cottonwood, where short batches hold a positive or none.
"""

# What is known of the paper's data sets, in the order of their stand-ins.
REPLACED = {
    "IJCNN": "141,691 rows, 22 features, 9.7 % positives among the training rows",
    "KDD08": "102,294 rows, 117 features, 0.61 % positives",
    "PPI": "the paper tells neither rows nor share",
}


def tables():
    """The stand-ins, in the order of REPLACED."""
    X, y = load_bank_marketing(return_X_y=True)
    yield "bank marketing (for IJCNN)", np.ascontiguousarray(X, dtype=np.float64), np.asarray(y)
    X, y = load_covtype(positive=4, return_X_y=True)
    chosen = np.random.default_rng(0).permutation(y.size)[:KDD_ROWS]
    yield "cottonwood (for KDD08)", np.ascontiguousarray(X[chosen]), np.asarray(y)[chosen]
    X, y = load_mulan("tmc2007-500", return_X_y=True)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # for linear SVMs
    yield "flight reports (for PPI)", X, np.asarray(y)[:, RAREST_REPORT]


def whole(found):
    """The page."""
    sets = "\n".join(
        f"| {name} | {known} | {f.name.split(' (')[0]} | {f.shape[0]:,} | "
        f"{f.shape[1]} | {f.positives:.2%} |"
        for (name, known), f in zip(REPLACED.items(), found, strict=True)
    )
    return PAGE.format(
        sets=sets,
        splits=len(PLAN.seeds),
        passes=PLAN.passes,
        short=PLAN.short_passes,
        finals=page.final_table({f.name: f.finals for f in found}),
        verdicts=page.verdicts(found),
        reach=page.reach_table(found),
        kappas="\n\n".join(page.kappa_table(f, PLAN.kappas) for f in found),
        spreads=page.spread_table(found, PLAN.batches),
        remarks=REMARKS,
    )


def main() -> None:
    """Run, draw and write."""
    mpl.use("Agg")
    compile_all()
    found = [measure(name, X, y, PLAN) for name, X, y in tables()]
    draw(found, "stand_ins", PLAN)
    (DOCS / "precision_stand_ins.md").write_text(whole(found), encoding="utf-8")


if __name__ == "__main__":
    main()
