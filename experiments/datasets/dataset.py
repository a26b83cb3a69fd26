"""What a loader hands over."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["Dataset"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Dataset:
    """A data set in memory, with what one must know to use it honestly.

    Attributes
    ----------
    name : str
        The name of the data set.
    X : ndarray or csr_array of float64, shape (rows, features)
        The features; NaN where the publisher's file has no value.
    y : ndarray
        ``True`` for the positives of a binary set; the class of each row where
        ``positive=None`` was asked for; the grade of a ranked list (0 = not relevant); one
        Boolean column for each label of a multi-label set.
    feature_names : tuple of str
        One name for each column of ``X``. A column of a one-hot block is ``column=level``.
    target_names : tuple of str
        The target's name; for a multi-label set one name for each column of ``y``.
    groups : ndarray of int64, or None
        The list (query) each row belongs to, where the set consists of lists.
    positive : str
        What the positive class means, in words.
    source, licence, caution : str
        Who published the set, what is known about its terms, and what to beware of
        (empty when nothing is known).
    frame : pandas.DataFrame or None
        Features and target in one table, when the loader was called with ``as_frame=True``.
    """

    name: str
    X: NDArray[np.float64] | csr_array[np.float64]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    positive: str
    source: str
    licence: str
    caution: str = ""
    groups: NDArray[np.int64] | None = None
    frame: Any = None

    def __repr__(self) -> str:
        rows, features = self.X.shape
        kind = f"{self.y.shape[1]} labels" if self.y.ndim == 2 else "graded or several classes"
        if self.y.ndim == 1 and self.y.dtype == np.bool_:
            kind = f"{self.y.sum()} positives ({self.positive})"
        return f"<Dataset {self.name}: {rows} rows, {features} features, {kind}>"

    def in_form(self, *, return_X_y: bool, as_frame: bool) -> Dataset | tuple[Any, Any]:
        """The data set or ``(X, y)``, in the form that the caller of a loader asked for."""
        if return_X_y:
            return self.as_pandas() if as_frame else (self.X, self.y)
        return self.with_frame() if as_frame else self

    def with_frame(self) -> Dataset:
        """A copy whose ``frame`` holds features, target and (where lists exist) the group."""
        features, target = self.as_pandas()
        table = features.join(target)
        if self.groups is not None:
            table["group"] = self.groups
        return replace(self, frame=table)

    def as_pandas(self) -> tuple[Any, Any]:
        """The features as a DataFrame and the target as a Series (multi-label: a DataFrame)."""
        pandas = _pandas()
        if isinstance(self.X, np.ndarray):
            features = pandas.DataFrame(self.X, columns=list(self.feature_names))
        else:
            features = pandas.DataFrame.sparse.from_spmatrix(
                self.X, columns=list(self.feature_names)
            )
        if self.y.ndim == 2:
            return features, pandas.DataFrame(self.y, columns=list(self.target_names))
        return features, pandas.Series(self.y, name=self.target_names[0])


def _pandas() -> Any:
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError(
            "as_frame=True needs pandas, which is not installed; "
            "install it (pip install pandas) or call the loader without as_frame."
        ) from error
