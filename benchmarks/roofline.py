"""What the memory's bandwidth allows, beside the time taken: a push iteration, a round, a metric.

The bandwidth is that of a triad a = b + 3·c over arrays far larger than the caches, its 24 bytes an
element counted as usual. Bytes of our work are those that it cannot do without:
tables and vectors read or written once for every pass over them.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

from benchmarks.measure import Limit, seconds
from benchmarks.tables import linear_rows
from toprank import RankBoost, metrics
from toprank.kernels.threads import Threads
from toprank.objectives import pnorm_push
from toprank.weak_rankers import Features

ROWS, FEATURES = 2_000_000, 50
BOOSTED, BOOSTED_FEATURES, FEW, MANY = 2_000_000, 28, 5, 45
LIST = 10_000_000
TRIAD, TURNS = 20_000_000, 5
PARTITIONS = 5  # halvings of ten million numbers until they take two megabytes


@numba.njit(nogil=True)
def triad(a, b, c):
    for i in range(a.size):
        a[i] = b[i] + 3.0 * c[i]


def bandwidth(threads):
    """Bytes per second of the triad, each thread on its own part."""
    arrays = [np.ones(TRIAD) for _ in range(3)]
    triad(*(a[:10] for a in arrays))
    parts = np.array_split(np.arange(TRIAD), threads)
    slices = [slice(part[0], part[-1] + 1) for part in parts]
    with ThreadPoolExecutor(threads) as pool:

        def run():
            list(pool.map(lambda part: triad(*(a[part] for a in arrays)), slices))

        return 24 * TRIAD / best(run)


def best(call):
    call()
    return min(seconds(call) for _ in range(TURNS))


def limit(name, threads, n_bytes, rate, taken):
    least = n_bytes / rate
    return Limit(name, threads, n_bytes / 1e9, rate / 1e9, taken, least, taken / least)


def push_parts(threads, rate):
    """The three parts of an iteration: scores, value and gradient, and the table's transpose."""
    X, y = linear_rows(ROWS, FEATURES)
    with Threads(threads) as pool:
        yield from limits_of_parts(X, y, pool, rate)


def limits_of_parts(X, y, pool, rate):
    threads = pool.n_threads
    design, criterion = Features().fit(X).design(X, threads=pool), pnorm_push(4.0).on(y)
    criterion.spread_over(pool)
    weights = np.linspace(-1, 1, FEATURES)
    scores = design.scores(weights)
    residuals = criterion.value_and_gradient(scores)[1]
    size = f"{ROWS:,} × {FEATURES} float32"
    parts = {
        f"push: scores of {size}": (lambda: design.scores(weights), X.nbytes + 8 * ROWS),
        # scores read, masses written; masses read again and written as the gradient
        f"push: value and gradient of {ROWS:,} scores": (
            lambda: criterion.value_and_gradient(scores), 4 * 8 * ROWS
        ),
        f"push: gradient of {size}": (lambda: design.correlate(residuals), X.nbytes + 8 * ROWS),
    }  # fmt: skip
    taken = {name: best(call) for name, (call, _) in parts.items()}
    total = sum(n_bytes for _, n_bytes in parts.values())
    for name, (_, n_bytes) in parts.items():
        yield limit(name, threads, n_bytes, rate, taken[name])
    name = f"push: a whole iteration, {size}"
    yield limit(name, threads, total, rate, sum(taken.values()))


def boosting_round(threads, rate):
    X, y = linear_rows(BOOSTED, BOOSTED_FEATURES)

    def fit(rounds):
        return best(lambda: RankBoost(max_iter=rounds, tol=None, n_jobs=threads).fit(X, y))

    taken = (fit(MANY) - fit(FEW)) / (MANY - FEW)
    # bins once, one byte each; weights read for the sums, read and written for the update
    n_bytes = BOOSTED * (BOOSTED_FEATURES + 3 * 8 + 1)
    name = f"boosting: a round of stumps, {BOOSTED:,} × {BOOSTED_FEATURES}"
    return limit(name, threads, n_bytes, rate, taken)


def metric_limits(rate):
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=LIST), rng.random(LIST) < 0.1
    # What a sort of all rows would move: labels; scores negated; partitions until the parts fit
    # into the cache; neighbours compared; rows and positives of each tie, their running sum, and
    # products of these. Ours sorts each class by itself, which moves less.
    sorting = LIST * (1 + 16 + PARTITIONS * 16 + 9 + 8 + 24 + 16 + 16 + 24 + 32)
    for name, call, n_bytes in (
        (f"roc_auc of {LIST:,} rows", lambda: metrics.roc_auc(y, scores), sorting),
        (
            f"precision_at_k of {LIST:,} rows",
            lambda: metrics.precision_at_k(y, scores, k=1000),
            LIST * (1 + 8 + 16),
        ),
    ):
        yield limit(name, 1, n_bytes, rate, best(call))


def results():
    for threads in sorted({1, os.cpu_count() or 1}):
        rate = bandwidth(threads)
        yield from push_parts(threads, rate)
        yield boosting_round(threads, rate)
        if threads == 1:
            yield from metric_limits(rate)
