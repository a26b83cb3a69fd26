"""One bridge from array formulas to autograd: checks, dtypes, and what is kept for the way back."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from toprank.integrations.torch.namespace import xp
from toprank.objectives.arrays import Batch, Push

if TYPE_CHECKING:
    from toprank.objectives.arrays import Formula

__all__ = ["scored"]

# Triton comes with PyTorch where there is a graphics card for it.
HAS_TRITON = torch.cuda.is_available() and find_spec("triton") is not None
if HAS_TRITON:
    from toprank.integrations.torch.fused import FusedPush


def scored(
    formula: Formula, scores: Tensor, y: Tensor, weight: Tensor | None, groups: Tensor | None
) -> Tensor:
    """Value of a formula on tensors, with its gradient with respect to the scores."""
    scores, y = _flat("scores", scores), _flat("y", y)
    if not scores.is_floating_point():
        raise TypeError(f"scores must be floating-point numbers, got {scores.dtype}.")
    if not scores.numel():
        raise ValueError("scores holds no row; leave empty batches out.")
    weight = None if weight is None else _flat("weight", weight).detach()
    groups = None if groups is None else _flat("groups", groups)
    for name, other in (("y", y), ("weight", weight), ("groups", groups)):
        if other is not None and other.shape != scores.shape:
            raise ValueError(
                f"{name} has {other.numel()} rows, but scores has {scores.numel()}; pass one a row."
            )
    value: Tensor
    if _is_fused(formula, scores, groups):
        value = FusedPush.apply(scores, y, weight, formula)
    else:
        value = _Scored.apply(scores, y, weight, groups, formula)
    return value


def _is_fused(formula: Formula, scores: Tensor, groups: Tensor | None) -> bool:
    """Whether there are kernels of our own for it: in float32, with extremes of one list."""
    return (
        HAS_TRITON
        and scores.is_cuda
        and scores.dtype != torch.float64
        and groups is None
        and isinstance(formula, Push)
        and formula.loss == "exponential"
    )


def _flat(name: str, values: Tensor) -> Tensor:
    if not isinstance(values, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(values).__name__}.")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must hold one number a row, got shape {tuple(values.shape)}.")
    return values


class _Scored(torch.autograd.Function):
    """A formula that knows its own gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: Tensor,
        y: Tensor,
        weight: Tensor | None,
        groups: Tensor | None,
        formula: Formula,
    ) -> Tensor:
        value, kept = formula.value(Batch(xp, scores, y, weight, groups))
        ctx.save_for_backward(scores, y, weight, groups, *kept)
        ctx.formula = formula
        # a copy also where the dtype is right: PyTorch 2.11 compiles a value that is handed through
        # as it is to one without a gradient
        return value.to(torch.promote_types(scores.dtype, torch.float32), copy=True)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        scores, y, weight, groups, *kept = ctx.saved_tensors
        gradient = ctx.formula.gradient(Batch(xp, scores, y, weight, groups), tuple(kept))
        return (grads[0] * gradient).to(scores.dtype), None, None, None, None
