"""Boosting on a matrix of pairs, as the papers write it: small problems, many rounds.

Row ik of M holds h_j(x_i) - h_j(x_k) for every weak ranker j, all in {-1, 0, 1}. This is the twin
of the fast forms, which never make M, and the only form in which hundreds of thousands of
rounds on the paper's 8×8 example cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from toprank.kernels.jit import compiled
from toprank.kernels.steps import (
    LONGEST,
    growth,
    line_step,
    loss_step,
    margin_step,
    pick,
    rates,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["boost_matrix"]


@compiled
def boost_matrix(
    M: NDArray[np.float64],
    weights: NDArray[np.float64],
    max_iter: int,
    largest_decrease: bool,
    smooth: int,
    both: bool,
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Weak ranker, step, ln F̃ and condition of each round, from weights 0 on.

    ``smooth`` takes the steps of smooth margin ranking once G̃ > 0: those of equation (12) if 1, of
    equation (10) if 2. ``both`` lets a step be negative. On ties the lowest index wins. The last
    array holds the edge r and the share d₀ of the pairs on which the chosen weak ranker is silent,
    the quantities of Theorem 7.
    """
    n_pairs, n_weak = M.shape
    chosen, steps = np.empty(max_iter, np.intp), np.empty(max_iter)
    losses, conditions = np.empty(max_iter), np.empty((2, max_iter))
    total = weights.sum()
    d = weights / total
    log_loss, length = np.log(total), 0.0
    shares = np.zeros((4, n_weak))
    right, wrong = shares[0], shares[3]
    for t in range(max_iter):
        right[:], wrong[:] = 0.0, 0.0
        for i in range(n_pairs):
            for j in range(n_weak):
                if M[i, j] > 0:
                    right[j] += d[i]
                elif M[i, j] < 0:
                    wrong[j] += d[i]
        goodness = rates(shares, largest_decrease, LONGEST)
        j = pick(np.abs(goodness) if both else goodness)
        g = -log_loss / length if length > 0 else 0.0
        p, m, sign = right[j], wrong[j], 1.0
        if both and p < m:
            p, m, sign = m, p, -1.0
        if smooth == 2 and log_loss < 0.0:
            step = line_step(p, 0.0, 0.0, m, g, length, LONGEST)
        elif smooth == 1 and log_loss < 0.0:
            step = margin_step(p, 0.0, 0.0, m, g, LONGEST)
        else:
            step = loss_step(p, 0.0, 0.0, m, LONGEST)
        log_loss += np.log1p(growth(p, 0.0, 0.0, m, step))
        length += abs(step)
        conditions[0, t], conditions[1, t] = p - m, max(1.0 - p - m, 0.0)
        d *= np.exp(-sign * step * M[:, j])
        d /= d.sum()
        chosen[t], steps[t], losses[t] = j, sign * step, log_loss
    return chosen, steps, losses, conditions
