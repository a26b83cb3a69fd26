"""Mini-batch stochastic sub-gradients (Kar et al. 2015, Algorithms 3 and 4).

    min_{‖w‖ ≤ radius}  E_batch[ surrogate(w; batch)/k ] + (alpha/2)·‖w‖²

Step t draws a batch, takes a sub-gradient g_t of its surrogate and sets

    w ← Π[(1 - η_t·alpha)·w - η_t·g_t],    η_t = step / √(Σ_{τ≤t} ‖g_τ‖²),

where Π projects on the ball. The paper leaves the steps open; these fall like 1/√t, as its
Theorem 15 asks, without knowing the scale of the gradients (Streeter and McMahan 2010).

ramp is a difference of convex functions. Each pass linearises the concave part at the model it
starts with: the k best positives of a batch are those of that model, fixed for the pass (the
concave-convex procedure). At w = 0 all positives are tied and share, so that the first pass is
convex in the manner of avg.
"""

from __future__ import annotations

import math

from toprank.kernels.mini_batches import Aim
from toprank.objectives.precision import KINDS, Surrogate, as_top

__all__ = ["sgd_aim"]


def sgd_aim(
    k: float,
    surrogate: Surrogate,
    *,
    whole: bool,
    alpha: float,
    radius: float | None,
    step: float,
    average: bool,
) -> Aim:
    """Say what the loops minimise; without a radius, the ball that must hold the optimum.

    At w = 0 the normalised surrogate is 1, so (alpha/2)·‖w*‖² ≤ 1 for avg, max and ramp.
    """
    amount, is_share = as_top(k)
    if radius is None:
        radius = math.sqrt(2.0 / alpha) if alpha > 0 else math.inf
    return Aim(
        KINDS[surrogate], False, amount, is_share, whole, float(alpha), float(radius),
        float(step), average,
    )  # fmt: skip
