"""Which of two rows belongs above: grades and explicit pairs, checked once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.inputs import as_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.inputs import Lists

__all__ = ["as_grades", "as_pairs", "check_comparable", "check_pairs_count"]


def as_grades(grades: ArrayLike) -> NDArray[np.intp]:
    """One grade a row, numbered 0, 1, … from the lowest to the highest."""
    array = np.asarray(grades)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"grades must hold one grade a row, got shape {array.shape}.")
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"grades must be numbers (higher is better), got dtype {array.dtype}; "
            "number them in their order."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(
            f"grades must be finite, but grades[{bad}] is {array[bad]}; drop rows without a grade."
        )
    return np.unique(array, return_inverse=True)[1].astype(np.intp, copy=False)


def check_comparable(
    grades: NDArray[np.intp], weights: NDArray[np.float64] | None, lists: Lists | None
) -> None:
    """Refuse grades that leave no pair to compare."""
    counted = np.ones(grades.size, dtype=bool) if weights is None else weights > 0
    lists_of = np.zeros(grades.size, np.intp) if lists is None else lists.codes
    n_lists = 1 if lists is None else lists.n_lists
    highest = np.full(n_lists, -1)
    lowest = np.full(n_lists, grades.size)
    np.maximum.at(highest, lists_of[counted], grades[counted])
    np.minimum.at(lowest, lists_of[counted], grades[counted])
    if not (highest > lowest).any():
        raise ValueError(
            "grades has no two rows of weight above 0 in one list that differ in grade, so there "
            "is no pair to learn from; add rows of another grade or check groups."
        )


def as_pairs(
    pairs: ArrayLike, n_rows: int, pair_weight: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
    """Row numbers (better, worse) of every pair, and what each pair counts."""
    array = np.asarray(pairs)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"pairs must have two columns (better row, worse row), got shape {array.shape}."
        )
    if not len(array):
        raise ValueError("pairs is empty; ranking needs at least one pair.")
    if array.dtype.kind not in "iu":
        raise TypeError(f"pairs must be integer row numbers, got dtype {array.dtype}.")
    _check_rows(array, n_rows)
    weights = as_weights(pair_weight, len(array), name="pair_weight")
    return array.astype(np.intp, copy=False), weights


def _check_rows(pairs: NDArray[Any], n_rows: int) -> None:
    outside = (pairs < 0) | (pairs >= n_rows)
    if outside.any():
        bad = int(np.flatnonzero(outside.any(axis=1))[0])
        raise ValueError(
            f"pairs[{bad}] is {pairs[bad].tolist()}, but there are {n_rows} rows, numbered "
            f"0 to {n_rows - 1}."
        )
    same = pairs[:, 0] == pairs[:, 1]
    if same.any():
        bad = int(np.flatnonzero(same)[0])
        raise ValueError(
            f"pairs[{bad}] compares row {pairs[bad, 0]} with itself; remove such pairs."
        )


def check_pairs_count(
    pairs: NDArray[np.intp],
    pair_weights: NDArray[np.float64] | None,
    row_weights: NDArray[np.float64] | None,
) -> None:
    """Refuse weights that leave no pair."""
    counts = np.ones(len(pairs)) if pair_weights is None else pair_weights
    if row_weights is not None:
        counts = counts * row_weights[pairs].min(axis=1)
    if not counts.any():
        raise ValueError(
            "every pair has a row of weight 0 in it or weight 0 itself; at least one must count."
        )
