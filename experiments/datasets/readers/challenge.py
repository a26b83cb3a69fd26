"""Sets of plain numbers: the two-file form of the 2006 challenge, and numpy archives."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np

from experiments.datasets.readers.delimited import read_numbers
from experiments.datasets.readers.raw import Raw

__all__ = ["Challenge", "Npz"]


@dataclass(frozen=True)
class Challenge:
    """Features in one file, blank-separated, one row per line; labels -1 and 1 in another."""

    n_features: int

    def __call__(self, features: bytes, labels: bytes) -> Raw:
        """Features and labels."""
        names = _numbered(self.n_features)
        rows = features.replace(b"\r", b"").replace(b" \n", b"\n")
        X = read_numbers(rows, names, delimiter=" ")
        return Raw(X, np.array(labels.split(), dtype=np.int64), names)


@dataclass(frozen=True)
class Npz:
    """A numpy archive with the arrays ``X`` and ``y``."""

    n_features: int

    def __call__(self, archive: bytes) -> Raw:
        """Features and labels."""
        with np.load(io.BytesIO(archive), allow_pickle=False) as arrays:
            X = arrays["X"].astype(np.float64, copy=False)
            y = arrays["y"].astype(np.int64, copy=False)
        return Raw(X, y, _numbered(self.n_features))


def _numbered(n_features: int) -> tuple[str, ...]:
    return tuple(f"x{i}" for i in range(1, n_features + 1))
