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
    fall, rise = -start.slope, 0.0  # what the secant takes for the slopes at low and high
    last_side = ""
    for _ in range(MAX_TRIALS):
        # at a minimum the values differ by rounding only; the slope still tells
        not_worse = point.value <= start.value + 1e-12 * (1.0 + abs(start.value))
        if not_worse and (abs(point.slope) <= goal or (point.slope < 0 and point.value < floor)):
            return point
        if point.slope < 0 and not_worse:
            rise = rise / 2 if last_side == "low" else rise
            low, fall, last_side = point, -point.slope, "low"
        else:
            fall = fall / 2 if last_side == "high" else fall
            high, rise, last_side = point, max(point.slope, 0.0), "high"
        if high is None:
            step = 2.0 * low.step
        else:
            step = _between(low, high, fall, rise)
            if not low.step < step < high.step:
                break
        point = trial(step)
    return min(low, point, key=lambda candidate: candidate.value)


def _between(low: Point, high: Point, fall: float, rise: float) -> float:
    """Secant, kept off the ends of the bracket."""
    share = fall / (fall + rise) if rise > 0 else 0.5
    share = min(max(share, 0.001), 0.999)
    return low.step + share * (high.step - low.step)
