"""Losses for PyTorch networks that look at the top of the list, and batches that suit them.

Every loss is called as ``loss(scores, y, weight=None, groups=None)`` on 1-D tensors: one score and
one label per row (positive where y > 0), row weights, and list ids. It computes on the device of
the scores, in float32 (sums in float64) or float64, and gives a 0-D tensor. A batch that leaves no
pair to compare costs 0 and has a gradient of 0.

The losses are forward formulas in plain PyTorch, which autograd differentiates once or twice, on
every device.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Literal, get_args

import torch
from torch import Tensor, nn

from toprank.inputs import check_choice, check_number
from toprank.integrations.torch.batches import ClassAwareBatchSampler, check_batch
from toprank.integrations.torch.pairs import (
    log_power,
    mean_log1p,
    mean_of_pairs,
    mean_softplus,
    root_power,
)
from toprank.integrations.torch.precision import precision_at_k
from toprank.objectives.losses import LossName
from toprank.objectives.precision import PrecisionAtK, Surrogate
from toprank.objectives.push import Focus, focus_constants, pnorm_push

if TYPE_CHECKING:
    from toprank.integrations.torch.batches import Batch

__all__ = [
    "ClassAwareBatchSampler",
    "IRPushLoss",
    "NDCGHingeLoss",
    "PairLoss",
    "PrecisionAtKLoss",
    "PushLoss",
]

PairLossName = Literal["logistic", "hinge", "squared_hinge"]
Gain = Literal["exponential", "linear"]


class _Loss(nn.Module):
    """A formula on the scores of a batch; ``options`` are what it was made with."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options

    def forward(
        self, scores: Tensor, y: Tensor, weight: Tensor | None = None, groups: Tensor | None = None
    ) -> Tensor:
        """The value of one batch."""
        value = self._value(check_batch(scores, y, weight, groups))
        return value.to(torch.promote_types(scores.dtype, torch.float32))

    @abstractmethod
    def _value(self, batch: Batch) -> Tensor:
        """The formula itself."""

    def _refuse_weights(self, batch: Batch) -> None:
        if batch.weight is not None:
            raise ValueError(f"{type(self).__name__} has no row weights; leave weight out.")

    def extra_repr(self) -> str:
        """Options, for print(model)."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options.items())


class PushLoss(_Loss):
    """P-Norm Push with any loss: (Σ_k w_k·(Σ_i w_i·ℓ(s_i - s_k))^p)^(1/p), in logarithms or not.

    The value is that of :func:`toprank.objectives.pnorm_push`: (1/p)·log R_p for the exponential
    loss, R_p^(1/p) for the others; at p = ∞ the (logarithm of the) largest height, whose
    sub-gradient is shared by ties. Time O(rows) for the exponential loss, one sort for the
    others; memory O(rows).

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
        focus: Focus = "top",
        bottom_weight: float = 1.0,
    ) -> None:
        check_number("p", p, 1.0)
        pnorm_push(p, loss=loss, focus=focus, bottom_weight=bottom_weight)  # checks the others
        super().__init__(p=float(p), loss=loss, focus=focus, bottom_weight=bottom_weight)

    def _value(self, batch: Batch) -> Tensor:
        p, loss, focus, bottom_weight = self.options.values()
        constants = focus_constants(focus, bottom_weight)
        sides, counts = batch.sides(tuple(constants)), list(constants.values())
        if loss == "exponential":
            return log_power(sides, counts, p)
        return root_power(sides, counts, loss, p)


class IRPushLoss(_Loss):
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
        check_choice("loss", loss, get_args(LossName))
        super().__init__(loss=loss)

    def _value(self, batch: Batch) -> Tensor:
        loss = self.options["loss"]
        (side,) = batch.sides((-1,))
        return mean_softplus(side) if loss == "exponential" else mean_log1p(side, loss)


class PairLoss(_Loss):
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

    def __init__(self, loss: PairLossName = "squared_hinge") -> None:
        check_choice("loss", loss, get_args(PairLossName))
        super().__init__(loss=loss)

    def _value(self, batch: Batch) -> Tensor:
        return mean_of_pairs(batch.sides((1,))[0], self.options["loss"])


class PrecisionAtKLoss(_Loss):
    """A bound of the negatives among the k best rows, divided by k.

    The value is that of :class:`toprank.objectives.PrecisionAtK`, where the formulas are printed,
    with lists as there; the gradient belongs to the smallest j that attains the maximum, and rows
    tied at a cut share it. It counts rows, so there are no row weights. Time: the best k rows of
    each class are found, or all are sorted where k is a share; memory O(rows).

    Parameters
    ----------
    k : int or float, default=0.25
        Number of rows, or a share in (0, 1] of the batch's positives, rounded up. A batch with
        fewer positives than k is judged at their number.
    surrogate : {"avg", "max", "ramp", "struct"}, default="avg"
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

    def __init__(self, k: float = 0.25, *, surrogate: Surrogate = "avg") -> None:
        PrecisionAtK(k, surrogate)  # checks both
        super().__init__(k=k, surrogate=surrogate)

    def _value(self, batch: Batch) -> Tensor:
        self._refuse_weights(batch)
        k, surrogate = self.options.values()
        return _mean([precision_at_k(scores, y, k, surrogate) for scores, y in batch.lists()])


class NDCGHingeLoss(_Loss):
    """Structured hinge of NDCG on graded or binary labels, a mean over the lists.

    With gains G, discounts D_j = 1/log2(1 + j), N = Σ_j D_j·G of the best order and a ranking π
    valued at Σ_j D_j·s_π(j), the margin-rescaled hinge over all n! rankings is ::

        max_π [1 - NDCG(π) + Σ_j D_j·s_π(j)] - Σ_j D_j·s_π*(j)
            = Σ_j D_j·(r sorted)_j - Σ_j D_j·r_π*(j),    r = s - G/N,

    since the bracket is itself valued like a ranking, by the scores r: sorting does it. π* is the
    best order, rows of one grade in the order of their scores.

    The loss is at least 1 - NDCG of the ranking by the scores, 0 where every better grade leads by
    enough, and a difference of convex functions. Row weights have no meaning here. Time: one sort
    of the scores and two of the grades, which are quick where the labels are booleans or bytes;
    memory O(rows).

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

    def __init__(self, gain: Gain = "exponential") -> None:
        check_choice("gain", gain, get_args(Gain))
        super().__init__(gain=gain)

    def _value(self, batch: Batch) -> Tensor:
        self._refuse_weights(batch)
        return _mean([_ndcg_hinge(scores, y, self.options["gain"]) for scores, y in batch.lists()])


def _ndcg_hinge(scores: Tensor, grades: Tensor, gain: str) -> tuple[Tensor, Tensor]:
    """Value of one list, and whether any of its rows has a gain."""
    places = torch.arange(scores.shape[0], device=scores.device, dtype=torch.float64) + 2.0
    discounts = (1.0 / torch.log2(places)).to(scores.dtype)
    best_grades = torch.sort(grades, descending=True).values
    ideal = (discounts * _gains(best_grades, gain, scores.dtype)).sum(dtype=torch.float64)
    found = ideal > 0
    rate = (1.0 / torch.where(found, ideal, 1.0)).to(scores.dtype)
    rivals = scores - _gains(grades, gain, scores.dtype) * rate
    ranked, order = torch.sort(rivals, descending=True)
    # rows of one grade stay in the order of their scores, which is that of the rivals
    best = torch.argsort(grades[order], descending=True, stable=True)
    # row by row: two long sums would lose the small number between them
    value = (discounts * (ranked - ranked.gather(0, best))).sum(dtype=torch.float64)
    return torch.where(found, value, 0.0), found


def _gains(grades: Tensor, gain: str, dtype: torch.dtype) -> Tensor:
    grades = grades.to(dtype).clamp(min=0.0)
    return grades if gain == "linear" else 2.0**grades - 1.0


def _mean(lists: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Mean of the values over the lists that have one."""
    values, found = (torch.stack(part) for part in zip(*lists, strict=True))
    return values.sum() / found.sum().clamp(min=1)
