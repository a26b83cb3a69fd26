"""Value and gradient of every objective on a million scores, as ratios to sorting them.

Run ``python benchmarks/objectives.py``. A ratio to ``np.argsort`` of the same scores carries from
one machine to the next far better than seconds do. Both are the best of interleaved rounds.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from toprank.objectives import ExponentialIRPush, ExponentialPush, Push

# objective, and the ratio it must stay under
TARGETS = [
    (ExponentialPush(p=4), 1.0),
    (ExponentialPush(p=4, focus="both"), None),
    (ExponentialIRPush(), 1.0),
    (Push("hinge", price=4), 5.0),
    (Push("squared_hinge", price=4), 5.0),
    (Push("logistic", price=4), 15.0),
    (Push("logistic", price="exponential"), 15.0),
    (Push("logistic", price=4, focus="both"), None),
]


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def ratio(function, scores, rounds):
    """Best time of a function over the best time of a sort, taken in turns."""
    function()
    turns = [(seconds(function), seconds(lambda: np.argsort(scores))) for _ in range(rounds)]
    ours, sort = (min(times) for times in zip(*turns, strict=True))
    return ours, ours / sort


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    scores = rng.normal(size=options.rows)
    labels = rng.random(options.rows) < 0.3
    grades = np.where(labels, rng.integers(1, 5, options.rows), 0)
    groups = np.arange(options.rows) // 20
    print(f"{'value and gradient':<62}{'seconds':>9}{'ratio':>8}{'target':>8}")
    rows = [
        *[(f"{objective}", objective.on(labels), bound) for objective, bound in TARGETS],
        ("ExponentialPush on 5 grades", ExponentialPush().on_grades(grades), None),
        ("hinge on 5 grades", Push("hinge").on_grades(grades), None),
        ("logistic on 5 grades", Push("logistic").on_grades(grades), None),
        ("hinge, lists of 20", Push("hinge").on(labels, groups=groups), None),
        ("logistic, lists of 20", Push("logistic").on(labels, groups=groups), None),
    ]
    for name, criterion, bound in rows:
        ours, times = ratio(
            lambda c=criterion: c.value_and_gradient(scores), scores, options.rounds
        )
        print(f"{name[:60]:<62}{ours:9.3f}{times:8.2f}{bound or '':>8}", flush=True)


if __name__ == "__main__":
    main()
