"""Objectives by the names that estimators and the command line use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toprank.objectives.push import ExponentialIRPush, ExponentialPush

if TYPE_CHECKING:
    from toprank.objectives.base import Objective
    from toprank.objectives.push import Focus

__all__ = ["ir_push", "pnorm_push"]


def pnorm_push(
    p: float = 4.0,
    *,
    loss: str = "exponential",
    price: object = None,
    focus: Focus = "top",
    bottom_weight: float = 1.0,
) -> Objective:
    """P-Norm Push with any loss and price."""
    if loss != "exponential" or price is not None:
        raise ValueError(f"loss={loss!r} with price={price!r} is not available.")
    return ExponentialPush(p=p, focus=focus, bottom_weight=bottom_weight)


def ir_push(*, loss: str = "exponential") -> Objective:
    """IR Push, equation (2), with any loss."""
    if loss != "exponential":
        raise ValueError(f"loss={loss!r} is not available.")
    return ExponentialIRPush()
