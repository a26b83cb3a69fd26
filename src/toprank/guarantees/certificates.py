"""What a fit knows of its optimum when it ends: two sides of it, and what they promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["GapCertificate", "MarginCertificate", "SoftMarginCertificate"]


class MarginCertificate(NamedTuple):
    """Two sides of the best margin ρ: smooth_margin < margin of the model ≤ ρ ≤ ceiling.

    ``separable`` tells whether the smooth margin became positive, so that all pairs are right.
    """

    smooth_margin: float
    ceiling: float
    separable: bool


class SoftMarginCertificate(NamedTuple):
    """What is known of a soft margin: soft_margin ≤ best soft margin ≤ ceiling.

    At least ``share`` of the crucial pairs have a margin of ``soft_margin`` or more; where
    that is not positive, the promise is empty.
    """

    soft_margin: float
    ceiling: float
    share: float


@dataclass(frozen=True)
class GapCertificate:
    """Bounds on the optimum: ``lower`` ≤ min J ≤ ``upper``, the objective that was reached."""

    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """What is left to gain at most."""
        return self.upper - self.lower
