"""What the exact 1-norm problem costs with every pair written out, beside RankSVM on the same rows.

``PAIR_LP_SECONDS=600 python -m experiments.svm.growth`` lets HiGHS have ten minutes for a size
(60 seconds where nothing is said) and fits a power law to the sizes that it finishes. Data are
those of the paper's timings: 8 of 30, 5 % of the labels flipped, ν = 0.2.
"""

import os
import time

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from experiments.svm.data import threshold_rows
from toprank import RankSVM

NU = 0.2
LIMIT = float(os.environ.get("PAIR_LP_SECONDS", "60"))
SIZES = (80, 120, 160, 240, 320, 400, 480, 560, 640)
# Smaller problems are solved before their growth shows.
FITTED_FROM = 160
FAR = 3_000


def pair_problem(X, y, seconds):
    """OP 3 with every pair written out, by HiGHS: its optimum, or None where time ran out."""
    Z = ((X[y][:, None, :] - X[~y][None, :, :]) / 2).reshape(-1, X.shape[1])
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
    cost = np.concatenate([np.zeros(2 * n_features), [-1.0], np.full(n_pairs, 1 / (NU * n_pairs))])
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


def processor_seconds(run):
    """Processor seconds of a run, and what it gave."""
    begun = time.process_time()
    result = run()
    return time.process_time() - begun, result


def main() -> None:
    """Print a line a size, then the fitted growth and how much faster RankSVM is."""
    sizes, taken = [], []
    print("    m     pairs  HiGHS, CPU s     optimum   RankSVM's")
    for n_rows in SIZES:
        X, y = threshold_rows(n_rows)
        cpu, optimum = processor_seconds(lambda X=X, y=y: pair_problem(X, y, LIMIT))
        if optimum is None:
            print(f"{n_rows:5d}  not within {LIMIT:g} s")
            break
        ours = RankSVM(nu=NU, scale=False, tol=1e-7).fit(X, y).certificate_.soft_margin
        told = f"{n_rows:5d} {y.sum() * (~y).sum():9,d} {cpu:13.1f} {optimum:11.8f} {ours:11.8f}"
        print(told, flush=True)
        if n_rows >= FITTED_FROM:
            sizes.append(n_rows)
            taken.append(cpu)
    power, offset = np.polyfit(np.log(sizes), np.log(taken), 1)
    X, y = threshold_rows(FAR)
    cpu, _ = processor_seconds(lambda: RankSVM(nu=NU).fit(X, y))
    expected = np.exp(offset) * FAR**power
    print(f"growth: {np.exp(offset):.3g}·m^{power:.2f} CPU s")
    print(
        f"m = {FAR}: RankSVM {cpu:.2f} CPU s, the growth {expected:.3g}: {expected / cpu:.3g} times"
    )


if __name__ == "__main__":
    main()
