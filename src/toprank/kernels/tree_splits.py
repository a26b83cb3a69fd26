"""The best split of a level of an oblivious tree, and Newton's step on the values of its leaves.

Of leaf sums of gradients G and weights W, a split makes 2^(level + 1) leaves; with v = G/(W + λ)
its score is the cosine between the gradients and the leaf values (Prokhorenkova et al. 2018)::

    score = Σ G·v / √(Σ W·v²)          over the new leaves
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.jit import compiled
from toprank.kernels.tilts import class_exponent
from toprank.kernels.tree_rows import NORMALS, mixed

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@compiled
def subtract(parents: Integers, children: Integers, known: Integers, start: int, stop: int) -> None:
    """Fill in the siblings: parent minus child, bins ``start`` to ``stop`` of every leaf.

    ``known[l]`` is the child of leaf l that is filled already, 2l or 2l + 1.
    """
    for leaf in range(known.size):
        other = 4 * leaf + 1 - known[leaf]
        for b in range(start, stop):
            children[other, b] = parents[leaf, b] - children[known[leaf], b]


@compiled
def sums_after_split(histograms: Integers, last: int, left_code: int) -> tuple[Integers, Integers]:
    """Packed sums of the leaves that a split makes, and of every two siblings the lighter one.

    ``histograms`` has a row per leaf, the bins of the split's column: those above ``last`` but for
    ``left_code`` go right.
    """
    n_leaves = histograms.shape[0]
    totals, lighter = np.empty(2 * n_leaves, np.int64), np.empty(n_leaves, np.int64)
    for leaf in range(n_leaves):
        left = right = np.int64(0)
        for code in range(histograms.shape[1]):
            if code > last and code != left_code:
                right += histograms[leaf, code]
            else:
                left += histograms[leaf, code]
        totals[2 * leaf], totals[2 * leaf + 1] = left, right
        lighter[leaf] = 2 * leaf + ((right & 0xFFFFFFFF) < (left & 0xFFFFFFFF))
    return totals, lighter


@compiled
def _sides(
    left: tuple[float, float], total: tuple[float, float], penalty: float, sign: int
) -> tuple[float, float]:
    """Σ G·v and Σ W·v² of the two sides of a leaf; a wrong direction counts as no split."""
    right_g, right_w = total[0] - left[0], total[1] - left[1]
    low, high = left[0] / (left[1] + penalty), right_g / (right_w + penalty)
    if sign * (high - low) < 0:
        low = high = total[0] / (total[1] + penalty)
    return left[0] * low + right_g * high, left[1] * low * low + right_w * high * high


@compiled
def _score_column(
    histogram: Integers,
    totals: Integers,
    column: tuple[Any, Any, Any],
    missing_left: bool,
    units: tuple[float, float],
    penalty: float,
    gains: Floats,
    norms: Floats,
) -> None:
    """Numerator and squared denominator of the score of every threshold of one column.

    A leaf's share changes only at bins that hold some of its rows, so changes are added up.
    ``column`` has the first bin, the number of thresholds and the direction; the bin of missing
    values follows those of values.
    """
    first, n_thresholds, sign = column
    gains[: n_thresholds + 1] = 0.0
    norms[: n_thresholds + 1] = 0.0
    for leaf in range(totals.size):
        whole = (totals[leaf] >> 32) * units[0], (totals[leaf] & 0xFFFFFFFF) * units[1]
        if whole[1] <= 0.0:
            continue
        g = w = 0.0
        if missing_left:
            packed = histogram[leaf, first + n_thresholds + 1]
            g, w = (packed >> 32) * units[0], (packed & 0xFFFFFFFF) * units[1]
        gain, norm = _sides((g, w), whole, penalty, sign)
        gains[0] += gain
        norms[0] += norm
        for b in range(n_thresholds):
            packed = histogram[leaf, first + b]
            if packed != 0:
                g += (packed >> 32) * units[0]
                w += (packed & 0xFFFFFFFF) * units[1]
                new_gain, new_norm = _sides((g, w), whole, penalty, sign)
                gains[b + 1] += new_gain - gain
                norms[b + 1] += new_norm - norm
                gain, norm = new_gain, new_norm


@compiled
def score_columns(
    histogram: Integers,
    totals: Integers,
    offsets: NDArray[np.uint32],
    columns: Integers,
    units: tuple[float, float],
    penalty: float,
    noise: float,
    key: int,
    start: int,
    stop: int,
    best: Floats,
) -> None:
    """Best threshold of each column from ``start`` to ``stop``.

    Normal noise is added twice: to every threshold, of which the highest is taken, then afresh to
    that one of each column, so that columns with many thresholds have no better luck. Row j of
    ``columns``: number of thresholds, whether values are missing, direction. Row j of ``best``:
    score, threshold, 1 where missing values go left.
    """
    gains, norms = np.empty(256), np.empty(256)
    for j in range(start, stop):
        n_thresholds = columns[j, 0]
        highest = best[j, 0] = -np.inf
        for side in range(1 + columns[j, 1]):
            _score_column(
                histogram,
                totals,
                (np.int64(offsets[j]), n_thresholds, columns[j, 2]),
                side == 1,
                units,
                penalty,
                gains,
                norms,
            )
            gain, norm, bits = gains[0], norms[0], np.uint64(0)
            for b in range(n_thresholds):
                gain += gains[b + 1]
                norm += norms[b + 1]
                score = gain / math.sqrt(norm) if gain > 0.0 and norm > 0.0 else 0.0
                noisy = score
                if noise > 0.0:
                    if b % 5 == 0:  # one hash has five draws
                        bits = mixed(key, (j * 2 + side) * 256 + b)
                    noisy += noise * NORMALS[bits & np.uint64(4095)]
                    bits >>= np.uint64(12)
                if noisy > highest:
                    highest = noisy
                    best[j, 0], best[j, 1], best[j, 2] = score, b, side
        if noise > 0.0:
            best[j, 0] += noise * NORMALS[mixed(key, (j * 2 + 1) * 256 + 255) & np.uint64(4095)]


@compiled
def newton_step(
    gradient: Floats, diagonal: Floats, first: Floats, second: Floats, middle: Floats
) -> Floats:
    """Solve (D + U·M·Uᵀ)·δ = -gradient with U = [first, second], by the Woodbury identity.

    ``middle`` is M, two by two.
    """
    step = -gradient / diagonal
    a, b = first / diagonal, second / diagonal
    aa, ab, bb = (first * a).sum(), (first * b).sum(), (second * b).sum()
    fa, fb = (first * step).sum(), (second * step).sum()
    # (I + M·UᵀD⁻¹U)·z = M·UᵀD⁻¹r, then δ = D⁻¹r - D⁻¹U·z
    p00 = 1.0 + middle[0, 0] * aa + middle[0, 1] * ab
    p01 = middle[0, 0] * ab + middle[0, 1] * bb
    p10 = middle[1, 0] * aa + middle[1, 1] * ab
    p11 = 1.0 + middle[1, 0] * ab + middle[1, 1] * bb
    r0 = middle[0, 0] * fa + middle[0, 1] * fb
    r1 = middle[1, 0] * fa + middle[1, 1] * fb
    determinant = p00 * p11 - p01 * p10
    z0 = (r0 * p11 - r1 * p01) / determinant
    z1 = (p00 * r1 - p10 * r0) / determinant
    return np.asarray(step - a * z0 - b * z1)


@compiled
def push_steps(
    masses: Floats,
    powers: tuple[float, float],
    scale: float,
    penalty: float,
    n_steps: int,
    longest: float,
) -> Floats:
    """Newton steps of the exponential push on leaf values, from the tilted masses of its leaves.

    ``masses`` has a row of positives and one of negatives. No value changes by more than
    ``longest`` in a step.
    """
    middle = np.array([[-scale * powers[0], 0.0], [0.0, -scale * powers[1]]])
    values, shares = np.zeros(masses.shape[1]), np.empty(masses.shape)
    for _ in range(n_steps):
        for leaf in range(values.size):
            for side in range(2):
                exponent = class_exponent(values[leaf], side == 0, (0.0, 0.0), powers)
                shares[side, leaf] = masses[side, leaf] * math.exp(exponent)
        q, r = shares[0] / shares[0].sum(), shares[1] / shares[1].sum()
        diagonal = scale * (powers[0] * q + powers[1] * r) + penalty
        step = newton_step(scale * (r - q), diagonal, q, r, middle)
        values += step * min(1.0, longest / max(np.abs(step).max(), longest))
    return values
