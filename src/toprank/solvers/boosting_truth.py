"""What boosting learns from (labels, grades, pairs), and the arena that each calls for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toprank.inputs import as_lists, log_scale, scaled_weights
from toprank.kernels.ladder import Ladder
from toprank.objectives import pnorm_push
from toprank.solvers.boosting_arenas import Arena, ClassArena
from toprank.solvers.boosting_columns import ClassificationLoss, ColumnArena
from toprank.solvers.boosting_pairs import LadderArena, PairArena
from toprank.weak_rankers import Stumps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.kernels.threads import Threads
    from toprank.weak_rankers import WeakRankers

__all__ = ["Grades", "Labels", "Pairs", "Truth", "arena_on"]


class Labels(NamedTuple):
    """Two classes, in one list or in several."""

    positives: NDArray[np.bool_]
    weights: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None


class Grades(NamedTuple):
    """Grades, compared within lists; a higher grade belongs above."""

    grades: NDArray[Any]
    weights: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None


class Pairs(NamedTuple):
    """Pairs (better, worse) of row numbers."""

    pairs: NDArray[np.intp]
    weights: NDArray[np.float64] | None = None


Truth = Labels | Grades | Pairs


def arena_on(
    family: WeakRankers,
    X: Any,
    truth: Truth,
    *,
    classify: bool = False,
    threads: Threads | None = None,
) -> tuple[Arena, NDArray[np.intp]]:
    """Put a fitted family on a table; also say which row of the table each arena row is.

    Weights are scaled first: steps do not depend on their size.
    """
    if truth.weights is None:
        return _arena_of(family, X, truth, classify=classify, threads=threads)
    weights = scaled_weights(truth.weights)
    scaled = truth._replace(weights=weights)
    arena, rows = _arena_of(family, X, scaled, classify=classify, threads=threads)
    power = 1 if classify or isinstance(truth, Pairs) else 2  # pair weights are products
    arena.log_unit = power * log_scale(truth.weights, weights)
    arena.log_smallest = _log_smallest_pair(scaled)
    return arena, rows


def _arena_of(
    family: WeakRankers, X: Any, truth: Truth, *, classify: bool, threads: Threads | None
) -> tuple[Arena, NDArray[np.intp]]:
    everything = np.arange(X.shape[0])
    if not isinstance(family, Stumps):
        criterion = _criterion(truth, X.shape[0], classify=classify)
        return ColumnArena(family.design(X), criterion, classify=classify), everything
    if isinstance(truth, Pairs):
        design = family.design(X, threads=threads)
        return PairArena(design, truth.pairs, truth.weights, threads), everything
    if isinstance(truth, Labels) and truth.groups is None:
        rows = np.concatenate([np.flatnonzero(truth.positives), np.flatnonzero(~truth.positives)])
        weights = None if truth.weights is None else truth.weights[rows]
        design = family.design(X, rows, threads)
        n_positives = int(np.count_nonzero(truth.positives))
        return ClassArena(design, n_positives, weights, classify=classify, threads=threads), rows
    grades = truth.positives.astype(np.intp) if isinstance(truth, Labels) else truth.grades
    ladder = Ladder(grades, truth.weights, as_lists(truth.groups, grades.size))
    return LadderArena(family.design(X, ladder.rows, threads), ladder, threads), ladder.rows


def _log_smallest_pair(truth: Truth) -> float:
    """ln of the smallest weight of a pair: of two rungs of a list, the least weights on each."""
    assert truth.weights is not None  # noqa: S101  (asked where there are weights)
    if isinstance(truth, Pairs):
        return float(np.log(truth.weights.min()))
    grades = truth.positives.astype(np.intp) if isinstance(truth, Labels) else truth.grades
    ladder = Ladder(grades, truth.weights, as_lists(truth.groups, grades.size))
    least = np.log(np.minimum.reduceat(ladder.weights, ladder.rungs[:-1]))
    lists = np.repeat(np.arange(ladder.n_rungs.size), ladder.n_rungs)
    order = np.lexsort((least, lists))
    first = ladder.first_rungs[:-1][ladder.n_rungs > 1]
    return float((least[order[first]] + least[order[first + 1]]).min())


def _criterion(truth: Truth, n_rows: int, *, classify: bool) -> Any:
    objective = pnorm_push(1.0)
    if isinstance(truth, Pairs):
        return objective.on_pairs(truth.pairs, n_rows, pair_weight=truth.weights)
    if isinstance(truth, Grades):
        return objective.on_grades(truth.grades, sample_weight=truth.weights, groups=truth.groups)
    if classify:
        return ClassificationLoss(truth.positives, truth.weights)
    return objective.on(truth.positives, sample_weight=truth.weights, groups=truth.groups)
