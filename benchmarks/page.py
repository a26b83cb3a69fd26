"""docs/benchmarks.md and its pictures, written from all results that are kept."""

import sys
from pathlib import Path

from benchmarks import history
from benchmarks.explanations import GROWTH, MEANWHILE, PEERS, SLACK, YARDSTICK
from benchmarks.measure import Growth, Limit, Row
from benchmarks.pictures import growth_picture, ratio_picture
from benchmarks.store import read

DOCS = Path(__file__).parents[1] / "docs"
IMAGES = DOCS / "images"
# In the order in which they run and stand on the page.
SUITE = (
    "push", "top_push", "auc_losses", "boosting", "ranklib", "ranking_svm", "precision_at_k",
    "predtron", "engines", "trees", "prediction", "metrics", "memory", "objectives", "growth",
    "growth_of_metrics", "roofline",
)  # fmt: skip
SECTIONS = ("training", "training on a busy machine", "prediction", "metrics", "memory")
SORTS = "beside one sort"
STEEP, SLACK_TOLD = 1.05, 2.0

PAGE = """# Benchmarks

`make bench` runs everything on this page and writes it; `python -m benchmarks NAME` runs one
benchmark again and rewrites the page. Peers take turns in one process on the same data; memory
is measured in processes of their own. **A ratio is the peer's figure over ours: above 1 toprank is
ahead.** It is the median over the turns; the interval goes from the smallest to the largest, which
with six turns holds the true median 97 times in 100. A row is *ahead* or *behind* where the whole
interval lies on one side of 1, and *level* otherwise. Rows of processor time add up all threads.
On a *busy machine* one other process per core runs an endless loop at the same time.

{machine}

{meanwhile}

Of {n_rows} comparisons toprank is ahead in {ahead}, level in {level}, behind in {behind}{absent}.

![Ratios of all comparisons on a logarithmic axis, with their intervals](images/benchmarks.png)

## Where a peer is ahead

All comparisons with a ratio below 1, also those whose interval reaches across it.

{losses}

## All comparisons

{tables}

## Beside one sort

{sorts_text}

{sorts}

## Growth

Seconds at growing numbers of rows, one thread, `python -m benchmarks growth`. The exponent is the
slope of log seconds over log rows from {fit_low:,} to {fit_high:,} rows, the median of three turns
with the smallest and the largest; the largest size has one turn. Shorter tables are shown but not
fitted, since the caches flatter them. A metric that sorts by comparing has an exponent of 1.06
there from the logarithm alone: NumPy compares with vector registers where the processor has them,
as here, and is faster so than a sort by digits, whose time grows with its rows.

![Seconds over rows on logarithmic axes, one line per workload](images/growth.png)

{growth}

{growth_text}

## Roofline

What the memory allows, `python -m benchmarks roofline`: bytes that the work moves, over the
bandwidth of a triad measured in the same run ({bandwidths}), beside the time
it takes. For `roc_auc` the bytes are those of sorting all rows in NumPy; its present form sorts
each class by itself and moves fewer.

{limits}

Where the slack is over 2×, this is where it goes:

{slack}

## Lost since former runs

`make bench` stores every ratio with its commit in `benchmarks/history.json`. A row is named here
if its ratio is less than {kept_share} of the best of its last five commits on the same processor;
one that lies there by the noise of a single run is named too.

{lost}

## Quality at the top

Speed says nothing about what a ranking is worth. {{doc}}`experiments/quality` compares precision at
a budget on many data sets under equal tuning budgets.

## What is not here

- **SVMlight** may be used for research and education only, and its author asks to be told of
  publications, so it was not run; the sources of **SVMrank** and **SVMperf** were not at hand.
  HiGHS and LinearSVC on all pairs solve the same problems.
- **TopPush** is our own version of the algorithm in its paper, with products by NumPy and a
  compiled projection: the authors' MATLAB code was not at hand.
- **AutoGluon**, **YDF** and **ChimeraBoost** have rows in `trees`, measured where they are
  installed (`benchmarks/README.md` says how); AutoGluon without its networks.
- **RankLib** was built from its sources (2.10.2); set the environment variable `RANKLIB` to its
  class path to measure it. **LibAUC** comes without its dependencies, of which its losses need few.
- **PyTorch**: the losses have figures of their own in the guide to PyTorch.
"""


def verdict(row: Row) -> str:
    if row.ratio is None:
        return "not measured"
    if row.low > 1:
        return "ahead"
    return "**behind**" if row.high < 1 else "level"


def table(head, lines) -> str:
    rows = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*rows, *("| " + " | ".join(line) + " |" for line in lines)])


def figure(value, unit) -> str:
    return "–" if value is None else f"{value:.3g} {unit}"


def ratio(row: Row) -> tuple[str, str]:
    if row.ratio is None:
        return "–", "–"
    return f"{row.ratio:.3g}", f"{row.low:.3g} to {row.high:.3g}"


def comparison(rows) -> str:
    head = ("task", "toprank", "peer", "ours", "theirs", "ratio", "interval", "", "run", "note")
    return table(
        head,
        [
            (
                row.task, row.ours, row.peer, figure(row.we_take, row.unit),
                figure(row.peer_takes, row.unit), *ratio(row), verdict(row), f"`{name}`", row.note,
            )
            for name, row in rows
        ],
    )  # fmt: skip


def explanation(known, *texts) -> str:
    """The first explanation of which every key word occurs in its text; told if there is none."""
    for keys, text in known.items():
        if all(key in where for key, where in zip(keys, texts, strict=True)):
            return text
    print(f"no explanation of {' | '.join(texts)}", file=sys.stderr)
    return "Not yet explained."


def losses(rows) -> str:
    behind = [(row, explanation(PEERS, row.ours, row.peer)) for _, row in rows]
    if not behind:
        return "Nowhere in this run."
    return table(
        ("toprank", "peer", "ratio", "interval", "", "why"),
        [(row.ours, row.peer, *ratio(row), verdict(row), why) for row, why in behind],
    )


def growth_table(grown) -> str:
    sizes = grown[0].rows
    lines = []
    for each in grown:
        seconds = dict(zip(each.rows, each.seconds, strict=True))
        cells = [f"{seconds[n]:.3g}" if n in seconds else "–" for n in sizes]
        exponent = f"{each.exponent:.3f} ({each.low:.3f} to {each.high:.3f})"
        lines.append((each.name, *cells, exponent))
    return table(("seconds at", *(f"{n:,}" for n in sizes), "exponent"), lines)


def growth_text(grown) -> str:
    steep = [each for each in grown if each.exponent > STEEP]
    told = [f"{len(grown) - len(steep)} of {len(grown)} exponents are at most {STEEP}.", ""]
    told += [f"- {each.name}: {each.note}." for each in grown if each.note]
    told += [f"- {each.name} is above: {explanation(GROWTH, each.name)}" for each in steep]
    return "\n".join(told)


def limit_table(limits) -> str:
    head = ("work", "threads", "GB moved", "GB/s", "least, ms", "taken, ms", "slack")
    return table(
        head,
        [
            (
                each.name, str(each.threads), f"{each.gigabytes:.3g}", f"{each.bandwidth:.3g}",
                f"{1e3 * each.least:.3g}", f"{1e3 * each.seconds:.3g}", f"{each.slack:.2g}×",
            )
            for each in limits
        ],
    )  # fmt: skip


def slack_text(limits) -> str:
    names = dict.fromkeys(each.name for each in limits if each.slack > SLACK_TOLD)
    return "\n".join(f"- {name}: {explanation(SLACK, name)}" for name in names)


def machine_text(data) -> str:
    """Where and with what; of two machines the results of each are named."""
    told: dict[str, list[str]] = {}
    for name in SUITE:
        told.setdefault(_machine(data[name]["machine"]), []).append(f"`{name}`")
    if len(told) == 1:
        return f"Machine: {next(iter(told))}"
    return "\n\n".join(f"Machine of {', '.join(names)}: {text}" for text, names in told.items())


def _machine(found) -> str:
    versions = ", ".join(f"{name} {found[name]}" for name in list(found)[3:])
    return f"{found['processor']}, {found['memory']}, {found['system']}. {versions}."


def lost_text(lost) -> str:
    if not lost:
        return "Nothing."
    lines = [
        (
            each.name.replace("|", "·"),
            f"{each.before:.3g}",
            f"{each.now:.3g}",
            each.since,
            each.commit,
        )
        for each in lost
    ]
    return table(("what", "ratio before", "ratio now", "commit before", "commit now"), lines)


def of_kind(everything, kind):
    return [(name, each) for name, each in everything if isinstance(each, kind)]


def sections(rows) -> str:
    tables = []
    for section in SECTIONS:
        chosen = [(name, row) for name, row in rows if row.section == section]
        tables.append(f"### {section.capitalize()}\n\n{comparison(chosen)}")
    return "\n\n".join(tables)


def counts(rows) -> dict[str, object]:
    found = [verdict(row) for _, row in rows]
    missing = found.count("not measured")
    return {
        "n_rows": len(rows),
        "ahead": found.count("ahead"),
        "level": found.count("level"),
        "behind": found.count("**behind**"),
        "absent": f"; {missing} could not be measured" if missing else "",
    }


def write_page() -> None:
    """Write the page and its pictures; every benchmark must have run once."""
    kept = read()
    if missing := [name for name in SUITE if name not in kept]:
        print(f"no page yet, run these first: {', '.join(missing)}", file=sys.stderr)
        return
    everything = [(name, each) for name in SUITE for each in kept[name]["results"]]
    rows = [(n, r) for n, r in of_kind(everything, Row) if r.section != SORTS]
    grown = [each for _, each in of_kind(everything, Growth)]
    limits = [each for _, each in of_kind(everything, Limit)]
    measured = [row for _, row in rows if row.ratio is not None]
    ratio_picture(measured, SECTIONS, IMAGES / "benchmarks.png")
    growth_picture(grown, IMAGES / "growth.png")
    former = history.remember(kept, history.read())
    history.write(former)
    lost = history.losses(former)
    rates = dict.fromkeys(f"{l.bandwidth:.3g} GB/s on {l.threads} thread(s)" for l in limits)
    text = PAGE.format(
        **counts(rows),
        machine=machine_text(kept),
        meanwhile=MEANWHILE,
        losses=losses([(n, r) for n, r in rows if r.ratio is not None and r.ratio < 1]),
        tables=sections(rows),
        sorts_text=YARDSTICK,
        sorts=comparison([(n, r) for n, r in of_kind(everything, Row) if r.section == SORTS]),
        fit_low=grown[0].fitted[0],
        fit_high=grown[0].fitted[1],
        growth=growth_table(grown),
        growth_text=growth_text(grown),
        bandwidths=", ".join(rates),
        limits=limit_table(limits),
        slack=slack_text(limits),
        kept_share=f"{history.LOST:.0%}".replace("%", " %"),
        lost=lost_text(lost),
    )
    (DOCS / "benchmarks.md").write_text(text, encoding="utf-8")
