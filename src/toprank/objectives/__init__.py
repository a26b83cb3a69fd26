"""Objectives: formulas that depend on scores and labels, never on the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toprank.objectives.base import Criterion, Objective, Relative
from toprank.objectives.losses import LogLoss
from toprank.objectives.precision import PrecisionAtK
from toprank.objectives.prices import Price
from toprank.objectives.push import Push, ir_push, pnorm_push
from toprank.objectives.top import SoftTop

__all__ = [
    "OBJECTIVES",
    "Criterion",
    "LogLoss",
    "Objective",
    "PrecisionAtK",
    "Price",
    "Push",
    "Relative",
    "SoftTop",
    "ir_push",
    "objective_named",
    "pnorm_push",
]

# by name, for engines and rankers that boost trees on any of them
OBJECTIVES: dict[str, Callable[..., Objective]] = {
    "pnorm_push": pnorm_push,
    "ir_push": ir_push,
    "precision_at_k": PrecisionAtK,
    "soft_top": SoftTop,
    "log_loss": LogLoss,
}


def objective_named(objective: str | Objective, options: dict[str, Any]) -> Objective:
    """Give the objective of that name, or the one given itself."""
    if isinstance(objective, Objective):
        if options:
            raise TypeError(
                f"{type(objective).__name__} has its options already; "
                f"{', '.join(options)} can only follow a name."
            )
        return objective
    if objective not in OBJECTIVES:
        raise ValueError(
            f"objective={objective!r} is not known; choose one of {', '.join(OBJECTIVES)}, "
            "or pass an object from toprank.objectives."
        )
    return OBJECTIVES[objective](**options)
