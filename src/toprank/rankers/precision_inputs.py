"""What users hand to the precision-at-k ranker: parameters, streams, rows kept aside."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from toprank.inputs import check_number
from toprank.objectives.base import ORDINARY_WEIGHTS
from toprank.objectives.precision import PrecisionAtK, as_top
from toprank.rankers.supervised import binary_labels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.truth import Truth

__all__ = ["check_parameters", "hold_out", "labels_of_stream", "with_ordinary_weights"]

SOLVERS = ("sgd", "perceptron", "cutting_plane")


def labels_of_stream(
    y: ArrayLike, known: NDArray[Any] | None, classes: ArrayLike | None
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Classes of a stream, and which rows of its next part are positive: perhaps all or none."""
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
    return known, labels == known[1]


def with_ordinary_weights(truth: Truth, k: float) -> Truth:
    """Divide weights by the largest where sums of them would overflow."""
    weights = truth.weights
    if weights is None or ORDINARY_WEIGHTS[0] <= weights.max(initial=1.0) <= ORDINARY_WEIGHTS[1]:
        return truth
    if not as_top(k)[1]:
        raise ValueError(
            f"sample_weight reaches {weights.max():g}, and k={k} counts weight; divide the weights "
            "by one number, so that they are near 1, or pass k as a share of the positives."
        )
    scaled, _ = truth.scaled()
    assert scaled.weights is not None  # noqa: S101  (for the type checker)
    return replace(scaled, weights=scaled.weights / scaled.weights.max())


def hold_out(
    truth: Truth, fraction: float, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows to learn from and rows kept aside: of each class alike, or whole lists."""
    positives = truth.positives
    if truth.lists is not None:
        n_aside = max(1, round(fraction * truth.lists.n_lists))
        chosen = rng.permutation(truth.lists.n_lists)[:n_aside]
        aside = np.isin(truth.lists.codes, chosen)
    else:
        aside = np.zeros(truth.n_rows, dtype=np.bool_)
        for members in (np.flatnonzero(positives), np.flatnonzero(~positives)):
            n_aside = max(1, round(fraction * members.size))
            aside[rng.permutation(members)[:n_aside]] = True
    for half in (positives[aside], positives[~aside]):
        if half.all() or not half.any():
            raise ValueError(
                f"validation_fraction={fraction} leaves the rows to learn from, or those kept "
                "aside, with one class only; choose another, or early_stopping=False."
            )
    return np.flatnonzero(~aside), np.flatnonzero(aside)


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
