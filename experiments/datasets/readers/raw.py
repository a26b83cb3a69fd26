"""What every reader returns, and the fingerprint that tells whether it is what was expected."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["Raw"]


@dataclass(frozen=True, eq=False)
class Raw:
    """One part of a data set as its file has it.

    ``y`` holds the classes as the file spells them, relevance grades, or an indicator matrix.
    """

    X: NDArray[np.float64] | csr_array[np.float64]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...] = ("target",)
    groups: NDArray[np.int64] | None = None

    def fingerprint(self) -> str:
        """SHA-256 of the parsed values, the same on every platform and for every compression.

        It is taken of the arrays, not of the file: line ends, blanks and a header line that
        a copy may have gained do not matter, a changed value does.
        """
        digest = hashlib.sha256(repr(self.X.shape).encode())
        for array in (*_blocks(self.X), self.y, self.groups):
            if array is not None:
                digest.update(_canonical(array))
        return digest.hexdigest()


def _blocks(X: NDArray[np.float64] | csr_array[np.float64]) -> tuple[NDArray[Any], ...]:
    if isinstance(X, np.ndarray):
        return (X,)
    X.sum_duplicates()  # also sorts the columns within each row
    return X.indptr, X.indices, X.data


def _canonical(array: NDArray[Any]) -> bytes | memoryview:
    """Little-endian bytes, with one bit pattern for NaN and fixed widths for integers."""
    if array.dtype.kind in "US":
        return "\n".join(array.ravel().astype(str).tolist()).encode()
    if array.dtype.kind == "f":
        array = np.ascontiguousarray(array, dtype="<f8")
        missing = np.isnan(array)
        if missing.any():
            array = np.where(missing, np.nan, array)
    else:
        array = np.ascontiguousarray(array, dtype="<i8")
    return array.reshape(-1).data
