"""What users hand to the precision-at-k ranker: parameters, weights, streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from toprank.inputs import check_choice, check_number
from toprank.objectives.base import ORDINARY_WEIGHTS
from toprank.objectives.precision import PrecisionAtK, as_top
from toprank.rankers.supervised import binary_labels, near_one

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.truth import Truth

__all__ = ["check_parameters", "labels_of_stream", "with_ordinary_weights"]


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
    return near_one(truth)


def check_parameters(ranker: Any) -> None:
    """Raise where a parameter of the ranker makes no sense."""
    PrecisionAtK(ranker.k, ranker.surrogate)
    check_choice("solver", ranker.solver, ("sgd", "perceptron", "cutting_plane"))
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
