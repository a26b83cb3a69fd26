"""TopRanker beside logistic regression, LightGBM and XGBoost on ten data sets, same splits.

What is found on a data set is kept in experiments/top_ranker.json at once, so that a run that was
cut goes on with the next one; remove the file to begin anew.
"""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

import experiments.datasets as data
from toprank import TopRanker
from toprank.selection import LogisticRanker, compare, split_interval
from toprank.selection.engines import EngineRanker, installed_engines
from toprank.selection.splits import LabelledTable, budget_of_fold
from toprank.tables import Table

PAGE = Path(__file__).parents[1] / "docs" / "experiments" / "top_ranker.md"
RESULTS = Path(__file__).with_suffix(".json")
SETS = (
    "magic",
    "letter",
    "spambase",
    "ada",
    "sick",
    "hypothyroid",
    "pendigits",
    "page_blocks",
    "bank_marketing",
    "covtype",
)
SHARE, MOST_ROWS, N_SPLITS = 0.02, 20_000, 5
CHOICE_ROWS, CHOICE_SPLITS = 3_000, 5
OURS, BASE = "TopRanker", "logistic regression"

TEXT = """# TopRanker on ten data sets

`make reproduce PAPER=top-ranker` writes this page. Each data set (at most {most:,} rows of it,
drawn at random) is split into halves {splits} times; every ranker is fitted on the same half
and ranks the other. The measure is precision in the first {share:.0%} of that list.

`TopRanker` uses its half only. It chooses among logistic regression, pushes on features and on
thresholds, precision at k and boosting (on {choice_splits} splits of at most {choice_rows:,} rows,
not its default 10 of 10,000, to save time), and is fitted on all of the half. The others have their
defaults: logistic regression on standardised features, LightGBM and XGBoost ranked by their
probability.

{table}

A star marks a row whose difference from `TopRanker`, taken split by split, has a 95 % interval
that excludes zero. Means over the {sets} data sets: {means}.

`TopRanker` is ahead of logistic regression on {wins} of {sets} data sets, level on {ties} and
behind on {losses}. {engines}

## Conclusions

Splits share rows, so only large differences are significant; the stars mark them.
Every candidate of `TopRanker` is a sum of functions of single columns. Trees also use interactions
between columns, and are better at the top where these matter. `TopRanker` does not choose trees,
because its model files hold no objects of other libraries. `toprank compare` makes the same
comparison on your table.

Chosen candidates, with the number of splits: {chosen}
"""


class Remembering(TopRanker):
    """TopRanker that notes what it chose."""

    chosen: list[str] = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None, groups=None):
        super().fit(X, y, sample_weight, groups)
        self.chosen.append(self.best_candidate_)
        return self


def one_set(name):
    X, y = getattr(data, f"load_{name}")(return_X_y=True)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    table = Table(pa.table({f"x{at}": column for at, column in enumerate(X.T)}), name)
    whole = LabelledTable(table, np.asarray(y).astype(bool), None, None, SHARE)
    labelled = whole.sample(MOST_ROWS, 0)
    n_rows = labelled.n_rows
    budget = budget_of_fold(SHARE, n_rows - n_rows // 2, n_rows)
    Remembering.chosen.clear()
    rankers = {
        OURS: Remembering(SHARE, n_splits=CHOICE_SPLITS, outer_splits=0, max_rows=CHOICE_ROWS),
        BASE: LogisticRanker(),
        **{engine: EngineRanker(engine) for engine in installed_engines()},
    }
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        found = compare(rankers, labelled.X, labelled.positives, budget=budget, n_splits=N_SPLITS)
    return {
        "n_rows": labelled.n_rows,
        "positive": float(labelled.positives.mean()),
        "budget": budget,
        "n_train": found.n_train,
        "n_test": found.n_test,
        "precision": {each: values.tolist() for each, values in found.precision.items()},
        "chosen": list(Remembering.chosen),
    }


def gap(found, name):
    """Precision of TopRanker less that of another, split by split."""
    return np.subtract(found["precision"][OURS], found["precision"][name])


def cell(found, name):
    means = {each: np.mean(values) for each, values in found["precision"].items()}
    text = f"{means[name]:.1%}"
    sizes = {"n_train": found["n_train"], "n_test": found["n_test"]}
    if name != OURS and not split_interval(gap(found, name), **sizes).includes_zero:
        text += "*"
    return f"**{text}**" if means[name] >= max(means.values()) - 1e-12 else text


def tally(results, name):
    gaps = [gap(found, name).mean() for found in results.values()]
    wins, losses = sum(each > 1e-9 for each in gaps), sum(each < -1e-9 for each in gaps)
    return wins, len(gaps) - wins - losses, losses


def kept_results():
    """What an earlier run with the same settings found, or nothing."""
    settings = [SHARE, MOST_ROWS, N_SPLITS, CHOICE_ROWS, CHOICE_SPLITS]
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return kept if kept.get("settings") == settings else {"settings": settings, "sets": {}}


def main() -> None:
    kept = kept_results()
    for name in SETS:
        if name in kept["sets"]:
            continue
        started = time.perf_counter()
        found = kept["sets"][name] = one_set(name)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        shares = ", ".join(f"{n} {np.mean(v):.3f}" for n, v in found["precision"].items())
        print(f"{name}: {shares} ({time.perf_counter() - started:.0f} s)", flush=True)
    write_page({name: kept["sets"][name] for name in SETS})


def write_page(results):
    names = list(next(iter(results.values()))["precision"])
    lines = [
        "| data set | rows | positive | first | " + " | ".join(names) + " |",
        "|---|---:|---:|---:|" + "---:|" * len(names),
    ]
    for name, found in results.items():
        cells = " | ".join(cell(found, each) for each in names)
        lines.append(
            f"| {name} | {found['n_rows']:,} | {found['positive']:.1%} | {found['budget']} | "
            f"{cells} |"
        )
    means = ", ".join(
        f"{each} {np.mean([np.mean(r['precision'][each]) for r in results.values()]):.1%}"
        for each in names
    )
    engines = " ".join(
        "Against {}: {} won, {} level, {} lost.".format(each, *tally(results, each))
        for each in names[2:]
    )
    chosen = "; ".join(
        f"{name}: " + ", ".join(f"{each} ({c.count(each)})" for each in dict.fromkeys(c))
        for name, c in ((name, found["chosen"]) for name, found in results.items())
    )
    wins, ties, losses = tally(results, BASE)
    PAGE.write_text(
        TEXT.format(
            most=MOST_ROWS,
            splits=N_SPLITS,
            choice_rows=CHOICE_ROWS,
            choice_splits=CHOICE_SPLITS,
            share=SHARE,
            table="\n".join(lines),
            sets=len(results),
            means=means,
            wins=wins,
            ties=ties,
            losses=losses,
            engines=engines,
            chosen=f"{chosen}.",
        ),
        encoding="utf-8",
    )
    print(f"written: {PAGE.name}")
