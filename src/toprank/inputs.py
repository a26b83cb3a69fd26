"""Checks of what users pass: scores, weights, lists, numbers and columns.

Every check raises a ``ValueError`` or ``TypeError`` that names the argument, the value and the
remedy. What comes back is plain numpy, which no other module checks again.
"""

from __future__ import annotations

import math
from collections import Counter
from mmap import mmap
from numbers import Integral, Real
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

# Relative rounding error of a sum of weights, at the most.
SLACK = 1e-9


def as_scores(scores: ArrayLike, *, name: str = "scores") -> NDArray[np.floating[Any]]:
    """One finite score per row: float32 stays float32, everything else becomes float64."""
    array = np.asarray(scores)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numbers, got dtype {array.dtype}.")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"{name} must hold one number per row, got shape {array.shape}; "
            f"pass a 1-D array, for instance model.decision_function(X)."
        )
    if array.dtype != np.float32:
        array = array.astype(np.float64, copy=False)
    _check_finite(array, name)
    return array


def _check_finite(scores: NDArray[np.floating[Any]], name: str) -> None:
    """Raise where a score is not finite.

    A sum is finite only if every term is, and it needs no temporary; only a sum that overflowed
    or met an infinity is worth the second look.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(scores.sum())
    if np.isfinite(total):
        return
    bad = np.flatnonzero(~np.isfinite(scores))
    if bad.size:
        raise ValueError(
            f"{name} must be finite, but {name}[{bad[0]}] is {scores[bad[0]]} "
            f"({bad.size} such rows); remove or impute them."
        )


def check_none_missing(array: NDArray[Any], name: str, remedy: str) -> None:
    """Raise where a value is NaN, NaT, None or pandas' NA."""
    missing = _missing(array)
    if missing.size:
        value = array[missing[0]]
        word = "NaN" if isinstance(value, float | np.floating) else str(value)
        raise ValueError(
            f"{name} holds {word} in row {missing[0]} "
            f"(missing in {missing.size} of {array.size} rows); {remedy}."
        )


def _missing(array: NDArray[Any]) -> NDArray[np.intp]:
    if array.dtype.kind in "fc":
        return np.flatnonzero(np.isnan(array))
    if array.dtype.kind in "mM":
        return np.flatnonzero(np.isnat(array))
    if array.dtype.kind != "O":
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero([value is None or _differs_from_itself(value) for value in array])


def _differs_from_itself(value: Any) -> bool:
    """Whether a value is NaN or NaT (which equal nothing) or pandas' NA (which is undecided)."""
    try:
        return bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True


def as_weights(
    sample_weight: ArrayLike | None, n_rows: int, *, name: str = "sample_weight"
) -> NDArray[np.float64] | None:
    """One finite weight ≥ 0 per row, not all zero; ``None`` (all ones) stays ``None``."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numbers, got dtype {weights.dtype}.")
    weights = weights.astype(np.float64, copy=False)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(
            f"{name} has shape {weights.shape}, but there are {n_rows} rows; "
            "pass one weight per row."
        )
    if n_rows and not np.isfinite(weights).all():
        bad = np.flatnonzero(~np.isfinite(weights))[0]
        raise ValueError(f"{name} must be finite, but {name}[{bad}] is {weights[bad]}.")
    if n_rows and weights.min() < 0:
        bad = int(weights.argmin())
        raise ValueError(
            f"{name} must not be negative, but {name}[{bad}] is {weights[bad]}; "
            "to drop a row give it weight 0."
        )
    if n_rows and not weights.any():
        raise ValueError(f"{name} is zero for every row; at least one row must count.")
    return weights


def as_amounts(given: ArrayLike, n_rows: int, *, name: str) -> NDArray[np.float64]:
    """One finite amount ≥ 0 per row, such as a value or a cost, or a number for all rows."""
    array = np.asarray(given)
    if array.dtype.kind not in "biuf" or array.shape not in ((), (n_rows,)):
        raise ValueError(
            f"{name} must be a number or one number for each of the {n_rows} rows, got "
            f"{array.dtype} of shape {array.shape}."
        )
    amounts = np.broadcast_to(array.astype(np.float64), (n_rows,))
    bad = np.flatnonzero(~(np.isfinite(amounts) & (amounts >= 0)))
    if bad.size:
        where = f"but {name}[{bad[0]}] is" if array.ndim else "got"
        raise ValueError(
            f"{name} must be finite and not negative, {where} {amounts[bad[0]]:g}; fill in the "
            "amount, or leave out the row."
        )
    return amounts


def scaled_weights(
    weights: NDArray[np.float64], largest: float | None = None
) -> NDArray[np.float64]:
    """Checked weights times a power of two, so that the largest lies in [1, 2).

    For formulas that do not change when all weights are multiplied by one number: a power of two
    changes no digit of their results, and sums and products of scaled weights neither overflow nor
    vanish. Rows of weight 0 stay at 0; a weight below 2^-1000 of the largest counts as 2^-1000 of
    it, so that no row disappears. Weights whose largest lies in [1, 2) come back as they are.
    ``largest`` is the largest weight of all, where ``weights`` are a part of them.

    >>> scaled_weights(2.0**900 * np.array([3.0, 1.0, 0.0]))
    array([1.5, 0.5, 0. ])
    """
    exponent = int(np.frexp(weights.max(initial=0.0) if largest is None else largest)[1]) - 1
    least = 2.0**-1000
    if exponent == 0 and weights.min(initial=1.0) >= least:
        return weights
    # ldexp takes exponents that a float power of two cannot hold, such as that of 5e-324.
    scaled = np.ldexp(weights, -exponent)
    return np.where(weights > 0, np.maximum(scaled, least), 0.0)


def log_scale(weights: NDArray[np.float64], scaled: NDArray[np.float64]) -> float:
    """ln c, where ``weights`` are c times their :func:`scaled_weights`."""
    exponents = (int(np.frexp(mine.max(initial=0.0))[1]) for mine in (weights, scaled))
    return math.log(2.0) * (next(exponents) - next(exponents))


class Lists(NamedTuple):
    """Rows sorted into lists: ``order[starts[g]:starts[g + 1]]`` are the rows of list ``g``.

    ::

        groups  b a b a a        order   1 3 4 | 0 2
        codes   1 0 1 0 0        starts  0       3      5
    """

    codes: NDArray[np.intp]
    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    names: NDArray[Any]

    @property
    def n_lists(self) -> int:
        """How many lists there are."""
        return int(self.names.size)


def as_lists(groups: ArrayLike | None, n_rows: int, *, name: str = "groups") -> Lists | None:
    """Per-row list ids in any order, as :class:`Lists`; ``None`` (one list) stays ``None``."""
    if groups is None:
        return None
    ids = np.asarray(groups)
    if ids.ndim == 2 and ids.shape[1] == 1:
        ids = ids[:, 0]
    if ids.shape != (n_rows,):
        raise ValueError(
            f"{name} has shape {ids.shape}, but there are {n_rows} rows; pass one list id per row "
            "(not the sizes of the lists)."
        )
    check_none_missing(ids, name, "every row must name its list")
    try:
        names, codes = np.unique(ids, return_inverse=True)
    except TypeError as error:
        raise TypeError(f"{name} mixes types that cannot be compared: {error}.") from None
    order = np.argsort(codes, kind="stable")
    starts = np.zeros(names.size + 1, dtype=np.intp)
    np.cumsum(np.bincount(codes, minlength=names.size), out=starts[1:])
    return Lists(codes.astype(np.intp, copy=False), order, starts, names)


def within_budget(budget: float, total: Any) -> Any:
    """Rows of a list of ``total`` rows that a budget allows: so many, or below 1 that share.

    A share is rounded up to one row or more, and no list has more rows than it has. ``total`` is a
    number or an array with one number per list; where rows have weights, it is their weight.

    Examples
    --------
    >>> int(within_budget(100, 30)), int(within_budget(0.25, 30)), int(within_budget(1e-300, 30))
    (30, 8, 1)
    """
    rows = np.maximum(1.0, rounded_up(budget * np.asarray(total))) if budget < 1 else budget
    return np.minimum(total, rows)


def check_budget(name: str, budget: Any) -> None:
    """Raise unless this is a whole number of rows or a share of them."""
    is_number = isinstance(budget, Real) and not isinstance(budget, bool)
    if not is_number or not 0 < budget < np.inf:
        raise ValueError(
            f"{name} must be a number of rows ≥ 1 or a share between 0 and 1, got {budget!r}."
        )
    if budget >= 1 and not isinstance(budget, Integral) and float(budget) != int(budget):
        raise ValueError(f"{name} must be a whole number of rows, got {budget!r}.")


def rows_within_budget(budget: Any, n_rows: int, *, name: str, clip: bool = False) -> int:
    """Rows of one list that a budget allows, at least one; more than there are only if ``clip``.

    >>> rows_within_budget(0.25, 30, name="budget")
    8
    """
    check_budget(name, budget)
    if budget > max(n_rows, 1) and not clip:
        raise ValueError(
            f"{name}={budget} is more than the {n_rows} rows of the list; ask for at most {n_rows}."
        )
    return max(1, int(within_budget(float(budget), n_rows)))


def check_number(
    name: str,
    value: Any,
    low: float,
    high: float = np.inf,
    *,
    whole: bool = False,
    inside: bool = False,
    optional: bool = False,
) -> None:
    """Raise unless the value is a number from ``low`` to ``high``, and no boolean.

    With ``inside`` it must be neither of the two, unless ``high`` is infinite; with ``optional`` it
    may be None.
    """
    if optional and value is None:
        return
    is_number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    is_end = inside and (value == low or value == high < np.inf)
    if not is_number or is_end or not low <= float(value) <= high:
        what = "a whole number" if whole else "a number"
        limit = f"above {low:g}" if inside else f"≥ {low:g}"
        if np.isfinite(high):
            limit = f"between {low:g} and {high:g}{', both excluded' if inside else ''}"
        none = ", or None" if optional else ""
        raise ValueError(f"{name} must be {what} {limit}{none}, got {value!r}.")


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise unless the value is one of a few."""
    if isinstance(value, bool) or value not in choices:
        *others, last = map(repr, choices)
        allowed = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"{name} must be {allowed}, got {value!r}.")


def rounded_up(rows: Any) -> Any:
    """Round rows up, but for what rounding errors have added to a whole number."""
    return np.ceil(rows - 1e-9)


def is_sparse(X: Any) -> bool:
    """Whether a table is a sparse matrix or array of scipy."""
    return hasattr(X, "tocsr")


def is_mapped(X: Any) -> bool:
    """Whether a table is an array that is read from a file when it is used (``np.memmap``)."""
    while isinstance(X, np.ndarray):
        X = X.base
    return isinstance(X, mmap)


def as_dense(X: Any) -> Any:
    """Give a sparse table as an array, and any other as it is."""
    return X.toarray() if is_sparse(X) else X


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """A pandas, polars or pyarrow table; None for other tables, such as arrays.

    Duplicate columns, lazy frames and sparse columns of pandas are refused.
    """
    if nw.dependencies.is_polars_lazyframe(X):
        raise TypeError("X is a LazyFrame, whose rows are not in memory yet; pass X.collect().")
    columns = getattr(X, "column_names", getattr(X, "columns", ()))  # pyarrow's word, the others'
    names = [str(name) for name in columns]
    duplicates = sorted(name for name, count in Counter(names).items() if count > 1)
    if duplicates:
        raise ValueError(
            f"X has more than one column named {', '.join(map(repr, duplicates))}; "
            "rename or drop the copies."
        )
    pandas = nw.dependencies.get_pandas()
    if pandas is not None and isinstance(X, pandas.DataFrame):
        kinds = X.dtypes.items()
        sparse = [name for name, kind in kinds if isinstance(kind, pandas.SparseDtype)]
        if sparse:
            raise ValueError(
                f"X has sparse columns of pandas, such as {sparse[0]!r}; make them dense, or where "
                "all are sparse pass X.sparse.to_coo().tocsr() or X.sparse.to_dense()."
            )
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def check_columns(X: Any) -> None:
    """Name duplicate and non-numeric columns of a pandas, polars or pyarrow table."""
    frame = as_frame(X)
    if frame is None:
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


# Classes, by scikit-learn's checks and in its words; imported here alone: metrics do without ----


def class_labels(y: ArrayLike | None) -> NDArray[Any]:
    """One class per row."""
    from sklearn.utils.multiclass import check_classification_targets  # noqa: PLC0415
    from sklearn.utils.validation import column_or_1d  # noqa: PLC0415

    check_given(y)
    labels = column_or_1d(y, warn=True)
    check_known(labels)
    check_classification_targets(labels)
    return np.asarray(labels)


def class_codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Number of each label among the sorted classes; a label that is not one of them is refused."""
    try:
        codes = np.searchsorted(classes, labels)
    except TypeError:  # texts where the classes are numbers, which have no common order
        codes = np.zeros(labels.shape, dtype=np.intp)
    codes[codes == classes.size] = 0
    strange = classes[codes] != labels
    if strange.any():
        raise ValueError(
            f"y holds the label {labels[strange][:1].tolist()[0]!r}, which is none of the classes "
            f"{classes.tolist()}; name all classes at the first partial_fit (classes=...), "
            "or fit again."
        )
    return codes.astype(np.intp, copy=False)


def classes_of_stream(known: NDArray[Any] | None, named: ArrayLike | None) -> Any:
    """Classes of a stream: those that it has, or those named in its first call, or None."""
    from sklearn.utils.validation import column_or_1d  # noqa: PLC0415

    if named is None:
        return known
    found = np.unique(column_or_1d(named))
    if known is not None and not np.array_equal(found, known):
        raise ValueError(
            f"classes={found.tolist()} is not the same as on the last call to partial_fit, was: "
            f"{known.tolist()}; leave it out, or begin anew for other classes."
        )
    return found


def check_given(y: Any) -> None:
    """Refuse a fit without labels."""
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None; pass one label per row."
        )


def check_known(labels: NDArray[Any]) -> None:
    """Refuse labels of which some are missing."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y contains NaN or infinity; drop the rows without a label.")


def check_length(name: str, n_given: int, n_rows: int) -> None:
    """Refuse labels of another number of rows than the table has."""
    if n_given != n_rows:
        raise ValueError(f"{name} has {n_given} rows, but X has {n_rows}; they must match.")
