"""Rows as the losses see them: scores in a safe dtype, masks instead of selections.

Nothing here depends on how many positives there are, so that no length must be read back from
the GPU and ``torch.compile`` sees one shape. Only lists (``groups``) are counted.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["LOWEST", "Rows", "masked_logsumexp", "read"]

# Stands for log 0. Finite, because -inf minus -inf is not a number in a backward pass.
LOWEST = -1e30


class Rows(NamedTuple):
    """Checked rows; ``weight`` None is 1 for all, ``lists`` None is one list."""

    scores: Tensor
    positive: Tensor
    negative: Tensor
    weight: Tensor | None
    lists: Tensor | None
    n_lists: int

    def flipped(self) -> Rows:
        """The same rows with the order and the classes turned round, for the bottom push."""
        return self._replace(scores=-self.scores, positive=self.negative, negative=self.positive)

    def in_float64(self) -> Rows:
        """The same rows with scores that can be summed over and over."""
        return self._replace(scores=self.scores.double())

    def per_row(self, per_list: Tensor) -> Tensor:
        """Hand every row the number of its list."""
        return per_list if self.lists is None else per_list[self.lists]

    def amount(self, mask: Tensor) -> Tensor:
        """Weight of the rows in a mask."""
        ones = mask.to(self.scores.dtype)
        return (ones if self.weight is None else ones * self.weight).sum()

    def compared(self, inner: Tensor, outer: Tensor) -> tuple[Tensor, Tensor]:
        """Both masks without the lists that hold only one of the two."""
        if self.lists is None:
            both = inner.any() & outer.any()
            return inner & both, outer & both
        found = torch.zeros(2, self.n_lists, dtype=torch.bool, device=inner.device)
        found[0] = (
            torch.zeros_like(found[0], dtype=torch.int).index_add(0, self.lists, inner.int()).bool()
        )
        found[1] = (
            torch.zeros_like(found[1], dtype=torch.int).index_add(0, self.lists, outer.int()).bool()
        )
        both = found.all(0)[self.lists]
        return inner & both, outer & both


def read(scores: Tensor, y: Tensor, weight: Tensor | None, groups: Tensor | None) -> Rows:
    """Check what was handed over."""
    scores, y = _flat("scores", scores), _flat("y", y)
    if not scores.is_floating_point():
        raise TypeError(f"scores must be floating-point numbers, got {scores.dtype}.")
    for name, other in (("y", y), ("weight", weight), ("groups", groups)):
        if other is not None and other.numel() != scores.numel():
            raise ValueError(
                f"{name} has {other.numel()} rows, but scores has {scores.numel()}; pass one a row."
            )
    if scores.dtype != torch.float64:
        scores = scores.float()  # bfloat16 has three digits: too few for differences
    positive = y > 0
    negative = ~positive
    lists, n_lists = None, 1
    if groups is not None:
        names, lists = torch.unique(_flat("groups", groups), return_inverse=True)
        n_lists = names.numel()
    if weight is not None:
        weight = _flat("weight", weight).detach().to(scores.dtype)
        positive, negative = positive & (weight > 0), negative & (weight > 0)
    return Rows(scores, positive, negative, weight, lists, n_lists)


def _flat(name: str, values: Tensor) -> Tensor:
    if not isinstance(values, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(values).__name__}.")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must hold one number a row, got shape {tuple(values.shape)}.")
    return values


def masked_logsumexp(x: Tensor, mask: Tensor, weight: Tensor | None, rows: Rows) -> Tensor:
    """Log Σ w·e^x over the rows in the mask, one number or one a list; LOWEST where none is."""
    if weight is not None:
        x = x + torch.where(mask, weight, 1.0).log()
    x = x.masked_fill(~mask, LOWEST)
    if rows.lists is None:
        return torch.logsumexp(x, 0)
    peak = torch.full((rows.n_lists,), LOWEST, dtype=x.dtype, device=x.device)
    peak = peak.scatter_reduce(0, rows.lists, x.detach(), "amax")
    mass = (x - peak[rows.lists]).exp().masked_fill(~mask, 0.0)
    total = torch.zeros_like(peak).index_add(0, rows.lists, mass)
    empty = total == 0
    return torch.where(empty, LOWEST, peak + torch.where(empty, 1.0, total).log())
