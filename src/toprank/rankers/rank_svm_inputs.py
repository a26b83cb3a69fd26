"""What users hand to a ranking SVM, checked and laid out as blocks of pairs."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

from toprank.inputs import as_lists, scaled_weights
from toprank.kernels.pair_blocks import PairBlocks
from toprank.objectives.truth import as_grades, as_pairs, check_comparable
from toprank.rankers.base import binary_labels, counted_rows
from toprank.weak_rankers.symmetric import LAST_PLACES, SymmetricFeatures, column_ranges

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.inputs import Lists

    Floats = NDArray[np.float64]

__all__ = [
    "SvmRows",
    "check_columns",
    "check_form",
    "check_parameters",
    "check_stopping",
    "check_values",
    "graded_rows",
    "is_number",
    "labelled_rows",
    "paired_rows",
]


# How far from the largest float values must stay to be added up, and from the smallest normal one
# to be divided by.
ROOM_ABOVE, ROOM_BELOW = 1e8, 1e3


class SvmRows(NamedTuple):
    """Rows of weight above 0, who is compared with whom, and the metadata callbacks see.

    ``positives`` is None without labels, ``grades`` (labels are grades too) None with pairs;
    ``kept`` holds the row numbers where rows were left out.
    """

    table: Any
    blocks: PairBlocks
    positives: NDArray[np.bool_] | None
    grades: NDArray[np.intp] | None
    weights: Floats | None
    kept: NDArray[np.intp] | None
    lists: Lists | None
    metadata: dict[str, Any] | None

    @property
    def has_lists(self) -> bool:
        """Whether only some rows are compared with each other: in lists, or as pairs."""
        return self.lists is not None or self.grades is None

    @property
    def effective_size(self) -> float:
        """Number of equally weighted rows that are as much evidence: (Σw)²/Σw² (Kish)."""
        if self.weights is None:
            return float(self.table.shape[0])
        return float(self.weights.sum() ** 2 / (self.weights @ self.weights))


def labelled_rows(
    table: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> tuple[NDArray[Any], SvmRows]:
    """Classes, and the rows that count."""
    classes, positives = binary_labels(y)
    return classes, _rows(table, positives, "y", sample_weight, groups)


def graded_rows(
    table: Any,
    grades: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> SvmRows:
    """Graded rows that count."""
    return _rows(table, as_grades(grades), "grades", sample_weight, groups)._replace(positives=None)


def paired_rows(table: Any, pairs: ArrayLike, pair_weight: ArrayLike | None) -> SvmRows:
    """All rows, and the pairs that count."""
    n_rows = table.shape[0]
    checked, weights = as_pairs(pairs, n_rows, pair_weight)
    scaled = None if weights is None else scaled_weights(weights)
    blocks = PairBlocks.of_pairs(checked, scaled, n_rows)
    metadata = None if pair_weight is None else {"pair_weight": pair_weight}
    return SvmRows(table, blocks, None, None, None, None, None, metadata)


def _rows(
    table: Any,
    grades: NDArray[Any],
    name: str,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> SvmRows:
    n_rows = table.shape[0]
    if grades.size != n_rows:
        raise ValueError(f"{name} has {grades.size} rows, but X has {n_rows}; they must match.")
    weights, kept = counted_rows(sample_weight, n_rows)
    weights = None if weights is None else scaled_weights(weights)
    ids = None if groups is None else np.asarray(groups)
    as_lists(ids, n_rows)
    if kept is not None:
        table, grades = table[kept], grades[kept]
        ids = None if ids is None else ids[kept]
    lists = as_lists(ids, grades.size)
    given = {"sample_weight": sample_weight, "groups": groups}
    metadata = {key: value for key, value in given.items() if value is not None} or None
    ranks = grades.astype(np.intp)
    if name == "y" and np.unique(ranks).size < 2:
        raise ValueError(
            "y has one class only in the rows of weight above 0; ranking needs positive and "
            "negative rows."
        )
    check_comparable(ranks, None, lists)
    blocks = PairBlocks.of_grades(grades, weights, lists)
    return SvmRows(table, blocks, grades, ranks, weights, kept, lists, metadata)


def check_form(ranker: Any, rows: SvmRows) -> None:
    """Raise where the form cannot be had on these rows."""
    if ranker.form == "exact":
        return
    if rows.positives is None:
        raise ValueError(
            f"form={ranker.form!r} needs two classes, but grades or pairs were given; "
            "use form='exact'."
        )
    if rows.has_lists:
        raise ValueError(
            f"form={ranker.form!r} averages over the classes of one list, but groups were given; "
            "use form='exact'."
        )
    share = float(np.average(rows.positives, weights=rows.weights))
    most = 2.0 * min(share, 1.0 - share)
    if ranker.form == "classification" and ranker.margin == "soft" and ranker.nu > most:
        # a class has fewer than the ν·m/2 rows to average over, and the margin no limit
        raise ValueError(
            f"nu={ranker.nu} is more than 2·min(p, n)/m = {most:.4g}, where the classification "
            f"SVM has no optimum; choose nu up to {most:.4g}, or form='product'."
        )


def check_columns(ranker: Any, table: Any) -> None:
    """Raise where the constant hypothesis is left out and yet among the columns."""
    if ranker.constant:
        return
    same = np.flatnonzero(np.isinf(SymmetricFeatures().fit(table).span_))
    if same.size:
        raise ValueError(
            f"constant=False, but column {same[0]} has one value in all rows, which is the "
            "constant hypothesis again; drop the column."
        )


def check_values(table: Any, *, scale: bool, limits: tuple[float, float]) -> None:
    """Raise where sums of the values would overflow or vanish.

    Scaled columns must have a range that a float can divide by and add up. Unscaled, the largest
    value of the table must lie within the limits; smaller ones beside it may be anything.
    """
    low, high = column_ranges(table)
    largest = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
    column = int(largest.argmax())
    if not scale:
        if largest[column] and not limits[0] <= largest[column] <= limits[1]:
            raise ValueError(
                f"X holds {largest[column]:.3g} in column {column}, the largest value of the "
                f"table, but with scale=False it must lie between {limits[0]:g} and "
                f"{limits[1]:g}; set scale=True or multiply the table."
            )
        return
    info = np.finfo(table.dtype)
    if largest[column] > float(info.max) / ROOM_ABOVE:
        raise ValueError(
            f"X holds {largest[column]:.3g} in column {column}, too large to be added up; multiply "
            f"the column by {_power_of_ten(largest[column])}."
        )
    wide = high.astype(np.float64) - low
    tiny = np.flatnonzero(
        (wide > LAST_PLACES * np.spacing(largest.astype(table.dtype)))
        & (wide < float(info.tiny) * ROOM_BELOW)
    )
    if tiny.size:
        raise ValueError(
            f"column {tiny[0]} of X varies by no more than {wide[tiny[0]]:.3g}, too little to be "
            f"divided by; multiply the column by {_power_of_ten(wide[tiny[0]])}."
        )


def _power_of_ten(value: float) -> str:
    """What brings a value near 1, as far as floats go."""
    return f"1e{min(-math.floor(math.log10(value)), 300):+d}"


def check_parameters(ranker: Any) -> None:
    """Raise where a parameter of the ranker makes no sense."""
    _check_choice("norm", ranker.norm, (1, 2))
    _check_choice("margin", ranker.margin, ("soft", "hard"))
    _check_choice("form", ranker.form, ("exact", "product", "classification"))
    _check_share("nu", ranker.nu)
    if ranker.nu_plus is not None:
        if ranker.form != "product" or ranker.margin == "hard":
            raise ValueError(
                f"nu_plus={ranker.nu_plus!r} belongs to form='product' with margin='soft', got "
                f"form={ranker.form!r} and margin={ranker.margin!r}; leave it None."
            )
        _check_share("nu_plus", ranker.nu_plus)
        if ranker.nu_plus < ranker.nu:
            raise ValueError(
                f"nu_plus must lie between nu={ranker.nu} and 1, got {ranker.nu_plus!r}; "
                "the square root of nu treats both classes alike."
            )
    if ranker.norm == 2 and not ranker.signed:
        raise ValueError("signed=False needs norm=1; with norm=2 weights have both signs.")
    if ranker.signed and not ranker.constant:
        raise ValueError(
            "constant=False needs signed=False; weights of both signs can cancel each other, which "
            "is what the constant hypothesis does."
        )
    _check_kernel(ranker.kernel, ranker.norm)
    if not 0 < ranker.delta < 1:
        raise ValueError(f"delta must lie between 0 and 1, got {ranker.delta!r}.")
    check_stopping(ranker.tol, ranker.max_iter)


def check_stopping(tol: Any, max_iter: Any) -> None:
    """Raise where a fit would not know when to stop."""
    if tol is not None and not is_number(tol, 0.0, math.inf):
        raise ValueError(f"tol must be a number ≥ 0 or None, got {tol!r}.")
    is_whole = isinstance(max_iter, Integral) and not isinstance(max_iter, bool)
    if not is_whole or max_iter < 1:
        raise ValueError(f"max_iter must be a whole number ≥ 1, got {max_iter!r}.")


def _check_kernel(kernel: Any, norm: int) -> None:
    known = sorted(PAIRWISE_KERNEL_FUNCTIONS)
    if not callable(kernel) and kernel not in known:
        raise ValueError(
            f"kernel must be a function of two rows or one of {', '.join(known)}; got {kernel!r}."
        )
    if kernel != "linear" and norm == 1:
        raise ValueError(f"kernel={kernel!r} needs norm=2; a 1-norm is of the features' weights.")


def _check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if isinstance(value, bool) or value not in choices:
        told = ", ".join(map(repr, choices[:-1]))
        raise ValueError(f"{name} must be {told} or {choices[-1]!r}, got {value!r}.")


def _check_share(name: str, value: Any) -> None:
    if not is_number(value, 0.0, 1.0) or not value > 0:
        raise ValueError(f"{name} must lie above 0 and at most at 1, got {value!r}.")


def is_number(value: Any, low: float, high: float) -> bool:
    """Whether this is a number from low to high, and no boolean."""
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    return is_real and low <= float(value) <= high
