"""What a boosted ranker knows of its margin when a fit ends."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MarginCertificate", "SoftMarginCertificate"]


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
