"""The problem that a ranking SVM's parameters name: a soft margin, and a solver for the norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.objectives.margin import ClassMargin, PairMargin, SoftMargin, TangentMargin
from toprank.solvers.margin_ball import maximize_on_ball
from toprank.solvers.nearest_point import GramSpace, LinearSpace, nearest_point
from toprank.solvers.tangents import lower_by_tangents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.kernels.pair_blocks import PairBlocks
    from toprank.solvers.base import Monitor
    from toprank.solvers.margin_ball import LinearMap, MarginSolution

    Floats = NDArray[np.float64]

__all__ = ["Solved", "SvmProblem"]

# Tangents are solved no finer than this: they only choose ν⁺, near which γ̂ is flat. Coarser ones
# leave a ν⁺ that other roundings change in the third digit, and weights with it.
TANGENT_TOL = 1e-4


class Solved(NamedTuple):
    """Weights (of features, or with a kernel of rows), and how they were found."""

    weights: Floats
    solution: MarginSolution
    margin: SoftMargin
    nu_plus: float


@dataclass
class SvmProblem:
    """A soft margin on rows, and the space in which to look for the weights.

    ``positives`` is None where the rows carry grades or pairs; then only the exact form exists.
    """

    norm: int
    hard: bool
    form: str
    nu: float
    nu_plus: float | None
    signed: bool
    constant: bool
    blocks: PairBlocks
    positives: NDArray[np.bool_] | None
    sample_weight: Floats | None
    design: LinearMap | None
    gram: Floats | None

    def solve(self, max_iter: int, tol: float | None, monitor: Monitor | None) -> Solved:
        """Choose ν⁺ where there is one to choose, then solve."""
        nu_plus = self._nu_plus(max_iter, tol)
        margin = self.margin(self.nu, nu_plus)
        solution = self._maximize(margin, max_iter, tol, None, monitor)
        return Solved(self.scale * solution.weights, solution, margin, nu_plus)

    @property
    def scale(self) -> float:
        """What turns the solver's weights into the paper's: the optimum of OP 11 is ν·x."""
        return self.nu if self.norm == 2 and not self.hard else 1.0

    def gap(self, solution: MarginSolution) -> float:
        """Duality gap: of the largest margin, or of OP 11 (½‖w‖² - ν·g)."""
        return self.scale**2 * solution.gap if self.norm == 2 else solution.gap

    def margin(self, nu: float, nu_plus: float) -> SoftMargin:
        """The soft margin of the form at a ν."""
        if self.form == "exact" or self.positives is None:
            return PairMargin(self.blocks, None if self.hard else nu)
        kappa = None if self.hard else self.kappa(nu, nu_plus)
        return ClassMargin(self.positives, self.sample_weight, kappa)

    def kappa(self, nu: float, nu_plus: float) -> tuple[float, float]:
        """Shares of the positives and of the negatives to average over.

        In the 2-norm version the paper exchanges the classes' roles. The classification SVM
        averages over ν·m/2 rows of each class.
        """
        if self.form == "classification":
            share = self.positive_share
            return nu / (2.0 * share), nu / (2.0 * (1.0 - share))
        return (nu_plus, nu / nu_plus) if self.norm == 1 else (nu / nu_plus, nu_plus)

    @property
    def positive_share(self) -> float:
        """p/m, by weight."""
        if self.positives is None:
            return np.nan
        return float(np.average(self.positives, weights=self.sample_weight))

    def promise(self, nu_plus: float) -> tuple[float, str]:
        """The share of pairs that must reach ρ̂, and who says so."""
        if self.hard:
            return 1.0, "hard margin"
        if self.form == "exact":
            return 1.0 - self.nu, "equation (1)" if self.norm == 1 else "equation (A·1)"
        above, below = (min(kappa, 1.0) for kappa in self.kappa(self.nu, nu_plus))
        theorem = "Theorem 3" if self.norm == 1 else "Theorem 5"
        if self.form == "classification":
            theorem += ", for the classification SVM's shares"
        elif np.isclose(nu_plus**2, self.nu):
            theorem = "Corollary 4" if self.norm == 1 else "Corollary 6"
        return (1.0 - above) * (1.0 - below), theorem

    def smallest_nu(self) -> float:
        """About the smallest ν at which the difference of the class means has a soft margin."""
        at_zero = self.margin(1.0, 1.0).at(np.zeros(self.blocks.n_rows)).gradient
        if self.gram is not None:
            scores = self.gram @ at_zero
        else:
            assert self.design is not None  # noqa: S101 (one of the two is always there)
            means = self.design.correlate(at_zero)
            scores = self.design.scores(means if self.signed else np.maximum(means, 0.0))
        low, high = self.nu, 1.0
        for _ in range(12):
            middle = 0.5 * (low + high)
            if self.margin(middle, float(np.sqrt(middle))).at(scores).value > 0:
                high = middle
            else:
                low = middle
        return high

    def _nu_plus(self, max_iter: int, tol: float | None) -> float:
        if self.hard or self.form != "product":
            return np.nan
        if self.nu_plus is not None:
            return self.nu_plus
        coarse = max(tol or 0.0, TANGENT_TOL)

        def tangent(centre: float, weights: Floats | None) -> MarginSolution:
            margin = TangentMargin(
                self._labels(), self.sample_weight, self.nu, centre, swapped=self.norm == 2
            )
            return self._maximize(margin, max_iter, coarse, weights, None, sparse=False)

        return lower_by_tangents(self.nu, tangent, coarse)[0]

    def _labels(self) -> NDArray[np.bool_]:
        assert self.positives is not None  # noqa: S101 (checked before: product needs labels)
        return self.positives

    def _maximize(
        self,
        margin: SoftMargin,
        max_iter: int,
        tol: float | None,
        start: Floats | None,
        monitor: Monitor | None,
        *,
        sparse: bool = True,
    ) -> MarginSolution:
        stopping: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "monitor": monitor}
        if self.gram is not None:
            return nearest_point(GramSpace(self.gram), margin, **stopping)
        assert self.design is not None  # noqa: S101 (one of the two is always there)
        if self.norm == 1:
            return maximize_on_ball(
                self.design,
                margin,
                signed=self.signed,
                constant=self.constant,
                start=start,
                sparse=sparse,
                **stopping,
            )
        return nearest_point(LinearSpace(self.design), margin, **stopping)
