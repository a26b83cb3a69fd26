"""What is minimised: formulas that see scores and labels, never the table."""

from toprank.objectives.base import Criterion, Objective
from toprank.objectives.factory import ir_push, pnorm_push
from toprank.objectives.precision import PrecisionAtK
from toprank.objectives.prices import Price
from toprank.objectives.push import ExponentialIRPush, ExponentialPush, Push

__all__ = [
    "Criterion",
    "ExponentialIRPush",
    "ExponentialPush",
    "Objective",
    "PrecisionAtK",
    "Price",
    "Push",
    "ir_push",
    "pnorm_push",
]
