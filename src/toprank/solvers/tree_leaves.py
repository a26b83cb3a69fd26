"""How objectives grow trees: gradients of the rows, Newton steps on the values of the leaves.

With δ the values of the leaves, the objective is V(s + δ[leaf]), and a step solves

    (H + λI)·δ = -g,     g_a = Σ_{i∈a} ∂V/∂s_i,     H_ab = Σ_{i∈a, j∈b} ∂²V/∂s_i∂s_j.

Gradients are scaled by c: where all scores tie, their absolute values add up to the total weight of
the rows, as if every row asked for a step of 1; the log loss has that scale already. So λ means the
same for every objective. The exponential push on two classes of one list has, with q and r the
shares of the leaves in the tilted masses of positives and negatives, of powers a and b,

    g = c·(r - q),     H = c·a·(diag q - q·qᵀ) + c·b·(diag r - r·rᵀ),

and the IR push, with h the sums of σ(1 - σ) over the positives of each leaf and S that of σ,

    g = c·(S·r - Σσ),  H = c·(diag h - h·rᵀ - r·hᵀ + Σh·r·rᵀ + S·(diag r - r·rᵀ)).

Other objectives give the diagonal of H only.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.tree_splits import newton_step, push_steps
from toprank.kernels.tree_terms import IR_PUSH, LOG_LOSS, PUSH, Terms, class_weights
from toprank.objectives import LogLoss, Push, ir_push
from toprank.objectives.exponential import PushFormula
from toprank.objectives.precision import PrecisionCriterion

if TYPE_CHECKING:
    from toprank.objectives import Criterion, Objective
    from toprank.objectives.exponential import TiltedMass
    from toprank.solvers.tree_table import GrowingRows
    from toprank.truth import Truth

Floats = NDArray[np.float64]

# Newton steps per tree: a push takes all three from the same sums by leaf.
N_STEPS = 3
# Longest change of a leaf in one step: beyond it an exponential is far from quadratic.
LONGEST_STEP = 2.0


class LeafObjective(ABC):
    """An objective as boosted trees see it.

    Attributes
    ----------
    start : float
        Score that all rows begin with.
    bound : float
        What the absolute gradients add up to at most; 0 where nothing is left to gain.
    """

    start = 0.0
    bound: float

    @abstractmethod
    def set_gradients(self, rows: Any) -> None:
        """Set the gradients at the present scores, which the next tree follows."""

    @abstractmethod
    def leaf_values(self, rows: Any, n_leaves: int, penalty: float) -> Floats:
        """Give the values of the leaves, before the learning rate."""

    @abstractmethod
    def value(self, rows: Any) -> float:
        """Give the value of the objective."""

    def cut(self, rows: Any) -> float | None:  # noqa: ARG002
        """What makes scores cross 0 at probability 1/2; None where no theory says it."""
        return None


def leaf_objective(objective: Objective, truth: Truth) -> LeafObjective:
    """Choose how an objective is computed: by sums over rows where that is enough."""
    if not truth.is_labels:
        return CriterionLeaves(objective.criterion(truth), truth)
    made = summed_objective(objective, *class_weights(truth.positives, truth.weights))
    if made is not None and (truth.is_one_list or isinstance(objective, LogLoss)):
        return made
    return CriterionLeaves(objective.criterion(truth), truth)


def summed_objective(objective: Objective, positive: float, total: float) -> LeafObjective | None:
    """Objective that is a sum over the rows of one list; None for others.

    ``positive`` and ``total`` are the weight of the positives and of all rows.
    """
    if isinstance(objective, LogLoss):
        return LogLossLeaves(positive, total)
    if objective == ir_push():
        return IRPushLeaves(positive, total)
    if isinstance(objective, Push) and objective.one_end_power is not None:
        sign = 1 if objective.focus == "top" else -1
        return PushLeaves(PushFormula(objective.one_end_power, {sign: 1.0}), sign, total)
    return None


class LogLossLeaves(LeafObjective):
    """The log loss: a sum over single rows, so leaves are independent of each other."""

    def __init__(self, positive: float, total: float) -> None:
        self.start = math.log(positive / (total - positive))
        self.bound = total

    def value(self, rows: GrowingRows) -> float:
        return rows.sum_losses(Terms(LOG_LOSS)) / self.bound

    def cut(self, rows: GrowingRows) -> float:  # noqa: ARG002
        return 0.0

    def set_gradients(self, rows: GrowingRows) -> None:
        rows.set_gradients(Terms(LOG_LOSS), (1.0, 1.0))

    def leaf_values(self, rows: GrowingRows, n_leaves: int, penalty: float) -> Floats:
        values = np.zeros(n_leaves)
        for _ in range(N_STEPS):
            sums = rows.sums(Terms(LOG_LOSS), values)
            values -= sums[:, 0] / (sums[:, 1] + penalty)
        return values


class PushLeaves(LeafObjective):
    """The exponential push at one end of one list."""

    def __init__(self, formula: PushFormula, sign: int, total: float) -> None:
        self.bound = total
        self._formula, self._sign, self._scale = formula, sign, total / 2.0

    def _terms_and_sums(self, rows: GrowingRows) -> tuple[Terms, float, float]:
        """Terms at the present scores, and their sums over the positives and the negatives."""
        terms = Terms(PUSH, self._formula.powers(self._sign), rows.edges())
        above, _, below = rows.sums(terms, np.zeros(0))[0].tolist()
        return terms, above, below

    def _masses(self, rows: GrowingRows) -> tuple[TiltedMass, TiltedMass]:
        terms, *masses = self._terms_and_sums(rows)
        return self._formula.ends(self._sign, terms.edges, masses)

    def value(self, rows: GrowingRows) -> float:
        return self._formula.value_and_shares(self._masses(rows))[0]

    def cut(self, rows: GrowingRows) -> float:
        return self._formula.intercept(self._masses(rows))

    def set_gradients(self, rows: GrowingRows) -> None:
        self._terms, above, below = self._terms_and_sums(rows)
        rows.set_gradients(self._terms, (-self._scale / above, self._scale / below))

    def leaf_values(self, rows: GrowingRows, n_leaves: int, penalty: float) -> Floats:
        sums = rows.sums(self._terms, np.zeros(n_leaves))
        masses = np.ascontiguousarray(sums.T[::2])
        return push_steps(masses, self._terms.powers, self._scale, penalty, N_STEPS, LONGEST_STEP)


class IRPushLeaves(LeafObjective):
    """The IR push on one list: Σ_i w_i·ln(1 + e^{level - s_i}), level the soft maximum below."""

    def __init__(self, positive: float, total: float) -> None:
        self.bound = total
        self._positive, below = positive, total - positive
        # where all scores tie, each positive has the slope below/(1 + below)
        self._scale = total * (1.0 + below) / (2.0 * positive * below)

    def value(self, rows: GrowingRows) -> float:
        terms = self._leveled(rows, Terms(IR_PUSH, edges=rows.edges()), np.zeros(0))
        return rows.sum_losses(terms) / self._positive

    def set_gradients(self, rows: GrowingRows) -> None:
        sums = self._at_level(rows, Terms(IR_PUSH, edges=rows.edges()), np.zeros(0))[0]
        pull = self._scale * sums[0]
        rows.set_gradients(self._terms, (-self._scale, pull / sums[2]))

    def _at_level(self, rows: GrowingRows, terms: Terms, steps: Floats) -> Floats:
        """Sums by leaf, at the present soft maximum of the negatives."""
        self._terms = self._leveled(rows, terms, steps)
        return rows.sums(self._terms, steps)

    def _leveled(self, rows: GrowingRows, terms: Terms, steps: Floats) -> Terms:
        below = float(rows.sums(terms, steps)[:, 2].sum())
        return terms._replace(level=terms.edges[1] + math.log(below))

    def leaf_values(self, rows: GrowingRows, n_leaves: int, penalty: float) -> Floats:
        values = np.zeros(n_leaves)
        for _ in range(N_STEPS):
            sums = self._scale * self._at_level(rows, self._terms, values)
            pulls, bends, shares = sums[:, 0], sums[:, 1], sums[:, 2] / sums[:, 2].sum()
            pull = pulls.sum()
            middle = np.array([[bends.sum() - pull, -1.0], [-1.0, 0.0]])
            diagonal = bends + pull * shares + penalty
            values += _held(newton_step(pull * shares - pulls, diagonal, shares, bends, middle))
        return values


class CriterionLeaves(LeafObjective):
    """Any objective on rows in memory, by the diagonal of its curvature.

    Where there is no curvature (hinges, precision at k, p = ∞) the row weight takes its place.
    """

    def __init__(self, criterion: Criterion, truth: Truth) -> None:
        self._criterion = criterion
        self._weights = np.ones(truth.n_rows) if truth.weights is None else truth.weights
        _, slopes = criterion.value_and_gradient(np.zeros(truth.n_rows))
        pull = float(np.abs(slopes).sum())
        self._scale = float(self._weights.sum()) / pull if pull > 0.0 else 1.0
        self._is_curved = _is_curved(criterion)

    def value(self, rows: Any) -> float:
        return self._criterion.value(rows.scores)

    def set_gradients(self, rows: Any) -> None:
        _, slopes = self._criterion.value_and_gradient(rows.scores)
        np.multiply(slopes, -self._scale, out=rows.gradients)
        self.bound = float(np.abs(rows.gradients).sum())

    def leaf_values(self, rows: Any, n_leaves: int, penalty: float) -> Floats:
        leaves, values = rows.leaves.astype(np.intp), np.zeros(n_leaves)
        cover = np.bincount(leaves, self._weights, n_leaves)
        for _ in range(N_STEPS):
            scores = rows.scores + values[leaves]
            if self._is_curved:
                slopes, bends = self._criterion.gradient_and_curvature(scores)
            else:
                slopes, bends = self._criterion.value_and_gradient(scores)[1], np.zeros(scores.size)
            pulls = self._scale * np.bincount(leaves, slopes, n_leaves)
            curvature = self._scale * np.bincount(leaves, bends, n_leaves)
            step = -pulls / (np.where(curvature > 0.0, curvature, cover) + penalty)
            values += _held(step)
            if not curvature.any():
                break
        return values


def _is_curved(criterion: Criterion) -> bool:
    """Whether there is a second derivative: p = ∞ and some prices have none, and say so."""
    if isinstance(criterion, PrecisionCriterion):
        return False
    try:
        criterion.gradient_and_curvature(np.zeros(criterion.n_rows))
    except ValueError:
        return False
    return True


def _held(step: Floats) -> Floats:
    """Shorten a step so that no leaf changes by more than :data:`LONGEST_STEP`."""
    longest = float(np.abs(step).max())
    return step * (LONGEST_STEP / longest) if longest > LONGEST_STEP else step
