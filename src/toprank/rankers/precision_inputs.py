"""What users hand to the precision-at-k ranker, checked and cut to the rows that count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from toprank.inputs import as_lists, check_number, scaled_weights
from toprank.objectives.base import ORDINARY_WEIGHTS
from toprank.objectives.precision import PrecisionAtK, as_top
from toprank.rankers.base import binary_labels, counted_rows
from toprank.solvers.mini_batch import Rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Learning", "check_parameters", "chunk_rows", "hold_out", "learning_rows"]

SOLVERS = ("sgd", "perceptron", "cutting_plane")


class Learning(NamedTuple):
    """Rows to learn from, their list ids, and the metadata that callbacks see."""

    rows: Rows
    groups: NDArray[Any] | None
    metadata: dict[str, Any] | None

    def only(self, index: NDArray[np.intp]) -> Learning:
        """Keep some of the rows."""
        rows = self.rows
        weights = None if rows.weights is None else rows.weights[index]
        return _learning(
            rows.X[index],
            rows.positives[index],
            weights,
            None if self.groups is None else self.groups[index],
            self.metadata,
        )


def _learning(
    X: Any,
    positives: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
    groups: NDArray[Any] | None,
    metadata: dict[str, Any] | None,
) -> Learning:
    lists = as_lists(groups, positives.size)
    is_sparse: bool = sparse.issparse(X)
    if not is_sparse:
        X = np.ascontiguousarray(X)  # batches are read row by row; most tables lie so already
    return Learning(Rows(X, positives, weights, lists), groups, metadata)


def learning_rows(
    table: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    k: float,
) -> tuple[NDArray[Any], Learning]:
    """Classes, and the rows of weight above 0."""
    classes, positives = binary_labels(y)
    learning = _weighted(table, positives, sample_weight, groups, k)
    kept = learning.rows.positives
    if kept.all() or not kept.any():
        missing = "positive" if not kept.any() else "negative"
        raise ValueError(
            f"sample_weight leaves one class only, no {missing} row has a weight above 0; ranking "
            "needs positive and negative rows."
        )
    return classes, learning


def chunk_rows(
    table: Any,
    y: ArrayLike,
    known: NDArray[Any] | None,
    classes: ArrayLike | None,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    k: float,
) -> tuple[NDArray[Any], Learning]:
    """Classes of a stream, and the rows of its next chunk, which may hold one class only."""
    if classes is not None:
        named = np.unique(column_or_1d(classes))
        if named.size != 2:
            raise ValueError(f"classes must name two labels, got {named.tolist()}.")
        if known is not None and not np.array_equal(known, named):
            raise ValueError(
                f"classes={named.tolist()} is not the same as on the last call to partial_fit, "
                f"was: {known.tolist()}; begin a new ranker for other classes."
            )
        known = named
    if known is None:
        known = binary_labels(y)[0]
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    foreign = np.setdiff1d(labels, known)
    if foreign.size:
        raise ValueError(
            f"y holds {foreign[0]!r}, which is not one of the classes {known.tolist()}; name both "
            "classes in the first call to partial_fit."
        )
    return known, _weighted(table, labels == known[1], sample_weight, groups, k)


def _weighted(
    table: Any,
    positives: NDArray[np.bool_],
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    k: float,
) -> Learning:
    n_rows = table.shape[0]
    if positives.size != n_rows:
        raise ValueError(f"y has {positives.size} rows, but X has {n_rows}; they must match.")
    weights, kept = counted_rows(sample_weight, n_rows)
    ids = None if groups is None else np.asarray(groups)
    as_lists(ids, n_rows)
    given = {"sample_weight": sample_weight, "groups": groups}
    metadata = {name: value for name, value in given.items() if value is not None} or None
    if kept is not None:
        table, positives = table[kept], positives[kept]
        ids = None if ids is None else ids[kept]
    return _learning(table, positives, _near_one(weights, k), ids, metadata)


def _near_one(weights: NDArray[np.float64] | None, k: float) -> NDArray[np.float64] | None:
    """Divide weights by the largest where sums of them would overflow."""
    if weights is None or ORDINARY_WEIGHTS[0] <= weights.max() <= ORDINARY_WEIGHTS[1]:
        return weights
    if not as_top(k)[1]:
        raise ValueError(
            f"sample_weight reaches {weights.max():g}, and k={k} counts weight; divide the weights "
            "by one number, so that they are near 1, or pass k as a share of the positives."
        )
    scaled = scaled_weights(weights)
    return np.asarray(scaled / scaled.max())


def hold_out(
    learning: Learning, fraction: float, rng: np.random.RandomState
) -> tuple[Learning, Learning]:
    """Rows to learn from and rows kept aside: of each class alike, or whole lists."""
    rows = learning.rows
    if rows.lists is not None:
        n_aside = max(1, round(fraction * rows.lists.n_lists))
        chosen = rng.permutation(rows.lists.n_lists)[:n_aside]
        aside = np.isin(rows.lists.codes, chosen)
    else:
        aside = np.zeros(rows.positives.size, dtype=np.bool_)
        for members in (np.flatnonzero(rows.positives), np.flatnonzero(~rows.positives)):
            n_aside = max(1, round(fraction * members.size))
            aside[rng.permutation(members)[:n_aside]] = True
    halves = learning.only(np.flatnonzero(~aside)), learning.only(np.flatnonzero(aside))
    for half in halves:
        if half.rows.positives.all() or not half.rows.positives.any():
            raise ValueError(
                f"validation_fraction={fraction} leaves the rows to learn from, or those kept "
                "aside, with one class only; choose another, or early_stopping=False."
            )
    return halves


def check_parameters(ranker: Any) -> None:
    """Raise where a parameter of the ranker makes no sense."""
    PrecisionAtK(ranker.k, ranker.surrogate)
    if ranker.solver not in SOLVERS:
        raise ValueError(
            f"solver must be 'sgd', 'perceptron' or 'cutting_plane', got {ranker.solver!r}."
        )
    if ranker.solver == "cutting_plane" and ranker.surrogate == "ramp":
        raise ValueError(
            "solver='cutting_plane' needs a convex surrogate, and 'ramp' is not; choose "
            "surrogate='avg' or solver='sgd'."
        )
    if ranker.solver == "cutting_plane" and not ranker.alpha > 0:
        raise ValueError(f"solver='cutting_plane' needs alpha above 0, got {ranker.alpha!r}.")
    check_number("batch_size", ranker.batch_size, 1, whole=True)
    check_number("n_iter_no_change", ranker.n_iter_no_change, 1, whole=True)
    if ranker.max_iter is not None:
        check_number("max_iter", ranker.max_iter, 1, whole=True)
    check_number("alpha", ranker.alpha, 0.0)
    check_number("step", ranker.step, 0.0)
    check_number("validation_fraction", ranker.validation_fraction, 0.0, 1.0)
    if ranker.tol is not None:
        check_number("tol", ranker.tol, 0.0)
    if ranker.radius is not None:
        check_number("radius", ranker.radius, 0.0)
