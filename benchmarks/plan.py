"""The plan for tables of 10⁹ and 10¹¹ rows: its terms at three sizes, and a fourth predicted.

``python -m benchmarks.plan`` takes some five minutes and 3 GB in the folder for temporary files,
and writes the tables of docs/how_big.md. Times are processor seconds of all threads. Each is a
line a + b·rows through three sizes; what the lines say of the fourth size is on record before it is
measured. ``SIZES="1e5 3e5 1e6 3e6"`` changes the sizes, ``CHUNKS`` those of the cluster.
"""

import os
from contextlib import closing

import numpy as np

from benchmarks.between import machine_text, table, write_between
from benchmarks.plan_terms import FEATURES, RESULTS, measured_fits, task_seconds

SIZES = [int(float(size)) for size in os.environ.get("SIZES", "1e6 3e6 1e7 3e7").split()]
CHUNKS = [int(size) for size in os.environ.get("CHUNKS", "16 64 256 512").split()]
# A kind of pass: the fit it is measured in, and the work that it does; None is all other work.
TERMS = {
    "first look": ("PNormPush", "survey_block"),
    "a pass of the push": ("PNormPush", None),
    "a sample for thresholds": ("RankBoost", "rows_for_thresholds"),
    "bins of `RankBoost`": ("RankBoost", "binned"),
    "a round of `RankBoost`": ("RankBoost", None),
    "bins of `TreeRanker`": ("TreeRanker", "binned_rows"),
    "a pass over the bins of `TreeRanker`": ("TreeRanker", None),
}
NAMED = {work for _, work in TERMS.values()} - {None}
LABELS = {
    "PNormPush": "`PNormPush()`",
    "RankBoost": "`RankBoost(max_iter=10)`",
    "TreeRanker": "`TreeRanker(n_trees=3)`",
}
ROUNDS, WORKERS, CHUNK_BYTES = 100, 64, 0.5e9
PAGE = "how_big.md"


def line(sizes, figures):
    """A line through figures at three sizes, each with the same relative weight."""
    slope, start = np.polyfit(sizes, figures, 1, w=1 / np.asarray(figures))
    return lambda size: start + slope * size


def passes_of(fit, work):
    """How many passes of a kind a fit takes, and the processor seconds of one."""
    chosen = [
        each
        for name, each in fit.passes.items()
        if name == work or (not work and name not in NAMED)
    ]
    count, seconds = (sum(column) for column in zip(*chosen, strict=True))
    return count, seconds / count


def predicted(fits):
    """What three sizes say of any: seconds of each term, of each fit, and bytes of each fit."""
    sizes = list(fits)
    terms = {
        label: line(sizes, [passes_of(fits[size][name], work)[1] for size in sizes])
        for label, (name, work) in TERMS.items()
    }
    rest = {
        name: line(sizes, [max(_rest(fits[size][name]), 1e-3) for size in sizes]) for name in LABELS
    }
    last = fits[sizes[-1]]

    def seconds(name, size):
        """All passes that the fit took at the third size, and what is done between them."""
        parts = {term: work for term, (owner, work) in TERMS.items() if owner == name}
        if name != "PNormPush":
            parts["first look"] = "survey_block"
        if name == "TreeRanker":
            parts["a sample for thresholds"] = "rows_for_thresholds"
        found = sum(
            passes_of(last[name], work)[0] * terms[term](size) for term, work in parts.items()
        )
        return found + rest[name](size)

    n_bytes = {name: line(sizes, [fits[size][name].n_bytes for size in sizes]) for name in LABELS}
    return terms, seconds, n_bytes


def _rest(fit):
    return fit.processor - sum(seconds for _, seconds in fit.passes.values())


def _checked(told, found, unit):
    """Three cells: predicted, measured, by how much they differ."""
    shown = [f"{float(f'{value / unit:.3g}'):,g}" for value in (told, found)]
    return [*shown, f"{100 * (told / found - 1):+.0f} %"]


def term_table(fits, terms, last):
    """Nanoseconds per cell at three sizes; seconds at the fourth, predicted and measured."""
    (size, there), sizes = last, list(fits)
    head = [
        "processor time", *(f"{each:,} rows, ns per cell" for each in sizes),
        f"{size:,} rows, s: predicted", "measured", "error",
    ]  # fmt: skip
    rows = []
    for label, (name, work) in TERMS.items():
        cells = [
            f"{passes_of(fits[each][name], work)[1] / each / FEATURES * 1e9:.2f}" for each in sizes
        ]
        found = passes_of(there[name], work)[1]
        rows.append([label, *cells, *_checked(terms[label](size), found, 1.0)])
    return table(head, rows)


def fit_table(seconds, n_bytes, last):
    """Whole fits at the fourth size: processor seconds and memory, predicted and measured."""
    size, there = last
    head = [
        "fit",
        "s: predicted",
        "measured",
        "error",
        "MB: predicted",
        "measured",
        "error",
        "s by the clock",
    ]
    rows = [
        [
            label, *_checked(seconds(name, size), there[name].processor, 1.0),
            *_checked(n_bytes[name](size), there[name].n_bytes, 1e6), f"{there[name].wall:.3g}",
        ]
        for name, label in LABELS.items()
    ]  # fmt: skip
    return table(head, rows)


def task_table(found):
    """Milliseconds per chunk of client and scheduler; those of the last count are predicted."""
    *counts, last = found
    head = [
        "a chunk sends back", "bytes", *(f"{each} chunks, ms per chunk" for each in counts),
        f"{last} chunks, ms: predicted", "measured", "error",
    ]  # fmt: skip
    rows, slopes = [], {}
    for name, size in RESULTS.items():
        told = line(counts, [found[each][name] for each in counts])
        cells = [f"{1e3 * found[each][name] / each:.2f}" for each in counts]
        checked = _checked(told(last), found[last][name], 1e-3)
        rows.append([name, f"{8 * size:,}", *cells, *checked])
        slopes[name] = told(1) - told(0)
    return table(head, rows), slopes


def plan_table(terms, last, slopes, n_passes):
    """Seconds of a push and of boosting on one machine, and on workers of one thread each."""
    there = last[1]
    busy = sum(fit.processor for fit in there.values()) / sum(fit.wall for fit in there.values())
    rows = []
    for n_rows in (10**9, 10**11):
        push = terms["first look"](n_rows) + n_passes * terms["a pass of the push"](n_rows)
        boost = sum(
            terms[name](n_rows)
            for name in ("first look", "a sample for thresholds", "bins of `RankBoost`")
        )
        boost += ROUNDS * terms["a round of `RankBoost`"](n_rows)
        n_chunks = n_rows * 4 * FEATURES / CHUNK_BYTES
        sent = (
            (n_passes + 1) * n_chunks * slopes["a pass of the push"],
            (ROUNDS + 3) * n_chunks * slopes["a round"],
        )
        cells = [_duration(each / busy) for each in (push, boost)]
        cells += [
            f"{_duration(each / WORKERS)} + {_duration(extra)}"
            for each, extra in zip((push, boost), sent, strict=True)
        ]
        rows.append([f"10{'⁹' if n_rows == 10**9 else '¹¹'}", *cells])
    head = [
        "rows", "push, one machine", f"{ROUNDS} stumps, one machine",
        f"push, {WORKERS} workers + scheduling", f"{ROUNDS} stumps, {WORKERS} workers + scheduling",
    ]  # fmt: skip
    return table(head, rows), busy


def _duration(seconds):
    for unit, name in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:.2g} {name}"
    return f"{seconds:.2g} s"


def tell(terms, seconds, n_bytes, size):
    """Print what is predicted, before it is measured."""
    print(f"predicted for {size:,} rows, before they are measured:")
    for name, told in terms.items():
        print(f"  {name}: {told(size):.3g} s")
    for name, label in LABELS.items():
        print(f"  {label}: {seconds(name, size):.3g} s, {n_bytes[name](size) / 1e6:.3g} MB")
    print(flush=True)


def main():
    with closing(measured_fits(SIZES)) as measured:
        fits = dict(next(measured) for _ in SIZES[:-1])
        terms, seconds, n_bytes = predicted(fits)
        tell(terms, seconds, n_bytes, SIZES[-1])
        last = next(measured)
    tasks, slopes = task_table(dict(task_seconds(CHUNKS)))
    n_passes = passes_of(fits[SIZES[-2]]["PNormPush"], None)[0]
    plan, busy = plan_table(terms, last, slopes, n_passes)
    write_between(PAGE, "terms", f"{machine_text()}:\n\n{term_table(fits, terms, last)}")
    write_between(PAGE, "fits", fit_table(seconds, n_bytes, last))
    write_between(PAGE, "tasks", tasks)
    text = (
        f"A push of {n_passes} passes after the first look, {ROUNDS} rounds of boosting, "
        f"{busy:.2g} cores kept busy on one machine, chunks of {CHUNK_BYTES / 1e9:.1g} GB:"
    )
    write_between(PAGE, "plan", f"{text}\n\n{plan}")


if __name__ == "__main__":
    main()
