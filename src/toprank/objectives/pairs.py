"""Mean hinge losses over all pairs, with products of their curvature: for Newton's method.

    value(s) = Σ w_i·w_j·ℓ(s_i - s_j) / Σ w_i·w_j     over the pairs (i above j) of some blocks

with ℓ(z) = max(0, 1 - z) ("hinge") or its square ("squared_hinge"). One sort and a sweep:
O(rows·log rows), memory O(rows) (times grades where there are more than two). At the hinge's kink
the sub-gradient 0 is taken. Unlike :class:`toprank.objectives.Push` with price 1 this is a mean,
so that a penalty means the same on tables of every size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from toprank.kernels.pair_hinges import active_moments, active_products
from toprank.objectives.base import Criterion

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from toprank.kernels.pair_blocks import PairBlocks

    Floats = NDArray[np.float64]

__all__ = ["PairHinge"]


class PairHinge(Criterion):
    """The mean (squared) hinge of the pairs of some blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.kernels.pair_blocks import PairBlocks
    >>> from toprank.objectives.pairs import PairHinge
    >>> blocks = PairBlocks.of_grades(np.array([2, 1, 0]), None, None)
    >>> PairHinge(blocks, "hinge").value(np.array([2.0, 2.0, 0.0]))  # one pair of three is tied
    0.3333333333333333
    """

    def __init__(self, blocks: PairBlocks, loss: Literal["hinge", "squared_hinge"]) -> None:
        self.blocks = blocks
        self.n_rows = blocks.n_rows
        self._power = 2 if loss == "squared_hinge" else 1

    def value(self, scores: NDArray[Any]) -> float:
        blocks, _, _ = self.blocks.sort(scores)
        of_upper, _ = active_moments(blocks)
        return float(blocks.upper_weights @ of_upper[self._power]) / self.blocks.pair_weight

    def risk(self, scores: NDArray[Any]) -> float:
        return self.value(scores)

    def value_and_gradient(self, scores: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        blocks, upper_rows, lower_rows = self.blocks.sort(scores)
        of_upper, of_lower = active_moments(blocks)
        total = self.blocks.pair_weight
        slope = self._power / total
        gradient = self.blocks.to_rows(
            upper_rows,
            -slope * blocks.upper_weights * of_upper[self._power - 1],
            lower_rows,
            slope * blocks.lower_weights * of_lower[self._power - 1],
        )
        value = float(blocks.upper_weights @ of_upper[self._power]) / total
        return value, gradient.astype(scores.dtype, copy=False)

    def gradient_and_hessian(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and the Hessian's diagonal, which is 0 for the plain hinge."""
        _, gradient = self.value_and_gradient(scores)
        blocks, upper_rows, lower_rows = self.blocks.sort(scores)
        of_upper, of_lower = active_moments(blocks)
        bend = (2.0 if self._power == 2 else 0.0) / self.blocks.pair_weight
        diagonal = self.blocks.to_rows(
            upper_rows,
            bend * blocks.upper_weights * of_upper[0],
            lower_rows,
            bend * blocks.lower_weights * of_lower[0],
        )
        return gradient, diagonal.astype(scores.dtype, copy=False)

    def curvature(self, scores: NDArray[Any]) -> Callable[[Floats], Floats]:
        """Give v ↦ (Hessian of the squared hinge)·v at these scores: O(rows) per product."""
        blocks, upper_rows, lower_rows = self.blocks.sort(scores)
        bend = 2.0 / self.blocks.pair_weight

        def product(moves: Floats) -> Floats:
            of_upper, of_lower = active_products(blocks, moves[upper_rows], moves[lower_rows])
            return self.blocks.to_rows(upper_rows, bend * of_upper, lower_rows, bend * of_lower)

        return product
