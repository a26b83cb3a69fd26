"""The exponential push and the IR push on rows in blocks: an evaluation is a pass or two.

With weak rankers h(x) and scores s = λ·h, both objectives are made of soft maxima of one class,

    L_c = ln Σ w·e^{c·s},    ∂L_c = c·E_c[h],    ∂²L_c = c²·Cov_c[h],

under weights that are *tilted* by e^{c·s}. A block gives mass, first and second moments of its
rows relative to their largest exponent; such sums add up over blocks. So one pass gives value,
gradient and Hessian, and Newton's method needs few of them. Nothing is as long as the list.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.blocks import Least, Sums
from toprank.inputs import log_scale, scaled_weights
from toprank.objectives.exponential import PushFormula, Tilt, TiltedMass, pull_of_negatives
from toprank.solvers.base import SEPARATED, Penalty, Run, Solution, floor_of
from toprank.solvers.descent import (
    Curvature,
    Iterate,
    Point,
    descend,
    minimize_on_line,
    minimize_with_l1,
)

if TYPE_CHECKING:
    from toprank.blocks import Block, Blocks
    from toprank.weak_rankers.features import Features

Vector = NDArray[np.float64]

# Rows at a time: a chunk of twenty columns and its copy stay in the cache of a core.
CHUNK = 1 << 13
# Beyond this many weak rankers a Hessian costs more than the passes it saves.
MAX_DENSE = 512


@dataclass
class Moments(TiltedMass):
    """A tilted mass with first and second moments of the weak rankers, relative to it."""

    first: Vector = field(default_factory=lambda: np.empty(0))
    second: Vector | None = None

    def __add__(self, other: Moments) -> Moments:
        """Put the moments of two sets of rows on one scale."""
        edge = max(self.edge, other.edge)
        if edge == -math.inf:
            return self
        ours = math.exp(self.power * (self.edge - edge))
        theirs = math.exp(self.power * (other.edge - edge))
        second = None
        if self.second is not None and other.second is not None:
            second = ours * self.second + theirs * other.second
        mass = ours * self.mass + theirs * other.mass
        return Moments(self.power, edge, mass, ours * self.first + theirs * other.first, second)

    @property
    def mean(self) -> Vector:
        """E[h]."""
        return self.first / self.mass

    @property
    def covariance(self) -> Vector | None:
        """Cov[h], where second moments were asked for."""
        if self.second is None:
            return None
        return self.second / self.mass - np.outer(self.mean, self.mean)


class BlockObjective(ABC):
    """An objective as a function of the weights of the weak rankers, by passes over blocks.

    ``largest`` is the largest weight of all rows, by which weights of rows are scaled, or None.
    """

    def __init__(
        self, blocks: Blocks, family: Features, positive: Any, largest: float | None = None
    ) -> None:
        self._blocks, self._rows, self._largest = blocks, (family, positive), largest
        self.n_weak = family.n_weak_
        self._with_second = self.n_weak <= MAX_DENSE

    @abstractmethod
    def evaluate(self, weights: Vector) -> Evaluation:
        """Value, gradient and, where it pays, Hessian."""

    def value_and_gradient(self, weights: Vector) -> tuple[float, Vector]:
        """Value and gradient."""
        return self.evaluate(weights)[:2]

    def masses(
        self, weights: Vector, tilts: list[Tilt], *, with_second: bool = False
    ) -> list[Moments]:
        """Σ w·e^{c·s} for each tilt, with scaled weights w, and moments."""
        given = *self._rows, weights, tilts, with_second, self._largest
        return self._blocks.total(tilted_moments, *given).parts


class Evaluation(NamedTuple):
    """Value, gradient and Hessian at some weights, and by how much all pairs are right."""

    value: float
    gradient: Vector
    hessian: Vector | None
    margin: float


class PushPasses(BlockObjective):
    """(1/p)·ln R_p of the exponential push, by one pass."""

    def __init__(
        self,
        blocks: Blocks,
        family: Features,
        positive: Any,
        formula: PushFormula,
        largest: float | None = None,
    ) -> None:
        super().__init__(blocks, family, positive, largest)
        self._formula = formula
        # ln of what weights were divided by: inner rows count once in the value, priced ones 1/p
        self._log_scale = 0.0
        if largest is not None:
            self._log_scale = log_scale(np.array([largest]), scaled_weights(np.array([largest])))
        self._offset = -(1.0 + 1.0 / formula.p) * self._log_scale

    def use_mean(self) -> None:
        """Take the mean of power p over the priced rows, not the sum; costs a pass."""
        constants = self._formula.constants
        tilts = [Tilt(sign < 0, 1.0) for sign in constants]
        logs = [mass.log for mass in self.masses(np.zeros(self.n_weak), tilts)]
        weight = np.logaddexp.reduce(np.log(list(constants.values())) + logs)
        self._offset = float(weight) / self._formula.p - self._log_scale

    def largest_term(self, weights: Vector) -> float:
        """Give the objective at p = ∞; costs a pass."""
        one = PushFormula(1.0, self._formula.constants)
        return one.largest_term(self.masses(weights, one.tilts())) + self._log_scale

    def evaluate(self, weights: Vector) -> Evaluation:
        p = self._formula.p
        moments = self.masses(weights, self._formula.tilts(), with_second=self._with_second)
        value, shares = self._formula.value_and_shares(moments)
        gradient, hessian = np.zeros(self.n_weak), None
        if self._with_second:
            hessian = np.zeros((self.n_weak, self.n_weak))
        for (sign, share), inner, outer in zip(
            shares.items(), moments[::2], moments[1::2], strict=True
        ):
            slope = sign * (outer.mean - inner.mean)
            gradient += share * slope
            if hessian is not None:
                bend = inner.covariance + p * outer.covariance  # type: ignore[operator]
                hessian += share * (bend + p * np.outer(slope, slope))
        if hessian is not None:
            hessian -= p * np.outer(gradient, gradient)
        return Evaluation(value - self._offset, gradient, hessian, self._formula.margin(moments))


class IRPasses(BlockObjective):
    """Σ_i w_i·ln(1 + Σ_k w_k·e^{-(s_i - s_k)}) / Σ_i w_i, by two passes.

    The first gives L = ln Σ_k w_k·e^{s_k} of the negatives, the second the positives' terms
    ln(1 + e^{L - s_i}), which bend in L and in s_i.
    """

    def evaluate(self, weights: Vector) -> Evaluation:
        tilt = Tilt(is_positive=False, power=1.0)
        (negatives,) = self.masses(weights, [tilt], with_second=self._with_second)
        mean = negatives.mean
        total = self._blocks.total(
            softplus_sums, *self._rows, weights, negatives.log, mean, self._with_second
        )
        value, weight, pull, first, lowest, *second = total.parts
        gradient = (pull * mean - first) / weight
        hessian = None
        if second:
            hessian = (second[0] + pull * negatives.covariance) / weight
        return Evaluation(value / weight, gradient, hessian, lowest.value - negatives.edge)


def _chunks(block: Block) -> Iterator[slice]:
    for start in range(0, len(block.y), CHUNK):
        yield slice(start, min(start + CHUNK, len(block.y)))


def _row_weights(block: Block, largest: float | None) -> NDArray[Any] | None:
    """Weights of the rows of a block, scaled by the ``largest`` of all rows; None leaves them."""
    if largest is None:
        return block.weights
    weights = np.ones(len(block.y)) if block.weights is None else block.weights.astype(np.float64)
    return scaled_weights(weights, largest)


def block_scores(
    block: Block, family: Features, positive: Any, weights: Vector, largest: float | None = None
) -> tuple[Vector, NDArray[np.bool_], Vector]:
    """Scores of the rows of a block that count, which are positives, and their weights.

    ``largest`` is the largest weight of all rows, by which weights are scaled, or None.

    Column after column: passes compare these scores with each other, and last bits of a product
    by BLAS depend on where in memory the rows lie.
    """
    coef, offset = family.linear(weights)
    scores: Vector = np.full(len(block.y), offset)
    for column, factor in zip(block.X.T, coef, strict=True):
        scores += factor * column
    positives = np.asarray(block.y == positive)
    row_weights = _row_weights(block, largest)
    if row_weights is None:
        return scores, positives, np.ones(scores.size)
    kept = row_weights > 0
    return scores[kept], positives[kept], row_weights[kept].astype(np.float64)


def tilted_moments(
    block: Block,
    family: Features,
    positive: Any,
    weights: Vector,
    tilts: list[Tilt],
    with_second: bool,
    largest: float | None = None,
) -> Sums:
    """Moments of the weak rankers on one block under each tilt.

    Scores, masses and first moments are float64 also for a float32 table: a line search compares
    values closer than float32 can tell. Second moments only choose a direction and stay narrow.
    ``largest`` is the largest weight of all rows, by which weights are scaled, or None.
    """
    all_weights = _row_weights(block, largest)
    low, scale, size = family.low_[:, None], 1.0 / family.span_[:, None], family.n_weak_
    totals = [
        Moments(
            abs(tilt.power),
            first=np.zeros(size),
            second=np.zeros((size, size)) if with_second else None,
        )
        for tilt in tilts
    ]
    # memory for a chunk, taken once: fresh memory costs as much as the sums
    whole_wide = np.empty((size, min(CHUNK, len(block.y))))
    whole_rooted = np.empty(whole_wide.shape if with_second else 0, dtype=block.X.dtype)
    for rows in _chunks(block):
        columns = block.X[rows].T
        values = whole_wide[:, : columns.shape[1]]
        values[:] = columns
        values -= low  # squares of x itself overflow, or drown the variance of a column far from 0
        values *= scale
        scores = weights @ values
        positives = block.y[rows] == positive
        row_weights = None if all_weights is None else all_weights[rows]
        for place, tilt in enumerate(tilts):
            members = positives if tilt.is_positive else ~positives
            if row_weights is not None:
                members = members & (row_weights > 0)
            taken, absent = _few_or_most(members)
            signed = math.copysign(1.0, tilt.power) * scores[taken]
            signed[absent] = -math.inf
            edge = float(signed.max(initial=-math.inf))
            if edge == -math.inf:
                continue
            signed -= edge
            signed *= abs(tilt.power)
            masses = np.exp(signed, out=signed)
            if row_weights is not None:
                masses *= row_weights[taken]
            second = None
            if with_second:
                second = _second_moments(values[:, taken], masses, whole_rooted)
            first = values[:, taken] @ masses
            mass = float(masses.sum())
            totals[place] += Moments(abs(tilt.power), edge, mass, first, second)
    return Sums(totals)


def _few_or_most(members: NDArray[np.bool_]) -> tuple[Any, NDArray[np.intp]]:
    """Rows to look at, and those of them to leave out: a few are gathered, most stay in place."""
    if 2 * np.count_nonzero(members) > members.size:
        return slice(None), np.flatnonzero(~members)
    return np.flatnonzero(members), np.empty(0, dtype=np.intp)


def _second_moments(values: Vector, masses: Vector, memory: NDArray[Any]) -> Vector:
    largest = float(masses.max())  # its square may be too large for float32
    rooted = memory[:, : masses.size]
    np.multiply(values, np.sqrt(masses / largest), out=rooted, casting="same_kind")
    second: Vector = largest * (rooted @ rooted.T).astype(np.float64)
    return second


def softplus_sums(
    block: Block,
    family: Features,
    positive: Any,
    weights: Vector,
    level: float,
    mean: Vector,
    with_second: bool,
) -> Sums:
    """Terms ln(1 + e^{level - s}) of the positives of one block, with their derivatives."""
    value, weight, pull, lowest = 0.0, 0.0, 0.0, math.inf
    first = np.zeros(mean.size)
    second = np.zeros((mean.size, mean.size))
    for rows in _chunks(block):
        members = np.flatnonzero(block.y[rows] == positive)
        row_weights = np.ones(members.size)
        if block.weights is not None:
            row_weights = block.weights[rows][members].astype(np.float64)
            members, row_weights = members[row_weights > 0], row_weights[row_weights > 0]
        if not members.size:
            continue
        values = (block.X[rows][members] - family.low_) / family.span_
        scores = values @ weights
        terms, slopes = pull_of_negatives(level, scores)
        value += float(row_weights @ terms)
        weight += float(row_weights.sum())
        pull += float(row_weights @ slopes)
        first += (row_weights * slopes) @ values
        lowest = min(lowest, float(scores.min()))
        if with_second:
            bend = row_weights * slopes * (1.0 - slopes)
            gaps = (mean - values) * np.sqrt(bend)[:, None]
            second += gaps.T @ gaps
    parts = [value, weight, pull, first, Least(lowest)]
    return Sums([*parts, second] if with_second else parts)


def minimize_by_passes(objective: BlockObjective, penalty: Penalty, **options: Any) -> Solution:
    """Minimise; ``options`` are those of a :class:`~toprank.solvers.base.Run`."""
    run = Run(**options)
    start = run.start(objective.n_weak)
    if penalty.l1 > 0:
        return minimize_with_l1(objective.value_and_gradient, penalty, start, run)
    iterate = _PassIterate(objective, penalty, start)
    return descend(iterate, _PassCurvature(iterate, penalty.l2), penalty, run)


class _PassIterate(Iterate):
    """Weights with what a pass found there."""

    def __init__(self, objective: BlockObjective, penalty: Penalty, weights: Vector) -> None:
        self._objective, self._l2 = objective, penalty.l2
        self._floor = floor_of(penalty)
        self._set(weights, objective.evaluate(weights))

    def _set(self, weights: Vector, found: Evaluation) -> None:
        self.weights, self.found = weights, found
        self.value = found.value + 0.5 * self._l2 * float(weights @ weights)
        self.gradient = found.gradient + self._l2 * weights

    def separates(self) -> bool:
        return self.found.margin >= SEPARATED

    def move(self, direction: Vector) -> bool:
        start = Point(0.0, self.value, float(self.gradient @ direction))
        if not start.slope < 0:
            return False
        trials: dict[float, Evaluation] = {}

        def trial(step: float) -> Point:
            there = self.weights + step * direction
            trials[step] = found = self._objective.evaluate(there)
            value = found.value + 0.5 * self._l2 * float(there @ there)
            return Point(step, value, float((found.gradient + self._l2 * there) @ direction))

        # a trial is a pass, so the first one that helps is good enough
        best = minimize_on_line(trial, start, reduction=0.9, floor=self._floor)
        if best.step == 0:
            return False
        self._set(self.weights + best.step * direction, trials[best.step])
        return True


class _PassCurvature(Curvature):
    """The Hessian that came with the last pass."""

    def __init__(self, iterate: _PassIterate, l2: float) -> None:
        super().__init__()
        self._iterate, self._l2 = iterate, l2

    def refresh(self, n_iter: int) -> None:  # noqa: ARG002
        hessian = self._iterate.found.hessian
        if hessian is not None:
            self._set(hessian + self._l2 * np.eye(len(hessian)))
