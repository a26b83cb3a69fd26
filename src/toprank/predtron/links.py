"""Links: margins in other norms than the Euclidean (Algorithm 3 of the paper).

A run keeps θ ← θ − η·∇ and predicts with W = (∇ψ)⁻¹(θ) for ψ = ½‖·‖_r². With 1/r + 1/q = 1,

::

    w_j = sign(θ_j)·|θ_j|^{q−1} / ‖θ‖_q^{q−2}

on the entries of θ (l_r), on the lengths of its features with their directions kept (group), or
on its singular values (schatten). r near 1 favours few entries, few features or low rank; r = 2
changes nothing. Unless r is given, q = max(2, ln n) for n entries, features or singular values:
the paper's r = ln n/(ln n − 1) where that makes sense.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import check_choice

Floats = NDArray[np.float64]


def _norm(lengths: Floats, order: float) -> float:
    """(Σ length^order)^{1/order}."""
    peak = float(lengths.max(initial=0.0))
    # The peak first: powers of numbers between 0 and 1 cannot overflow.
    return peak * float(((lengths / peak) ** order).sum()) ** (1.0 / order) if peak else 0.0


def _linked(lengths: Floats, q: float) -> Floats:
    """What each length is multiplied with: (length/‖lengths‖_q)^{q−2}."""
    factors: Floats = (lengths / (_norm(lengths, q) or 1.0)) ** (q - 2.0)
    return factors


class Link(ABC):
    """The map from θ to the weights; both are p × d, one row per feature.

    Parameters
    ----------
    r : float, optional
        Order of the norm, above 1 and at most 2; by default q = max(2, ln n).
    """

    by_entries = True  # whether the bound is about the largest entry of X, not about its length

    def __init__(self, r: Any = None) -> None:
        if r is not None and not (isinstance(r, Real) and 1 < float(r) <= 2):
            raise ValueError(f"r must be None or a number above 1 and at most 2, got {r!r}.")
        self.r = r

    @abstractmethod
    def n_parts(self, shape: tuple[int, ...]) -> int:
        """How many numbers the norm is taken over."""

    @abstractmethod
    def lengths(self, weights: Floats) -> Floats:
        """The numbers that the norm is taken over: one per weight, or one per feature (p × 1)."""

    def weights(self, theta: Floats) -> Floats:
        """(∇ψ)⁻¹(θ)."""
        return theta * _linked(self.lengths(theta), self.q(theta.shape))

    def norm(self, weights: Floats) -> float:
        """The norm that a reference is measured in: of order r, thus at most that of order 1."""
        q = self.q(weights.shape)
        return _norm(self.lengths(weights), q / (q - 1.0))

    def q(self, shape: tuple[int, ...]) -> float:
        """The dual order."""
        if self.r is None:
            return max(2.0, math.log(max(self.n_parts(shape), 1)))
        return float(self.r) / (float(self.r) - 1.0)

    def growth(self, shape: tuple[int, ...]) -> float:
        """By how much the bound grows over the Euclidean one at equal R: (q − 1)·n^{2/q}.

        q − 1 is what ψ lacks in convexity, n^{2/q} (e² at q = ln n) what the q-norm can exceed
        the largest entry by.
        """
        q = self.q(shape)
        return (q - 1.0) * math.pow(self.n_parts(shape), 2.0 / q)


class EntrywiseLink(Link):
    """ℓ_r norm of all entries: for few features (and few of their scores) that matter.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.predtron import EntrywiseLink
    >>> EntrywiseLink(r=1.25).weights(np.array([[3.0], [1.0]])).round(3).ravel()
    array([2.993, 0.037])
    """

    def n_parts(self, shape: tuple[int, ...]) -> int:
        return shape[0] * shape[1]

    def lengths(self, weights: Floats) -> Floats:
        return np.abs(weights)


class GroupLink(Link):
    """(2, r) norm: ℓ_r norm of the features' Euclidean lengths, for few features that matter.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.predtron import GroupLink
    >>> GroupLink(r=1.25).weights(np.array([[3.0, 4.0], [1.0, 0.0]])).round(3)
    array([[2.999, 3.999],
           [0.008, 0.   ]])
    """

    def n_parts(self, shape: tuple[int, ...]) -> int:
        return shape[0]

    def lengths(self, weights: Floats) -> Floats:
        peak = float(np.abs(weights).max(initial=0.0))
        lengths: Floats = np.linalg.norm(weights / (peak or 1.0), axis=1, keepdims=True)
        return peak * lengths


class SchattenLink(Link):
    """ℓ_r norm of the singular values (r → 1: the trace norm), for weights of low rank.

    Every update needs a singular value decomposition, O(p·d·min(p, d)). A step has rank one, so
    its norm is the same in every order and the bound grows by q − 1 only.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.predtron import SchattenLink
    >>> SchattenLink(r=1.25).weights(np.diag([3.0, 1.0])).round(3) + 0.0
    array([[2.993, 0.   ],
           [0.   , 0.037]])
    """

    by_entries = False

    def n_parts(self, shape: tuple[int, ...]) -> int:
        return min(shape)

    def weights(self, theta: Floats) -> Floats:
        left, values, right = np.linalg.svd(theta, full_matrices=False)
        linked: Floats = (left * (values * _linked(values, self.q(theta.shape)))) @ right
        return linked

    def lengths(self, weights: Floats) -> Floats:
        values: Floats = np.linalg.svd(weights, compute_uv=False).astype(np.float64)
        return values

    def growth(self, shape: tuple[int, ...]) -> float:
        return self.q(shape) - 1.0


LINKS: dict[str, type[Any]] = {"l_r": EntrywiseLink, "group": GroupLink, "schatten": SchattenLink}


def link_from(name: Any, r: float | None) -> Link | None:
    """The link of that name, or None for "none"."""
    if name == "none":
        if r is not None:
            raise ValueError(f"r={r!r} means nothing with link='none'; leave it out.")
        return None
    check_choice("link", name, ("none", *LINKS))
    link: Link = LINKS[name](r)
    return link
