"""Tables that users hand to an estimator: what scikit-learn's own checks do not say well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from toprank.inputs import check_columns

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from toprank.weak_rankers import WeakRankers

__all__ = ["check_table"]


def check_table(estimator: BaseEstimator, X: Any, family: WeakRankers, *, reset: bool) -> Any:
    """Return the table as a float array (or CSR), with frames' columns looked at first."""
    check_columns(X)
    with np.errstate(over="ignore", invalid="ignore"):  # sums of huge numbers may overflow
        return validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            accept_sparse="csr" if family.accepts_sparse else False,
            ensure_all_finite="allow-nan" if family.accepts_missing else True,
        )
