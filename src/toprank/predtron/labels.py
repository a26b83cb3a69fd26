"""Labels that users hand to a learner: classes, grades and label matrices, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["as_class_vector", "as_grades", "as_label_matrix", "check_length", "class_codes"]

# 2^1000 is near the largest number there is; beyond, gains would be infinite.
LARGEST_GRADE = 1000


def check_length(y: Any, n_rows: int) -> None:
    """Refuse labels that are not as many as the rows."""
    if len(y) != n_rows:
        raise ValueError(f"y has {len(y)} rows, but X has {n_rows}; they must match.")


def _check_given(y: Any) -> None:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None; pass one label a row.")


def as_class_vector(y: Any, n_rows: int) -> NDArray[Any]:
    """One class a row."""
    _check_given(y)
    labels = column_or_1d(y, warn=True)
    check_length(labels, n_rows)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y contains NaN or infinity; drop the rows without a label.")
    check_classification_targets(labels)
    return np.asarray(labels)


def class_codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Number of each label among the sorted classes; a label that is not one of them is refused."""
    codes = np.searchsorted(classes, labels)
    codes[codes == classes.size] = 0
    strange = classes[codes] != labels
    if strange.any():
        raise ValueError(
            f"y holds the label {labels[strange][:1].tolist()[0]!r}, which is none of the classes "
            f"{classes.tolist()}; name all classes at the first partial_fit (classes=...), "
            "or fit again."
        )
    return codes.astype(np.intp, copy=False)


def as_label_matrix(y: Any, n_rows: int) -> NDArray[np.bool_]:
    """An indicator matrix as a mask, one column a label."""
    _check_given(y)
    is_sparse: bool = sparse.issparse(y)
    matrix = y.toarray() if is_sparse else np.asarray(y)
    check_length(matrix, n_rows)
    if matrix.ndim != 2 or not np.isin(matrix, (0, 1)).all():
        raise ValueError(
            "y must be a matrix of 0 and 1 with one column for each label, or a vector of "
            f"classes; got shape {matrix.shape} and dtype {matrix.dtype}."
        )
    return matrix.astype(np.bool_)


def as_grades(y: Any, n_rows: int) -> NDArray[np.float64]:
    """One grade of relevance a row, at least 0."""
    _check_given(y)
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind not in "biuf":
        raise TypeError(
            f"Unknown label type: y must be grades (numbers of at least 0), got {labels.dtype}."
        )
    check_length(labels, n_rows)
    grades: NDArray[np.float64] = labels.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(grades) & (grades >= 0) & (grades <= LARGEST_GRADE)))
    if bad.size:
        raise ValueError(
            f"y must be grades between 0 and {LARGEST_GRADE}, but y[{bad[0]}] is "
            f"{grades[bad[0]]:g} (NaN and infinity are no grades); shift, scale or drop such rows."
        )
    return grades
