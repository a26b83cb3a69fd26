"""The objectives as modules of a network: forward formulas, differentiated by autograd."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Literal, get_args

import torch
from torch import Tensor, nn

from toprank.integrations.torch.ndcg import ndcg_hinge
from toprank.integrations.torch.pairs import (
    log_power,
    mean_log1p,
    mean_of_pairs,
    mean_softplus,
    root_power,
)
from toprank.integrations.torch.precision import precision_at_k
from toprank.integrations.torch.rows import HAS_TRITON, check_batch
from toprank.objectives.losses import LossName
from toprank.objectives.precision import Surrogate, as_top
from toprank.objectives.push import Focus, focus_constants

if TYPE_CHECKING:
    from toprank.integrations.torch.rows import Batch

if HAS_TRITON:
    from toprank.integrations.torch.fused import FusedIRPush, FusedPush

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
        if not p >= 1:
            raise ValueError(f"p must be a number ≥ 1 or inf, got {p!r}.")
        _check("loss", loss, get_args(LossName))
        _check("focus", focus, get_args(Focus))
        if not 0 < bottom_weight < math.inf:
            raise ValueError(f"bottom_weight must be above 0 and finite, got {bottom_weight}.")
        super().__init__(p=float(p), loss=loss, focus=focus, bottom_weight=bottom_weight)

    def _value(self, batch: Batch) -> Tensor:
        p, loss, focus, bottom_weight = self.options.values()
        if loss == "exponential" and _has_kernel(batch):
            scores, y, weight = batch.rows()
            value: Tensor = FusedPush.apply(scores, y, weight, p, focus, bottom_weight)
            return value
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
        _check("loss", loss, get_args(LossName))
        super().__init__(loss=loss)

    def _value(self, batch: Batch) -> Tensor:
        loss = self.options["loss"]
        if loss == "exponential" and _has_kernel(batch):
            value: Tensor = FusedIRPush.apply(*batch.rows())
            return value
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
        _check("loss", loss, get_args(PairLossName))
        super().__init__(loss=loss)

    def _value(self, batch: Batch) -> Tensor:
        return mean_of_pairs(batch.sides((1,))[0], self.options["loss"])


class PrecisionAtKLoss(_Loss):
    """A bound of the negatives among the k best rows, divided by k.

    The value is that of :class:`toprank.objectives.PrecisionAtK`, where the formulas are printed,
    with row weights and lists as there; the gradient belongs to the smallest j that attains the
    maximum, and rows tied at a cut share it. Time: the best k rows of each class are found, or
    all are sorted where k is a share or rows have weights; memory O(rows).

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
        as_top(k)
        _check("surrogate", surrogate, get_args(Surrogate))
        super().__init__(k=k, surrogate=surrogate)

    def _value(self, batch: Batch) -> Tensor:
        weight = batch.weight
        whole = None if weight is None else (weight == weight.floor()).all()
        k, surrogate = self.options.values()
        return _mean([precision_at_k(one, k, surrogate, whole) for one in batch.lists()])


class NDCGHingeLoss(_Loss):
    """Structured hinge of NDCG on graded or binary labels, a mean over the lists.

    The formula is printed in :mod:`toprank.integrations.torch.ndcg`. The loss is at least
    1 - NDCG of the ranking by the scores, 0 where every better grade leads by enough, and a
    difference of convex functions. Row weights have no meaning here. Time: one sort of the scores
    and two of the grades, which are quick where the labels are booleans or bytes; memory O(rows).

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
        _check("gain", gain, get_args(Gain))
        super().__init__(gain=gain)

    def _value(self, batch: Batch) -> Tensor:
        if batch.weight is not None:
            raise ValueError("NDCGHingeLoss has no row weights; leave weight out.")
        return _mean([ndcg_hinge(one, self.options["gain"]) for one in batch.lists()])


def _mean(lists: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Mean of the values over the lists that have one."""
    values, found = (torch.stack(part) for part in zip(*lists, strict=True))
    return values.sum() / found.sum().clamp(min=1)


def _has_kernel(batch: Batch) -> bool:
    """Whether the exponential losses have kernels of their own for a batch."""
    scores, _, _, groups = batch
    return HAS_TRITON and scores.is_cuda and scores.dtype == torch.float32 and groups is None


def _check(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")
