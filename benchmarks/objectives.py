"""Value and gradient of every push on a million scores, beside sorting them once with numpy.

Sorting is no peer but a yardstick: what looks at all rows by rank does not take much less.
"""

import numpy as np

from benchmarks.measure import race
from toprank.objectives import Push, ir_push, pnorm_push

ROWS = 1_000_000


def criteria(rng):
    labels = rng.random(ROWS) < 0.3
    grades = np.where(labels, rng.integers(1, 5, ROWS), 0)
    groups = np.arange(ROWS) // 20
    hinge, squared, logistic = Push("hinge"), Push("squared_hinge"), Push("logistic")
    return {
        "exponential push": pnorm_push().on(labels),
        "exponential IR push": ir_push().on(labels),
        "exponential push, top and bottom": pnorm_push(focus="both").on(labels),
        "exponential push, 5 grades": pnorm_push().on_grades(grades),
        "hinge push": hinge.on(labels),
        "hinge push, lists of 20": hinge.on(labels, groups=groups),
        "squared hinge push": squared.on(labels),
        "logistic push": logistic.on(labels),
        "logistic push, lists of 20": logistic.on(labels, groups=groups),
    }


def results():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=ROWS)
    for name, criterion in criteria(rng).items():
        yield from race(
            "beside one sort",
            f"value and gradient, {ROWS:,} scores, 30 % positives",
            (name, lambda criterion=criterion: criterion.value_and_gradient(scores)),
            {"np.argsort": lambda: np.argsort(scores)},
        )
