"""Columns in which scores must only rise or only fall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["column_directions"]


def column_directions(
    monotone: Mapping[str, int] | ArrayLike | None, n_columns: int, names: NDArray[Any] | None
) -> NDArray[np.int64]:
    """1 for each column whose scores must not fall with it, -1 where they must not rise, else 0.

    Parameters
    ----------
    monotone : array-like of shape (n_columns,), dict or None
        A number per column, or numbers by the name of their column; None is 0 for all.
    n_columns : int
    names : array of shape (n_columns,) or None
        Names of the columns, where the table has some.

    Examples
    --------
    >>> import numpy as np
    >>> column_directions({"age": -1}, 2, np.array(["income", "age"]))
    array([ 0, -1])
    """
    directions = np.zeros(n_columns, dtype=np.int64)
    if monotone is None:
        return directions
    if isinstance(monotone, Mapping):
        given = np.array(list(monotone.values()))
        places: Any = _places(list(monotone), names)
    else:
        given, places = np.asarray(monotone), slice(None)
        if given.shape != (n_columns,):
            raise ValueError(
                f"monotone has shape {given.shape}, but X has {n_columns} columns; pass -1, 0 or 1 "
                "for each, or a dict by the names of columns."
            )
    wrong = [value for value in given.tolist() if value not in (-1, 0, 1)]
    if wrong:
        raise ValueError(
            f"monotone holds {wrong[0]!r}; use 1 where scores must not fall with the column, "
            "-1 where they must not rise, and 0 elsewhere."
        )
    directions[places] = given
    return directions


def _places(asked: list[str], names: NDArray[Any] | None) -> list[int]:
    if names is None:
        raise ValueError(
            "monotone is a dict, but the columns of X have no names; pass -1, 0 or 1 per column."
        )
    known = {str(name): place for place, name in enumerate(names)}
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise ValueError(
            f"monotone names the column {unknown[0]!r}, which X does not have; "
            f"its columns are {', '.join(map(repr, list(known)[:10]))}"
            f"{', ...' if len(known) > 10 else ''}."
        )
    return [known[name] for name in asked]
