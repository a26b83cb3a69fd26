"""Memory for long arrays that are made over and over, such as at every step of a solver.

A fresh array costs more than filling it: its pages go back to the system at the end, which finds
and clears new ones the next time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

# Arrays of fewer bytes come from memory that a process keeps anyway; what is kept at most where
# the caller does not say.
FEW_BYTES, MOST_BYTES = 1 << 17, 1 << 28


class Scratch:
    """Arrays whose memory is used again as soon as neither they nor views of them are in use.

    At most ``most_bytes`` are kept for later; copies, also in other processes, start with none.

    Examples
    --------
    >>> from toprank.kernels.scratch import Scratch
    >>> scratch = Scratch()
    >>> first = scratch.empty(100_000)
    >>> where = first.ctypes.data
    >>> del first
    >>> scratch.empty(100_000).ctypes.data == where
    True
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._unused: dict[int, list[NDArray[np.uint8]]] = {}

    @property
    def n_bytes(self) -> int:
        """How much is kept now; a running count would be wrong after threads that meet."""
        return sum(size * len(arrays) for size, arrays in list(self._unused.items()))

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Array of this shape that may hold anything, as ``np.empty`` gives it."""
        lengths = (shape,) if isinstance(shape, int) else shape
        kind = np.dtype(dtype)
        needed = kind.itemsize * int(np.prod(lengths))
        if needed < FEW_BYTES:
            return np.empty(lengths, kind)
        # a multiple of so many bytes, so that lengths that change a little find memory too
        size = -(-needed // FEW_BYTES) * FEW_BYTES
        try:
            memory = self._unused[size].pop()
        except (KeyError, IndexError):
            memory = np.empty(size, np.uint8)
        return np.asarray(_Lent(self, memory, lengths, kind))

    def empty_like(self, array: NDArray[Any]) -> NDArray[Any]:
        """Array of the same shape and dtype."""
        return self.empty(array.shape, array.dtype)

    def take(self, values: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[Any]:
        """``values[rows]``."""
        # "clip" as numpy would write to a copy first if it had to raise
        return values.take(rows, out=self.empty(rows.size, values.dtype), mode="clip")

    def take_back(self, memory: NDArray[np.uint8]) -> None:
        """Keep memory that is used no more."""
        if self.n_bytes + memory.size <= self._most_bytes:
            self._unused.setdefault(memory.size, []).append(memory)

    def __reduce__(self) -> tuple[type[Scratch], tuple[int]]:
        return Scratch, (self._most_bytes,)


class _Lent:
    """Owner of the memory of an array of a :class:`Scratch` and of all views of it."""

    def __init__(
        self, owner: Scratch, memory: NDArray[np.uint8], shape: tuple[int, ...], dtype: Any
    ) -> None:
        self._owner, self._memory = owner, memory
        self.__array_interface__ = {
            "data": (memory.ctypes.data, False),
            "shape": shape,
            "typestr": dtype.str,
            "version": 3,
        }

    def __del__(self) -> None:
        self._owner.take_back(self._memory)
