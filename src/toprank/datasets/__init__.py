"""A small data set for examples; it comes with scikit-learn and needs no files."""

from __future__ import annotations

from typing import Any

__all__ = ["load_digits_eights"]


def load_digits_eights(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Handwritten digits, the eights against the rest: 1,797 rows of 64 features, 174 positives.

    The 8x8 grey images that come with scikit-learn (a part of UCI's "Optical Recognition of
    Handwritten Digits"), so nothing is downloaded. Eights resemble several other digits, so the top
    of the list is not trivial.

    Parameters
    ----------
    return_X_y : bool, default False
        Return ``(X, y)`` instead of a Bunch.
    as_frame : bool, default False
        Return X and y as pandas objects, and in ``frame`` both together.

    Returns
    -------
    Bunch, as of scikit-learn's loaders, or ``(X, y)``
        ``X``, ``y`` (True for an eight), ``frame``, ``feature_names``; in words ``positive``,
        ``source`` and ``licence``.

    Examples
    --------
    >>> from toprank.datasets import load_digits_eights
    >>> data = load_digits_eights()
    >>> data.X.shape, int(data.y.sum())
    ((1797, 64), 174)
    """
    from sklearn.datasets import load_digits  # noqa: PLC0415 (slow to import)
    from sklearn.utils import Bunch  # noqa: PLC0415

    digits = load_digits(as_frame=as_frame)
    X, y = digits.data, digits.target == 8
    if return_X_y:
        return X, y
    return Bunch(
        X=X,
        y=y,
        frame=X.join(y) if as_frame else None,
        feature_names=tuple(digits.feature_names),
        positive="the digit 8",
        source='scikit-learn; UCI Machine Learning Repository, "Optical Recognition of '
        'Handwritten Digits"',
        licence="distributed with scikit-learn (BSD-3-Clause)",
    )
