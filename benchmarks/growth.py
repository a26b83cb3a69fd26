"""How seconds grow with rows, from ten thousand to thirty million, and the fitted exponents.

Tables are made in chunks; what is timed is the fit, on one thread. The exponent is
the slope of log seconds over log rows from 1e6 up, where the caches no longer flatter short tables,
once per turn: the median is told, and the smallest and the largest.
"""

import statistics
import time

import numpy as np
import psutil
from threadpoolctl import threadpool_limits

from benchmarks.measure import Growth
from toprank import PNormPush, PrecisionAtKRanker, RankBoost, TreeRanker

SIZES = (10_000, 100_000, 1_000_000, 3_162_278, 10_000_000, 31_622_777)
FITTED = (1_000_000, 31_622_777)
FEATURES, ITERATIONS, CHUNK, TURNS = 10, 10, 100_000, 3
BYTES_PER_ROW = 100  # of a fit: the table, its bins, and six numbers


def chunks(n_rows):
    """Rows and labels, a chunk at a time, always the same."""
    rng = np.random.default_rng(0)
    direction = rng.normal(size=FEATURES)
    for start in range(0, n_rows, CHUNK):
        size = min(CHUNK, n_rows - start)
        X = rng.standard_normal((size, FEATURES), dtype=np.float32)
        yield X, X @ direction + 2.0 * rng.normal(size=size) > 5.0


def table(n_rows):
    X, y = np.empty((n_rows, FEATURES), dtype=np.float32), np.empty(n_rows, dtype=bool)
    start = 0
    for rows, labels in chunks(n_rows):
        stop = start + len(labels)
        X[start:stop], y[start:stop], start = rows, labels, stop
    return X, y


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def push(X, y):
    return timed(lambda: PNormPush(max_iter=ITERATIONS, tol=None).fit(X, y))


def boosting(X, y):
    return timed(lambda: RankBoost(max_iter=ITERATIONS, tol=None).fit(X, y))


def trees(X, y):
    return timed(lambda: TreeRanker(n_trees=ITERATIONS).fit(X, y))


def perceptron(n_rows):
    """Seconds inside partial_fit, one chunk of the stream after the other."""
    model = PrecisionAtKRanker(solver="perceptron")
    return sum(
        timed(lambda X=X, y=y: model.partial_fit(X, y, classes=[False, True]))
        for X, y in chunks(n_rows)
    )


# Name, what makes the input of n rows, what times it.
WORK = (
    (f"PNormPush, {ITERATIONS} iterations, {FEATURES} features", table, push),
    (f"RankBoost, {ITERATIONS} rounds, {FEATURES} features", table, boosting),
    (f"TreeRanker, {ITERATIONS} trees, {FEATURES} features", table, trees),
    (f"perceptron at k, a stream of {FEATURES} features", lambda n: (n,), perceptron),
)


def shortest(run, given):
    """Least of up to five runs that take two seconds together: long runs are less noisy."""
    taken = []
    while len(taken) < 5 and sum(taken) < 2:
        taken.append(run(*given))
    return min(taken)


def slope(sizes, seconds):
    """Exponent of the power law nearest to the points between the two ends of FITTED."""
    inside = [at for at, n in enumerate(sizes) if FITTED[0] <= n <= FITTED[1]]
    logs = np.log([[sizes[at], seconds[at]] for at in inside])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def grown(name, make, run):
    sizes, taken, note = [], [], ""
    for n_rows in SIZES:
        needed, free = n_rows * BYTES_PER_ROW, psutil.virtual_memory().available
        if make is table and needed > free:
            note = f"{n_rows:,} rows need {needed / 2**30:.0f} GiB, {free / 2**30:.0f} were free"
            break
        given = make(n_rows)
        run(*given)  # compiles, warms up, and lets the host of a virtual machine find its memory
        n_turns = TURNS if n_rows < SIZES[-1] else 1
        taken.append([shortest(run, given) for _ in range(n_turns)])
        sizes.append(n_rows)
    slopes = [slope(sizes, [turns[t % len(turns)] for turns in taken]) for t in range(TURNS)]
    middle = [statistics.median(turns) for turns in taken]
    return Growth(
        name, sizes, middle, FITTED, statistics.median(slopes), min(slopes), max(slopes), note
    )


def results(work=WORK):
    with threadpool_limits(1):
        for name, make, run in work:
            yield grown(name, make, run)
