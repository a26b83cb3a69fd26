"""What is minimised: formulas that see scores and labels, never the table."""

from toprank.objectives.base import Criterion, Objective, Relative
from toprank.objectives.log_loss import LogLoss
from toprank.objectives.precision import PrecisionAtK, precision_at_k
from toprank.objectives.prices import Price
from toprank.objectives.push import ExponentialIRPush, ExponentialPush, Push, ir_push, pnorm_push
from toprank.objectives.top import SoftTop

__all__ = [
    "Criterion",
    "ExponentialIRPush",
    "ExponentialPush",
    "LogLoss",
    "Objective",
    "PrecisionAtK",
    "Price",
    "Push",
    "Relative",
    "SoftTop",
    "ir_push",
    "pnorm_push",
    "precision_at_k",
]
