"""Ranking SVMs: the exact pair problem beside HiGHS on all pairs, and the 2-norm beside LinearSVC.

Data are the paper's: N = 100 Boolean variables and the constant, an 8-of-30 threshold function,
5 % of the labels flipped; ν = 0.2, gap 1e-4. ``python -m benchmarks ranking_svm``. Set the
environment variable PAIR_LP_SECONDS to let the pair problem run longer than its 60 seconds.
"""

import os
import resource
import threading
import time

import numpy as np
from experiments.svm.data import threshold_rows
from scipy import sparse
from scipy.optimize import linprog

from benchmarks.timing import table
from toprank import LinearRankSVM, RankSVM

NU = 0.2
LIMIT = float(os.environ.get("PAIR_LP_SECONDS", "60"))


def timed(run):
    """Wall-clock and processor seconds of one run, and what it gave."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = run()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def memory_above(run):
    """Most memory that a run took above what there was before, in MiB."""
    peak, before = [0.0], _resident()
    done = threading.Event()

    def watch():
        while not done.wait(0.01):
            peak[0] = max(peak[0], _resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        run()
    finally:
        done.set()
        watcher.join()
    return max(peak[0] - before, 0.0) / 2**20


def _resident():
    with open("/proc/self/statm", encoding="ascii") as numbers:  # noqa: PTH123
        return int(numbers.read().split()[1]) * resource.getpagesize()


def pair_problem(X, y, nu, seconds):
    """OP 3 with every pair written out, by HiGHS: its optimum, or None where time ran out."""
    upper, lower = X[y], X[~y]
    Z = ((upper[:, None, :] - lower[None, :, :]) / 2).reshape(-1, X.shape[1])
    n_pairs, n_features = Z.shape
    rows = sparse.hstack(
        [
            sparse.csr_array(-Z),
            sparse.csr_array(Z),
            np.ones((n_pairs, 1)),
            -sparse.eye_array(n_pairs),
        ]
    )
    ball = sparse.csr_array(np.append(np.ones(2 * n_features), np.zeros(1 + n_pairs))[None, :])
    cost = np.concatenate([np.zeros(2 * n_features), [-1.0], np.full(n_pairs, 1 / (nu * n_pairs))])
    bounds = np.zeros((cost.size, 2))
    bounds[:, 1] = np.inf
    bounds[2 * n_features, 0] = -np.inf
    found = linprog(
        cost,
        sparse.vstack([rows, ball]).tocsc(),
        np.append(np.zeros(n_pairs), 1.0),
        bounds=bounds,
        method="highs",
        options={"time_limit": seconds},
    )
    return -found.fun if found.status == 0 else None


def pair_growth():
    """Seconds of the pair problem at growing m, until one takes too long."""
    taken = []
    for n_rows in (80, 120, 160, 240, 320, 400, 480, 640):
        X, y = threshold_rows(n_rows)
        wall, cpu, optimum = timed(lambda X=X, y=y: pair_problem(X, y, NU, LIMIT))
        if optimum is None:
            break
        ours = RankSVM(nu=NU, scale=False, tol=1e-7).fit(X, y).certificate_.soft_margin
        taken.append((n_rows, wall, cpu, optimum, ours))
        if wall > LIMIT / 3:
            break
    return taken


def exact_against_pairs():
    grown = pair_growth()
    table(
        f"Exact soft margin with all pairs written out (HiGHS, limit {LIMIT:g} s)",
        ("m", "pairs", "seconds", "CPU seconds", "optimum", "RankSVM's"),
        [(m, m * m // 4, wall, cpu, best, ours) for m, wall, cpu, best, ours in grown],
    )
    sizes, cpus = (np.log([row[i] for row in grown[-4:]]) for i in (0, 2))
    power, offset = np.polyfit(sizes, cpus, 1)
    print(f"\nFitted growth: CPU seconds = {np.exp(offset):.3g}·m^{power:.2f}")
    rows = []
    for n_rows in (1_000, 3_000, 20_000, 100_000):
        X, y = threshold_rows(n_rows)
        RankSVM(nu=NU).fit(X[:300], y[:300])  # compiles
        memory = memory_above(lambda X=X, y=y: RankSVM(nu=NU).fit(X, y))
        wall, cpu, model = timed(lambda X=X, y=y: RankSVM(nu=NU).fit(X, y))
        expected = np.exp(offset) * n_rows**power
        rows.append(
            (n_rows, wall, cpu, model.n_iter_, model.gap_ / model.certificate_.soft_margin,
             f"{memory:.0f} MiB", f"{expected / cpu:.3g}")
        )  # fmt: skip
    table(
        "RankSVM(), the same problem to a relative gap of 1e-4",
        ("m", "seconds", "CPU", "cuts", "gap", "memory above X", "faster than the fit's growth"),
        rows,
    )


def other_forms():
    X, y = threshold_rows(3_000)
    rankers = {
        'RankSVM(form="product")': RankSVM(nu=NU, form="product"),
        'RankSVM(form="classification")': RankSVM(nu=NU, form="classification"),
        "RankSVM(norm=2)": RankSVM(norm=2, nu=NU),
        'RankSVM(norm=2, form="product")': RankSVM(norm=2, nu=NU, form="product"),
        "LinearRankSVM()": LinearRankSVM(),
    }
    rows = []
    for name, ranker in rankers.items():
        ranker.fit(X[:300], y[:300])
        wall, cpu, model = timed(lambda ranker=ranker: ranker.fit(X, y))
        rows.append((name, wall, cpu, model.n_iter_))
    table("Other forms at m = 3,000", ("fit", "seconds", "CPU seconds", "iterations"), rows)


def million_rows():
    X, y = threshold_rows(1_000_000, dtype=np.float32)
    X = np.ascontiguousarray(X[:, :100])
    rows = []
    for name, ranker in (
        ("RankSVM(norm=2)", RankSVM(norm=2, nu=NU)),
        ("LinearRankSVM()", LinearRankSVM()),
    ):
        wall, cpu, model = timed(lambda ranker=ranker: ranker.fit(X, y))
        rows.append((name, wall, cpu, model.n_iter_, model.score(X[:10_000], y[:10_000])))
    table(
        "1,000,000 × 100 float32, 2.5e11 pairs",
        ("fit", "seconds", "CPU seconds", "iterations", "AUC"),
        rows,
    )


def against_linear_svc():
    """LinearSVC on the differences of all pairs, to the objective that ours has reached."""
    from sklearn.svm import LinearSVC

    X, y = threshold_rows(2_000)
    X = np.ascontiguousarray(X[:, :100])
    alpha = 1e-3
    Z = (X[y][:, None, :] - X[~y][None, :, :]).reshape(-1, 100)
    signs = np.where(np.arange(len(Z)) % 2 == 0, 1.0, -1.0)  # it insists on two classes
    signed = Z * signs[:, None]

    def objective(weights):
        return float((np.maximum(1 - Z @ weights, 0) ** 2).mean() + alpha / 2 * weights @ weights)

    LinearRankSVM(alpha=alpha, scale=False).fit(X, y)
    wall, cpu, model = timed(lambda: LinearRankSVM(alpha=alpha, scale=False).fit(X, y))
    reached = objective(model.coef_[0])
    rows = [("LinearRankSVM()", wall, cpu, reached, 1.0)]
    cost = 1 / (alpha * len(Z))
    for tol in (1e-1, 1e-2, 1e-3, 1e-4):
        svc = LinearSVC(C=cost, fit_intercept=False, tol=tol, dual=False, max_iter=10_000)
        its_wall, its_cpu, _ = timed(lambda svc=svc: svc.fit(signed, signs))
        found = objective(svc.coef_[0])
        rows.append(
            (f"LinearSVC(tol={tol:g}, dual=False)", its_wall, its_cpu, found, its_cpu / cpu)
        )
        if found <= reached * (1 + 1e-6):
            break
    table(
        f"m = 2,000: {len(Z):,} pairs, to the same objective",
        ("fit", "seconds", "CPU seconds", "objective", "ratio of CPU"),
        rows,
    )


def main() -> None:
    exact_against_pairs()
    other_forms()
    against_linear_svc()
    million_rows()


if __name__ == "__main__":
    main()
