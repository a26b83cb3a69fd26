"""Surrogates of precision at k on a batch, see :mod:`toprank.objectives.precision`.

All of them are max_j j + S(j) - F(j), with S(j) the sum of the j best negatives, and F a sum over
positives: the best k - j stay in the top (``max``: the worst j leave it). So the best rows of each
class, as far as k reaches, are all that is sorted. The best j is found without a gradient; at it
the value is a weighted sum of scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from toprank.integrations.torch.batches import with_zero
from toprank.objectives.precision import as_top

if TYPE_CHECKING:
    from torch import Tensor

    from toprank.objectives.precision import Surrogate


def precision_at_k(
    scores: Tensor, y: Tensor, k: float, surrogate: Surrogate
) -> tuple[Tensor, Tensor]:
    """Value of one list, and whether there was a pair to compare."""
    with torch.no_grad():
        candidates = _candidates(scores, y > 0, k, surrogate)
        top, n_positives = candidates.k, candidates.n_positives
        j = candidates.best()
        slopes = candidates.slopes(j)
        origin = scores[:1].clone()
    value = j + (slopes * (scores - origin)).sum(dtype=torch.float64)
    if surrogate == "struct":  # here what comes in and what goes out are not as many
        value = value + origin * (top - n_positives)
    found = (top > 0) & (n_positives < scores.shape[0])
    value = torch.where(found, value / top.clamp(min=1), 0.0)
    return value[0], found[0]


class _Class(NamedTuple):
    """Rows of one class, and the best of them in order, with a 0 before the first.

    ::

        best   · 5 4 4        sums   0 5 9 13

    Counts of rows are tensors of length one, so that they need not be read back.
    """

    rows: Tensor  # scores, or scores negated where the worst come first
    mask: Tensor
    best: Tensor
    sums: Tensor  # of the best, less what all scores share

    def inside(self, count: Tensor) -> Tensor:
        """What of every row is among so many of the best; rows tied at their end share."""
        end = self.best[count]
        above, tied = self.mask & (self.rows > end), self.mask & (self.rows == end)
        share = (count - above.sum()) / tied.sum().clamp(min=1)
        inside = above + torch.where(tied, share.to(self.rows.dtype), 0.0)
        return torch.where(count > 0, inside, 0.0)


def _class(rows: Tensor, mask: Tensor, origin: Tensor, length: int) -> _Class:
    best = torch.where(mask, rows, -torch.inf).topk(length).values
    values = torch.where(best.isfinite(), best.double() - origin.double(), 0.0)
    return _Class(rows, mask, with_zero(best), with_zero(values.cumsum(0)))


class _Candidates(NamedTuple):
    """Rankings of one list that put j negatives into the top k."""

    surrogate: Surrogate
    down: _Class
    up: _Class  # worst first for "max"
    k: Tensor
    n_positives: Tensor
    total: Tensor  # of the positives' scores

    def best(self) -> Tensor:
        """Smallest j at which the value is largest."""
        n_negatives = self.down.mask.shape[0] - self.n_positives
        j = torch.arange(self.down.sums.shape[0], device=self.k.device)
        values = self._values(torch.minimum(j, torch.minimum(self.k, n_negatives)))
        return torch.where(values == values.amax(), j, j.shape[0]).amin(0, keepdim=True)

    def _values(self, j: Tensor) -> Tensor:
        """Give j + S(j) - F(j) for many j."""
        raised = j + self.down.sums[j]
        if self.surrogate == "max":
            return raised + self.up.sums[j]
        if self.surrogate == "ramp":
            return raised - (self.up.sums[self.k] - self.up.sums[self.k - j])
        lost = self.total - self.up.sums[self.k - j]
        return raised - (self._rate(j) * lost if self.surrogate == "avg" else lost)

    def _rate(self, j: Tensor) -> Tensor:
        """Give j / (n₊ - k + j), which "avg" takes of the sum of the positives outside."""
        return j.double() / (self.n_positives - self.k + j).clamp(min=1)

    def slopes(self, j: Tensor) -> Tensor:
        """Sub-gradient where j is best: +1 for the negatives taken in, - for positives."""
        if self.surrogate == "max":
            lost = self.up.inside(j)
        elif self.surrogate == "ramp":
            lost = self.up.inside(self.k) - self.up.inside(self.k - j)
        else:
            lost = 1.0 - self.up.inside(self.k - j)
            if self.surrogate == "avg":
                lost = lost * self._rate(j).to(lost.dtype)
        return self.down.inside(j) - torch.where(self.up.mask, lost, 0.0)


def _candidates(scores: Tensor, positive: Tensor, k: float, surrogate: Surrogate) -> _Candidates:
    n_positives = positive.sum(0, keepdim=True)
    top, is_share = as_top(k)
    # a share of 0.07 of 100 rows is 7.000000000000001 in floating point and still seven rows
    amount = (n_positives * (top * (1.0 - 1e-12))).ceil() if is_share else n_positives.clamp(max=k)
    length = scores.shape[0] if is_share else min(int(top), scores.shape[0])
    origin, sign = scores[0], -1.0 if surrogate == "max" else 1.0
    return _Candidates(
        surrogate,
        _class(scores, ~positive, origin, length),
        _class(sign * scores, positive, sign * origin, length),
        amount.long(),
        n_positives,
        torch.where(positive, scores.double() - origin, 0.0).sum(),
    )
