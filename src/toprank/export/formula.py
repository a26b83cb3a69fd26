"""A model as a formula: columns as numbers, and a sum of terms over these numbers.

::

    table    age  job         cells   age, filled   age missing?   job = clerk?
                                           x₀             x₁             x₂

    score = Σ over members  factor · (intercept + term(x))

A term is a weighted sum (:class:`Weights`), a step function of each cell (:class:`Steps`), or a sum
of trees. A single ranker is one member with factor 1, a blend has several. Every backend writes the
same cells and terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.numpy_scores import stump_levels
from toprank.tables.notation import ColumnSchema, describe
from toprank.trees import BinaryTrees, ObliviousTrees
from toprank.trees.foreign import as_float32_thresholds
from toprank.weak_rankers import Features, Stumps

if TYPE_CHECKING:
    from toprank.tables.columns import Encoding

Floats = NDArray[np.float64]


class Cell(NamedTuple):
    """One number of a row.

    Attributes
    ----------
    column : str
        Column of the table.
    kind : {"number", "boolean", "time", "duration", "days", "month", "weekday", "value", "missing"}
        What the number is: the column's own (hours of times), days since 1970, month or weekday
        (Monday is 1) of a date, or 1 where a text has this value or where the column is missing.
    fill : float or None
        The number of a row without a value; None where it stays missing.
    value : str
        The text that gives 1.
    """

    column: str
    kind: str
    fill: float | None = None
    value: str = ""


@dataclass(frozen=True, eq=False)
class Weights:
    """Σ w_j·x_j."""

    weights: Floats


class Step(NamedTuple):
    """A step function of one cell.

    ``levels[i]`` where the number exceeds the first i thresholds; ``missing`` without a number.
    """

    cell: int
    thresholds: list[float]
    levels: list[float]
    missing: float


@dataclass(frozen=True)
class Steps:
    """Σ of step functions, one per cell."""

    steps: list[Step]


Term = Weights | Steps | ObliviousTrees | BinaryTrees


@dataclass(frozen=True, eq=False)
class Summand:
    """One ranker of a blend: factor·(intercept + term)."""

    factor: float
    intercept: float
    term: Term


@dataclass(frozen=True, eq=False)
class Formula:
    """Everything that scores a row: intercept + Σ members.

    Attributes
    ----------
    cells : list of Cell
    kinds : dict of column to {"number", "boolean", "time", "duration", "date", "category"}
        What each column of the table holds, in the order of the table.
    intercept : float
    members : list of Summand
    schema : mapping of column to its ColumnSchema
        How cells are read; a column that is not named holds plain numbers.
    """

    cells: list[Cell]
    kinds: dict[str, str]
    intercept: float
    members: list[Summand]
    schema: Mapping[str, ColumnSchema] = field(default_factory=dict)

    @property
    def is_additive(self) -> bool:
        """Whether the score is a sum of functions of single columns, so that it has reasons."""
        return all(isinstance(member.term, (Weights, Steps)) for member in self.members)

    def used_cells(self) -> list[int]:
        """Numbers of the cells that some term looks at."""
        used: set[int] = set()
        for member in self.members:
            used.update(_used_by(member.term))
        return sorted(used)

    def codes(self, column: str) -> tuple[float, ...]:
        """Numbers that stand for missing in a column."""
        return self.schema[column].codes if column in self.schema else ()

    def check_typed(self) -> None:
        """Raise where a used column is written in a way that only toprank reads."""
        used = {self.cells[cell].column for cell in self.used_cells()}
        for name, how in self.schema.items():
            is_clock = how.kind in ("time", "duration")
            plain = replace(how, codes=(), left_out="")
            if name not in used or (plain == ColumnSchema(name, how.kind) and not is_clock):
                continue
            what = "numbers of hours" if is_clock else f"plain {how.kind}s"
            found = ", ".join(filter(None, [how.kind, describe(plain)]))
            raise ValueError(
                f"the column {name!r} is not exported as it is written ({found}); fit the model on "
                f"a typed table, such as Parquet, in which it holds {what}, and export that one."
            )


def formula_of(ranker: Any, encoder: Encoding | None = None) -> Formula:
    """Write a fitted ranker as a formula.

    Parameters
    ----------
    ranker : fitted ranker
        A linear ranker, one of stumps or trees, or a blend of these (also a
        :class:`toprank.TopRanker`).
    encoder : TableEncoder, optional
        What turns the table into the numbers that the ranker takes; without it all columns are
        numbers, and missing values stay missing.

    Raises
    ------
    TypeError
        If a ranker is none of these: kernels, weak rankers of your own, trees on categories.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import PNormPush
    >>> from toprank.export import formula_of
    >>> model = PNormPush().fit(np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1])
    >>> formula = formula_of(model)
    >>> formula.cells
    [Cell(column='x0', kind='number', fill=None, value='')]
    >>> [type(member.term).__name__ for member in formula.members]
    ['Weights']
    """
    given = ranker
    if hasattr(ranker, "best_estimator_"):
        encoder = ranker.encoder_ if encoder is None else encoder
        ranker = ranker.best_estimator_
    schema: Mapping[str, ColumnSchema] = {}
    if encoder is None:
        numbered = [f"x{number}" for number in range(int(ranker.n_features_in_))]
        known = getattr(ranker, "feature_names_in_", numbered)
        names = [str(name) for name in getattr(given, "feature_names_in_", known)]
        cells, kinds = [Cell(name, "number") for name in names], dict.fromkeys(names, "number")
    else:
        cells, kinds = _cells_of(encoder), dict(encoder.columns_)
        schema = encoder.schema_.columns
    is_blend = hasattr(ranker, "rankers_")
    intercept = float(ranker.intercept_[0]) if is_blend else 0.0
    return Formula(cells, kinds, intercept, _members_of(ranker), schema)


def _cells_of(encoder: Encoding) -> list[Cell]:
    """The cells in the order of the encoder's output."""
    cells: list[Cell] = []
    for name, kind in encoder.columns_:
        if kind == "category":
            cells += [Cell(name, "value", value=value) for value in encoder.categories_[name]]
        else:
            parts = ("days", "month", "weekday") if kind == "date" else (kind,)
            medians = encoder.medians_[name]
            cells += [
                Cell(name, part, float(fill)) for part, fill in zip(parts, medians, strict=True)
            ]
        if encoder.has_missing_[name]:
            cells.append(Cell(name, "missing"))
    return cells


def _members_of(ranker: Any, factor: float = 1.0) -> list[Summand]:
    """The rankers of a blend, or the ranker itself."""
    if hasattr(ranker, "rankers_"):
        pairs = zip(ranker.factors_, ranker.rankers_, strict=True)
        inner = [_members_of(each, factor * float(mine)) for mine, each in pairs]
        return [member for members in inner for member in members]
    if hasattr(ranker, "ranker_"):  # trees of another library, which see numbers cut to float32
        (found,) = _members_of(ranker.ranker_, factor)
        return [Summand(factor, found.intercept, _for_float32(found.term))]
    intercept, term = _term_of(ranker)
    return [Summand(factor, intercept, term)]


def _term_of(ranker: Any) -> tuple[float, Term]:
    """Intercept and term of a single ranker."""
    if np.shape(getattr(ranker, "intercept_", ())) != (1,):  # none, or one per label
        raise _refusal(ranker)
    intercept = float(ranker.intercept_[0])
    if hasattr(ranker, "trees_") and not ranker.has_categories:
        return intercept, ranker.trees_
    if hasattr(ranker, "coef_"):
        return intercept, Weights(np.asarray(ranker.coef_, dtype=np.float64)[0])
    family = getattr(ranker, "weak_rankers_", None)
    if not hasattr(ranker, "weights_") or not isinstance(family, (Features, Stumps)):
        raise _refusal(ranker)
    weights = np.asarray(ranker.weights_, dtype=np.float64)
    if isinstance(family, Stumps):
        return intercept, _steps(family, weights)
    coef, offset = family.linear(weights)
    return intercept + offset, Weights(coef)


def _steps(family: Stumps, weights: Floats) -> Steps:
    sizes, doubled = family.sizes(), family.doubled()
    ends = np.cumsum(sizes * (1 + doubled))
    steps = []
    for cell, mine in enumerate(np.split(weights, ends[:-1])):
        if mine.any():
            twice = bool(doubled[cell])
            levels, missing = stump_levels(mine, int(sizes[cell]), is_doubled=twice)
            kept = np.flatnonzero(np.diff(levels))  # at other thresholds nothing changes
            thresholds = family.thresholds_[cell][kept].tolist()
            steps.append(Step(cell, thresholds, levels[[0, *kept + 1]].tolist(), missing))
    return Steps(steps)


def _for_float32(trees: Any) -> Any:
    """Trees that answer for float64 numbers as the given ones do for the same cut to float32."""
    thresholds = as_float32_thresholds(trees.thresholds, equal_goes_left=True)
    given = {name: getattr(trees, name) for name in ("columns", "missing_left", "values", "cover")}
    if isinstance(trees, BinaryTrees):
        given |= {"roots": trees.roots, "children": trees.children}
    return type(trees)(thresholds=thresholds, **given)


def _used_by(term: Term) -> set[int]:
    if isinstance(term, Weights):
        return set(np.flatnonzero(term.weights).tolist())
    if isinstance(term, Steps):
        return {step.cell for step in term.steps}
    if isinstance(term, BinaryTrees):
        return set(term.columns[term.children[:, 0] >= 0].tolist())
    return set(term.columns.ravel().tolist())


def _refusal(ranker: Any) -> TypeError:
    name = getattr(ranker, "class_name", type(ranker).__name__)
    return TypeError(
        f"{name} cannot be exported: only linear rankers, rankers of stumps or trees and blends of "
        "these are sums of plain terms; kernels, weak rankers of your own, multilabel models and "
        "trees that encode categories themselves stay in Python."
    )
