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
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.class_sums import label_masses
from toprank.solvers.boosting_states import StumpState

if TYPE_CHECKING:
    from toprank.weak_rankers.stumps import StumpDesign

Floats = NDArray[np.float64]
Form = Literal["mh", "global", "within"]


class LabelState(StumpState):
    """Scores of every (row, label), the weights they make, and what every stump has above it.

    Weak ranker ``label·(n_stumps + 1) + stump`` is a stump on that label; the last stump of a
    label is its constant. Missing values lie on either side of a stump, never between. ``relevant``
    says which labels a row has, labels × rows.
    """

    def __init__(
        self,
        design: StumpDesign,
        relevant: NDArray[np.bool_],
        weights: Floats | None,
        form: Form,
    ) -> None:
        super().__init__(design, len(relevant) * (design.n_weak + 1))
        self._relevant = relevant
        self._log_weights = np.zeros(design.n_rows) if weights is None else np.log(weights)
        self._form = form
        self.scores: Floats = np.zeros(relevant.shape)
        # weight where h = 1, for every label and stump; the last stump is the constant
        self.above: Floats = np.zeros((2, len(relevant), design.n_weak + 1))
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
        design, relevant = self.design, self._relevant[label]
        weights = self._weights[label]
        above = self.above[:, label]
        self.threads.over(
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

    def _fill_masses(self) -> None:
        right, wrong = self._right_and_wrong()
        self._masses[0], self._masses[3] = right.ravel(), wrong.ravel()

    def _right_and_wrong(self) -> tuple[Floats, Floats]:
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

    def _measure(self, index: int) -> Floats:
        return np.asarray(np.maximum(self._masses[:, index], 0.0))

    def _move(self, index: int, step: float) -> None:
        """Move the scores of one label."""
        label, stump = divmod(index, self.above.shape[2])
        constant = stump == self.design.n_weak
        values = np.ones(self.design.n_rows) if constant else self.design.column(stump)
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
