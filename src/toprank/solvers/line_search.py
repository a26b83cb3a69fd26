"""Minimisation along a line, on the scores alone.

Scores are linear in the weights, so a step t along a direction moves them to s + t·d and costs
no look at the table: each trial is one value and gradient of the criterion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Point", "minimize_on_line"]

# A convex function along a line that still falls after 60 doublings has no minimum worth naming.
MAX_TRIALS = 60


class Point(NamedTuple):
    """A trial: step, value and slope there."""

    step: float
    value: float
    slope: float


def minimize_on_line(
    trial: Callable[[float], Point],
    start: Point,
    *,
    reduction: float,
    first: float = 1.0,
    floor: float = -float("inf"),
) -> Point:
    """Find a step at which the slope is at most ``reduction`` times that at the start.

    The function is convex, so its slope grows: doublings bracket the root, then the secant
    with the Illinois rule (halve the stale end) closes in on it. Stops early where the value
    falls below ``floor``. The last point has no larger value than the start, up to rounding.
    """
    goal = reduction * abs(start.slope)
    low, high, point = start, None, trial(first)
    weight_low = weight_high = 1.0
    for _ in range(MAX_TRIALS):
        flat = abs(point.slope) <= goal
        # at a minimum the values differ by rounding only; the slope still tells
        not_worse = point.value <= start.value + 1e-12 * (1.0 + abs(start.value))
        if (flat and not_worse) or (point.slope < 0 and point.value < floor):
            return point
        if point.slope < 0 and not_worse:
            low, weight_low = point, 1.0
            weight_high *= 0.5
        else:
            high, weight_high = point, 1.0
            weight_low *= 0.5
        if high is None:
            step = 2.0 * low.step if low.step > 0 else first
        else:
            step = _between(low, high, weight_low, weight_high)
            if not low.step < step < high.step:
                break
        point = trial(step)
    return min(low, point, key=lambda candidate: candidate.value)


def _between(low: Point, high: Point, weight_low: float, weight_high: float) -> float:
    """Weighted secant, kept off the ends of the bracket."""
    fall, rise = weight_low * -low.slope, weight_high * max(high.slope, 0.0)
    share = fall / (fall + rise) if rise > 0 and fall + rise > 0 else 0.5
    share = min(max(share, 0.01), 0.99)
    return low.step + share * (high.step - low.step)
