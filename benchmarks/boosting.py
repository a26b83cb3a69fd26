"""RankBoost on stumps beside LightGBM and scikit-learn's AdaBoost: seconds, ratios, memory."""

import multiprocessing
import os
import threading
import time
import warnings

import lightgbm
import numpy as np
import psutil
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import best_times, table
from toprank import RankBoost
from toprank.metrics import roc_auc

ROWS, FEATURES, ROUNDS = 1_000_000, 28, 100
SMALL_ROWS, SMALL_ROUNDS = 50_000, 20  # what scikit-learn finishes in half a minute


def rows(n_rows, seed=0):
    """28 numbers a row, of which four tell something of the label."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, FEATURES)).astype(np.float32)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2
    return X, (signal + rng.normal(size=n_rows) > 0.5).astype(np.int8)


def light(X, y, threads, rounds):
    """Trees of one split, which are stumps."""
    options = {
        "objective": "binary",
        "num_leaves": 2,
        "max_bin": 255,
        "num_threads": threads,
        "verbose": -1,
    }
    return lightgbm.train(options, lightgbm.Dataset(X, y, params=options), rounds)


def peak_bytes(call):
    """Most resident memory above what there was before the call."""
    process = psutil.Process()
    before, peak, done = process.memory_info().rss, 0, threading.Event()

    def watch():
        nonlocal peak
        while not done.is_set():
            peak = max(peak, process.memory_info().rss)
            time.sleep(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    call()
    done.set()
    watcher.join()
    return peak - before


def cpu_seconds(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def beside_lightgbm(X, y):
    lines = []
    for threads in sorted({1, os.cpu_count() or 1}):
        ours = RankBoost(max_iter=ROUNDS, n_jobs=threads)
        times = best_times(
            {
                "RankBoost": lambda ours=ours: ours.fit(X, y),
                "LightGBM": lambda threads=threads: light(X, y, threads, ROUNDS),
            },
            repeats=3,
        )
        ratio = times["RankBoost"] / times["LightGBM"]
        # seconds of the processor do not depend on what else the machine does
        work = cpu_seconds(lambda ours=ours: ours.fit(X, y))
        work /= cpu_seconds(lambda threads=threads: light(X, y, threads, ROUNDS))
        lines.append((threads, times["RankBoost"], times["LightGBM"], ratio, work, "at most 0.7"))
    table(
        f"{ROUNDS} rounds of stumps, {ROWS:,} × {FEATURES} float32, 255 bins, binning included",
        ("threads", "RankBoost s", "LightGBM s", "ratio", "ratio of CPU s", "goal"),
        lines,
    )


def beside_scikit_learn():
    X, y = rows(SMALL_ROWS)
    stumps = DecisionTreeClassifier(max_depth=1)
    theirs = AdaBoostClassifier(stumps, n_estimators=SMALL_ROUNDS)
    times = best_times(
        {
            "RankBoost": lambda: RankBoost(max_iter=SMALL_ROUNDS).fit(X, y),
            "AdaBoostClassifier": lambda: theirs.fit(X, y),
        },
        repeats=2,
    )
    ratio = times["AdaBoostClassifier"] / times["RankBoost"]
    table(
        f"{SMALL_ROUNDS} rounds of stumps, {SMALL_ROWS:,} × {FEATURES} float32, one thread",
        ("RankBoost s", "AdaBoostClassifier s", "times faster", "goal"),
        [(times["RankBoost"], times["AdaBoostClassifier"], ratio, "at least 20")],
    )


def peak_of_a_fit():
    """In a process of its own: memory that was used before would hide what a fit uses."""
    X, y = rows(ROWS)
    RankBoost(max_iter=2).fit(X[:1000], y[:1000])  # compiles
    model = RankBoost(max_iter=ROUNDS)
    return peak_bytes(lambda: model.fit(X, y))


def memory():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        peak = pool.apply(peak_of_a_fit)
    binned = ROWS * FEATURES  # one byte a cell
    table(
        f"peak memory of a fit, {ROWS:,} rows",
        ("beside the table, MB", "binned table, MB", "bytes a row beside both", "goal"),
        [(peak / 1e6, binned / 1e6, (peak - binned) / ROWS, "under 100")],
    )


def one_long_list(X, y):
    groups = np.zeros(len(y), dtype=int)
    model = RankBoost(max_iter=ROUNDS)
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    quality = roc_auc(y, model.decision_function(X))
    try:
        lightgbm.LGBMRanker(n_estimators=ROUNDS, verbose=-1).fit(X, y, group=[groups.size])
        answer = "ranks it"
    except lightgbm.basic.LightGBMError as error:
        answer = f"refuses: {error}"
    table(
        f"one list of {ROWS:,} rows",
        ("RankBoost s", "ROC AUC", "LGBMRanker"),
        [(seconds, quality, answer)],
    )


def main():
    warnings.filterwarnings("ignore", category=FutureWarning)
    X, y = rows(ROWS)
    beside_lightgbm(X, y)
    beside_scikit_learn()
    memory()
    one_long_list(X, y)


if __name__ == "__main__":
    main()
