"""Whether another commit fits the same models: scores of every ranker on three real tables.

``python -m benchmarks.same_fits record FILE`` writes the scores of all fits, of metrics of them and
of fits on blocks; ``python -m benchmarks.same_fits compare FILE`` repeats the fits and names those
of which any bit differs, by how much, and how many rows change places. Only files of one machine
are comparable.
"""

import sys
import time
import warnings

import numpy as np
from sklearn.preprocessing import minmax_scale

import toprank
from experiments.datasets import load_a9a, load_covtype, load_magic, load_mq2008
from toprank import metrics
from toprank.blocks import ArrayBlocks
from toprank.selection import ForestRanker, LogisticRanker
from toprank.selection.candidates import RANKERS

SEED = {"random_state": 0}
LOSSES = ("exponential", "logistic", "hinge", "squared_hinge")
PUSHES = {
    **{f"push {loss}": toprank.PNormPush(loss=loss) for loss in LOSSES},
    **{f"ir push {loss}": toprank.IRPush(loss=loss) for loss in ("exponential", "logistic")},
    "push p=1": toprank.PNormPush(1),
    "push p=inf": toprank.PNormPush(np.inf),
    "push p=inf hinge": toprank.PNormPush(np.inf, loss="squared_hinge"),
    "push both": toprank.PNormPush(2, loss="logistic", focus="both"),
    "push bottom": toprank.PNormPush(8, focus="bottom"),
    "push price": toprank.PNormPush(price="log1p", loss="squared_hinge"),
    "push l1": toprank.PNormPush(l1_ratio=0.5, alpha=0.1),
    "push coordinate": toprank.PNormPush(solver="coordinate"),
    "linear rank svm": toprank.LinearRankSVM(),
    "linear rank svm hinge": toprank.LinearRankSVM(loss="hinge", alpha=0.01),
}
LINEAR = PUSHES | {
    **{
        f"precision at k {solver}": toprank.PrecisionAtKRanker(solver=solver, **SEED)
        for solver in ("sgd", "perceptron", "cutting_plane")
    },
    "logistic": LogisticRanker(),
}
BOOSTED = {
    "push stumps": toprank.PNormPush(weak_rankers="stumps"),
    "rankboost": toprank.RankBoost(),
    "rankboost steepest": toprank.RankBoost("steepest"),
    "adaboost": toprank.AdaBoostRanker(max_iter=50),
    "smooth margin": toprank.SmoothMarginRanker(max_iter=50),
    "soft rankboost": toprank.SoftRankBoost(nu=0.3),
}
OBJECTIVES = ("pnorm_push", "ir_push", "log_loss")
TREES = {f"trees {name}": toprank.TreeRanker(name, n_trees=50, **SEED) for name in OBJECTIVES}
OTHERS = {
    "rank svm": toprank.RankSVM(),
    "rank svm 2-norm": toprank.RankSVM(norm=2),
    "forest": ForestRanker(**SEED),
    "top": toprank.TopRanker(50, **SEED),
    "top with every linear ranker": toprank.TopRanker(
        50, candidates=[name for name, kind in RANKERS.items() if kind.is_linear], **SEED
    ),
    "predtron": toprank.PredtronClassifier(**SEED),
}
LABEL_SETS = {
    "mh": toprank.AdaBoostMH(max_iter=20),
    "mr": toprank.AdaBoostMR(max_iter=20),
    "predtron multilabel": toprank.PredtronMultilabel(**SEED),
    "predtron label ranker": toprank.PredtronLabelRanker(**SEED),
}
GRADED = {
    "predtron ordinal": toprank.PredtronOrdinal(**SEED),
    "prank": toprank.PRank(**SEED),
}
STREAMED = {
    name: LINEAR.get(name) or BOOSTED.get(name) or TREES[name]
    for name in ("push exponential", "ir push exponential", "push p=inf", "rankboost", *TREES)
}
WITH_K = ("precision_at_k", "recall_at_k", "lift", "ndcg", "dcg")


def tables():
    """A table of numbers, one of graded lists, and one of sparse 0s and 1s."""
    rng = np.random.default_rng(0)
    X, y = load_magic(return_X_y=True)
    few = rng.permutation(len(y))[:2500]
    lists = load_mq2008(fold=1)
    sparse, labels = load_a9a(return_X_y=True)
    return (
        (X[few], y[few].astype(int)),
        (minmax_scale(lists.X[:3000]), lists.y[:3000].astype(int), lists.groups[:3000]),
        (sparse[:4000].tocsr(), labels[:4000].astype(int)),
    )


def fits():
    """Every fit: its name, a function that fits, and the table to score."""
    (X, y), (listed, grades, groups), (sparse, labels) = tables()
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 4, y.size).astype(float)
    pairs = rng.integers(0, len(listed), (2000, 2))
    pairs = pairs[grades[pairs[:, 0]] > grades[pairs[:, 1]]]
    for name, model in {**LINEAR, **BOOSTED, **TREES, **OTHERS}.items():
        rows = 400 if name.startswith("rank svm") else y.size
        yield name, lambda m=model, n=rows: m.fit(X[:n], y[:n]), X
    for name, model in {**LINEAR, **BOOSTED, **TREES}.items():
        yield f"{name}, weights", lambda m=model: m.fit(X, y, sample_weight=weights), X
        yield f"{name}, lists", lambda m=model: m.fit(listed, grades > 0, groups=groups), listed
        if hasattr(model, "fit_grades"):
            yield f"{name}, grades", lambda m=model: m.fit_grades(listed, grades), listed
            yield (
                f"{name}, graded lists",
                lambda m=model: m.fit_grades(listed, grades, groups=groups),
                listed,
            )
            yield f"{name}, pairs", lambda m=model: m.fit_pairs(listed, pairs), listed
    for name, model in LINEAR.items():
        yield f"{name}, float32", lambda m=model: m.fit(X.astype(np.float32), y), X
        yield f"{name}, sparse", lambda m=model: m.fit(sparse, labels), sparse
    for name, model in LABEL_SETS.items():
        yield name, lambda m=model: m.fit(listed, np.column_stack([grades > 0, grades > 1])), listed
    for name, model in GRADED.items():
        yield name, lambda m=model: m.fit(listed, grades), listed
    subsets = toprank.PredtronSubsetRanker(**SEED)
    yield "predtron subset ranker", lambda: subsets.fit(listed, grades > 0, groups), listed
    long, of_long = load_covtype(return_X_y=True)
    long, of_long = long[:30_000].astype(np.float32), of_long[:30_000]
    for name, model in {**LINEAR, **STREAMED}.items():
        yield f"{name}, long table", lambda m=model: m.fit(long, of_long), long
    for name, model in STREAMED.items():
        blocks = ArrayBlocks.cut(X, y, weights, size=700)
        yield f"{name}, blocks", lambda m=model, b=blocks: m.fit_blocks(b), X


def record():
    """Scores of every fit, and every metric of some of them."""
    found, skipped = {}, []
    for name, fit, X in fits():
        started = time.perf_counter()
        try:
            found[name] = np.asarray(fit().decision_function(X))
        except (ValueError, TypeError) as error:  # what a ranker does not take
            skipped.append(f"{name}: {error}")
            continue
        print(f"{time.perf_counter() - started:7.1f} s  {name}", flush=True)
    (_, y), (_, grades, groups), _ = tables()
    for metric in metrics.names():
        call, options = getattr(metrics, metric), {"k": 30} if metric in WITH_K else {}
        for ties in ("average", "pessimistic", "optimistic", "together"):
            try:
                one = call(y, np.round(found["top"], 1), ties=ties, **options)
                many = call(
                    grades > 0,
                    np.round(found["rankboost, lists"], 1),
                    groups=groups,
                    ties=ties,
                    sample_weight=1.0 + groups % 3,
                    **options,
                )
            except (ValueError, TypeError) as error:
                skipped.append(f"{metric}, {ties}: {error}")
                continue
            found[f"{metric}, {ties}"] = np.array([one, many])
    print(*(f"not taken: {line}" for line in skipped), sep="\n")
    return found


def main(what, path):
    warnings.simplefilter("ignore")
    found = record()
    if what == "record":
        np.savez(path, **found)
        return
    known, different = np.load(path), 0
    for name in sorted({*known.files, *found}):
        if name not in known.files or name not in found:
            print(f"only in {'this run' if name in found else path}: {name}")
        elif not np.array_equal(known[name], found[name], equal_nan=True):
            different += 1
            before, now = known[name], found[name]
            moved = np.count_nonzero(np.argsort(before, 0) != np.argsort(now, 0))
            apart = np.abs(before - now).max() / np.abs(before).max()
            print(f"{apart:.1e} of the largest apart, {moved} places moved: {name}")
    print(f"{len(known.files) - different} of {len(known.files)} are the same, bit for bit.")


if __name__ == "__main__":
    main(*sys.argv[1:])
