"""Memory that a fit needs above its table: bytes per row and bytes per cell.

Peaks of fits with few and with many features, each in a process of its own, give both terms. The
figures stand on the page "How big can it get"; no peer takes part.
"""

import contextlib
import ctypes
import gc
import multiprocessing

import numpy as np

from benchmarks.measure import peak_bytes
from toprank import (
    AdaBoostRanker,
    IRPush,
    LinearRankSVM,
    PNormPush,
    PrecisionAtKRanker,
    PredtronClassifier,
    RankBoost,
    SmoothMarginRanker,
    TreeRanker,
)

ROWS, FEW, MANY = 400_000, 10, 50
RANKERS = {
    "PNormPush": PNormPush(max_iter=10),
    "PNormPush(loss='hinge')": PNormPush(loss="hinge", max_iter=10),
    "PNormPush(loss='logistic')": PNormPush(loss="logistic", max_iter=10),
    "IRPush": IRPush(max_iter=10),
    "RankBoost": RankBoost(max_iter=10),
    "SmoothMarginRanker": SmoothMarginRanker(max_iter=10),
    "AdaBoostRanker": AdaBoostRanker(max_iter=10),
    "TreeRanker": TreeRanker(n_trees=3),
    "PrecisionAtKRanker": PrecisionAtKRanker(max_iter=2),
    "LinearRankSVM": LinearRankSVM(max_iter=10),
    "PredtronClassifier": PredtronClassifier(max_iter=2),
}


def peak(name, n_features):
    """Bytes above a float32 table of the most that a fit holds."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, n_features), dtype=np.float32)
    y = (X[:, 0] + 2 * rng.normal(size=ROWS) > 4).astype(int)
    ranker = RANKERS[name]
    ranker.fit(X[:2000], y[:2000])
    give_back()
    return peak_bytes(lambda: ranker.fit(X, y))


def give_back():
    """Let the system have what was freed, or a fit would take it without being seen to."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # other systems' libraries
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def main():
    print(f"{'':32} bytes per row  bytes per cell  ({ROWS:,} float32 rows)")
    for name in RANKERS:
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            few, many = (pool.apply(peak, (name, size)) / ROWS for size in (FEW, MANY))
        cell = (many - few) / (MANY - FEW)
        print(f"{name:32} {few - FEW * cell:13.0f}  {cell:14.2f}")


if __name__ == "__main__":
    main()
