"""Sets W that stochastic solvers keep their weights in, each as its projection.

    Π_W(w) = argmin_{u ∈ W} ‖u - w‖

Averages of points of a convex set lie in it, so the averaged model of Algorithm 3 (Kar et al.
2015) does, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import check_choice

Floats = NDArray[np.float64]

Project = Callable[["Floats"], "Floats"]
"""Gives the point of the set that is nearest to some weights."""

SETS = ("ball", "box", "nonnegative", "simplex")


def check_feasible_set(feasible_set: Any) -> None:
    """Raise unless the set is named or given as a projection."""
    if not callable(feasible_set):
        check_choice("feasible_set", feasible_set, SETS)


def projection_on(feasible_set: Any, radius: float) -> Project:
    """Give the projection of a named set of a radius, or the user's with its answers checked.

    ::

        ball         ‖w‖ ≤ radius
        box          |w_j| ≤ radius for every j
        nonnegative  w ≥ 0, ‖w‖ ≤ radius
        simplex      w ≥ 0, Σ w_j = radius

    All cost O(size), the simplex O(size·log size) for a sort.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.solvers.projections import projection_on
    >>> projection_on("simplex", 1.0)(np.array([0.9, 0.7, -2.0]))
    array([0.6, 0.4, 0. ])
    """
    if callable(feasible_set):
        return partial(_checked, feasible_set)
    named = {"ball": _on_ball, "box": _on_box, "nonnegative": _on_cone, "simplex": _on_simplex}
    return partial(named[feasible_set], radius=radius)


def _on_ball(weights: Floats, radius: float) -> Floats:
    norm = float(np.linalg.norm(weights))
    return weights * (radius / norm) if norm > radius else weights


def _on_box(weights: Floats, radius: float) -> Floats:
    return np.clip(weights, -radius, radius)


def _on_cone(weights: Floats, radius: float) -> Floats:
    # of a cone's point the nearest one in a ball about 0 lies on the ray to it
    return _on_ball(np.maximum(weights, 0.0), radius)


def _on_simplex(weights: Floats, radius: float) -> Floats:
    """max(w - θ, 0) with the θ that makes the sum right (Held, Wolfe and Crowder 1974)."""
    shifted = weights - weights.max()  # changes nothing, and large weights lose no digits
    # weights, descending:  [ w₁ w₂ w₃ | w₄ … ]   those before the bar stay above 0
    ordered = np.sort(shifted)[::-1]
    levels = (np.cumsum(ordered) - radius) / np.arange(1, weights.size + 1)
    last = int(np.flatnonzero(ordered >= levels)[-1])
    return np.asarray(np.maximum(shifted - levels[last], 0.0))


def _checked(project: Callable[[Floats], Any], weights: Floats) -> Floats:
    found = np.asarray(project(weights.copy()), dtype=np.float64)
    if found.shape != weights.shape:
        raise ValueError(
            f"feasible_set gave an array of shape {found.shape} for weights of shape "
            f"{weights.shape}; return the projected weights."
        )
    if not math.isfinite(float(found.sum())):
        raise ValueError(
            "feasible_set gave weights that are not finite; return the nearest point of the set."
        )
    return found
