"""Boosting on (row, label) pairs: AdaBoost.MH and AdaBoost.MR (Schapire and Singer 1999).

Every row i becomes one example for each label l, with y_il = ±1 and a score f(x_i, l). A weak
ranker is a stump on one label, h(x, l') = 1[l' = l]·1[x_j > t], or the constant of a label.

    MH         F = Σ_il e^{-y_il·f(x_i, l)}                 rows and labels one by one
    MR global  F₊·F₋, pairs of any relevant (i, l) with any irrelevant (k, l')
    MR within  Σ_i Σ_{l relevant, l' not} e^{-(f(x_i, l) - f(x_i, l'))}, pairs of one row

MH and the global MR reach the same minimum (Rudin and Schapire 2009, section 5.1). A round on
label l changes the weights of that label only, so it costs one histogram per column; within rows
it changes those of all labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from toprank.kernels.label_sums import label_masses
from toprank.kernels.steps import FLAT, loss_step, pick, rates
from toprank.kernels.threads import Threads
from toprank.solvers.base import SEPARATED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from toprank.weak_rankers.stumps import StumpDesign

    Floats = NDArray[np.float64]
    Form = Literal["mh", "global", "within"]

__all__ = ["LabelRun", "LabelState", "boost_labels"]


@dataclass
class LabelRun:
    """Rounds: label, stump (its number for the constant) and step, and the log loss around them."""

    path: list[float]
    labels: list[int] = field(default_factory=list)
    stumps: list[int] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    converged: bool = False


class LabelState:
    """Scores of every (row, label), the weights they make, and what every stump has above it.

    Parameters
    ----------
    design : StumpDesign
        Binned table, with missing values on either side of a stump, never abstaining.
    relevant : array of bool of shape (n_labels, n_rows)
        Which labels a row has.
    weights : array of shape (n_rows,) or None
        Row weights.
    form : {"mh", "global", "within"}
        Whose loss.
    """

    def __init__(
        self,
        design: StumpDesign,
        relevant: NDArray[np.bool_],
        weights: Floats | None,
        form: Form,
        threads: Threads | None = None,
    ) -> None:
        self._design = design
        self._relevant = relevant
        self._log_weights = np.zeros(design.n_rows) if weights is None else np.log(weights)
        self._form = form
        self._threads = threads or Threads()
        n_labels = len(relevant)
        self.scores: Floats = np.zeros(relevant.shape)
        # weight where h = 1, for every label and stump; the last stump is the constant
        self.above: Floats = np.zeros((2, n_labels, design.n_weak + 1))
        self._signs = np.where(relevant, -1.0, 1.0)
        self._reweigh()

    # weights ------------------------------------------------------------------------------

    def _reweigh(self) -> None:
        """All weights from the scores, on a scale that does not overflow."""
        if self._form == "within":
            self._weigh_within()
        else:
            exponents = self._signs * self.scores + self._log_weights
            self._peaks = [
                float(exponents[self._relevant].max(initial=-np.inf)),
                float(exponents[~self._relevant].max(initial=-np.inf)),
            ]
            if self._form == "mh":
                self._peaks = [max(self._peaks)] * 2
            shifts = np.where(self._relevant, self._peaks[0], self._peaks[1])
            self._weights = np.exp(exponents - shifts)
        for label in range(self.scores.shape[0]):
            self._sum(label)
        self._set_loss()

    def _weigh_within(self) -> None:
        """Weight of each (row, label): that of all pairs of the row in which the label is."""
        exponents = self._signs * self.scores
        sides = []
        for mask in (self._relevant, ~self._relevant):
            inside = np.where(mask, exponents, -np.inf)
            peak = inside.max(axis=0)
            peak[~np.isfinite(peak)] = 0.0
            sides.append((peak, np.exp(inside - peak)))
        (peak_up, up), (peak_down, down) = sides
        logs = peak_up + peak_down + self._log_weights
        pairs = up.sum(axis=0) * down.sum(axis=0)
        top = float(logs[pairs > 0].max())
        scale = np.exp(logs - top, where=pairs > 0, out=np.zeros(logs.size))
        self._peaks = [top, 0.0]
        self._total = float(scale @ pairs)
        self._weights = scale * (up * down.sum(axis=0) + down * up.sum(axis=0))

    def _sum(self, label: int) -> None:
        design, relevant = self._design, self._relevant[label]
        weights = self._weights[label]
        above = self.above[:, label]
        self._threads.over(
            design.codes.shape[0],
            lambda first, last: label_masses(
                design.codes,
                weights,
                relevant,
                design.layout,
                first,
                last,
                above,
            ),
        )
        above[:, -1] = weights @ relevant, weights @ ~relevant

    def class_losses(self) -> tuple[float, float]:
        """ln F₊ and ln F₋."""
        totals = self.above[:, :, -1].sum(axis=1)
        positives, negatives = (
            math.log(total) + peak if total > 0 else -math.inf
            for total, peak in zip(totals, self._peaks, strict=True)
        )
        return positives, negatives

    def _set_loss(self) -> None:
        if self._form == "within":
            self.log_loss = math.log(self._total) + self._peaks[0]
            return
        positives, negatives = self.class_losses()
        self.log_loss = (
            float(np.logaddexp(positives, negatives))
            if self._form == "mh"
            else positives + negatives
        )

    # rounds -------------------------------------------------------------------------------

    def shares(self) -> tuple[Floats, Floats]:
        """Share of the weight that every stump of every label gets right, and wrong."""
        up, down = self.above
        if self._form == "within":
            return up / self._total, down / self._total
        all_up, all_down = up[:, -1:], down[:, -1:]
        if self._form == "mh":
            total = float(all_up.sum() + all_down.sum())
            return (up + (all_down - down)) / total, ((all_up - up) + down) / total
        a, b = up / all_up.sum(), down / all_down.sum()
        return a * (1.0 - b), (1.0 - a) * b

    def advance(self, label: int, stump: int, step: float) -> None:
        """Move the scores of one label."""
        constant = stump == self._design.n_weak
        values = np.ones(self._design.n_rows) if constant else self._design.column(stump)
        if self._form == "mh" and not constant:
            values = 2.0 * values - 1.0
        self.scores[label] += step * values
        if self._form == "within":
            self._reweigh()
            return
        peaks = np.where(self._relevant[label], self._peaks[0], self._peaks[1])
        exponents = self._signs[label] * self.scores[label] + self._log_weights - peaks
        self._weights[label] = np.exp(np.minimum(exponents, 700.0))
        self._sum(label)
        totals = self.above[:, :, -1].sum(axis=1)
        if totals.max() > 1e100 or totals.min() < 1e-100:
            self._reweigh()
        self._set_loss()


def boost_labels(
    state: LabelState,
    *,
    max_iter: int,
    tol: float | None,
    monitor: Callable[[LabelRun], bool] | None = None,
) -> LabelRun:
    """Take the stump and label that lower the loss most, and go to the minimum along it."""
    run = LabelRun([state.log_loss])
    while len(run.steps) < max_iter:
        right, wrong = state.shares()
        silent = np.zeros(right.size)
        masses = np.stack([right.ravel(), silent, silent, wrong.ravel()])
        worth = np.abs(rates(masses, True))
        chosen = int(pick(worth))
        is_done = tol is not None and (
            worth[chosen] <= tol or run.path[-1] <= run.path[0] - SEPARATED + 1e-6
        )
        if is_done or worth[chosen] <= FLAT:
            run.converged = True
            break
        label, stump = divmod(chosen, right.shape[1])
        shares = max(right[label, stump], 0.0), max(wrong[label, stump], 0.0)
        step = float(loss_step(shares[0], 0.0, 0.0, shares[1]))
        state.advance(label, stump, step)
        run.labels.append(label)
        run.stumps.append(stump)
        run.steps.append(step)
        run.path.append(state.log_loss)
        if monitor is not None and monitor(run):
            break
    return run
