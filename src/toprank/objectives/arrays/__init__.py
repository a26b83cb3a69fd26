"""The objectives in array-API terms: numpy arrays and PyTorch tensors run the same lines.

A formula (:class:`Push`, :class:`IRPush`, :class:`Pairs`, :class:`PrecisionAtK`,
:class:`NDCGHinge`) takes a :class:`Batch` and gives its value together with what its gradient
needs::

    value, kept = formula.value(batch)
    gradient = formula.gradient(batch, kept)

Nothing is compiled here and nothing depends on how many positives there are, so a batch may live
on a graphics card. On a processor the loops behind :mod:`toprank.objectives` do the same faster;
tests hold both together. Of the two array libraries more is asked than the standard has in one
place: ``out[order] = values`` must work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from toprank.objectives.arrays.formulas import IRPush, Pairs, Push
from toprank.objectives.arrays.ndcg import NDCGHinge
from toprank.objectives.arrays.precision import PrecisionAtK
from toprank.objectives.arrays.rows import Batch

if TYPE_CHECKING:
    from toprank.objectives.arrays.rows import Array

__all__ = ["Batch", "Formula", "IRPush", "NDCGHinge", "Pairs", "PrecisionAtK", "Push"]


class Formula(Protocol):
    """What the classes here have in common."""

    def value(self, batch: Batch) -> tuple[Array, tuple[Array, ...]]:
        """Value, and what the gradient needs."""

    def gradient(self, batch: Batch, kept: tuple[Array, ...]) -> Array:
        """Derivative with respect to every score."""
