"""Features on [-1, 1], the papers' scale for margins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from toprank.kernels.threads import Threads
from toprank.weak_rankers.features import Features, ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SymmetricFeatures", "check_values"]

# A column whose values lie within this many units in the last place holds one value and rounding.
LAST_PLACES = 4
# How far from the largest float values must stay to be added up, and from the smallest normal one
# to be divided by.
ROOM_ABOVE, ROOM_BELOW = 1e8, 1e3


class SymmetricFeatures(Features):
    """h_j(x) = (2·x_j - max_j - min_j) / (max_j - min_j), with the range of the training table.

    ``scale=False`` leaves the features as they are. The table is never copied; a constant feature
    (up to rounding) has an infinite span, so that it is 0 everywhere, to the last bit. Sparse
    tables stay sparse.
    """

    def __init__(self, *, scale: bool = True) -> None:
        self.scale = scale

    def fit(self, X: Any, *, threads: Threads | None = None) -> Self:
        """Learn the range of each feature."""
        if not self.scale:
            self.low_, self.span_ = np.zeros(X.shape[1]), np.ones(X.shape[1])
            return self
        low, high = _ranges(X, threads)
        largest = np.maximum(np.abs(low), np.abs(high))
        is_constant = high - low <= LAST_PLACES * np.spacing(largest)
        lowest, highest = (edge.astype(np.float64) / 2 for edge in (low, high))
        self.low_ = np.where(is_constant, low, lowest + highest)
        self.span_ = np.where(is_constant, np.inf, highest - lowest)
        return self


def _ranges(X: Any, threads: Threads | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Smallest and largest value of every column, dense or sparse."""
    is_sparse: bool = sparse.issparse(X)
    if is_sparse:
        return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    return ranges(X, threads or Threads())


def check_values(table: Any, *, scale: bool, limits: tuple[float, float]) -> None:
    """Raise where sums of the values would overflow or vanish.

    Scaled columns must have a range that a float can divide by and add up. Unscaled, the largest
    value of the table must lie within the limits; smaller ones beside it may be anything.
    """
    low, high = _ranges(table)
    largest = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
    column = int(largest.argmax())
    if not scale:
        if largest[column] and not limits[0] <= largest[column] <= limits[1]:
            raise ValueError(
                f"X holds {largest[column]:.3g} in column {column}, the largest value of the "
                f"table, but with scale=False it must lie between {limits[0]:g} and "
                f"{limits[1]:g}; set scale=True or multiply the table."
            )
        return
    info = np.finfo(table.dtype)
    if largest[column] > float(info.max) / ROOM_ABOVE:
        raise ValueError(
            f"X holds {largest[column]:.3g} in column {column}, too large to be added up; multiply "
            f"the column by {_power_of_ten(largest[column])}."
        )
    wide = high.astype(np.float64) - low
    tiny = np.flatnonzero(
        (wide > LAST_PLACES * np.spacing(largest.astype(table.dtype)))
        & (wide < float(info.tiny) * ROOM_BELOW)
    )
    if tiny.size:
        raise ValueError(
            f"column {tiny[0]} of X varies by no more than {wide[tiny[0]]:.3g}, too little to be "
            f"divided by; multiply the column by {_power_of_ten(wide[tiny[0]])}."
        )


def _power_of_ten(value: float) -> str:
    """What brings a value near 1, as far as floats go."""
    return f"1e{min(-math.floor(math.log10(value)), 300):+d}"
