"""A stored ranker: its formula with roles, budget, cut, calibration, promise and training facts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import as_frame, is_sparse, rows_within_budget
from toprank.models.scores import RankedScores
from toprank.models.terms import Weights
from toprank.tables.schema import Schema
from toprank.tables.table import FEATURES, Table, as_table

if TYPE_CHECKING:
    from toprank.models.formula import Formula
    from toprank.models.terms import Part
    from toprank.shortlists import Calibration, Interval, Promise

Floats = NDArray[np.float64]

# Cells of a sparse matrix that are made dense at a time, where not all terms are weights.
_DENSE_CELLS = 1 << 24


@dataclass(frozen=True)
class Roles:
    """Which column is what.

    ``positives`` are the target's values that belong at the top, ``unlabelled`` those of rows that
    were left out of learning.
    """

    target: str
    positives: tuple[str, ...] = ()
    group: str | None = None
    weight: str | None = None
    ignored: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()

    @property
    def positive(self) -> str:
        """What belongs at the top, in words such as ``bought = yes``; pairs name no value."""
        if not self.positives:
            return "positive"
        return f"{self.target} = {' or '.join(self.positives)}"


@dataclass(frozen=True)
class ColumnProfile:
    """The values of a column in training.

    ``edges`` separate bins of numbers between ``low`` and ``high``; of dates these are whole days
    before the newest date of the column, because time goes on. ``counts`` are the rows of each bin
    or category, of other values and of missing ones.
    """

    edges: list[float]
    low: float
    high: float
    counts: list[int]


class Driver(NamedTuple):
    """A column of the table: how far it moves scores, and through which terms.

    ``reach`` is the standard deviation of its contribution over the training rows, ``share`` its
    part in the sum of all reaches; None where the model does not know them.
    """

    column: str
    reach: float
    share: float | None
    parts: tuple[Part, ...]

    def in_words(self, most: int) -> str:
        """The heaviest terms, without repeating the column's name: ``> 41.5: +0.3; ...``."""
        found = []
        for part in self.parts[:most]:
            term = (
                part.name.removeprefix(self.column).removeprefix(" = ").removeprefix(": ").strip()
            )
            found.append(f"{term}: {part.weight:+.3g}" if term else f"{part.weight:+.3g}")
        return "; ".join(found)


@dataclass(frozen=True, eq=False)
class Model(RankedScores):
    """A ranker as a file holds it: :func:`toprank.save` writes one, :func:`toprank.load` reads it.

    Attributes
    ----------
    formula : Formula
        Scores and contributions.
    roles : Roles
        Target, its values, group, weight and ignored columns of the training table.
    budget : int or float
        Rows of the list that count, or below 1 the share of them.
    classes_ : array of the two labels, or None where grades or pairs were learned from
        ``classes_[1]`` is the positive one, predicted where the score is above 0.
    schema : Schema
        How all columns of the training table were read, and why some were left out; later tables
        are read by it.
    cut : float or None
        Score at which a stream like the training rows is cut to stay within the budget.
    slope : float or None
        Factor that makes log-odds of scores, where theory gives one.
    calibration : Calibration or None
        Scores and labels of rows that the ranker did not learn from, on which promises rest.
    promise : Promise or None
        Hits to expect in a new list, by its length.
    facts : dict
        Plain values: versions, rows, positives, parameters, certificate in words, held-out
        precision.
    profile : list of ColumnProfile
        What the columns looked like in training; of sparse rows nothing.
    baseline, spread : arrays of shape (n_cells,)
        Mean contribution of each cell in training, from which a row's are measured, and its
        standard deviation.

    Examples
    --------
    >>> import numpy as np, tempfile, toprank
    >>> from pathlib import Path
    >>> ranker = toprank.PNormPush().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = toprank.load(toprank.save(ranker, Path(folder) / "model.toprank"))
    >>> model.top(np.array([[1.0], [3.0], [2.0]]), 2)
    array([1, 2])
    """

    formula: Formula
    roles: Roles
    budget: float
    classes_: NDArray[Any] | None = None
    schema: Schema = field(default_factory=lambda: Schema({}))
    cut: float | None = None
    slope: float | None = None
    calibration: Calibration | None = None
    promise: Promise | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    profile: list[ColumnProfile] = field(default_factory=list)
    baseline: Floats = field(default_factory=lambda: np.zeros(0))
    spread: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def columns(self) -> list[str]:
        """The columns that rows are ranked by."""
        return list(self.formula.encoding.schema)

    @property
    def assumption(self) -> str:
        """What was assumed about the target, which every output must say; mostly nothing."""
        return str(self.facts.get("assumption", ""))

    @property
    def origin(self) -> str:
        """What it was learned from, in words."""
        if not self.knows_rows:
            return "fitted in Python"
        return f"learned from {self.facts['n_rows']:,} rows of {self.facts['table']}"

    @property
    def knows_rows(self) -> bool:
        """Whether mean and spread of the training rows are known: not where saved in Python."""
        return "table" in self.facts

    @property
    def compared_with(self) -> str:
        """What the contributions of a column are measured from, in words."""
        mean, terms = "its mean over the training rows", [s.term for s in self.formula.summands]
        if self.knows_rows or not any(term.is_additive for term in terms):
            return mean
        in_trees = "" if self.formula.is_additive else f" (in trees with {mean})"
        return f"0{in_trees}, because toprank.save does not know the training rows"

    @property
    def left_out(self) -> dict[str, str]:
        """Columns of the training table that are not used, with the reason."""
        return {each.name: each.left_out for each in self.schema.columns.values() if each.left_out}

    def read_as(self, schema: Schema) -> Model:
        """The same for a table whose cells are written as this schema says."""
        encoding = self.formula.encoding
        if schema == self.schema or encoding.is_sparse:
            return self
        for name, kind in encoding.columns:
            if name in schema and schema[name].kind != kind:
                raise ValueError(
                    f"the column {name!r} is to be read as {schema[name].kind}, but the model has "
                    f"learned from it as {kind}; leave that option out, or fit again with it."
                )
        return replace(self, formula=self.formula.of_cells(encoding.read_by(schema)))

    # Scores ---------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Score every row of an array, a sparse matrix, or a frame; higher is better.

        A warning names columns that are not there and cells that do not fit: they count as missing.
        """
        if not is_sparse(X):
            table, encoding = self.with_sparse_features(self._as_table(X)), self.formula.encoding
            found = self.scores(table)
            for note in encoding.misfits(table.read_by(encoding.schema)):
                warnings.warn(note, UserWarning, stacklevel=2)
            return found
        rows: Any = X.tocsr()
        if self._is_linear and X.shape[1] == len(self.schema):
            with np.errstate(over="ignore", invalid="ignore"):
                scores = self.formula.scores_of(rows)
            if np.isfinite(scores).all():
                return scores
        step = max(1, _DENSE_CELLS // max(1, X.shape[1]))
        starts = range(0, max(1, X.shape[0]), step)
        return np.concatenate([self.scores(self._as_table(rows[at : at + step])) for at in starts])

    @property
    def _is_linear(self) -> bool:
        """Whether the columns of the training table themselves are weighted."""
        is_plain = self.formula.encoding.is_plain and len(self.columns) == len(self.schema)
        return is_plain and all(type(each.term) is Weights for each in self.formula.summands)

    def _as_table(self, X: Any) -> Table:
        """A frame or a table as it is; an array has the columns of the training table in order."""
        if isinstance(X, Table) or as_frame(X) is not None:
            return as_table(X)
        numbers, names = np.asarray(X.toarray() if is_sparse(X) else X), list(self.schema)
        if numbers.ndim != 2 or numbers.shape[1] != len(names):
            raise ValueError(
                f"X has the shape {numbers.shape}, but this model takes tables of {len(names)} "
                "columns; pass all of them in the order of training, or a frame with their names."
            )
        return Table(dict(zip(names, numbers.T, strict=True)), "X", schema=self.schema)

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class of every row: ``classes_[1]`` where the score is above 0."""
        if self.classes_ is None:
            raise AttributeError(
                "this model learned from pairs or grades, which name no classes; use "
                "decision_function, rank or top."
            )
        return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(int)])

    def scores(self, X: Any, first_row: int | None = None) -> Floats:
        """Score every row of a table or frame; a row without a finite score raises.

        ``first_row`` is how many rows came before, where the message can name the row.
        """
        table = self.with_sparse_features(as_table(X))
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.formula.scores(table)
            is_finite = np.isfinite(scores)
            if not is_finite.all():
                raise self._without_score(table, int(np.argmin(is_finite)), first_row)
        return scores

    def with_sparse_features(self, table: Table) -> Table:
        """A shortlist of sparse rows with its features, which stand there as text in one column."""
        has_own = len(self.formula.encoding.absent_columns(table)) < len(self.columns)
        if FEATURES not in table.names or has_own:
            return table
        from toprank.tables.sparse import SparseTable  # noqa: PLC0415 (loads SciPy)

        return SparseTable.of_texts(table)

    def _without_score(self, table: Table, row: int, first_row: int | None) -> ValueError:
        """What to raise for a row whose numbers are too large or missing."""
        encoding = self.formula.encoding
        encoded = _dense(encoding.transform(table.rows([row])))[0]
        used = self.formula.used
        sizes = np.abs(encoded[used] * np.maximum(1.0, np.abs(self.spread[used])))
        at = used[int(np.argmax(np.where(np.isnan(sizes), np.inf, sizes)))]
        where = "a row" if first_row is None else f"row {first_row + row + 1:,}"
        what = f"its {encoding.names[at]!r} is {encoded[at]:.6g}"
        if np.isnan(encoded[at]):
            return ValueError(
                f"{where} of {table.name} has no finite score: {what}, and the model has not "
                "learned from missing values; fill it in, or leave the row out."
            )
        takes_none = getattr(encoding.cells[at], "fill", 0.0) is not None
        return ValueError(
            f"{where} of {table.name} has no finite score: {what}, far from the rows that the "
            f"model has learned from; correct it, {'leave it empty, ' if takes_none else ''}or "
            "leave the row out."
        )

    # Contributions --------------------------------------------------------------------------------

    def contributions(self, X: Any) -> Floats:
        """What each cell adds to each row's score, measured from :attr:`compared_with`."""
        table = self.with_sparse_features(self._as_table(X))
        encoded = self.formula.encoding.transform(table)
        return _dense(self.formula.contributions_of(encoded)) - self.baseline

    def row_drivers(self, table: Table) -> tuple[list[str], Floats]:
        """Columns of the table, and what each adds to each row's score: (n_rows, n_columns)."""
        return _sums_by_column(self.formula.encoding.owners, self.contributions(table))

    def drivers(self, most: int | None = None) -> list[Driver]:
        """What drives the score, the strongest column first; by default all columns."""
        owners = self.formula.encoding.owners
        # Cells of one column exclude each other or nearly so; adding variances is close enough to
        # order columns by.
        names, variances = _sums_by_column(owners, self.spread**2)
        reach = np.sqrt(variances)
        total = float(reach.sum()) or 1.0
        shares = (reach / total).tolist() if self.knows_rows else [None] * reach.size
        order = np.argsort(-reach, kind="stable")[:most]
        parts: dict[str, list[Part]] = {names[at]: [] for at in order}
        for part in sorted(self.formula.parts(), key=lambda part: -abs(part.weight)):
            if owners[part.cell] in parts:
                parts[owners[part.cell]].append(part)
        return [
            Driver(names[at], float(reach[at]), shares[at], tuple(parts[names[at]])) for at in order
        ]

    # The list -------------------------------------------------------------------------------------

    def expected_hits(self, length: float, n_rows: float, n_lists: int = 1) -> Interval | None:
        """Hits to expect among the first ``length`` rows of a new list; None if none was judged.

        With lists, ``length`` counts the rows of all shortlists together.
        """
        if self.promise is None or not length:
            return None
        return self.promise.hits(length, n_rows, n_lists)

    def chances(self, scores: Floats) -> Floats | None:
        """The chance of each row to be positive; None where nothing is known of it."""
        if self.calibration is not None:
            from toprank.shortlists import learn_chances  # noqa: PLC0415 (loads SciPy)

            return learn_chances(self.calibration)(scores)
        if self.slope is None:
            return None
        with np.errstate(over="ignore"):
            return 1.0 / (1.0 + np.exp(-self.slope * scores))

    def lists_in(self, table: Table) -> NDArray[Any] | None:
        """List ids, one per row; None where the model or the table has none."""
        group = self.roles.group
        return lists_of(table, group) if group in table.names else None

    def in_budget(self, n_rows: int, budget: float | None = None) -> int:
        """How many rows of a list of ``n_rows`` the budget is; never more than there are."""
        amount = self.budget if budget is None else budget
        return rows_within_budget(amount, n_rows, name="budget", clip=True)


def _dense(rows: Any) -> Floats:
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray())


def mean_and_spread(parts: Any) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each column, whose sums and squares stay finite.

    Columns are scaled by powers of two, which changes no digit. Of a CSR matrix, what is not
    written is 0 and lies as far from the mean as the mean itself.

    Examples
    --------
    >>> mean_and_spread(np.array([[1e308], [1.5e308]]))
    (array([1.25e+308]), array([2.5e+307]))
    """
    if isinstance(parts, np.ndarray):
        _, powers = np.frexp(np.abs(parts).max(axis=0, initial=0.0))
        scaled = np.ldexp(parts, -powers)
        return np.ldexp(scaled.mean(axis=0), powers), np.ldexp(scaled.std(axis=0), powers)
    (n_rows, n_columns), at = parts.shape, parts.indices
    _, powers = np.frexp(abs(parts).max(axis=0).toarray().ravel())
    scaled = np.ldexp(parts.data, -powers[at])
    mean = np.bincount(at, scaled, n_columns) / n_rows
    present = np.bincount(at, minlength=n_columns)
    squares = np.bincount(at, (scaled - mean[at]) ** 2, n_columns) + (n_rows - present) * mean**2
    return np.ldexp(mean, powers), np.ldexp(np.sqrt(squares / n_rows), powers)


def _sums_by_column(owners: list[str], values: Floats) -> tuple[list[str], NDArray[Any]]:
    """Sum values of cells (last axis) over the table's columns they come from."""
    places = {name: place for place, name in enumerate(dict.fromkeys(owners))}
    if len(places) == len(owners):
        return owners, values
    sums = np.zeros((*values.shape[:-1], len(places)))
    np.add.at(sums.T, [places[owner] for owner in owners], values.T)
    return list(places), sums


def lists_of(table: Table, group: str | None) -> NDArray[Any] | None:
    """List ids, one per row."""
    if group is None:
        return None
    column = table.keys(group)
    n_missing = int(np.count_nonzero(column.is_missing))
    if n_missing:
        raise ValueError(
            f"the group {group!r} is missing in {n_missing} rows; every row needs a list."
        )
    return np.asarray(np.array(column.words, dtype=str)[column.values])
