"""PyTorch as the array library of the formulas, see :mod:`toprank.objectives.arrays.namespace`.

What ``torch.compile`` makes of a running sum takes ten times as long as PyTorch's own kernel, and
of an assignment by order twice as long. So both are shown to the compiler as closed boxes.
"""

from __future__ import annotations

from types import SimpleNamespace

import array_api_compat.torch
import torch
from torch import Tensor

__all__ = ["xp"]


def _in_order(values: Tensor, *, descending: bool = False) -> tuple[Tensor, Tensor]:
    ordered, order = torch.sort(values, descending=descending)
    return ordered, order


def _best(values: Tensor, count: int) -> Tensor:
    if count == values.numel():
        return torch.sort(values, descending=True).values
    return torch.topk(values, count).values


def _cumulative_sum(values: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    if torch.compiler.is_compiling():
        boxed: Tensor = _boxed_sum(values, dtype or values.dtype)
        return boxed
    return torch.cumsum(values, 0, dtype=dtype)


def _laid_back(values: Tensor, order: Tensor) -> Tensor:
    if torch.compiler.is_compiling():
        boxed: Tensor = _boxed_layout(values, order)
        return boxed
    rows = torch.empty_like(values)
    rows[order] = values
    return rows


@torch.library.custom_op("toprank::cumulative_sum", mutates_args=())
def _boxed_sum(values: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.cumsum(values, 0, dtype=dtype)


@_boxed_sum.register_fake
def _(values: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.empty_like(values, dtype=dtype)


@torch.library.custom_op("toprank::laid_back", mutates_args=())
def _boxed_layout(values: Tensor, order: Tensor) -> Tensor:
    rows = torch.empty_like(values)
    rows[order] = values
    return rows


@_boxed_layout.register_fake
def _(values: Tensor, order: Tensor) -> Tensor:  # noqa: ARG001
    return torch.empty_like(values)


xp = SimpleNamespace(
    **vars(array_api_compat.torch)
    | {
        "in_order": _in_order,
        "best": _best,
        "cumulative_sum": _cumulative_sum,
        "laid_back": _laid_back,
    }
)
