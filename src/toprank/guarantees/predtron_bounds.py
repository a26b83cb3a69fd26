"""How much a Predtron run can lose in all: Theorem 1 and its loss-driven variant.

After Jain, Natarajan and Tewari (2015). All bounds are about a stream that some reference W of
norm 1 predicts with margin γ: the similarity of every correct prediction exceeds that of every
wrong one by γ at least (:mod:`toprank.guarantees.predtron_margins`). R bounds the inputs, c and C
are the smallest loss above 0 and the largest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = [
    "PredtronCertificate",
    "loss_driven_bound",
    "predtron_bound",
    "predtron_step",
]

# What sums of losses and the products of a bound may lose by rounding.
ROUNDING = 1e-9


def predtron_step(radius: float, *, smallest_loss: float = 1.0, growth: float = 1.0) -> float:
    """The step η = c/(4·R²·growth) that Theorem 1 asks for.

    Parameters
    ----------
    radius : float
        R, the largest length of an input.
    smallest_loss : float, default=1
        c, the smallest loss above 0.
    growth : float, default=1
        What a link adds: (q − 1)·n^{2/q}, which is e²·(ln p − 1) at q = ln p.

    Examples
    --------
    >>> from toprank.guarantees import predtron_step
    >>> predtron_step(radius=2.0)
    0.0625
    """
    return smallest_loss / (4.0 * radius**2 * growth)


def predtron_bound(
    radius: float,
    margin: float,
    *,
    smallest_loss: float = 1.0,
    largest_loss: float = 1.0,
    eta: float | None = None,
    growth: float = 1.0,
    start: float = 0.0,
) -> float:
    """Theorem 1: Σ L ≤ 4·R²·C²/(c·γ²) for Algorithm 1.

    For any step η below c/(2R²) the same proof gives Σ L ≤ C²/(2ηγ²·(1 − 2ηR²/c)), which is
    least at the theorem's η = c/(4R²); a longer step has no bound (inf), nor has γ ≤ 0. A run
    that starts at W₁ instead of 0 has (C/γ + ‖W₁‖)² in place of (C/γ)².

    Parameters
    ----------
    radius : float
        R, the largest length of an input.
    margin : float
        γ of a reference W of norm 1.
    smallest_loss, largest_loss : float, default=1
        c and C.
    eta : float, optional
        The step of the run; by default the theorem's.
    growth : float, default=1
        What a link multiplies R² with.
    start : float, default=0
        ‖W₁‖.

    Examples
    --------
    >>> from toprank.guarantees import predtron_bound
    >>> predtron_bound(radius=1.0, margin=0.5)
    16.0
    """
    if not margin > 0:
        return math.inf
    squared = radius**2 * growth
    if squared == 0 or largest_loss == 0:
        return 0.0
    if eta is None:
        eta = smallest_loss / (4.0 * squared)
    slack = 1.0 - 2.0 * eta * squared / smallest_loss
    if slack <= ROUNDING:
        return math.inf
    return (largest_loss / margin + start) ** 2 / (2.0 * eta * slack)


def loss_driven_bound(
    radius: float,
    margin: float,
    *,
    largest_loss: float = 1.0,
    eta: float = 1.0,
    growth: float = 1.0,
    start: float = 0.0,
) -> float:
    """The loss-driven variant: Σ L ≤ 4·R²·C/γ², whatever the step; C/c is gone.

    Each step is L·(rep(σ) − rep(σ_y))·Xᵀ for the prediction σ itself, whose similarity is not
    below that of σ_y; so s·γ·Σ L ≤ (s + ‖W₁‖)²/(2η) + 2ηR²C·Σ L for every s, and s = 4ηR²C/γ
    gives the bound; η matters only if the run does not start at W₁ = 0.

    Examples
    --------
    >>> from toprank.guarantees import loss_driven_bound
    >>> loss_driven_bound(radius=1.0, margin=0.5, largest_loss=3.0)
    48.0
    """
    if not margin > 0:
        return math.inf
    squared = radius**2 * growth * largest_loss
    if squared == 0:
        return 0.0
    return (4.0 * eta * squared / margin + start) ** 2 / (4.0 * eta**2 * squared)


@dataclass(frozen=True)
class PredtronCertificate:
    """What a run has lost so far, and what it could have lost at most.

    Parameters
    ----------
    cumulative_loss : float
        Σ L over all rounds.
    n_rounds, n_mistakes : int
        Rounds, and those with a loss.
    radius : float
        R, the largest input so far in the norm of the bound.
    smallest_loss, largest_loss : float
        c and C over the labels so far.
    eta : float
        The step.
    loss_driven : bool
        Whether the run was of the loss-driven variant.
    growth : float
        What the link multiplies R² with; 1 without one.
    start : float
        ‖W₁‖; 0 but for a reject option.
    margin : float, optional
        γ of a reference W of norm 1, where one was given.

    Examples
    --------
    >>> from toprank.guarantees import PredtronCertificate
    >>> run = PredtronCertificate(3.0, 100, 3, 1.0, 1.0, 1.0, eta=0.25)
    >>> run.bound(margin=0.5), run.holds(margin=0.5)
    (16.0, True)
    """

    cumulative_loss: float
    n_rounds: int
    n_mistakes: int
    radius: float
    smallest_loss: float
    largest_loss: float
    eta: float
    loss_driven: bool = False
    growth: float = 1.0
    start: float = 0.0
    margin: float | None = None

    def bound(self, margin: float | None = None) -> float:
        """Most that the run could lose if a reference of norm 1 has this margin on the stream."""
        if margin is None:
            margin = self.margin
        if margin is None:
            raise ValueError("margin=None: pass the margin of a reference, or call certify first.")
        if self.loss_driven:
            return loss_driven_bound(
                self.radius,
                margin,
                largest_loss=self.largest_loss,
                eta=self.eta,
                growth=self.growth,
                start=self.start,
            )
        return predtron_bound(
            self.radius,
            margin,
            smallest_loss=self.smallest_loss,
            largest_loss=self.largest_loss,
            eta=self.eta,
            growth=self.growth,
            start=self.start,
        )

    def holds(self, margin: float | None = None) -> bool:
        """Whether the cumulative loss is within the bound, up to rounding."""
        return self.cumulative_loss <= self.bound(margin) * (1.0 + ROUNDING)
