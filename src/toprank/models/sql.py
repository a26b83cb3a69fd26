"""A formula as one SQL query: scores and places of the rows of a table.

The query reads from top to bottom::

    step_0 …    the table's columns as numbers and words, NULL where missing
    numbered    only with trees: the rows numbered, and the cells that trees look at
    member_0    only with trees: the sum of a member's leaves, one row per row
    scored      the score
                … and at the end the places, ties broken by the key

Trees become tables of constants. The answers to the questions of an oblivious tree are the bits of
a leaf's number, which joins the table of leaves; other trees are walked down, one join per level.
Leaves hold whole numbers, so that their sum is exact in any order, and rows that reach the same
leaves have the same score to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.inputs import check_choice, check_number
from toprank.models.dialects import DIALECTS, Dialect
from toprank.models.formula import Formula, formula_of
from toprank.models.sql_cells import steps_of
from toprank.models.sql_trees import add_trees
from toprank.models.terms import BinarySum, ObliviousSum, Step, Steps, Weights
from toprank.tables.encoding import Lookup

if TYPE_CHECKING:
    from toprank.models.terms import Term

# Columns that a part may have (SQLite: 2,000), and those that a step of a column has at the most.
MOST_COLUMNS, COLUMNS_OF_STEP = 1900, 8
# Terms that are added in one expression: databases limit how deep expressions are nested.
MOST_TERMS = 100
TREES = (ObliviousSum, BinarySum)


def to_sql(
    model: Any,
    *,
    key: str,
    table: str = "rows",
    dialect: str = "duckdb",
    group: str | None = None,
    top: int | None = None,
) -> str:
    """Write a query that scores and ranks a table inside a database.

    Columns are read as the model's schema says, whether they are typed in the database or texts
    such as ``1.250,50 EUR``; what does not fit is missing. Scores are those of
    ``decision_function`` to 1e-9, missing values and unseen categories included.

    Parameters
    ----------
    model : Formula, loaded model or fitted ranker
        What :func:`toprank.models.formula_of` takes.
    key : str
        Column that has a different value in every row: it names the rows in the result, and of
        rows with equal scores the one with the smaller key is placed first.
    table : str, default="rows"
        Name of the table in the database; dots separate schema and table.
    dialect : {"duckdb", "postgres", "sqlite"}, default="duckdb"
    group : str, optional
        Column with list ids: places are within lists.
    top : int, optional
        Only so many rows (of each list); by default all.

    Returns
    -------
    str
        One query, which gives the key, the list, ``score`` and ``place``, best first.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import PNormPush
    >>> from toprank.models import to_sql
    >>> model = PNormPush().fit(np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1])
    >>> print(to_sql(model, key="id", table="clients"))  # doctest: +ELLIPSIS
    WITH step_0 AS (
      SELECT "id" AS toprank_key,
    ...
    """
    check_choice("dialect", dialect, tuple(DIALECTS))
    check_number("top", top, 1, whole=True, optional=True)
    query = Query(formula_of(model), DIALECTS[dialect], is_grouped=group is not None)
    named = {"toprank_key": key} if group is None else {"toprank_key": key, "toprank_list": group}
    query.read(table, named)
    query.score()
    return query.placed(named, top)


class Query:
    """The parts of a query, in the order in which they are written.

    It is the operations with which cells write themselves: on the columns ``n0``, ``n1`` and so on,
    in the order of the schema.
    """

    def __init__(self, formula: Formula, dialect: Dialect, *, is_grouped: bool) -> None:
        self.formula, self.dialect, self.is_grouped = formula, dialect, is_grouped
        self.cells = formula.encoding.cells
        self.trees = [each.term for each in formula.summands if isinstance(each.term, TREES)]
        self.columns = {name: f"n{at}" for at, name in enumerate(formula.encoding.schema)}
        self.parts: list[str] = []
        self.source = ""  # what the next part reads from
        self.n_sums = 0

    def add(self, name: str, select: str, how: str | None = None) -> None:
        """Add a named part."""
        how = self.dialect.materialized if how is None else how
        self.parts.append(f"{name} AS {how}(\n  {select}\n)")

    def select(self, name: str, columns: Sequence[str], how: str = "", joins: str = "") -> None:
        """Add a part of columns that reads from the last one."""
        self.add(name, f"SELECT {_lines(columns)}\n  FROM {self.source}{joins}", how)
        self.source = name

    # Columns and cells ----------------------------------------------------------------------------

    def read(self, table: str, named: dict[str, str]) -> None:
        """Columns as numbers and words; with trees, the rows numbered and their cells."""
        sql, schema = self.dialect, self.formula.encoding.schema
        used = {self.cells[cell].column for cell in self.formula.used}
        plans = self._plans([name for name in schema if name in used])
        self.source = ".".join(sql.name(part) for part in table.split("."))
        for level in range(max(map(len, plans.values()), default=1)):
            parts = [f"{given} AS {name}" for name, given in named.items()] if level else []
            parts = parts or [f"{sql.name(given)} AS {name}" for name, given in named.items()]
            named = {name: name for name in named}
            for name, steps in plans.items():
                done = {self.columns[name]: self.columns[name]}
                step = steps[level] if level < len(steps) else done
                parts += [f"{expression} AS {each}" for each, expression in step.items()]
            self.select(f"step_{level}", parts, sql.stage)
        if self.trees:
            looked_at = sorted({cell for trees in self.trees for cell in trees.used})
            row = "ROW_NUMBER() OVER (ORDER BY toprank_key) AS toprank_row"
            cells = [f"{self.cells[cell].write(self)} AS c{cell}" for cell in looked_at]
            self.select("numbered", [row, f"{self.source}.*", *cells], sql.materialized)

    def _plans(self, names: list[str]) -> dict[str, list[dict[str, str]]]:
        """How each column is read: in waves, since a part may have so many columns and no more."""
        sql, schema = self.dialect, self.formula.encoding.schema
        wave = max(20, (MOST_COLUMNS - len(names)) // COLUMNS_OF_STEP)
        plans: dict[str, list[dict[str, str]]] = {}
        for start in range(0, len(names), wave):
            wait = max(map(len, plans.values()), default=0)  # until those before are read
            for name in names[start : start + wave]:
                at, given = self.columns[name][1:], sql.name(name)
                carried = [{f"r{at}": f"r{at}"}] * (wait - 1)
                before = [{f"r{at}": given}, *carried] if wait else []
                source = f"r{at}" if wait else given
                plans[name] = [*before, *steps_of(sql, source, schema[name], int(at))]
        return plans

    def part(self, column: str, part: str) -> str:
        """The number of a column, or the month or weekday of a date."""
        number, sql = self.columns[column], self.dialect
        if part == "month":
            return sql.month(sql.whole(number))
        if part == "weekday":  # 1970 began on a Thursday
            return f"CAST((({sql.whole(number)} + 3) % 7 + 7) % 7 + 1 AS {sql.double})"
        return number

    def filled(self, number: str, fill: float) -> str:
        """The number, or ``fill`` where it is missing."""
        return f"COALESCE({number}, {self.n(fill)})"

    def is_missing(self, column: str) -> str:
        """1 where a column has no value, else 0."""
        return f"CASE WHEN {self.columns[column]} IS NULL THEN 1e0 ELSE 0e0 END"

    def look_up(
        self,
        column: str,
        words: Sequence[str],
        numbers: Sequence[float],
        other: float,
        missing: float | None,
    ) -> str:
        """The number of each word, of others, and of none."""
        pairs = zip(words, numbers, strict=True)
        cases = [f"WHEN {self.dialect.text(word)} THEN {self.n(each)}" for word, each in pairs]
        given = f"CASE {self.columns[column]} {' '.join(cases)} ELSE {self.n(other)} END"
        found = given if cases else self.n(other)
        if missing == other:
            return found
        nothing = "NULL" if missing is None else self.n(missing)
        return f"CASE WHEN {self.columns[column]} IS NULL THEN {nothing} ELSE {found} END"

    def n(self, value: float) -> str:
        """Write a number."""
        return self.dialect.number(value)

    # The score ------------------------------------------------------------------------------------

    def score(self) -> None:
        """The sum of the members."""
        members, found, summands = [], [], self.formula.summands
        for number, summand in enumerate(summands):
            intercept = self.n(summand.intercept)
            if isinstance(summand.term, TREES):
                scale = add_trees(self, summand.term, number)
                members.append(f"member_{number}")
                total = f"COALESCE({members[-1]}.total, 0e0) * {self.n(scale)}"
                found.append(f"{intercept} + {total}")
            else:
                found.append(f"{self._sum(self._terms(summand.term) or ['0e0'])} + {intercept}")
        terms = [
            f"{self.n(each.factor)} * ({text})" for each, text in zip(summands, found, strict=True)
        ]
        score = found[0]
        if len(found) > 1 or summands[0].factor != 1 or self.formula.intercept:
            score = self._sum([self.n(self.formula.intercept), *terms])
        joins = [
            f"\n  LEFT JOIN {each} ON {each}.toprank_row = {self.source}.toprank_row"
            for each in members
        ]
        kept = ["toprank_key", *(["toprank_list"] if self.is_grouped else [])]
        self.select("scored", [*kept, f"{score} AS toprank_score"], joins="".join(joins))

    def _terms(self, term: Term) -> list[str]:
        """What cells add, in their order; all words of a column are one ``CASE``."""
        found: dict[Any, str] = {}
        words: dict[str, list[tuple[Lookup, Callable[[float | None], float | None]]]] = {}
        for number, value_of, written in self._functions(term):
            cell = self.cells[number]
            if isinstance(cell, Lookup):
                words.setdefault(cell.column, []).append((cell, value_of))
                found[cell.column] = ""
            else:
                found[number] = written(cell.write(self))
        found |= {column: _together(pieces).write(self) for column, pieces in words.items()}
        return list(found.values())

    def _functions(
        self, term: Term
    ) -> Iterator[tuple[int, Callable[..., Any], Callable[..., str]]]:
        """Each cell with its function: of a number, and of an expression."""
        if isinstance(term, Steps):
            for step in term.steps:
                yield step.cell, partial(_level, step), partial(self._step, step)
        elif isinstance(term, Weights):
            for cell in term.used:
                weight = float(term.weights[cell])
                yield cell, partial(_product, weight), f"{self.n(weight)} * {{}}".format

    def _step(self, step: Step, number: str) -> str:
        """A step function: the highest threshold that is exceeded decides."""
        pairs = list(zip(step.thresholds, step.levels[1:], strict=True))
        cases = [
            f"WHEN {number} > {self.n(at)} THEN {self.n(each)}" for at, each in reversed(pairs)
        ]
        missing = f"WHEN {number} IS NULL THEN {self.n(step.missing)}"
        return f"CASE {' '.join([*cases, missing])} ELSE {self.n(step.levels[0])} END"

    def _sum(self, terms: list[str]) -> str:
        """Add terms from left to right; a long sum is cut into parts that are computed before."""
        while len(terms) > MOST_TERMS:
            self.n_sums += 1
            name, column = f"sums_{self.n_sums}", f"toprank_s{self.n_sums}"
            part = f"{_added(terms[:MOST_TERMS])} AS {column}"
            self.select(name, [f"{self.source}.*", part], self.dialect.materialized)
            terms = [column, *terms[MOST_TERMS:]]
        return _added(terms)

    # The list -------------------------------------------------------------------------------------

    def placed(self, named: dict[str, str], top: int | None) -> str:
        """The query, which ends with the places within lists, ties broken by the key."""
        lists = "PARTITION BY toprank_list " if self.is_grouped else ""
        order = f"{lists}ORDER BY toprank_score DESC, toprank_key"
        self.select("placed", ["scored.*", f"ROW_NUMBER() OVER ({order}) AS toprank_place"])
        sql = self.dialect
        columns = {given: f"{name} AS {sql.name(given)}" for name, given in named.items()}
        results = [*columns.values(), "toprank_score AS score", "toprank_place AS place"]
        limit = "" if top is None else f"\nWHERE toprank_place <= {int(top)}"
        first = "toprank_list, " if self.is_grouped else ""
        note = f"-- {sql.hint}\n" if sql.hint and self.trees else ""
        parts = ",\n".join(self.parts)
        return (
            f"{note}WITH {parts}\nSELECT {_lines(results)}\nFROM placed{limit}\n"
            f"ORDER BY {first}toprank_place;\n"
        )


def _together(pieces: list[tuple[Lookup, Callable[[float | None], float | None]]]) -> Lookup:
    """The sum of functions of look-ups in one column, which is a look-up."""

    def total(numbers: Iterable[float | None]) -> Any:
        values: list[Any] = [of(each) for (_, of), each in zip(pieces, numbers, strict=True)]
        return None if None in values else float(sum(values))

    tables = [dict(zip(each.words, each.numbers, strict=True)) for each, _ in pieces]
    others = [each.other for each, _ in pieces]
    words = tuple(dict.fromkeys(word for own in tables for word in own))
    numbers = (
        total([own.get(word, other) for own, other in zip(tables, others, strict=True)])
        for word in words
    )
    missing = total([each.missing for each, _ in pieces])
    return Lookup(pieces[0][0].column, words, tuple(numbers), total(others), missing)


def _product(weight: float, number: float | None) -> float | None:
    return None if number is None else weight * number


def _level(step: Step, number: float | None) -> float:
    if number is None:
        return float(step.missing)
    return float(step.levels[int(np.searchsorted(step.thresholds, number))])


def _added(terms: list[str]) -> str:
    return "\n      + ".join(terms)


def _lines(parts: Sequence[str]) -> str:
    return ",\n    ".join(parts)
