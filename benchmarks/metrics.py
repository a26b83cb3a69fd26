"""Seconds of every metric on one long list, as a ratio to one np.argsort of the same scores.

Everything here runs on one thread, so processor time is what a metric costs, and it does not grow
when the machine is shared; the least wall-clock time is printed beside it.
"""

from time import perf_counter, process_time

import numpy as np

from toprank import metrics

N_ROWS = 10_000_000
REPEATS = 3
OPTIONS = {
    "precision_at_k": {"k": 1000},
    "recall_at_k": {"k": 0.01},
    "lift": {"k": 0.01},
    "price_of_heights": {"price": np.log1p, "on": "reverse_height"},
}


def seconds(call):
    """Processor and wall-clock seconds of one call."""
    wall, processor = perf_counter(), process_time()
    call()
    return process_time() - processor, perf_counter() - wall


def least(times):
    """Least processor and least wall-clock seconds."""
    return [min(kind) for kind in zip(*times, strict=True)]


def calls(y, scores, other):
    """Every metric by name, as a call without arguments."""
    rows = ["height", "reverse_height", "ranks", "price_of_heights"]
    table = {
        name: lambda name=name: getattr(metrics, name)(y, scores, **OPTIONS.get(name, {}))
        for name in sorted([*metrics.names(), *rows])
    }
    grades = np.arange(y.size) % 5
    table["ndcg (5 grades)"] = lambda: metrics.ndcg(grades, scores)
    table["ndcg (k=100)"] = lambda: metrics.ndcg(y, scores, k=100)
    table["pnorm_error (normalize)"] = lambda: metrics.pnorm_error(y, scores, normalize=True)
    table["average_precision (average)"] = lambda: metrics.average_precision(
        y, scores, ties="average"
    )
    table["roc_auc (many ties)"] = lambda: metrics.roc_auc(y, np.round(scores, 3))
    table["shortlist_overlap"] = lambda: metrics.shortlist_overlap(scores, other, k=1000)
    return table


def main():
    rng = np.random.default_rng(0)
    scores, other = rng.normal(size=N_ROWS), rng.normal(size=N_ROWS)
    y = (rng.random(N_ROWS) < 0.1).astype(np.int64)
    table = calls(y, scores, other)
    # Interleaved, and the least of several: what else the machine does falls on all alike.
    taken = {name: [] for name in table}
    sorts = []
    for _ in range(REPEATS):
        for at, (name, call) in enumerate(table.items()):
            if at % 4 == 0:
                sorts.append(seconds(lambda: np.argsort(scores)))
            taken[name].append(seconds(call))
    sort, sort_wall = least(sorts)
    print(f"{N_ROWS:,} rows, np.argsort {sort:.2f} s (wall clock {sort_wall:.2f} s)\n")
    print(f"{'metric':<28} {'seconds':>8} {'ratio':>6} {'wall':>8}")
    for name, times in taken.items():
        time, wall = least(times)
        print(f"{name:<28} {time:8.2f} {time / sort:6.2f} {wall:8.2f}")
    lists = np.repeat(np.arange(100_000), 10)
    shuffled = rng.permutation(lists.size)
    print(f"\n{lists.size:,} rows in 100,000 lists of 10\n")
    for name in ("roc_auc", "precision_at_k", "ndcg", "average_precision"):
        few = {"k": 3} if name == "precision_at_k" else {}
        rows = slice(lists.size)
        call = getattr(metrics, name)
        time, wall = seconds(lambda: call(y[rows], scores[rows], groups=lists[shuffled], **few))  # noqa: B023
        print(f"{name:<28} {time:8.2f} {'':>6} {wall:8.2f}")


if __name__ == "__main__":
    main()
