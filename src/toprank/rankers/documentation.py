"""Text that the docstrings of several estimators share, written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Estimator = TypeVar("Estimator", bound="type[Any]")


def documented(**blocks: str) -> Callable[[Estimator], Estimator]:
    """Fill blocks into the docstring of a class: ``{name}`` becomes the block of that name.

    Examples
    --------
    >>> @documented(n_jobs="n_jobs : int, default=1")
    ... class Ranker:
    ...     "Ranks in parallel. {n_jobs}"
    >>> Ranker.__doc__
    'Ranks in parallel. n_jobs : int, default=1'
    """

    def fill(estimator: Estimator) -> Estimator:
        text = estimator.__doc__ or ""
        for name, block in blocks.items():
            text = text.replace("{" + name + "}", block.strip().replace("\n", "\n    "))
        estimator.__doc__ = text
        return estimator

    return fill
