"""The page of the comparison of TopRanker with single methods."""

import numpy as np

from experiments import DOCS, IMAGES
from experiments.tuned.contestants import AUTOGLUON, BLEND, OURS, TUNED, contestants
from experiments.tuned.problems import LARGE, MOST_CELLS, MOST_TEST, MOST_TRAINING, SETS
from experiments.tuned.standings import against, difference_picture, standings

KINDS = (
    "precision", "at half the budget", "at twice the budget", "average precision",
    "positives at top",
)  # fmt: skip
SETTLED = (
    "abalone", "ann_thyroid", "bank_marketing", "cod_rna", "delicious", "emotions", "hypothyroid",
    "letter", "page_blocks", "sick_euthyroid", "yeast",
)  # fmt: skip

PAGE = """# TopRanker and single methods

`make reproduce PAPER=quality` writes this page. Every method learns from the same rows of each data
set, at most {training:,} (fewer for wide tables: {cells:,} cells), and ranks up to {test:,} others,
on {splits} random split(s). **The measure is precision at a budget of half as many rows as the test
list has positives, at most a tenth of the list.** Each method has its defaults; tuned ones choose
among four settings (`experiments/tuned/contestants.py`) by precision at the budget in four inner
folds, then by average precision, and are fitted once more. `TopRanker` has its defaults and is told
the budget and the length of the list. For linear models and forests missing values are replaced by
medians; `TopRanker` encodes them itself.

![Mean ranks of all methods; bars join those that do not differ significantly](images/quality.png)

Mean ranks over {n_sets} data sets ({n_runs} splits). Friedman's test gives p = {p_value:.2g} to all
methods being alike; two mean ranks further apart than {difference:.2f} differ at the 5 % level
(Nemenyi).

{ranks}

## TopRanker against each other method

Wins, ties and losses of `TopRanker` over the data sets by precision at the budget and by average
precision, and Wilcoxon's signed-rank test with Holm's correction.

{pairs}

## Two halves of the data sets

The design of the blend was settled on {settled}; the others are a check.

{halves}

## Does the interval hold?

The 95 % interval of `TopRanker` for the hits of the test list held {held} of {n_runs} times
({held_share:.0%}); as a share of the budget it is {width:.2f} wide on average
({width_full:.2f} where there are {training:,} training rows).

## Precision at the budget, by data set

Means over the splits, the best of each row in bold.

{table}

## {large:,} training rows

One split of each set that has twice as many rows, all methods with their defaults: precision at the
budget, and in brackets the average precision.

{large_table}

## AutoGluon

{autogluon}

## What was tried and left out

These variants were compared on two splits of the data sets, some on three, each with four folds
and a fit on all rows. The halves agree on the first three; the other differences are within
chance, and the cheaper variant was chosen:

- the mean of the fold models instead of members fitted on all rows: 0.002 less average precision,
  and 0.005 less precision at the budget;
- starting without votes for the trees, or with as many as there are steps: weak members that were
  lucky on small tables got too much weight (0.006 less precision at the budget on three splits);
- choosing by precision around the budget and average precision in equal parts: 0.001 less average
  precision, 0.004 less precision at the budget, by chance of single rows;
- trees with log loss beside those with the push, 1,000 trees instead of 400, 200 instead of 80 in
  the forests: no difference for three times the time;
- trees of depth 4 and 8, IR push, precision at k, pushes with p = 16, thresholds with p = 4: no
  difference;
- linear members left out, or their scores cut at the quantiles of the training rows: no difference
  on average (ann_thyroid gains 0.02: its linear scores reach log-odds of 80);
- no member beyond the log-odds that so many rows can show, log n, cut or bent; chances added up
  instead of log-odds: 0.0001 to 0.0005 more average precision, precision the same;
- support vector machines with a Gaussian kernel, nearest neighbours, or four small networks as
  further members (21 sets, three splits): 0.001 more average precision each, 0.003 all together,
  precision at the budget within chance, and no such member can be explained or run in a database;
- five to twenty steps; starting from the best three or five members, blends of members drawn at
  random, means of blends on bootstrapped rows; forests on the logit scale instead of shares of
  votes; eight folds instead of four; bringing folds together by the score at the budget instead of
  mean and spread: no difference.

## What is not here

{left_out}
"""


def _defaults() -> set[str]:
    return {m for m in contestants(1, 1) if not m.endswith(TUNED) and m != AUTOGLUON}


def complete(results: dict) -> tuple[dict, list[str]]:
    """Data sets with the splits on which all methods have results, and these methods.

    Without any, those with their defaults alone.
    """
    every = [method for method in contestants(1, 1) if method != AUTOGLUON]
    for methods in (every, [method for method in every if method in _defaults()]):
        found = {}
        for name, facts in results.items():
            small = [split for number, split in facts["splits"].items() if number != "large"]
            whole = [split for split in small if set(split) >= set(methods)]
            if whole:
                found[name] = facts | {"splits": whole}
        if found:
            break
    return found, methods


def _table(head, lines) -> str:
    rows = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join([*rows, *("| " + " | ".join(line) + " |" for line in lines)])


def _means(results: dict, methods: list[str], kind: str) -> dict[str, list[float]]:
    return {
        method: [
            float(np.mean([split[method][kind] for split in found["splits"]]))
            for found in results.values()
        ]
        for method in methods
    }


def _rank_table(results: dict, methods: list[str]) -> str:
    found = {kind: standings(_means(results, methods, kind)) for kind in KINDS}
    order = np.argsort(found["precision"].ranks, kind="stable")
    lines = []
    for at in order:
        mine = {kind: np.mean(_means(results, [methods[at]], kind)[methods[at]]) for kind in KINDS}
        seconds = np.mean(_means(results, [methods[at]], "seconds")[methods[at]])
        cells = [f"{found[kind].ranks[at]:.2f} ({mine[kind]:.3f})" for kind in KINDS[:-1]]
        tops = f"{found[KINDS[-1]].ranks[at]:.2f} ({mine[KINDS[-1]]:.3f})"
        lines.append((methods[at], *cells, tops, f"{seconds:.1f}"))
    heads = ("at the budget", *KINDS[1:])
    return _table(("mean rank (mean)", *heads, "CPU s"), lines)


def _pair_table(results: dict, methods: list[str]) -> str:
    kinds = ("precision", "average precision")
    found = [against(_means(results, methods, kind), BLEND) for kind in kinds]

    def cells(pair):
        losses, ties, wins, p_value = pair  # of the other method
        return f"{wins} / {ties} / {losses}", f"{p_value:.2g}"

    others = [method for method in methods if method != BLEND]
    lines = [(m, *(cell for each in found for cell in cells(each[m]))) for m in others]
    return _table(("method", "precision", "p", "average precision", "p"), lines)


def _half_table(results: dict, methods: list[str]) -> str:
    lines = []
    others = [name for name in results if name not in SETTLED]
    for words, half in (("settled on", [n for n in results if n in SETTLED]), ("check", others)):
        mine = {name: results[name] for name in half}
        for kind in ("precision", "average precision"):
            ranks = standings(_means(mine, methods, kind)).ranks
            order = np.argsort(ranks, kind="stable")[:3]
            best = ", ".join(f"{methods[at]} {ranks[at]:.2f}" for at in order)
            lines.append((f"{words} ({len(half)})", kind, best))
    return _table(("half", "measure", "best mean ranks"), lines)


def _promise(results: dict) -> dict:
    held, widths, full = [], [], []
    for facts in results.values():
        for split in facts["splits"]:
            low, high = split[BLEND]["low"], split[BLEND]["high"]
            held.append(low - 1e-5 <= split[BLEND]["precision"] <= high + 1e-5)
            widths.append(high - low)
            if facts["training"] == MOST_TRAINING:
                full.append(high - low)
    return {
        "held": sum(held),
        "held_share": float(np.mean(held)),
        "width": float(np.mean(widths)),
        "width_full": float(np.mean(full)),
        "n_runs": len(held),
    }


def _set_table(results: dict, methods: list[str]) -> str:
    shown = [method for method in methods if not method.endswith(TUNED)]
    lines = []
    for name, facts in results.items():
        means = [_means({name: facts}, [m], "precision")[m][0] for m in shown]
        best = max(means) - 1e-9
        cells = [f"**{mean:.3f}**" if mean >= best else f"{mean:.3f}" for mean in means]
        size = f"{facts['training']:,} × {facts['features']:,}"
        lines.append((name, size, f"{facts['positives']:.1%}", str(facts["budget"]), *cells))
    return _table(("data set", "training table", "positive", "budget", *shown), lines)


def _large_table(results: dict) -> str:
    shown = [method for method in contestants(1, 1) if method in _defaults()]
    lines = []
    for name, facts in results.items():
        split = facts["splits"].get("large", {})
        if not set(split) >= set(shown):
            continue
        best = max(split[method]["precision"] for method in shown)
        cells = []
        for method in shown:
            precision = f"{split[method]['precision']:.3f}"
            bold = f"**{precision}**" if split[method]["precision"] == best else precision
            cells.append(f"{bold} ({split[method]['average precision']:.3f})")
        lines.append((name, *cells))
    seconds = [
        [facts["splits"]["large"][m]["seconds"] for m in shown]
        for name, facts in results.items()
        if set(facts["splits"].get("large", {})) >= set(shown)
    ]
    if seconds:
        lines.append(("mean CPU s", *(f"{each:.0f}" for each in np.mean(seconds, axis=0))))
    return _table(("data set", *shown), lines)


def _autogluon(results: dict) -> str:
    both = [
        (split[BLEND], split[AUTOGLUON])
        for facts in results.values()
        for split in facts["splits"].values()
        if {BLEND, AUTOGLUON} <= set(split)
    ]
    if not both:
        return "Not installed where this page was written."
    told = [f"Its preset of medium quality, at most a minute each, on {len(both)} of the splits."]
    for kind in ("precision", "average precision"):
        mine, theirs = (np.array([pair[at][kind] for pair in both]) for at in (0, 1))
        told.append(
            f"By {kind} `TopRanker` ({mine.mean():.3f}) is ahead {(mine > theirs).sum()} times, "
            f"equal {(mine == theirs).sum()} times, behind {(mine < theirs).sum()} times "
            f"(AutoGluon {theirs.mean():.3f})."
        )
    ours, other = (np.mean([pair[at]["seconds"] for pair in both]) for at in (0, 1))
    told.append(f"CPU seconds per fit: {ours:.1f} and {other:.1f}.")
    return "\n".join(told)


def _left_out(results: dict, methods: list[str]) -> str:
    told = [
        "- Ranked lists (MQ2008, OHSUMED, MSLR): most of the methods do not support lists.",
        "- Sets of fewer than 300 rows (colon cancer, duke, leukemia).",
        "- a9a, ada and the digits, which share rows with adult and optdigits.",
    ]
    if not any(method.endswith(TUNED) for method in methods):
        told.append("- Tuned methods, which this run did not reach.")
    cut = [name for name in SETS if name not in results]
    if cut:
        told.append(f"- Not available, or not finished in time: {', '.join(cut)}.")
    return "\n".join(told)


def write_page(results: dict) -> None:
    """Write the page and the picture from all splits that are complete."""
    used, methods = complete(results)
    found = standings(_means(used, methods, "precision"))
    difference_picture(found, OURS, IMAGES / "quality.png")
    text = PAGE.format(
        splits=max(len(facts["splits"]) for facts in used.values()),
        training=MOST_TRAINING,
        cells=MOST_CELLS,
        test=MOST_TEST,
        n_sets=len(used),
        p_value=found.p_value,
        difference=found.difference,
        ranks=_rank_table(used, methods),
        pairs=_pair_table(used, methods),
        halves=_half_table(used, methods),
        table=_set_table(used, methods),
        left_out=_left_out(used, methods),
        large=LARGE,
        large_table=_large_table(results),
        autogluon=_autogluon(results),
        settled=", ".join(SETTLED),
        **_promise(used),
    )
    (DOCS / "quality.md").write_text(text, encoding="utf-8")
    print(f"written: quality.md, {len(used)} data sets")
