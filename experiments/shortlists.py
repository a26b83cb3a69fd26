"""Shortlists with promises: what is promised beside what happens.

Writes docs/experiments/shortlists.md.
"""

import json
import warnings

from scipy.stats import binom
from threadpoolctl import threadpool_limits

from experiments import DOCS
from experiments.lists import simulated, streams, tables

PAGE = DOCS / "shortlists.md"
REPEATS = {"error_control": 2_000, "bounded": 2_000, "drifted": 500}

TEXT = """# Shortlists: promises and measurements

`make reproduce PAPER=shortlists` writes this page. The functions are those of
{{py:mod}}`toprank.shortlists`; [the theory](../theory/shortlists.md) says what is exact.

## Error control in simulation

Scores are normal with unit variance, those of the positives (20 %) two higher; {n_known:,}
calibration rows, {n_new:,} new rows, {error_control:,} repeats. The oracle knows the law and cuts
where exactly the share q is negative.

{simulated}

## Hits of the first rows in simulation

`hits_at_least` at 90 % confidence, {bounded:,} repeats (one standard error is at most 0.7 points):
how often the first k rows had at least as many hits as stated. Hits are whole numbers, so the
bound holds more often than stated, above all if there are few false alarms.

{bounds}

With the rows of the section above it held in {covered}.

## Under drift

No promise holds for rows that are not like the calibration rows. q = 10 %, {drifted:,} repeats;
the last column is how often `measure_drift` warned, from the scores of {n_new:,} new rows.

{drift}

## Error control on ten tables

Every table (at most {most_rows:,} rows), {splits} splits with a fit each: {train_rows:,} rows
drawn to learn from (a third, where a table has fewer than three times as many; gradient boosting
of scikit-learn), half of the others to calibrate, half as new rows. Cells are the mean share of
false alarms ± its standard error, then the recall, then that of the longest head of the very list
with at most that share.

{held_out}

At most q + 2 standard errors in **{kept} of {cells}** cells.

The same splits for `hits_at_least` at 90 % confidence, k half of the expected positives: how many
of the {splits} splits held as many hits as it said, and the share of {n_cuts} random cuts of the
rows of every fit into calibration and new rows ({all_cuts:,} per table) ± its standard error.
Given a fit, cuts are independent. A bound that is right in 90 % of all draws is right in 42 or
fewer of {splits} in one of {luck:.0f} tables; the cuts tell luck from a bound that promises too
much.

{held_bounds}

In all, it held in {held} of the splits.

## With out-of-fold scores of a blend

`TopRanker` keeps out-of-fold scores, for which the promise is approximate: models of folds have
scored the calibration rows, another model scores the new ones. {oof_rows:,} rows to learn from
(half, where a table has fewer), mean share of false alarms over 4 splits.

{out_of_fold}

## Profit

Value 10, cost 1, 20 splits: profit of the list that `make_shortlist` chose as a share of the
profit at the best length in hindsight; how often the 95 % interval held the profit.

{profit}

## Daily budgets

{days:,} days, budget {budget}, about {per_day} rows per day with a weekly rhythm and a trend;
scores drift, and jump for a month. Rows come one by one, or in batches, as `toprank rank --daily`
takes them. The last column is the share of the day's {budget} best rows that were opened.

{daily}
"""


def percent(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f} %"


def table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def levels_table(found: dict) -> str:
    headings = ["table", "positives", *(f"q = {percent(float(q), 0)}" for q in simulated.LEVELS)]
    rows = []
    for name, each in found.items():
        cells = [
            f"{percent(mean)} ± {100 * error:.1f} · {percent(recall, 0)} · {percent(best, 0)}"
            for mean, error, recall, best in each["levels"].values()
        ]
        share = percent(each["positives"])
        rows.append([name.replace("_", " "), share, *cells])
    return table(headings, rows)


def bounds_table(found: dict) -> str:
    lengths = sorted({int(k) for each in found.values() for k in each})
    rows = [
        [name, *(percent(each[str(k)]) if str(k) in each else "" for k in lengths)]
        for name, each in found.items()
    ]
    return table(["calibration rows · new rows · positives", *(f"k = {k}" for k in lengths)], rows)


def held_bounds_table(found: dict) -> str:
    rows = []
    for name, each in found.items():
        mean, error = each["covered"]
        rows.append(
            [
                name.replace("_", " "), f"{each['covered_splits']} of {tables.N_SPLITS}",
                f"{percent(mean)} ± {100 * error:.1f}",
            ]
        )  # fmt: skip
    return table(["table", "splits", "cuts"], rows)


def measured() -> dict:
    """Everything, part by part."""
    found = {name: getattr(simulated, name)(n) for name, n in REPEATS.items()}
    found["held_out"] = {name: tables.held_out(name) for name in tables.SETS}
    found["out_of_fold"] = {name: tables.out_of_fold(name) for name in tables.SETS}
    found["profit"] = {name: tables.profit(name) for name in ("bank_marketing", "adult")}
    found["daily"] = {
        "time of day known": streams.spent(with_clock=True),
        "counts of earlier days only": streams.spent(with_clock=False),
        "the same in 24 batches per day": streams.spent(with_clock=False, n_batches=24),
        "the same in 4 batches per day": streams.spent(with_clock=False, n_batches=4),
        "the same in 1 batch per day": streams.spent(with_clock=False, n_batches=1),
    }
    return found


def page(found: dict) -> str:
    control = found["error_control"]
    cells = [
        (float(q), *cell)
        for each in found["held_out"].values()
        for q, cell in each["levels"].items()
    ]
    return TEXT.format(
        n_known=simulated.N_KNOWN, n_new=simulated.N_NEW, **REPEATS,
        simulated=table(
            ["q", "false alarms", "recall", "recall of the oracle"],
            [
                [
                    percent(float(q), 0), f"{percent(mean, 2)} ± {100 * error:.2f}",
                    percent(recall), percent(simulated.oracle_recall(float(q))),
                ]
                for q, (mean, error, recall) in control["levels"].items()
            ],
        ),
        covered=", ".join(f"{percent(v)} ({name})" for name, v in control["covered"].items()),
        drift=table(
            ["drift", "false alarms", "warned"],
            [[name, percent(a), percent(b, 0)] for name, (a, b) in found["drifted"].items()],
        ),
        bounds=bounds_table(found["bounded"]),
        most_rows=tables.MOST_ROWS, train_rows=tables.TRAIN_ROWS, splits=tables.N_SPLITS,
        n_cuts=tables.N_CUTS, all_cuts=tables.N_SPLITS * tables.N_CUTS,
        luck=1 / binom.cdf(42, tables.N_SPLITS, tables.CONFIDENCE),
        held_out=levels_table(found["held_out"]),
        held_bounds=held_bounds_table(found["held_out"]),
        held=percent(
            sum(each["covered_splits"] for each in found["held_out"].values())
            / (tables.N_SPLITS * len(found["held_out"]))
        ),
        kept=sum(mean <= q + 2 * error for q, mean, error, *_ in cells), cells=len(cells),
        oof_rows=tables.OUT_OF_FOLD_ROWS,
        out_of_fold=table(
            ["table", *(f"q = {percent(q, 0)}" for q in simulated.LEVELS)],
            [
                [name.replace("_", " "), *(percent(v) for v in each.values())]
                for name, each in found["out_of_fold"].items()
            ],
        ),
        profit=table(
            ["table", "share of the best", "worst split", "rows", "best length", "interval held"],
            [
                [
                    name.replace("_", " "), percent(each["ratio"]), percent(each["worst"]),
                    f"{each['length']:,.0f}", f"{each['best']:,.0f}", percent(each["inside"], 0),
                ]
                for name, each in found["profit"].items()
            ],
        ),
        days=streams.N_DAYS, budget=streams.BUDGET, per_day=streams.MEAN_ROWS,
        daily=table(
            ["", "most opened in a day", "unused, mean", "unused, worst day", "of the best"],
            [
                [
                    name, str(each["most"]), percent(each["unused"]), percent(each["worst"], 0),
                    percent(each["best"], 0),
                ]
                for name, each in found["daily"].items()
            ],
        ),
    )  # fmt: skip


def main() -> None:
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        found = json.loads(json.dumps(measured(), default=float))
    PAGE.write_text(page(found), encoding="utf-8")
