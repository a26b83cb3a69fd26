"""Objectives by the names that estimators and the command line use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toprank.objectives.precision import PrecisionAtK
from toprank.objectives.push import ExponentialIRPush, ExponentialPush, Push

if TYPE_CHECKING:
    from toprank.objectives.losses import LossName
    from toprank.objectives.precision import Surrogate
    from toprank.objectives.prices import Price
    from toprank.objectives.push import Focus, PriceName

__all__ = ["ir_push", "pnorm_push", "precision_at_k"]


def pnorm_push(
    p: float = 4.0,
    *,
    loss: LossName = "exponential",
    price: float | PriceName | Price | None = None,
    focus: Focus = "top",
    bottom_weight: float = 1.0,
) -> ExponentialPush | Push:
    """P-Norm Push with any loss; a ``price`` takes the place of the power p.

    Examples
    --------
    >>> from toprank.objectives import pnorm_push
    >>> pnorm_push(8)
    ExponentialPush(p=8, focus='top', bottom_weight=1.0)
    >>> pnorm_push(8, loss="hinge")
    Push(loss='hinge', price=8, focus='top', bottom_weight=1.0)
    """
    if loss == "exponential" and price is None:
        return ExponentialPush(p=p, focus=focus, bottom_weight=bottom_weight)
    return Push(
        loss=loss,
        price=p if price is None else price,
        focus=focus,
        bottom_weight=bottom_weight,
    )


def ir_push(*, loss: LossName = "exponential") -> ExponentialIRPush | Push:
    """IR Push, equation (2), with any loss; convex with the exponential one only.

    Examples
    --------
    >>> from toprank.objectives import ir_push
    >>> ir_push()
    ExponentialIRPush()
    """
    if loss == "exponential":
        return ExponentialIRPush()
    return Push(loss=loss, price="log1p", focus="bottom")


def precision_at_k(k: float = 0.25, *, surrogate: Surrogate = "avg") -> PrecisionAtK:
    """Precision at k, bounded by a surrogate.

    Examples
    --------
    >>> from toprank.objectives import precision_at_k
    >>> precision_at_k(100)
    PrecisionAtK(k=100, surrogate='avg')
    """
    return PrecisionAtK(k, surrogate)
