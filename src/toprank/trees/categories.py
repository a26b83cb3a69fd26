"""Columns of categories as numbers that trees can ask about.

A column of few values becomes one column per value (one-hot). A column of many becomes the mean
target of each value, (Σ w·t + prior) / (Σ w + 1), with the mean of all rows as prior: labels are
the targets 0 and 1, grades are spread from 0 to 1. Would a row see its own target in that mean, the
trees would memorise it. So training rows get a random order, and the mean of each is of the rows
before it alone (Prokhorenkova et al. 2018); new rows see all training rows.

::

    table    age  colour  income  city      numbers  age  red?  income  mean  green?  blue?
    column    0      1       2      3       owner     0     1      2      3      1      1
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_frame, is_sparse
from toprank.kernels.tree_rows import ordered_means, row_hashes
from toprank.tables.cell_texts import text_of
from toprank.tables.encoding import Cell, Encoding, Lookup, Number
from toprank.tables.notation import ColumnSchema
from toprank.tables.schema import Schema

if TYPE_CHECKING:
    from toprank.truth import Truth

Floats = NDArray[np.float64]

# Columns of at most so many values are one-hot.
FEW = 4
# Explicit pairs have no targets: there the most frequent values of every column are one-hot.
MOST_INDICATORS = 255
UNKNOWN = -1.0  # code of a value that training did not have


@dataclass(frozen=True, eq=False)
class Categories:
    """Which columns hold categories, and how each becomes numbers.

    Attributes
    ----------
    n_columns : int
        Columns of the table.
    columns : list of int
        Those that hold categories.
    values : list of lists
        Values of each, the most frequent first; a value's place is its code.
    means : list of arrays or None
        Mean target of each value and, last, of unknown ones; None where the column is one-hot.
    has_missing : list of bool
        Whether training rows miss a value.
    """

    n_columns: int
    columns: list[int]
    values: list[list[Any]]
    means: list[Floats | None] = field(default_factory=list)
    has_missing: list[bool] = field(default_factory=list)

    @classmethod
    def of_table(cls, X: Any, categories: Literal["auto"] | Sequence[Any] | None) -> Categories:
        """Look for the columns and their values."""
        frame = as_frame(X)
        is_auto = isinstance(categories, str)
        if categories is None or (frame is None and (is_auto or np.ndim(X) != 2)):
            columns = []
        elif frame is not None and is_auto:
            columns = [
                place
                for place, kind in enumerate(frame.schema.values())
                if kind in (nw.Categorical, nw.Enum)
            ]
        else:
            if is_sparse(X):
                raise ValueError(
                    "categories cannot be columns of a sparse table; pass an array or a frame."
                )
            known = list(range(np.shape(X)[1]) if frame is None else frame.columns)
            columns = sorted(set(_places("categories", categories, known)))
        values = [_values(_column(X, frame, column)) for column in columns]
        return cls(np.shape(X)[1] if columns else 0, columns, values)

    def coded(self, X: Any) -> Any:
        """Put codes in the place of categories: -1 for unknown values, NaN for missing ones."""
        if not self.columns:
            return X
        frame = as_frame(X)
        coded = {}
        for column, values in zip(self.columns, self.values, strict=True):
            known = {value: float(code) for code, value in enumerate(values)}
            given = _column(X, frame, column)
            coded[column] = np.array(
                [np.nan if v is None else known.get(v, UNKNOWN) for v in given]
            )
        if frame is None:
            table = np.array(X, dtype=object)
            for column, codes in coded.items():
                table[:, column] = codes
            return table
        backend = frame.implementation
        return frame.with_columns(
            nw.new_series(frame.columns[column], codes, nw.Float64, backend=backend)
            for column, codes in coded.items()
        ).to_native()

    def fitted(self, table: Any, truth: Truth, seed: int) -> tuple[Categories, Any]:
        """Learn from a table of codes; the training rows as numbers come back, too."""
        if not self.columns:
            return self, table
        targets, weights, prior = _targets(truth)
        order = np.argsort(row_hashes(seed, truth.n_rows), kind="stable")
        means: list[Floats | None] = []
        ordered = {}
        missing = [bool(np.isnan(table[:, column]).any()) for column in self.columns]
        for column, values in zip(self.columns, self.values, strict=True):
            if len(values) <= FEW or truth.pairs is not None:
                means.append(None)
                continue
            sums = np.zeros((len(values), 2))
            codes = np.nan_to_num(table[:, column], nan=-1).astype(np.int64)
            ordered[column] = ordered_means(codes, targets, weights, order, prior, sums)
            means.append(np.append((sums[:, 0] + prior) / (sums[:, 1] + 1.0), prior))
        made = replace(self, means=means, has_missing=missing)
        numbers = made.encoded(table)
        for column, mine in ordered.items():
            numbers[:, column] = mine
        return made, numbers

    def encoded(self, table: Any) -> Any:
        """Turn a table of codes into numbers, as for new rows."""
        if not self.columns:
            return table
        numbers = np.empty((table.shape[0], self.owners.size))
        numbers[:, : self.n_columns] = table
        free = self.n_columns
        for column, means, missing in zip(self.columns, self.means, self.has_missing, strict=True):
            codes = table[:, column]
            is_missing = np.isnan(codes)
            known = np.where(is_missing, UNKNOWN, codes)
            count = self._n_indicators(column)
            places = [column, *range(free, free + count - 1)]
            free += count - 1
            for value, place in enumerate(places):
                made = known == value if means is None else means[known.astype(np.intp)]
                numbers[:, place] = np.where(is_missing & missing, np.nan, made)
        return numbers

    def encoding(self, names: list[str]) -> Encoding:
        """The same as cells of named columns, for a formula; a TypeError where words are not plain.

        There a category's texts are read without surrounding blanks, and ``?`` is missing.
        """
        kinds = dict.fromkeys(names, "number")
        cells: list[Cell] = [Number(name) for name in names]
        parts = zip(self.columns, self.values, self.means, self.has_missing, strict=True)
        for place, values, means, missing in parts:
            name, words = names[place], [text_of(value).strip() for value in values]
            if len(set(words)) < len(words) or {"", "?"} & set(words):
                raise TypeError(
                    f"the categories of {name!r} cannot be stored or exported: some differ only in "
                    "blanks or type, or are '' or '?', which are missing there; rename them."
                )
            kinds[name] = "category"
            nothing = None if missing else 0.0 if means is None else float(means[-1])
            if means is None:
                indicators = [Lookup(name, (word,), missing=nothing) for word in words]
                cells[place] = indicators[0]
                cells += indicators[1 : self._n_indicators(place)]
            else:
                numbers = tuple(map(float, means[:-1]))
                cells[place] = Lookup(name, tuple(words), numbers, float(means[-1]), nothing)
        schema = Schema({name: ColumnSchema(name, kind) for name, kind in kinds.items()})
        return Encoding(schema, cells)

    def _n_indicators(self, column: int) -> int:
        """How many columns a column of categories becomes; two values need one."""
        place = self.columns.index(column)
        if self.means[place] is not None:
            return 1
        n_values = len(self.values[place])
        return min(n_values, MOST_INDICATORS) if n_values > 2 else 1

    @property
    def owners(self) -> NDArray[np.intp]:
        """Column of the table that each column of numbers comes from."""
        more = [np.repeat(column, self._n_indicators(column) - 1) for column in self.columns]
        return np.concatenate([np.arange(self.n_columns), *more]).astype(np.intp)

    @property
    def layout(self) -> list[Any]:
        """Decides whether trees that were grown on other rows refer to the same columns."""
        one_hot = [
            values if means is None else None
            for values, means in zip(self.values, self.means, strict=True)
        ]
        return [self.columns, one_hot]


def _places(argument: str, asked: Sequence[Any], known: list[Any]) -> list[int]:
    """Places of the columns that an argument names."""
    unknown = [name for name in asked if name not in known]
    if unknown:
        shown = ", ".join(map(repr, known[:10])) + (", ..." if len(known) > 10 else "")
        raise ValueError(
            f"{argument} names the column {unknown[0]!r}, which X does not have; "
            f"its columns are {shown}."
        )
    return [known.index(name) for name in asked]


def _column(X: Any, frame: Any, column: int) -> list[Any]:
    """Values of a column, None where there is none."""
    if frame is not None:
        given = frame[:, column].to_list()
    else:
        table = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        given = table[:, column].tolist()
    return [None if _is_missing(value) else value for value in given]


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)  # noqa: PLR0124  (NaN differs from itself)
    except TypeError:  # pandas' NA is undecided
        return True


def _values(column: list[Any]) -> list[Any]:
    counts = Counter(value for value in column if value is not None)
    plain = {value: value.item() if isinstance(value, np.generic) else value for value in counts}
    return [plain[value] for value in sorted(counts, key=lambda v: (-counts[v], str(v)))]


def _targets(truth: Truth) -> tuple[Floats, Floats, float]:
    """Targets from 0 to 1, weights of mean 1, and the mean target; zeros for pairs."""
    if truth.grades is None:
        return np.zeros(0), np.zeros(0), 0.0
    weights = np.ones(truth.n_rows) if truth.weights is None else truth.weights
    weights = weights / weights.max()
    weights = weights / weights.mean()
    targets = truth.grades.astype(np.float64) / max(int(truth.grades.max()), 1)
    return targets, weights, float(targets @ weights / weights.sum())


# Columns in which scores must only rise or only fall ----------------------------------------------


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
        if names is None:
            raise ValueError(
                "monotone is a dict, but the columns of X have no names; pass -1, 0 or 1 per "
                "column."
            )
        places: Any = _places("monotone", list(monotone), [str(name) for name in names])
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
