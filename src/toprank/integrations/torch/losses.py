"""The pushes, all-pairs losses and the structured NDCG hinge as modules of a network."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from toprank.integrations.torch.heights import heights_of, log_heights
from toprank.integrations.torch.rows import LOWEST, Rows, masked_logsumexp, read

__all__ = ["IRPushLoss", "NDCGHingeLoss", "PairLoss", "PushLoss"]

LossName = Literal["exponential", "logistic", "hinge", "squared_hinge"]
LOSSES = ("exponential", "logistic", "hinge", "squared_hinge")
FOCUS = ("top", "bottom", "both")


class PushLoss(nn.Module):
    """P-Norm Push with any loss: (Σ_k w_k·(Σ_i w_i·ℓ(s_i - s_k))^p)^(1/p), in logarithms or not.

    The value is that of :func:`toprank.objectives.pnorm_push`: (1/p)·log R_p for the exponential
    loss, R_p^(1/p) for the others; at p = ∞ the (logarithm of the) largest height, whose
    sub-gradient is shared evenly by ties. Time O(rows) for the exponential loss, one sort for the
    hinges; memory O(rows). The logistic loss costs O(rows) too while scores span less than 256,
    and forms its pairs in chunks beyond.

    Parameters
    ----------
    p : float, default=4
        How hard to push, from 1 to inf.
    loss : {"exponential", "logistic", "hinge", "squared_hinge"}, default="exponential"
        What a pair costs.
    focus : {"top", "bottom", "both"}, default="top"
        Which end of the list is pushed.
    bottom_weight : float, default=1
        What the bottom counts with ``focus="both"``.

    Examples
    --------
    >>> import torch
    >>> from toprank.integrations.torch import PushLoss
    >>> scores = torch.tensor([2.0, 0.0, 1.0], requires_grad=True)
    >>> loss = PushLoss(p=2)(scores, torch.tensor([1, 1, 0]))
    >>> round(loss.item(), 4)
    1.1269
    >>> loss.backward()
    >>> scores.grad
    tensor([-0.1192, -0.8808,  1.0000])
    """

    def __init__(
        self,
        p: float = 4.0,
        *,
        loss: LossName = "exponential",
        focus: Literal["top", "bottom", "both"] = "top",
        bottom_weight: float = 1.0,
    ) -> None:
        super().__init__()
        if not p >= 1:
            raise ValueError(f"p must be a number ≥ 1 or inf, got {p!r}.")
        if loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}; got {loss!r}.")
        if focus not in FOCUS:
            raise ValueError(f"focus must be 'top', 'bottom' or 'both', got {focus!r}.")
        if not 0 < bottom_weight < math.inf:
            raise ValueError(f"bottom_weight must be above 0 and finite, got {bottom_weight}.")
        self.p, self.loss, self.focus, self.bottom_weight = float(p), loss, focus, bottom_weight

    def forward(
        self, scores: Tensor, y: Tensor, weight: Tensor | None = None, groups: Tensor | None = None
    ) -> Tensor:
        """The value of one batch."""
        rows = read(scores, y, weight, groups)
        in_logs = self.loss == "exponential"
        sides = [] if self.focus == "bottom" else [(rows, 1.0)]
        if self.focus != "top":
            sides.append((rows.flipped(), self.bottom_weight if sides else 1.0))
        values, any_pair = [], torch.zeros((), dtype=torch.bool, device=scores.device)
        for side, constant in sides:
            inner, outer = side.compared(side.positive, side.negative)
            if in_logs:
                value = _log_power(log_heights(side, inner), outer, side, self.p)
                value = value + (math.log(constant) / self.p)
            else:
                value = _root_power(heights_of(self.loss, side, inner, outer), side, self.p)
                value = value * constant ** (1.0 / self.p)
            any_pair = any_pair | outer.any()
            values.append(value)
        value = values[0]
        if len(values) == 2:
            value = _norm_of_two(torch.stack(values), self.p, in_logs=in_logs)
        return torch.where(any_pair, value, 0.0)

    def extra_repr(self) -> str:
        """Options, for print(model)."""
        return f"p={self.p:g}, loss={self.loss!r}, focus={self.focus!r}"


def _log_power(log_height: Tensor, outer: Tensor, rows: Rows, p: float) -> Tensor:
    """(1/p)·log Σ w·u^p over all lists."""
    if math.isinf(p):
        return log_height.masked_fill(~outer, LOWEST).amax(0)
    whole = rows._replace(lists=None)
    return masked_logsumexp(p * log_height, outer, rows.weight, whole) / p


def _root_power(height: Tensor, rows: Rows, p: float) -> Tensor:
    """(Σ w·u^p)^(1/p); heights of rows that are not judged are 0."""
    if math.isinf(p):
        return height.amax(0)
    largest = height.detach().amax(0)
    ratio = height / torch.where(largest > 0, largest, 1.0)
    powers = ratio**p if rows.weight is None else rows.weight * ratio**p
    total = powers.sum()
    # the root has no derivative at 0, where the sub-gradient is 0
    root = torch.where(total > 0, total, 1.0) ** (1.0 / p)
    return largest * torch.where(total > 0, root, 0.0)


def _norm_of_two(values: Tensor, p: float, *, in_logs: bool) -> Tensor:
    """Both ends of the list in one number."""
    if math.isinf(p):
        return values.amax(0)
    if in_logs:
        return torch.logsumexp(p * values, 0) / p
    largest = values.detach().amax(0)
    total = ((values / torch.where(largest > 0, largest, 1.0)) ** p).sum()
    return largest * torch.where(total > 0, total, 1.0) ** (1.0 / p)


class IRPushLoss(nn.Module):
    """IR Push: the mean over the positives of ln(1 + Σ_k w_k·ℓ(s_i - s_k)).

    The value is that of :func:`toprank.objectives.ir_push`; time and memory as for
    :class:`PushLoss`.

    Parameters
    ----------
    loss : {"exponential", "logistic", "hinge", "squared_hinge"}, default="exponential"
        What a pair costs.

    Examples
    --------
    >>> import torch
    >>> from toprank.integrations.torch import IRPushLoss
    >>> loss = IRPushLoss()(torch.tensor([2.0, 0.0, 1.0]), torch.tensor([1, 1, 0]))
    >>> round(loss.item(), 4)
    0.8133
    """

    def __init__(self, *, loss: LossName = "exponential") -> None:
        super().__init__()
        if loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}; got {loss!r}.")
        self.loss = loss

    def forward(
        self, scores: Tensor, y: Tensor, weight: Tensor | None = None, groups: Tensor | None = None
    ) -> Tensor:
        """The value of one batch."""
        rows = read(scores, y, weight, groups).flipped()
        inner, outer = rows.compared(rows.positive, rows.negative)
        if self.loss == "exponential":
            log = torch.where(outer, log_heights(rows, inner), LOWEST)
            costs = nn.functional.softplus(log)
        else:
            costs = torch.log1p(heights_of(self.loss, rows, inner, outer))
        if rows.weight is not None:
            costs = costs * rows.weight
        total = torch.where(outer, costs, 0.0).sum()
        return total / rows.amount(outer).clamp_min(torch.finfo(total.dtype).tiny)

    def extra_repr(self) -> str:
        """Options, for print(model)."""
        return f"loss={self.loss!r}"


class PairLoss(nn.Module):
    """Mean loss of all pairs of a positive and a negative: 1 - AUC, with a margin or a tail.

    The value is the risk of :class:`toprank.objectives.Push` with ``price=1``, divided by the
    weight of all pairs, so that a learning rate means the same for every batch size.

    Parameters
    ----------
    loss : {"logistic", "hinge", "squared_hinge"}, default="squared_hinge"
        What a pair costs.

    Examples
    --------
    >>> import torch
    >>> from toprank.integrations.torch import PairLoss
    >>> loss = PairLoss("hinge")(torch.tensor([2.0, 0.0, 1.0]), torch.tensor([1, 1, 0]))
    >>> loss.item()
    1.0
    """

    def __init__(
        self, loss: Literal["logistic", "hinge", "squared_hinge"] = "squared_hinge"
    ) -> None:
        super().__init__()
        if loss not in LOSSES[1:]:
            raise ValueError(f"loss must be one of {', '.join(LOSSES[1:])}; got {loss!r}.")
        self.loss = loss

    def forward(
        self, scores: Tensor, y: Tensor, weight: Tensor | None = None, groups: Tensor | None = None
    ) -> Tensor:
        """The value of one batch."""
        rows = read(scores, y, weight, groups)
        inner, outer = rows.compared(rows.positive, rows.negative)
        heights = heights_of(self.loss, rows, inner, outer)
        if rows.weight is not None:
            heights = heights * rows.weight
        if rows.lists is None:
            pairs = rows.amount(inner) * rows.amount(outer)
        else:
            pairs = _pairs_of_lists(rows, inner, outer)
        return heights.sum() / pairs.clamp_min(torch.finfo(heights.dtype).tiny)

    def extra_repr(self) -> str:
        """Options, for print(model)."""
        return f"loss={self.loss!r}"


def _pairs_of_lists(rows: Rows, inner: Tensor, outer: Tensor) -> Tensor:
    weight = torch.ones_like(rows.scores) if rows.weight is None else rows.weight
    zero = torch.zeros(rows.n_lists, dtype=weight.dtype, device=weight.device)
    lists = rows.lists if rows.lists is not None else torch.zeros_like(inner, dtype=torch.long)
    return (
        zero.index_add(0, lists, weight * inner) * zero.index_add(0, lists, weight * outer)
    ).sum()


class NDCGHingeLoss(nn.Module):
    """Structured hinge of NDCG on one list of graded or binary labels.

    With gains G, discounts D_j = 1/log2(1 + j), N = Σ_j D_j·G of the best order and a ranking π
    valued at Σ_j D_j·s_π(j), the margin-rescaled hinge over all n! rankings is

        max_π [1 - NDCG(π) + Σ_j D_j·s_π(j)] - Σ_j D_j·s_π*(j)
            = Σ_j D_j·(r sorted)_j - Σ_j D_j·r_π*(j),    r = s - G/N,

    since the bracket is itself valued like a ranking, by the scores r: sorting does it. π* is the
    best order, rows of one grade in the order of their scores. The loss is at least
    1 - NDCG of the ranking by s, 0 where every better grade leads by enough, and a difference of
    convex functions. Time: three sorts; memory O(rows). Row weights and lists have no meaning here.

    Parameters
    ----------
    gain : {"exponential", "linear"}, default="exponential"
        2^y - 1 or y.

    Examples
    --------
    >>> import torch
    >>> from toprank.integrations.torch import NDCGHingeLoss
    >>> NDCGHingeLoss()(torch.tensor([3.0, 0.0, -3.0]), torch.tensor([2, 1, 0])).item()
    0.0
    """

    def __init__(self, gain: Literal["exponential", "linear"] = "exponential") -> None:
        super().__init__()
        if gain not in ("exponential", "linear"):
            raise ValueError(f"gain must be 'exponential' or 'linear', got {gain!r}.")
        self.gain = gain

    def forward(self, scores: Tensor, y: Tensor) -> Tensor:
        """The value of one list; 0 where no row has a gain."""
        rows = read(scores, y, None, None)
        grades = y.reshape(-1).to(rows.scores.dtype).clamp_min(0.0)
        gains = torch.exp2(grades) - 1.0 if self.gain == "exponential" else grades
        places = torch.arange(2, gains.numel() + 2, device=gains.device, dtype=torch.float64)
        discounts = (1.0 / torch.log2(places)).to(rows.scores.dtype)
        by_score = torch.argsort(rows.scores.detach(), descending=True, stable=True)
        best = by_score[torch.argsort(gains[by_score], descending=True, stable=True)]
        ideal = (discounts * gains[best]).sum()
        rivals = rows.scores - gains / torch.where(ideal > 0, ideal, 1.0)
        worst = torch.sort(rivals, descending=True).values
        # row by row: two long sums would lose the small number between them
        loss = (discounts * (worst - rivals[best])).sum()
        return torch.where(ideal > 0, loss, 0.0)
