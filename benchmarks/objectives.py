"""Value and gradient of every push on a million scores, as ratios to sorting them.

A ratio to ``np.argsort`` of the same scores carries from one machine to the next far better than
seconds do. Run ``python benchmarks/objectives.py``.
"""

import argparse

import numpy as np

from timing import best_times, table
from toprank.objectives import ExponentialIRPush, ExponentialPush, Push


def criteria(rng, n_rows):
    """Name, criterion and the ratio it must stay under, if there is one."""
    labels = rng.random(n_rows) < 0.3
    grades = np.where(labels, rng.integers(1, 5, n_rows), 0)
    groups = np.arange(n_rows) // 20
    hinge, squared, logistic = Push("hinge"), Push("squared_hinge"), Push("logistic")
    return [
        ("exponential", ExponentialPush().on(labels), 1),
        ("exponential, IR", ExponentialIRPush().on(labels), 1),
        ("exponential, top and bottom", ExponentialPush(focus="both").on(labels), None),
        ("exponential, 5 grades", ExponentialPush().on_grades(grades), None),
        ("hinge", hinge.on(labels), 5),
        ("hinge, 5 grades", hinge.on_grades(grades), None),
        ("hinge, lists of 20", hinge.on(labels, groups=groups), None),
        ("squared hinge", squared.on(labels), 5),
        ("logistic", logistic.on(labels), 15),
        ("logistic, price e^r", Push("logistic", price="exponential").on(labels), 15),
        ("logistic, top and bottom", Push("logistic", focus="both").on(labels), None),
        ("logistic, 5 grades", logistic.on_grades(grades), None),
        ("logistic, lists of 20", logistic.on(labels, groups=groups), None),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    scores = rng.normal(size=options.rows)
    rows = []
    for name, criterion, target in criteria(rng, options.rows):
        times = best_times(
            {
                "ours": lambda c=criterion: c.value_and_gradient(scores),
                "sort": lambda: np.argsort(scores),
            },
            options.repeats,
        )
        ratio = times["ours"] / times["sort"]
        rows.append((name, times["ours"], ratio, "" if target is None else f"under {target}"))
    table(
        f"Value and gradient, {options.rows:,} rows, 30 % positives",
        ("push", "seconds", "ratio to argsort", "target"),
        rows,
    )


if __name__ == "__main__":
    main()
