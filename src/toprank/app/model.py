"""A ranker with its encoder and the facts of its training, and what drives its scores."""

from __future__ import annotations

from contextlib import closing
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toprank.inputs import rows_within_budget
from toprank.tables.columns import Encoding
from toprank.tables.schema import Schema
from toprank.tables.table import FEATURES, as_table

if TYPE_CHECKING:
    from toprank.app.column_survey import ColumnProfile
    from toprank.kernels.threads import Threads
    from toprank.shortlists.calibration import Calibration
    from toprank.shortlists.promise import Interval
    from toprank.tables.table import Table

# Rows that trees score and explain in one thread, sooner than BLAS says how many there may be.
FEW_ROWS = 5000


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
        """What belongs at the top, in words such as ``bought = yes``."""
        return f"{self.target} = {' or '.join(self.positives)}"


class Part(NamedTuple):
    """One term of the sum in words, such as ``age`` or ``age > 41.5``, and its weight."""

    name: str
    weight: float


class Driver(NamedTuple):
    """A column of the table: how far it moves scores, and through which terms.

    ``reach`` is the standard deviation of its contribution over the training rows, ``share`` its
    part in the sum of all reaches.
    """

    column: str
    reach: float
    share: float
    parts: tuple[Part, ...]

    def in_words(self, most: int) -> str:
        """The heaviest terms, without repeating the column's name: ``> 41.5: +0.3; ...``."""
        found = []
        for name, weight in self.parts[:most]:
            term = name.removeprefix(self.column).removeprefix(" = ").strip()
            found.append(f"{term}: {weight:+.3g}" if term else f"{weight:+.3g}")
        return "; ".join(found)


@dataclass(frozen=True, eq=False)
class RankingModel:
    """All that ranks a table: encoder, ranker, and the facts of the training.

    Attributes
    ----------
    encoder : TableEncoder
    ranker : fitted ranker
        Out of a file :class:`toprank.app.stored.StoredRanker`, which acts like it.
    roles : Roles
        Target, its values, group, weight and ignored columns of the training table.
    budget : int or float
        Rows of the list that count, or below 1 the share of them.
    cutoff : float or None
        Score at which a stream like the training rows is cut to stay within the budget.
    facts : dict
        Plain values: versions, rows, positives, parameters, certificate in words, held-out
        precision.
    profile : list of ColumnProfile
        What the columns looked like in training; of sparse rows nothing.
    baseline : array of shape (n_encoded,)
        Mean contribution of each encoded column in training, from which a row's are measured.
    spread : array of shape (n_encoded,)
        Standard deviation of the same.
    calibration : Calibration or None
        Scores and labels of rows that the ranker did not learn from, on which promises rest.
    schema : Schema
        How all columns of the training table were read, and why some were left out; later tables
        are read by it.
    """

    encoder: Encoding
    ranker: Any
    roles: Roles
    budget: float
    cutoff: float | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    profile: list[ColumnProfile] = field(default_factory=list)
    baseline: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    spread: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    calibration: Calibration | None = None
    schema: Schema = field(default_factory=lambda: Schema({}))

    @property
    def columns(self) -> list[str]:
        """The columns that rows are ranked by."""
        return [name for name, _ in self.encoder.columns_]

    @property
    def assumption(self) -> str:
        """What was assumed about the target, which every output must say; mostly nothing."""
        return str(self.facts.get("assumption", ""))

    @property
    def left_out(self) -> dict[str, str]:
        """Columns of the training table that are not used, with the reason."""
        return {each.name: each.left_out for each in self.schema.columns.values() if each.left_out}

    def read_as(self, schema: Schema) -> RankingModel:
        """The same for a table whose cells are written as this schema says."""
        if schema == self.schema or self.encoder.is_sparse:
            return self
        for name, kind in self.encoder.columns_:
            if name in schema and schema[name].kind != kind:
                raise ValueError(
                    f"the column {name!r} is to be read as {schema[name].kind}, but the model has "
                    f"learned from it as {kind}; leave that option out, or fit again with it."
                )
        encoder = copy(self.encoder)
        encoder.schema_ = self.schema.changed(**schema.columns).select(self.columns)
        return replace(self, encoder=encoder)

    def scores(self, X: Any, first_row: int | None = None) -> NDArray[np.float64]:
        """Score every row of a table or frame; a row without a finite score raises.

        ``first_row`` is how many rows came before, where the message can name the row.
        """
        table = self.with_sparse_features(as_table(X))
        self.encoder.check_columns(table)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._scores(table)
            is_finite = np.isfinite(scores)
            if not is_finite.all():
                raise self._without_score(table, int(np.argmin(is_finite)), first_row)
        return scores

    def with_sparse_features(self, table: Table) -> Table:
        """A shortlist of sparse rows with its features, which stand there as text in one column."""
        has_own = len(self.encoder.absent_columns(table)) < len(self.columns)
        if FEATURES not in table.names or has_own:
            return table
        from toprank.tables.sparse import SparseTable

        return SparseTable.of_texts(table)

    def _without_score(self, table: Table, row: int, first_row: int | None) -> ValueError:
        """What to raise for a row whose numbers are too large."""
        encoded = _dense(self.encoder.transform(table.rows([row])))[0]
        weights = np.asarray(getattr(self.ranker, "coef_", np.ones((1, encoded.size))))[0]
        at = int(np.argmax(np.abs(encoded * weights)))
        where = "a row" if first_row is None else f"row {first_row + row + 1:,}"
        return ValueError(
            f"{where} of {table.name} has no finite score: its "
            f"{self.encoder.feature_names_out_[at]!r} is {encoded[at]:.6g}, far from the rows that "
            "the model has learned from; correct it, leave it empty, or leave the row out."
        )

    def _scores(self, table: Table) -> NDArray[np.float64]:
        if hasattr(self.ranker, "coef_") and not self.encoder.is_sparse:
            # the encoded table is never held as a whole
            return _linear_scores(self.ranker, self.encoder.encoded(table), table.n_rows)
        return _scores(self.ranker, self.encoder.transform(table))

    def contributions(self, X: Any) -> NDArray[np.float64]:
        """What each encoded column adds to each row's score, beyond the mean training row."""
        encoded = self.encoder.transform(self.with_sparse_features(as_table(X)))
        return _dense(contributions(self.ranker, encoded)) - self.baseline

    def row_drivers(self, table: Table) -> tuple[list[str], NDArray[np.float64]]:
        """Columns of the table, and what each adds to each row's score: (n_rows, n_columns)."""
        return _sums_by_column(self.encoder.owners_, self.contributions(table))

    def drivers(self, most: int | None = None) -> list[Driver]:
        """What drives the score, the strongest column first; by default all columns."""
        # Encoded columns of one table column exclude each other or nearly so; adding variances is
        # close enough to order columns by.
        names, variances = _sums_by_column(self.encoder.owners_, self.spread**2)
        reach = np.sqrt(variances)
        total = float(reach.sum()) or 1.0
        order = np.argsort(-reach, kind="stable")[:most]
        parts = _parts(self, {names[at] for at in order})
        return [
            Driver(names[at], float(reach[at]), float(reach[at]) / total, tuple(parts[names[at]]))
            for at in order
        ]

    def expected_hits(self, length: float, n_rows: float, n_lists: int = 1) -> Interval | None:
        """Hits to expect among the first ``length`` rows of a new list; None if none was judged.

        With lists, ``length`` counts the rows of all shortlists together.
        """
        known = self.facts.get("promise")
        if known is None or not length:
            return None
        from toprank.shortlists.promise import Promise

        return Promise.of_values(known).hits(length, n_rows, n_lists)

    def chances(self, scores: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The chance of each row to be positive; None where there are no calibration rows."""
        if self.calibration is None:
            return None
        from toprank.shortlists import learn_chances

        return learn_chances(self.calibration)(scores)

    def lists_in(self, table: Table) -> NDArray[Any] | None:
        """List ids, one per row; None where the model or the table has none."""
        group = self.roles.group
        return lists_of(table, group) if group in table.names else None

    def in_budget(self, n_rows: int, budget: float | None = None) -> int:
        """How many rows of a list of ``n_rows`` the budget is; never more than there are."""
        amount = self.budget if budget is None else budget
        return rows_within_budget(amount, n_rows, name="budget", clip=True)


def _dense(rows: Any) -> NDArray[np.float64]:
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray())


def _scores(ranker: Any, encoded: Any) -> NDArray[np.float64]:
    """Scores of encoded rows; equal rows have equal scores to the last bit, wherever they stand."""
    if hasattr(ranker, "rankers_"):
        scores = np.full(encoded.shape[0], float(ranker.intercept_[0]))
        for factor, member in zip(ranker.factors_, ranker.rankers_, strict=True):
            scores += factor * _scores(member, encoded)
        return scores
    if hasattr(ranker, "ranker_"):
        return _scores(ranker.ranker_, _cut_to_float32(encoded))
    if hasattr(ranker, "coef_"):
        return _linear_scores(ranker, encoded.T, encoded.shape[0])
    if hasattr(ranker, "trees_") and not ranker.has_categories:
        with closing(_threads(len(encoded))) as threads:
            return np.asarray(ranker.trees_.scores(encoded, threads, float(ranker.intercept_[0])))
    if hasattr(ranker, "weak_rankers_") and hasattr(ranker, "weights_"):
        return np.asarray(
            ranker.weak_rankers_.scores(encoded, ranker.weights_) + ranker.intercept_[0]
        )
    return np.asarray(ranker.decision_function(encoded), dtype=np.float64)


def _threads(n_rows: int) -> Threads:
    """Threads for trees: one for few rows, which saves asking BLAS how many are allowed."""
    from toprank.kernels.threads import Threads, allowed_threads

    return Threads(allowed_threads(None) if n_rows > FEW_ROWS else 1)


def _cut_to_float32(encoded: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers as trees of other libraries see them; beyond float32 they are infinite."""
    with np.errstate(over="ignore"):
        return encoded.astype(np.float32).astype(np.float64)


def _linear_scores(ranker: Any, columns: Any, n_rows: int) -> NDArray[np.float64]:
    """Add up column by column: the rounding of a matrix product depends on the position of a row.

    That of a CSR matrix with a vector does not: each row is a sum of its own.
    """
    if hasattr(columns, "tocsr"):
        coef = np.asarray(ranker.coef_[0], dtype=np.float64)
        return np.asarray(columns.T.tocsr() @ coef + float(ranker.intercept_[0]))
    scores, product = np.full(n_rows, float(ranker.intercept_[0])), np.empty(n_rows)
    coef = np.asarray(ranker.coef_, dtype=np.float64)[0]
    for weight, values in zip(coef, columns, strict=True):
        if weight:
            np.multiply(values, weight, out=product)
            scores += product
    return scores


def contributions(ranker: Any, encoded: Any) -> Any:
    """What each column adds to each row's score: of shape (n_rows, n_columns).

    The sum over columns is the score up to a constant, which a baseline takes away. Of sparse rows
    it is sparse: what is 0 adds nothing.
    """
    is_sparse = not isinstance(encoded, np.ndarray)
    if is_sparse or hasattr(ranker, "coef_"):
        coef = _linear_coef(ranker)
        return encoded.multiply(coef).tocsr() if is_sparse else np.asarray(encoded * coef)
    if hasattr(ranker, "trees_"):
        return _shapley_values(ranker, encoded)
    parts = np.zeros(encoded.shape)
    if hasattr(ranker, "rankers_"):  # a blend's are the sums of its members'
        for factor, member in zip(ranker.factors_, ranker.rankers_, strict=True):
            parts += factor * contributions(member, encoded)
        return parts
    if hasattr(ranker, "ranker_"):  # a forest's are those of its trees
        return contributions(ranker.ranker_, _cut_to_float32(encoded))
    if not _has_stumps(ranker):
        return _occluded(ranker, encoded)
    family, weights = ranker.weak_rankers_, np.asarray(ranker.weights_, dtype=np.float64)
    owners = _owners_of_stumps(family)
    for column in np.unique(owners[weights != 0]):
        parts[:, column] = family.scores(encoded, np.where(owners == column, weights, 0.0))
    return parts


def _shapley_values(ranker: Any, encoded: NDArray[np.float64]) -> NDArray[np.float64]:
    if ranker.has_categories:
        return np.asarray(ranker.explain(encoded))
    with closing(_threads(len(encoded))) as threads:
        return np.asarray(ranker.trees_.contributions(encoded, threads))


def _linear_coef(ranker: Any) -> NDArray[np.float64]:
    """The coefficients of a linear ranker, or of a blend of such."""
    if not hasattr(ranker, "rankers_"):
        return np.asarray(ranker.coef_[0], dtype=np.float64)
    found = np.zeros(ranker.n_features_in_)
    for factor, member in zip(ranker.factors_, ranker.rankers_, strict=True):
        found += factor * _linear_coef(member)
    return np.asarray(found)


def _occluded(ranker: Any, encoded: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far scores fall if one column is replaced by its mean over the support vectors.

    A kernel's score is no sum over columns, so these need not add up to it.
    """
    parts = np.zeros(encoded.shape)
    middle = np.asarray(ranker.support_vectors_, dtype=np.float64).mean(axis=0)
    scores = np.asarray(ranker.decision_function(encoded))
    for column, value in enumerate(middle):
        without = encoded.copy()
        without[:, column] = value
        parts[:, column] = scores - ranker.decision_function(without)
    return parts


def mean_and_spread(parts: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each column, whose sums and squares stay finite.

    Columns are scaled by powers of two, which changes no digit.

    Examples
    --------
    >>> mean_and_spread(np.array([[1e308], [1.5e308]]))
    (array([1.25e+308]), array([2.5e+307]))
    """
    if not isinstance(parts, np.ndarray):
        from toprank.tables import sparse

        return sparse.mean_and_spread(parts)
    _, powers = np.frexp(np.abs(parts).max(axis=0, initial=0.0))
    scaled = np.ldexp(parts, -powers)
    return np.ldexp(scaled.mean(axis=0), powers), np.ldexp(scaled.std(axis=0), powers)


def _has_stumps(ranker: Any) -> bool:
    return hasattr(getattr(ranker, "weak_rankers_", None), "doubled")


def _owners_of_stumps(family: Any) -> NDArray[np.intp]:
    """The encoded column that each weak ranker compares with its threshold."""
    sizes = np.asarray(family.sizes())
    return np.repeat(np.arange(sizes.size), sizes * (1 + family.doubled()))


def _sums_by_column(
    owners: list[str], values: NDArray[np.float64]
) -> tuple[list[str], NDArray[Any]]:
    """Sum values of encoded columns (last axis) over the table's columns they come from."""
    places = {name: place for place, name in enumerate(dict.fromkeys(owners))}
    if len(places) == len(owners):
        return owners, values
    sums = np.zeros((*values.shape[:-1], len(places)))
    np.add.at(sums.T, [places[owner] for owner in owners], values.T)
    return list(places), sums


def _parts(model: RankingModel, columns: set[str]) -> dict[str, list[Part]]:
    """The terms of these columns, the heaviest first."""
    found: dict[str, list[Part]] = {name: [] for name in columns}
    features = model.encoder.get_feature_names_out()
    ranker = model.ranker
    if hasattr(ranker, "coef_") or model.encoder.is_sparse:
        coef = _linear_coef(ranker)
        for owner, name, weight in zip(model.encoder.owners_, features, coef, strict=True):
            if owner in found:
                found[owner].append(Part(str(name), float(weight)))
    elif _has_stumps(ranker):
        family, weights = ranker.weak_rankers_, ranker.weights_
        owners, names = _owners_of_stumps(family), family.names(features)
        for index in np.flatnonzero(weights):
            owner = model.encoder.owners_[owners[index]]
            if owner in found:
                found[owner].append(Part(names[index], float(weights[index])))
    return {
        name: sorted(parts, key=lambda part: -abs(part.weight)) for name, parts in found.items()
    }


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
