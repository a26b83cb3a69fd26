"""Surrogates of precision at k on a batch, see :mod:`toprank.objectives.precision`.

All of them are max_j j + S(j) - F(j), with S(j) the sum of the best negatives of weight j, and F
a sum over positives: the best k - j stay in the top (``max``: the worst j leave it). So the best
rows of each class, as far as k reaches, are all that is sorted. Where rows have weights, both sums
are broken lines, and the maximum lies at a corner of one of them; avg alone bends in between. The
best j is found without a gradient; at it the value is a weighted sum of scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from toprank.integrations.torch.rows import running_sum
from toprank.objectives.precision import as_top

if TYPE_CHECKING:
    from torch import Tensor

    from toprank.integrations.torch.rows import Batch
    from toprank.objectives.precision import Surrogate


def precision_at_k(
    batch: Batch, k: float, surrogate: Surrogate, whole: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Value of one list, and whether there was a pair to compare.

    ``whole`` says whether all weights are whole numbers, so that k and j are; None without weights.
    """
    scores = batch.scores
    with torch.no_grad():
        walk = _walk(batch, k, surrogate, whole)
        j = walk.best(torch.minimum(walk.k, walk.n_negatives))
        found = (walk.k > 0) & (walk.n_negatives > 0)
        slopes = walk.slopes(j)
        if batch.weight is not None:
            slopes = slopes * batch.weight.to(slopes.dtype)
        origin = scores[:1].clone()
    value = j + (slopes * (scores - origin)).sum(dtype=torch.float64)
    if surrogate == "struct":  # here what comes in and what goes out are not as many
        value = value + origin * (walk.k - walk.n_positives)
    value = torch.where(found, value / torch.where(walk.k > 0, walk.k, 1.0), 0.0)
    return value[0], found[0]


def _walk(batch: Batch, k: float, surrogate: Surrogate, whole: Tensor | None) -> _Walk:
    scores = batch.scores
    positive = batch.y > 0
    negative, weight = ~positive, batch.weight
    if weight is not None:
        weight = weight.double()
        positive, negative = positive & (weight > 0), negative & (weight > 0)
    counted = torch.ones_like(scores, dtype=torch.float64) if weight is None else weight
    n_positives = torch.where(positive, counted, 0.0).sum(0, keepdim=True)
    n_negatives = torch.where(negative, counted, 0.0).sum(0, keepdim=True)
    top, is_share = as_top(k)
    length = scores.shape[0]
    if not is_share and weight is None:
        length = min(int(top), length)
    origin, sign = scores[:1], -1.0 if surrogate == "max" else 1.0
    return _Walk(
        surrogate,
        whole,
        _class(scores, negative, weight, origin, length),
        _class(sign * scores, positive, weight, sign * origin, length),
        _length_of_top(top, is_share, n_positives, whole),
        n_positives,
        n_negatives,
        torch.where(positive, (scores - origin) * counted, 0.0).sum(0, keepdim=True),
    )


class _Class(NamedTuple):
    """Rows of one class, and the best of them in order, with a 0 before the first.

    ::

        best   · 5 4 4        held   0 1 2 4        sums   0 5 9 17       (weights 1 1 2)

    Numbers such as an amount are tensors of length one, so that they need not be read back.
    """

    rows: Tensor  # scores, or scores negated where the worst come first
    mask: Tensor
    weight: Tensor | None
    best: Tensor
    values: Tensor  # of the best, less what all scores share
    held: Tensor
    sums: Tensor

    def place(self, amount: Tensor) -> Tensor:
        """Row that holds the last of an amount."""
        if self.weight is None:
            return amount.long()
        return torch.searchsorted(self.held, amount).clamp(max=self.held.shape[0] - 1)

    def sum(self, amount: Tensor) -> Tensor:
        """Sum of the best rows of that weight."""
        place = self.place(amount)
        return self.sums[place] - (self.held[place] - amount) * self.values[place]

    def inside(self, amount: Tensor) -> Tensor:
        """What of every row is among the best of that weight; rows tied at its end share."""
        rows, end = self.rows, self.best[self.place(amount)]
        counted = torch.ones_like(rows, dtype=torch.float64) if self.weight is None else self.weight
        above = torch.where(self.mask & (rows > end), counted, 0.0).sum()
        tied = torch.where(self.mask & (rows == end), counted, 0.0).sum()
        share = (amount - above) / torch.where(tied > 0, tied, 1.0)
        share = torch.where(amount > 0, share, 0.0).to(rows.dtype)
        whole = ((rows > end) & (amount > 0)).to(rows.dtype)
        return torch.where(rows == end, share, whole)


def _class(
    rows: Tensor, mask: Tensor, weight: Tensor | None, origin: Tensor, length: int
) -> _Class:
    masked = torch.where(mask, rows, -torch.inf)
    if weight is None and length < rows.numel():
        best = torch.topk(masked, length).values
    else:
        best, order = torch.sort(masked, descending=True)
    values = torch.where(best.isfinite(), best.double() - origin.double(), 0.0)
    first = torch.zeros_like(values[:1])
    if weight is None:
        held = torch.arange(length + 1, device=rows.device, dtype=torch.float64)
        sums = values
    else:
        counts = torch.where(mask, weight, 0.0)[order]
        held = torch.cat([first, running_sum(counts, torch.float64)])
        sums = values * counts
    best = torch.cat([torch.zeros_like(best[:1]), best])
    sums = torch.cat([first, running_sum(sums, torch.float64)])
    return _Class(rows, mask, weight, best, torch.cat([first, values]), held, sums)


def _length_of_top(k: float, is_share: bool, n_positives: Tensor, whole: Tensor | None) -> Tensor:
    """k as an amount, see :func:`toprank.kernels.top_k.k_of`."""
    if not is_share:
        return n_positives.clamp(max=k)
    rounded = torch.ceil(n_positives * (k * (1.0 - 1e-12)))
    return rounded if whole is None else torch.where(whole, rounded, k * n_positives)


class _Walk(NamedTuple):
    """j + S(j) - F(j) of one list, at many j at once."""

    surrogate: Surrogate
    whole: Tensor | None  # whether all weights are whole numbers; None without weights
    down: _Class
    up: _Class  # worst first for "max"
    k: Tensor
    n_positives: Tensor
    n_negatives: Tensor
    total: Tensor  # of the positives' scores

    def best(self, limit: Tensor) -> Tensor:
        """Smallest j up to a limit at which the value is largest."""
        down, up = self.down, self.up
        corners = down.held
        if down.weight is not None:
            rising = up.held if self.surrogate == "max" else self.k - up.held
            corners = torch.cat([corners, rising]).clamp(min=0.0)
        corners = torch.minimum(corners, limit)
        if down.weight is not None and self.surrogate == "avg":
            corners = torch.cat([corners, self.bends(corners, limit)])
        values = self.at(corners)
        is_best = values == values.amax(0, keepdim=True)
        return torch.where(is_best, corners, torch.inf).amin(0, keepdim=True)

    def at(self, j: Tensor) -> Tensor:
        """Give j + S(j) - F(j)."""
        raised = j + self.down.sum(j)
        if self.surrogate == "max":
            return raised + self.up.sum(j)
        lost = self.total - self.up.sum(self.k - j)
        if self.surrogate == "ramp":
            lost = self.up.sum(self.k) - self.up.sum(self.k - j)
        if self.surrogate == "avg":
            out = self.n_positives - self.k + j
            lost = lost * j / torch.where(out > 0, out, 1.0)
        return raised - lost

    def bends(self, j: Tensor, limit: Tensor) -> Tensor:
        """Where avg peaks between two corners, the lower of which is j.

        There it is a constant + slope·j + a·c/m with a = L(m) - p·m ≤ 0, m = c + j and a slope of
        1 + s - p, where the negative s and the positive p are the next to change sides. Where all
        weights are whole, j is: one of the two whole numbers around the peak is best.
        """
        down, up = self.down, self.up
        after = torch.searchsorted(down.held, j, side="right").clamp(max=down.held.shape[0] - 1)
        leaving = up.place(self.k - j)
        c, p = self.n_positives - self.k, up.values[leaving]
        slope = 1.0 + down.values[after] - p
        a = self.total - up.sum(self.k - j) - p * (c + j)
        is_bent = (slope < 0) & (a < 0) & (c > 0)
        root = (torch.where(is_bent, a * c, 0.0) / torch.where(is_bent, slope, 1.0)).sqrt()
        peak = torch.where(is_bent, root - c, j)
        end = torch.minimum(self.k - up.held[(leaving - 1).clamp(min=0)], down.held[after])
        end = torch.maximum(torch.minimum(end, limit), j)
        peaks = [
            torch.where(self.whole, rounded(peak), peak) for rounded in (torch.floor, torch.ceil)
        ]
        return torch.cat([torch.minimum(torch.maximum(peak, j), end) for peak in peaks])

    def slopes(self, j: Tensor) -> Tensor:
        """Sub-gradient where j is best: +1 for the negatives taken in, - for positives."""
        taken = self.down.inside(j)
        if self.surrogate == "max":
            lost = self.up.inside(j)
        elif self.surrogate == "ramp":
            lost = self.up.inside(self.k) - self.up.inside(self.k - j)
        else:
            out = self.n_positives - self.k + j
            is_avg = self.surrogate == "avg"
            rate = j / torch.where(out > 0, out, 1.0) if is_avg else torch.ones_like(j)
            lost = (1.0 - self.up.inside(self.k - j)) * rate.to(taken.dtype)
        return torch.where(self.up.mask, -lost, torch.where(self.down.mask, taken, 0.0))
