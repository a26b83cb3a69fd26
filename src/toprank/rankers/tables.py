"""Tables that users hand to an estimator: what scikit-learn's own checks do not say well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.utils.validation import validate_data

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from toprank.weak_rankers import WeakRankers

__all__ = ["check_table"]


def check_table(estimator: BaseEstimator, X: Any, family: WeakRankers, *, reset: bool) -> Any:
    """Return the table as a float array (or CSR), with frames' columns looked at first."""
    _check_columns(X)
    return validate_data(
        estimator,
        X,
        reset=reset,
        dtype=[np.float64, np.float32],
        accept_sparse="csr" if family.accepts_sparse else False,
        ensure_all_finite="allow-nan" if family.accepts_missing else True,
    )


def _check_columns(X: Any) -> None:
    """Name duplicate and non-numeric columns of a pandas, polars or pyarrow table."""
    columns = list(getattr(X, "columns", ()))
    names = [str(name) for name in columns]
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise ValueError(
            f"X has more than one column named {', '.join(map(repr, duplicates))}; "
            "rename or drop the copies."
        )
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return
    text = [
        name
        for name, dtype in frame.schema.items()
        if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Object))
    ]
    if text:
        raise ValueError(
            f"X has columns that are not numbers: {', '.join(map(repr, text))}; encode them first, "
            "for instance with sklearn.preprocessing.OneHotEncoder in a ColumnTransformer, "
            "or drop them."
        )
