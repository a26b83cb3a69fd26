"""How the scores are moved: each solver takes a design, a criterion and a penalty."""

from toprank.solvers.base import Penalty, Progress, Solution
from toprank.solvers.coordinate import minimize_by_coordinates
from toprank.solvers.descent import minimize_by_lbfgs

__all__ = [
    "Penalty",
    "Progress",
    "Solution",
    "minimize_by_coordinates",
    "minimize_by_lbfgs",
]
