"""How much a run of Predtron can lose in all: Theorem 1 and its loss-driven variant.

After Jain, Natarajan and Tewari (2015). All bounds are about a stream that some reference W of
norm 1 predicts with margin γ: the similarity of every correct prediction exceeds that of every
wrong one by γ at least. R bounds the inputs, c and C are the smallest loss above 0
and the largest. Rounds in which W falls short of γ, or is wrong, add to the bound by as much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

# What sums of losses and the products of a bound may lose by rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class PredtronCertificate:
    """The cumulative loss of a run so far, and its upper bound.

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
        The step; by default the theorem's.
    loss_driven : bool
        Whether the run was of the loss-driven variant.
    growth : float
        What the link multiplies R² with: (q − 1)·n^{2/q}; 1 without one.
    start : float
        ‖W₁‖; 0 but for a reject option.
    margin : float, optional
        γ of a reference W of norm 1, where one was given: its least margin in any round.
    margins : array, optional
        Its margins γ_τ in all rounds of one pass over the stream, where they are known.

    Examples
    --------
    >>> from toprank.guarantees import PredtronCertificate
    >>> run = PredtronCertificate(3.0, 100, 3, 1.0, 1.0, 1.0, eta=0.25)
    >>> run.bound(margin=0.5), run.holds(margin=0.5)
    (16.0, True)

    A reference that is wrong in one round of a hundred:

    >>> from dataclasses import replace
    >>> import numpy as np
    >>> noisy = replace(run, margin=-0.5, margins=np.append(np.full(99, 0.5), -0.5))
    >>> noisy.bound()
    20.0
    """

    cumulative_loss: float = 0.0
    n_rounds: int = 0
    n_mistakes: int = 0
    radius: float = 0.0
    smallest_loss: float = math.inf
    largest_loss: float = 0.0
    eta: float | None = None
    loss_driven: bool = False
    growth: float = 1.0
    start: float = 0.0
    margin: float | None = None
    margins: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)

    @property
    def step(self) -> float:
        """The step η = c/(4·R²) that Theorem 1 asks for."""
        return self.smallest_loss / (4.0 * self.radius**2 * self.growth)

    def bound(self, margin: float | None = None) -> float:
        """Maximum loss of the run if a reference of norm 1 has this margin γ on the stream.

        Theorem 1: Σ L ≤ 4·R²·C²/(c·γ²). For any step η below c/(2R²) the same proof gives
        Σ L ≤ C²/(2ηγ²·(1 − 2ηR²/c)), which is least at the theorem's η; a longer step has no
        bound (inf), nor has γ ≤ 0. A run that starts at W₁ instead of 0 has (C/γ + ‖W₁‖)² in
        place of (C/γ)².

        The loss-driven variant: Σ L ≤ 4·R²·C/γ², whatever the step. Each step is
        L·(rep(σ) − rep(σ_y))·Xᵀ for the prediction σ itself, whose similarity is not below that
        of σ_y; so s·γ·Σ L ≤ (s + ‖W₁‖)²/(2η) + 2ηR²C·Σ L for every s, and s = 4ηR²C/γ gives the
        bound; η matters only if the run does not start at W₁ = 0.

        Where the reference misses γ in some rounds, each round τ leaves C·(1 − γ_τ/γ)₊ of what the
        proof needs, so that both bounds grow by 2C·Σ(1 − γ_τ/γ)₊ (the first one at its own step;
        at another one by that sum divided by 2·(1 − 2ηR²/c)). This holds for every γ, so without
        ``margin`` a certified run is judged at the best γ that its reference has in some round.
        """
        if margin is None and self.margins is not None:
            return min(map(self.bound, self._targets()), default=math.inf)
        if margin is None:
            margin = self.margin
        if margin is None:
            raise ValueError("margin=None: pass the margin of a reference, or call certify first.")
        if not margin > 0:
            return math.inf
        lost = self.largest_loss * self._shortfall(margin)
        squared = self.radius**2 * self.growth
        if squared == 0 or self.largest_loss == 0:
            return 0.0
        eta = self.step if self.eta is None else self.eta
        if self.loss_driven:
            squared *= self.largest_loss
            apart = (4.0 * eta * squared / margin + self.start) ** 2 / (4.0 * eta**2 * squared)
            return apart + 2.0 * lost
        slack = 1.0 - 2.0 * eta * squared / self.smallest_loss
        if slack <= ROUNDING:
            return math.inf
        return ((self.largest_loss / margin + self.start) ** 2 / (2.0 * eta) + lost) / slack

    def _shortfall(self, margin: float) -> float:
        """Σ(1 − γ_τ/γ)₊ over all rounds of all passes."""
        if self.margins is None:
            return 0.0
        passes = max(self.n_rounds / max(self.margins.size, 1), 1.0)
        return passes * float(np.maximum(1.0 - self.margins / margin, 0.0).sum())

    def _targets(self) -> list[float]:
        """Some hundred of the reference's positive margins, to try as γ."""
        known = np.unique(np.asarray(self.margins))
        positive = known[(known > 0) & np.isfinite(known)]
        chosen = np.linspace(0, positive.size - 1, min(positive.size, 128)).astype(int)
        return [float(margin) for margin in positive[chosen]]

    def holds(self, margin: float | None = None) -> bool:
        """Whether the cumulative loss is within the bound, up to rounding."""
        return self.cumulative_loss <= self.bound(margin) * (1.0 + ROUNDING)
