"""The problem that a ranking SVM's parameters name: a soft margin, and a solver for the norm."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

from toprank.inputs import check_choice, check_number
from toprank.kernels.pair_blocks import PairBlocks
from toprank.objectives.margin import ClassMargin, PairMargin, SoftMargin, TangentMargin
from toprank.rankers.supervised import check_stopping
from toprank.solvers.margin_ball import lower_by_tangents, maximize_on_ball
from toprank.solvers.nearest_point import GramRows, nearest_point
from toprank.weak_rankers.features import SymmetricFeatures

if TYPE_CHECKING:
    from toprank.rankers.rank_svm import RankSVM
    from toprank.solvers.base import Monitor
    from toprank.solvers.margin_ball import MarginSolution
    from toprank.truth import Truth
    from toprank.weak_rankers import Design

Floats = NDArray[np.float64]

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

    Where the rows carry grades or pairs, only the exact form exists.
    """

    ranker: RankSVM
    truth: Truth
    design: Design | GramRows

    @property
    def hard(self) -> bool:
        """Whether no pair may fall short of the margin."""
        return self.ranker.margin == "hard"

    @cached_property
    def blocks(self) -> PairBlocks:
        """Who is compared with whom."""
        return PairBlocks.of_truth(self.truth)

    def solve(self, max_iter: int, tol: float | None, monitor: Monitor | None) -> Solved:
        """Choose ν⁺ where there is one to choose, then solve."""
        nu_plus = self._nu_plus(max_iter, tol)
        margin = self.margin(self.ranker.nu, nu_plus)
        solution = self._maximize(margin, max_iter, tol, None, monitor)
        return Solved(self.scale * solution.weights, solution, margin, nu_plus)

    @property
    def scale(self) -> float:
        """What turns the solver's weights into the paper's: the optimum of OP 11 is ν·x."""
        return self.ranker.nu if self.ranker.norm == 2 and not self.hard else 1.0

    def gap(self, solution: MarginSolution) -> float:
        """Duality gap: of the largest margin, or of OP 11 (½‖w‖² - ν·g)."""
        return self.scale**2 * solution.gap if self.ranker.norm == 2 else solution.gap

    def margin(self, nu: float, nu_plus: float) -> SoftMargin:
        """The soft margin of the form at a ν."""
        is_exact = self.ranker.form == "exact" or not self.truth.is_labels
        if self.hard:  # of every pair, however light
            equal = replace(self.truth, weights=None, pair_weights=None)
            if is_exact:
                return PairMargin(PairBlocks.of_truth(equal), None)
            return ClassMargin(equal.positives, None, None)
        if is_exact:
            return PairMargin(self.blocks, nu)
        return ClassMargin(self.truth.positives, self.truth.weights, self.kappa(nu, nu_plus))

    def kappa(self, nu: float, nu_plus: float) -> tuple[float, float]:
        """Shares of the positives and of the negatives to average over.

        In the 2-norm version the paper exchanges the classes' roles. The classification SVM
        averages over ν·m/2 rows of each class.
        """
        if self.ranker.form == "classification":
            share = self.positive_share
            return nu / (2.0 * share), nu / (2.0 * (1.0 - share))
        return (nu_plus, nu / nu_plus) if self.ranker.norm == 1 else (nu / nu_plus, nu_plus)

    @property
    def positive_share(self) -> float:
        """p/m, by weight."""
        return float(np.average(self.truth.positives, weights=self.truth.weights))

    @property
    def effective_size(self) -> float:
        """Number of equally weighted rows that are as much evidence: (Σw)²/Σw² (Kish)."""
        weights = self.truth.weights
        if weights is None:
            return float(self.truth.n_rows)
        return float(weights.sum() ** 2 / (weights @ weights))

    def promise(self, nu_plus: float) -> tuple[float, str]:
        """The share of pairs that must reach ρ̂, and who says so."""
        if self.hard:
            return 1.0, "hard margin"
        if self.ranker.form == "exact":
            return (
                1.0 - self.ranker.nu,
                "equation (1)" if self.ranker.norm == 1 else "equation (A·1)",
            )
        above, below = (min(kappa, 1.0) for kappa in self.kappa(self.ranker.nu, nu_plus))
        theorem = "Theorem 3" if self.ranker.norm == 1 else "Theorem 5"
        if self.ranker.form == "classification":
            theorem += ", for the classification SVM's shares"
        elif np.isclose(nu_plus**2, self.ranker.nu):
            theorem = "Corollary 4" if self.ranker.norm == 1 else "Corollary 6"
        return (1.0 - above) * (1.0 - below), theorem

    def smallest_nu(self) -> float:
        """About the smallest ν at which the difference of the class means has a soft margin."""
        at_zero = self.margin(1.0, 1.0).at(np.zeros(self.truth.n_rows)).gradient
        means = self.design.correlate(at_zero)
        scores = self.design.scores(means if self.ranker.signed else np.maximum(means, 0.0))
        low, high = self.ranker.nu, 1.0
        for _ in range(12):
            middle = 0.5 * (low + high)
            if self.margin(middle, float(np.sqrt(middle))).at(scores).value > 0:
                high = middle
            else:
                low = middle
        return high

    def _nu_plus(self, max_iter: int, tol: float | None) -> float:
        if self.hard or self.ranker.form != "product":
            return np.nan
        if self.ranker.nu_plus is not None:
            return self.ranker.nu_plus
        precision = self.ranker.nu_plus_tol
        coarse = max(tol or 0.0, TANGENT_TOL) if precision is None else float(precision)

        def tangent(centre: float, weights: Floats | None) -> MarginSolution:
            margin = TangentMargin(
                self.truth.positives,
                self.truth.weights,
                self.ranker.nu,
                centre,
                swapped=self.ranker.norm == 2,
            )
            return self._maximize(margin, max_iter, coarse, weights, None, sparse=False)

        guess = self.ranker.nu_plus_start
        starts = [math.sqrt(self.ranker.nu) if guess is None else float(guess)]
        if self.ranker.n_starts > 1:  # valleys of γ̂ lie on both sides of √ν (Figure 2)
            starts += np.geomspace(self.ranker.nu, 1.0, int(self.ranker.n_starts) - 1).tolist()
        runs = [lower_by_tangents(self.ranker.nu, tangent, coarse, start) for start in starts]
        found = min(runs, key=lambda run: round(run[1][-1], 6))[0]  # the first of equal ones
        special = (self.ranker.nu, math.sqrt(self.ranker.nu), 1.0)  # as the search gives them
        if precision is not None or found in special:
            return found
        # further digits hang on rounding: γ̂ is flat here
        return min(max(float(f"{found:.2g}"), self.ranker.nu), 1.0)

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
        if isinstance(self.design, GramRows) or self.ranker.norm == 2:
            return nearest_point(self.design, margin, **stopping)
        return maximize_on_ball(
            self.design,
            margin,
            signed=self.ranker.signed,
            constant=self.ranker.constant,
            start=start,
            sparse=sparse,
            **stopping,
        )


def check_form(ranker: Any, truth: Truth) -> None:
    """Raise where the form cannot be had on these rows."""
    if ranker.form == "exact":
        return
    if not truth.is_labels:
        raise ValueError(
            f"form={ranker.form!r} needs two classes, but grades or pairs were given; "
            "use form='exact'."
        )
    if truth.lists is not None:
        raise ValueError(
            f"form={ranker.form!r} averages over the classes of one list, but groups were given; "
            "use form='exact'."
        )
    share = float(np.average(truth.positives, weights=truth.weights))
    most = 2.0 * min(share, 1.0 - share)
    if ranker.form == "classification" and ranker.margin == "soft" and ranker.nu > most:
        # a class has fewer than the ν·m/2 rows to average over, and the margin no limit
        raise ValueError(
            f"nu={ranker.nu} is more than 2·min(p, n)/m = {most:.4g}, where the classification "
            f"SVM has no optimum; choose nu up to {most:.4g}, or form='product'."
        )


def check_constants(ranker: Any, table: Any) -> None:
    """Raise where the constant hypothesis is left out and yet among the columns."""
    if ranker.constant:
        return
    same = np.flatnonzero(np.isinf(SymmetricFeatures().fit(table).span_))
    if same.size:
        raise ValueError(
            f"constant=False, but column {same[0]} has one value in all rows, which is the "
            "constant hypothesis again; drop the column."
        )


def check_parameters(ranker: Any) -> None:
    """Raise where a parameter of the ranker makes no sense."""
    check_choice("norm", ranker.norm, (1, 2))
    check_choice("margin", ranker.margin, ("soft", "hard"))
    check_choice("form", ranker.form, ("exact", "product", "classification"))
    _check_share("nu", ranker.nu)
    if ranker.nu_plus is not None:
        if ranker.form != "product" or ranker.margin == "hard":
            raise ValueError(
                f"nu_plus={ranker.nu_plus!r} belongs to form='product' with margin='soft', got "
                f"form={ranker.form!r} and margin={ranker.margin!r}; leave it None."
            )
        _check_share("nu_plus", ranker.nu_plus)
        if ranker.nu_plus < ranker.nu:
            raise ValueError(
                f"nu_plus must lie between nu={ranker.nu} and 1, got {ranker.nu_plus!r}; "
                "the square root of nu treats both classes alike."
            )
    _check_search(ranker)
    if ranker.norm == 2 and not ranker.signed:
        raise ValueError("signed=False needs norm=1; with norm=2 weights have both signs.")
    if ranker.signed and not ranker.constant:
        raise ValueError(
            "constant=False needs signed=False; weights of both signs can cancel each other, which "
            "is what the constant hypothesis does."
        )
    _check_kernel(ranker.kernel, ranker.norm)
    check_number("delta", ranker.delta, 0.0, 1.0, inside=True)
    check_stopping(ranker.tol, ranker.max_iter)


def _check_search(ranker: Any) -> None:
    """Raise where the search for ν⁺ cannot begin or end."""
    check_number("n_starts", ranker.n_starts, 1, whole=True)
    check_number("nu_plus_start", ranker.nu_plus_start, ranker.nu, 1.0, optional=True)
    check_number("nu_plus_tol", ranker.nu_plus_tol, 0.0, optional=True)


def _check_kernel(kernel: Any, norm: int) -> None:
    known = sorted(PAIRWISE_KERNEL_FUNCTIONS)
    if not callable(kernel) and kernel not in known:
        raise ValueError(
            f"kernel must be a function of two rows or one of {', '.join(known)}; got {kernel!r}."
        )
    if kernel != "linear" and norm == 1:
        raise ValueError(f"kernel={kernel!r} needs norm=2; a 1-norm is of the features' weights.")


def _check_share(name: str, value: Any) -> None:
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    if not is_real or not 0 < float(value) <= 1:
        raise ValueError(f"{name} must lie above 0 and at most at 1, got {value!r}.")
