"""Rows of a table in a growing oblivious tree: gradients packed in integers, histograms, leaves.

A row's gradient and weight are rounded at random to 32 bits each and packed into one integer::

    packed = gradient·2^32 + weight          gradient = packed >> 32,  weight = packed & (2^32 - 1)

Sums of integers do not depend on their order. So threads, blocks of a file and workers of a
cluster give the histograms of a table in memory, bit for bit. All random numbers are a hash of a
key and the number of the row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from toprank.kernels.jit import compiled

Codes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Numbers = NDArray[np.unsignedinteger]  # of rows

# Quantiles in 4,096 steps: drawing from them is a look-up by 12 bits of a hash.
_STEPS = (np.arange(4096) + 0.5) / 4096
EXPONENTIALS = -np.log(_STEPS)
NORMALS = ndtri(_STEPS)
LARGEST_DRAW = float(EXPONENTIALS[0])


@compiled
def mixed(key: int, number: int) -> Any:
    """Hash of a key and a number: 64 bits (the finaliser of splitmix64)."""
    z = np.uint64(key) + np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def pack_rows(
    gradients: Floats,
    weights: Floats,
    draws: Floats,
    key: int,
    first: int,
    scales: tuple[float, float],
    packed: Integers,
    rows: Numbers,
) -> int:
    """Pack every row and write the numbers of those that count into ``rows``; how many they are.

    Row i counts b_i times, b_i drawn from ``draws`` (none: 1). Draws below 1 are made 1 with
    chance b_i, else 0: the mean stays, and such rows can be left out.

    ``first`` is the number of the first row in the whole table. ``packed`` may share the memory of
    ``gradients``.
    """
    n_kept = 0
    for i in range(gradients.size):
        z = mixed(key, first + i)
        times = 1.0
        if draws.size:
            times = draws[z & np.uint64(4095)]
            if times < 1.0:
                chance = ((z >> np.uint64(12)) & np.uint64(0xFFFF)) * (1.0 / 65536.0)
                times = 1.0 if chance < times else 0.0
        weight = times * (weights[i] if weights.size else 1.0)
        below = ((z >> np.uint64(28)) & np.uint64(0x3FFFF)) * (1.0 / 262144.0)
        gradient = math.floor(gradients[i] * times * scales[0] + below)
        below = (z >> np.uint64(46)) * (1.0 / 262144.0)
        counted = math.floor(weight * scales[1] + below)
        packed[i] = (np.int64(gradient) << 32) + np.int64(counted)
        rows[n_kept] = i
        n_kept += times > 0.0
    return n_kept


@compiled
def fill_histograms(
    codes: Codes,
    packed: Integers,
    rows: Numbers,
    starts: Integers,
    leaves: Integers,
    offsets: NDArray[np.uint32],
    start: int,
    stop: int,
    histograms: Integers,
) -> None:
    """Sum the packed rows of some leaves by code, in columns ``start`` to ``stop``.

    Rows of leaf l lie at ``starts[l]:starts[l + 1]``, the bins of column j at ``offsets[j]``.
    """
    for leaf in leaves:
        mine = histograms[leaf]
        mine[offsets[start] : offsets[stop]] = 0
        for k in range(starts[leaf], starts[leaf + 1]):
            row = rows[k]
            value = packed[row]
            for j in range(np.uint32(start), np.uint32(stop)):
                mine[offsets[j] + codes[row, j]] += value


@compiled
def split_rows(
    codes: Codes,
    rows: Numbers,
    starts: Integers,
    split: tuple[int, int, int],
    parted: Numbers,
    spare: Numbers,
    parted_starts: Integers,
) -> None:
    """Split every leaf: rows of leaf l at ``starts[l]:starts[l + 1]`` become leaves 2l and 2l + 1.

    A row goes right, to 2l + 1, where its code in column ``split[0]`` exceeds ``split[1]`` and is
    not ``split[2]``. Nothing branches on that: it is a coin toss for the processor.
    """
    column, last, left_code = split
    n_leaves = starts.size - 1
    for leaf in range(n_leaves):
        begin, end = starts[leaf], starts[leaf + 1]
        place, held = begin, np.int64(0)
        for k in range(begin, end):
            row = rows[k]
            code = np.int64(codes[row, column])
            right = np.int64((code > last) & (code != left_code))
            parted[place] = row
            spare[held] = row
            place += 1 - right
            held += right
        parted[place:end] = spare[:held]
        parted_starts[2 * leaf] = begin
        parted_starts[2 * leaf + 1] = place
    parted_starts[2 * n_leaves] = starts[n_leaves]


@compiled
def leaf_of_rows(
    codes: Codes, splits: Integers, leaves: NDArray[np.uint16], start: int, stop: int
) -> None:
    """Leaf of each row in a range; ``splits`` has a row per level: column, last code, left code."""
    for i in range(start, stop):
        leaf = np.int64(0)
        for level in range(splits.shape[0]):
            code = np.int64(codes[i, splits[level, 0]])
            right = (code > splits[level, 1]) & (code != splits[level, 2])
            leaf = 2 * leaf + np.int64(right)
        leaves[i] = leaf


@compiled
def add_leaf_values(
    scores: Floats, leaves: NDArray[np.uint16], values: Floats, start: int, stop: int
) -> None:
    """Add to the score of each row in a range the value of its leaf."""
    for i in range(start, stop):
        scores[i] += values[leaves[i]]


@compiled
def sum_squares(gradients: Floats, scale: float) -> Any:
    """Σ gradient²·scale, each rounded, so that the order makes no difference."""
    total = np.int64(0)
    for i in range(gradients.size):
        total += np.int64(math.floor(gradients[i] * gradients[i] * scale + 0.5))
    return total


@compiled
def add_cover(leaves: NDArray[np.uint16], weights: Floats, scale: float, cover: Integers) -> None:
    """Add the weight of every row, times ``scale`` and rounded, to that of its leaf."""
    for i in range(leaves.size):
        weight = weights[i] if weights.size else 1.0
        cover[leaves[i]] += np.int64(math.floor(weight * scale + 0.5))


# Categories ---------------------------------------------------------------------------------------


@compiled
def row_hashes(key: int, n_rows: int) -> NDArray[np.uint64]:
    """Hash of a key and the number of each row; sorted, they give the rows a random order."""
    hashes = np.empty(n_rows, dtype=np.uint64)
    for i in range(n_rows):
        hashes[i] = mixed(key, i)
    return hashes


@compiled
def ordered_means(
    codes: Integers, targets: Floats, weights: Floats, order: Integers, prior: float, sums: Floats
) -> Floats:
    """For each row (Σ w·t + prior) / (Σ w + 1) over the rows of its category before it.

    ``order`` lists the rows; "before" means before in this order. A row of code
    -1 gets NaN. ``sums`` has a line per category, Σ w·t and Σ w, 0 at first and of all rows at the
    end.
    """
    means = np.empty(codes.size)
    for i in order:
        code = codes[i]
        if code < 0:
            means[i] = np.nan
            continue
        means[i] = (sums[code, 0] + prior) / (sums[code, 1] + 1.0)
        sums[code, 0] += weights[i] * targets[i]
        sums[code, 1] += weights[i]
    return means
