"""Tables 1 and 2, the one-dimensional illustration of section 10.1, and the rows a bound needs."""

from decimal import Decimal
from typing import NamedTuple

import numpy as np

from experiments.push.deviations import linear_log_covering, push_deviation_log_probability
from experiments.push.printed import TABLE_1, TABLE_2
from toprank.metrics import pnorm_error, r_max, roc_auc
from toprank.objectives import pnorm_push

LABELS = np.array([-1, 1, -1, 1, -1, -1, 1, 1])
SCORES = {
    "original": np.arange(1.0, 9.0),
    "swap on the bottom": np.array([2.0, 1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
    "swap on the top": np.array([1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 6.0, 8.0]),
}
POLARITY = np.array([1, 1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, -1, -1])
F1 = np.arange(14.0, 0.0, -1.0) / 14.0
LOSSES = ("exponential", "logistic")

FAR_OUT = 0.02  # ε of section 10.1
TRIALS = 2000
TRAINING_SIZES = (10, 20, 50, 100, 200, 400)


class Number(NamedTuple):
    """A printed number and ours: with score differences halved, and as the text states them."""

    printed: str
    ours: float
    as_stated: float

    @property
    def agrees(self) -> bool:
        """Whether ours rounds to the printed digits."""
        digits = Decimal(self.printed)
        unit = Decimal(1).scaleb(digits.as_tuple().exponent)
        return abs(Decimal(self.ours) - digits) <= unit * Decimal("0.5000001")


def risks(labels, scores, p: float, *, halved: bool) -> tuple[float, float, float]:
    """R_p with the 0-1, the exponential and the logistic loss; the 0-1 loss knows no scale."""
    seen = scores / 2 if halved else scores
    convex = [pnorm_push(p, loss=loss).risk(seen, labels) for loss in LOSSES]
    return pnorm_error(labels, scores, p=p), convex[0], convex[1]


def table_1() -> dict[str, list[Number]]:
    """R_4 of three lists that differ by one swap."""
    return {
        name: [
            Number(*each)
            for each in zip(
                printed,
                risks(LABELS, SCORES[name], 4, halved=True),
                risks(LABELS, SCORES[name], 4, halved=False),
                strict=True,
            )
        ]
        for name, printed in TABLE_1.items()
    }


def table_2() -> dict[int, list[Number]]:
    """R_p of f1 and of f2 = -f1, for the 0-1, the exponential and the logistic loss in turn."""
    rows = {}
    for p, printed in TABLE_2.items():
        both = [
            np.stack([risks(POLARITY, sign * F1, p, halved=halved) for sign in (1, -1)]).T.ravel()
            for halved in (True, False)
        ]
        rows[p] = [Number(*each) for each in zip(printed, *both, strict=True)]
    return rows


def draw(rng, n_rows: int):
    """Rows of section 10.1: x, and which of them are positive, at least one of each class."""
    while True:
        far_out = rng.random(n_rows) < FAR_OUT
        positive = rng.random(n_rows) < 0.5
        if 0 < np.count_nonzero(positive) < n_rows:
            left = np.where(far_out, np.where(positive, -2, 1), np.where(positive, 0, -1))
            return left + rng.random(n_rows), positive


class Choice(NamedTuple):
    """What training sets of one size say of x (wrong for the top) and -x, as shares of them."""

    n_rows: int
    wrong: float
    undecided: float
    wrong_by_auc: float


def choices(seed: int) -> list[Choice]:
    """Choose between x and -x by R_max and by AUC, on many training sets of each size."""
    rng = np.random.default_rng(seed)
    found = []
    for n_rows in TRAINING_SIZES:
        counts = np.zeros(3)
        for _ in range(TRIALS):
            x, y = draw(rng, n_rows)
            up, down = r_max(y, x), r_max(y, -x)
            counts += (up < down, up == down, roc_auc(y, -x) > 0.5)
        found.append(Choice(n_rows, *(counts / TRIALS)))
    return found


def far_out_test(seed: int, n_rows: int = 200_000) -> dict[str, tuple[float, float]]:
    """R_max/I and AUC of x and -x on a large test set."""
    x, y = draw(np.random.default_rng(seed), n_rows)
    return {
        name: (r_max(y, scores) / np.count_nonzero(y), roc_auc(y, scores))
        for name, scores in (("x", x), ("-x", -x))
    }


def rows_needed(p: float, *, epsilon: float, n_weak: int, margin: float, delta: float) -> float:
    """Rows of each class from which Theorem 2 promises ε, by bisection."""
    covering = linear_log_covering(n_weak)

    def promised(n_rows: float) -> bool:
        return push_deviation_log_probability(
            epsilon, p=p, margin=margin, n_positives=n_rows, n_negatives=n_rows,
            log_covering=covering,
        ) <= np.log(delta)  # fmt: skip

    low, high = 1.0, 2.0
    while not promised(high):
        low, high = high, 2.0 * high
    while high > 1.001 * low:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if promised(middle) else (middle, high)
    return high
