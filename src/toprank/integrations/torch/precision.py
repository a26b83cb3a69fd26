"""Surrogates of precision at k as a module: two sorts and prefix sums, whatever the batch holds."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn

from toprank.integrations.torch.rows import read

__all__ = ["PrecisionAtKLoss"]

SURROGATES = ("avg", "max", "ramp")


class PrecisionAtKLoss(nn.Module):
    """A bound of the negatives among the k best rows, divided by k.

    The value is that of :class:`toprank.objectives.PrecisionAtK`, where the formulas are printed;
    the gradient belongs to the smallest j that attains the maximum. Rows tied at a cut are taken
    in the order of the sort. Time: two sorts; memory O(rows). Row weights and lists have no place
    here: precision at k counts rows of one batch.

    Parameters
    ----------
    k : int or float, default=0.25
        Number of rows, or a share in (0, 1] of the batch's positives, rounded up. A batch with
        fewer positives than k is judged at their number.
    surrogate : {"avg", "max", "ramp"}, default="avg"
        "avg" is the tightest convex bound.

    Examples
    --------
    >>> import torch
    >>> from toprank.integrations.torch import PrecisionAtKLoss
    >>> scores, y = torch.tensor([3.0, 2.5, 2.0, 1.0, 0.5]), torch.tensor([0, 1, 0, 1, 1])
    >>> for name in ("ramp", "avg", "max"):
    ...     print(name, round(PrecisionAtKLoss(2, surrogate=name)(scores, y).item(), 4))
    ramp 1.75
    avg 2.1667
    max 2.75
    """

    def __init__(
        self, k: float = 0.25, *, surrogate: Literal["avg", "max", "ramp"] = "avg"
    ) -> None:
        super().__init__()
        if isinstance(k, bool) or not isinstance(k, int | float):
            raise TypeError(f"k must be a number of rows or a share of the positives, got {k!r}.")
        if k < 1 if isinstance(k, int) else not 0 < k <= 1:
            raise ValueError(
                f"k={k} must be a number of rows (an int from 1) or a share in (0, 1] (a float)."
            )
        if surrogate not in SURROGATES:
            raise ValueError(f"surrogate must be 'avg', 'max' or 'ramp', got {surrogate!r}.")
        self.k, self.surrogate = k, surrogate

    def forward(self, scores: Tensor, y: Tensor) -> Tensor:
        """The value of one batch."""
        rows = read(scores, y, None, None)
        n_positives = rows.positive.sum()
        if isinstance(self.k, int):
            k = n_positives.clamp_max(self.k)
        else:
            k = (n_positives.double() * (self.k * (1.0 - 1e-12))).ceil().long()
        value: Tensor = _Surrogate.apply(rows.scores, rows.positive, k, self.surrogate)
        return value

    def extra_repr(self) -> str:
        """Options, for print(model)."""
        return f"k={self.k}, surrogate={self.surrogate!r}"


class _Surrogate(torch.autograd.Function):
    """Value and sub-gradient together: j + S(j) - F(j) at its best j."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, positive: Tensor, k: Tensor, kind: str) -> Tensor:
        exact = scores.double()
        exact = exact - exact.mean()
        n = exact.numel()
        j = torch.arange(n + 1, device=exact.device)
        n_positives = positive.sum()
        best, down = _best_first(exact, ~positive)
        highest, up = _best_first(exact, positive)
        total = highest[n]
        # the best k - j positives stay in the top (max: the worst j leave it)
        kept = (n_positives if kind == "max" else k) - j
        lost = total - highest[kept.clamp(0, n)]
        out = n_positives - k + j
        if kind == "avg":
            lost = lost * (j / out.clamp_min(1))
        if kind == "ramp":
            lost = lost - (total - highest[k])
        values = j + best - lost
        values = torch.where(j <= torch.minimum(k, n - n_positives), values, -torch.inf)
        value = values.amax(0)
        chosen = torch.where(values == value, j, n).amin(0)
        ctx.save_for_backward(
            _slopes(positive, (up, down), k, chosen, n_positives, kind).to(scores.dtype)
        )
        return (value / k.clamp_min(1)).to(scores.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        return grads[0] * ctx.saved_tensors[0], None, None, None


def _best_first(scores: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Sums of the best 0, 1, … rows of a class, and each row's place among them."""
    ordered, order = torch.sort(torch.where(mask, scores, -torch.inf), descending=True, stable=True)
    sums = torch.where(torch.isfinite(ordered), ordered, 0.0).cumsum(0)
    places = torch.empty_like(order)
    places[order] = torch.arange(order.numel(), device=order.device)
    return torch.cat([sums.new_zeros(1), sums]), places


def _slopes(
    positive: Tensor,
    places: tuple[Tensor, Tensor],
    k: Tensor,
    j: Tensor,
    n_positives: Tensor,
    kind: str,
) -> Tensor:
    """+1 for the j best negatives, minus what the positives outside the new top lose; over k."""
    up, down = places
    if kind == "max":
        lost = (up >= n_positives - j).double()
    elif kind == "ramp":
        lost = ((up >= k - j) & (up < k)).double()
    else:
        lost = (up >= k - j) * (j / (n_positives - k + j).clamp_min(1))
    slopes = torch.where(positive, -lost, (down < j).double())
    return slopes / k.clamp_min(1)
