"""The state that boosting starts from: which one labels, grades or pairs call for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.kernels.ladder import Ladder
from toprank.objectives import pnorm_push
from toprank.solvers.boosting_columns import ColumnState
from toprank.solvers.boosting_pairs import LadderState, PairState
from toprank.solvers.boosting_states import BoostingState, ClassificationLoss, ClassState
from toprank.weak_rankers import Stumps

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads
    from toprank.truth import Truth
    from toprank.weak_rankers import WeakRankers

__all__ = ["state_on"]


def state_on(
    family: WeakRankers,
    X: Any,
    truth: Truth,
    *,
    classify: bool = False,
    threads: Threads | None = None,
) -> BoostingState:
    """Put a fitted family on a table and the truth about its rows.

    Weights are scaled first: steps do not depend on their size.
    """
    scaled, log_unit = truth.scaled()
    state = _state_of(family, X, scaled, classify=classify, threads=threads)
    power = 1 if classify or truth.pairs is not None else 2  # pair weights are products
    state.log_unit = power * log_unit
    state.log_smallest = _log_smallest_pair(scaled)
    return state


def _state_of(
    family: WeakRankers, X: Any, truth: Truth, *, classify: bool, threads: Threads | None
) -> BoostingState:
    by_class = ClassificationLoss(truth.positives, truth.weights) if truth.is_labels else None
    if not isinstance(family, Stumps):
        design = family.design(X, threads=threads)
        if classify and by_class is not None:
            return ColumnState(design, by_class, by_class)
        return ColumnState(design, pnorm_push(1.0).criterion(truth), by_class)
    if truth.pairs is not None:
        stumps = family.design(X, threads=threads)
        return PairState(stumps, truth.pairs, truth.pair_weights)
    if truth.is_labels and truth.is_one_list:
        rows = np.argsort(~truth.positives, kind="stable")  # positives first
        weights = None if truth.weights is None else truth.weights[rows]
        n_positives = int(np.count_nonzero(truth.positives))
        stumps = family.design(X, rows, threads)
        return ClassState(stumps, n_positives, weights, classify=classify)
    ladder = _ladder(truth)
    if by_class is not None:
        by_class = by_class.part(ladder.rows)
    return LadderState(family.design(X, ladder.rows, threads), ladder, by_class)


def _ladder(truth: Truth) -> Ladder:
    assert truth.grades is not None  # noqa: S101  (asked of labels and grades only)
    return Ladder(truth.grades, truth.weights, truth.lists)


def _log_smallest_pair(truth: Truth) -> float:
    """ln of the smallest weight of a pair: of two rungs of a list, the least weights on each."""
    if truth.weights is None and truth.pair_weights is None:
        return 0.0
    if truth.pair_weights is not None:
        return float(np.log(truth.pair_weights.min()))
    ladder = _ladder(truth)
    least = np.log(np.minimum.reduceat(ladder.weights, ladder.rungs[:-1]))
    lists = np.repeat(np.arange(ladder.n_rungs.size), ladder.n_rungs)
    order = np.lexsort((least, lists))
    first = ladder.first_rungs[:-1][ladder.n_rungs > 1]
    return float((least[order[first]] + least[order[first + 1]]).min())
