"""Handwritten digits, the eights against the rest."""

from __future__ import annotations

from typing import Any, Literal, overload

from toprank.datasets.dataset import Dataset

__all__ = ["load_digits_eights"]


@overload
def load_digits_eights(*, return_X_y: Literal[False] = ..., as_frame: bool = ...) -> Dataset: ...
@overload
def load_digits_eights(*, return_X_y: Literal[True], as_frame: bool = ...) -> tuple[Any, Any]: ...
def load_digits_eights(
    *, return_X_y: bool = False, as_frame: bool = False
) -> Dataset | tuple[Any, Any]:
    """Handwritten digits, the eights against the rest: 1,797 rows of 64 features, 174 positives.

    The 8x8 grey images that come with scikit-learn (a part of UCI's "Optical Recognition of
    Handwritten Digits"), so that nothing has to be fetched. Eights resemble several other
    digits, which makes the top of the list worth a look.

    Parameters
    ----------
    return_X_y : bool, default False
        Return ``(X, y)`` instead of a :class:`Dataset`.
    as_frame : bool, default False
        Fill ``frame`` (or, with ``return_X_y``, return X and y as pandas objects).

    Examples
    --------
    >>> from toprank.datasets import load_digits_eights
    >>> data = load_digits_eights()
    >>> data.X.shape, int(data.y.sum())
    ((1797, 64), 174)
    """
    from sklearn.datasets import load_digits  # noqa: PLC0415 (slow to import)

    digits = load_digits()
    data = Dataset(
        name="digits_eights",
        X=digits.data,
        y=digits.target == 8,
        feature_names=tuple(digits.feature_names),
        target_names=("target",),
        positive="the digit 8",
        source='scikit-learn; UCI Machine Learning Repository, "Optical Recognition of '
        'Handwritten Digits"',
        licence="distributed with scikit-learn (BSD-3-Clause)",
    )
    return data.in_form(return_X_y=return_X_y, as_frame=as_frame)
