"""What every online estimator does with tables and with failed calls."""

from __future__ import annotations

from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from toprank.inputs import check_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["OnlineEstimator", "check_whole"]


class OnlineEstimator(BaseEstimator):  # type: ignore[misc]
    """Checks tables, and stays as it was when a call fails."""

    def _table(self, X: Any, *, reset: bool) -> Any:
        """The table as float array or CSR, its columns looked at first."""
        check_columns(X)
        table = validate_data(
            self, X, reset=reset, dtype=[np.float64, np.float32], accept_sparse="csr"
        )
        return table if sparse.issparse(table) else np.ascontiguousarray(table)

    @contextmanager
    def _unchanged_if_it_fails(self) -> Iterator[None]:
        """Give the estimator its old self back if anything goes wrong.

        Input is checked before anything is learned, so that a shallow copy is enough.
        """
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_whole(name: str, value: Any) -> None:
    """Refuse what is not a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a whole number, at least 1, got {value!r}.")
