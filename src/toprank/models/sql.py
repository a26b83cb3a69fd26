"""A formula as one SQL query: scores and places of the rows of a table.

The query reads from top to bottom::

    given       the table's columns as numbers and texts, NULL where missing
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

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from toprank.export.dialects import DIALECTS, Dialect
from toprank.export.formula import Cell, Formula, Step, Steps, Summand, Weights, formula_of
from toprank.export.sql_trees import member_ctes
from toprank.inputs import check_choice
from toprank.trees import BinaryTrees, ObliviousTrees

# Terms that are added in one expression: databases limit how deep expressions are nested.
MOST_TERMS = 100


def to_sql(
    model: Any,
    *,
    key: str,
    table: str = "rows",
    dialect: str = "duckdb",
    group: str | None = None,
    top: int | None = None,
    reasons: int = 0,
    baseline: ArrayLike | None = None,
) -> str:
    """Write a query that scores and ranks a table inside a database.

    Scores are those of ``decision_function`` to 1e-9, missing values and unseen categories
    included. Queries are tested on DuckDB and SQLite; those for PostgreSQL and BigQuery follow the
    manuals.

    Parameters
    ----------
    model : Formula or fitted ranker
        What :func:`toprank.export.formula_of` takes.
    key : str
        Column that has a different value in every row: it names the rows in the result, and of
        rows with equal scores the one with the smaller key is placed first.
    table : str, default="rows"
        Name of the table in the database; dots separate schema and table.
    dialect : {"duckdb", "postgres", "sqlite", "bigquery"}, default="duckdb"
    group : str, optional
        Column with list ids: places are within lists.
    top : int, optional
        Only so many rows (of each list); by default all.
    reasons : int, default=0
        So many columns that raise the score most, for linear rankers and stumps.
    baseline : array-like of shape (n_cells,), optional
        Mean contribution of each cell, from which reasons are measured; by default 0.

    Returns
    -------
    str
        One query, which gives the key, the list, ``score`` and ``place``, best first, then
        ``reason_1`` and so on with the contribution to the score behind the name.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import PNormPush
    >>> from toprank.export import to_sql
    >>> model = PNormPush().fit(np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1])
    >>> print(to_sql(model, key="id", table="clients"))  # doctest: +ELLIPSIS
    WITH given AS (
      SELECT "id" AS toprank_key,
        NULLIF(CAST("x0" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS "x0"
      FROM "clients"
    ),
    ...
    """
    check_choice("dialect", dialect, tuple(DIALECTS))
    formula = model if isinstance(model, Formula) else formula_of(model)
    formula.check_typed()
    if reasons and not formula.is_additive:
        raise ValueError(
            "reasons can be written for linear rankers and stumps only, where every column adds "
            "its own part; leave them out, and take the reasons of trees from toprank explain."
        )
    query = Query(formula, DIALECTS[dialect], key, group)
    query.read(table)
    query.score()
    query.place(top)
    if reasons:
        zeros = np.zeros(len(formula.cells))
        query.explain(reasons, zeros if baseline is None else np.asarray(baseline))
    return query.text()


class Query:
    """The parts of a query, in the order in which they are written."""

    def __init__(self, formula: Formula, dialect: Dialect, key: str, group: str | None) -> None:
        self.formula, self.dialect, self.key, self.group = formula, dialect, key, group
        self.ctes: list[str] = []
        self.source = ""  # what the next part reads from
        self.last = self.first = ""
        self.n_sums = 0
        used = formula.used_cells()
        self.columns = list(dict.fromkeys(formula.cells[cell].column for cell in used))
        self.places = {name: place for place, name in enumerate(formula.kinds)}

    def text(self) -> str:
        note = f"-- {self.dialect.hint}\n" if self.dialect.hint and self._trees() else ""
        return f"{note}WITH " + ",\n".join(self.ctes) + f"\n{self.last};\n"

    def add(self, name: str, select: str, *, once: bool = False) -> None:
        """Add a named part; ``once`` keeps databases from computing it again at every use."""
        how = self.dialect.materialized if once else ""
        self.ctes.append(f"{name} AS {how}(\n  {select}\n)")

    # the columns --------------------------------------------------------------------------

    def read(self, table: str) -> None:
        """Columns as numbers and texts."""
        sql, trees = self.dialect, self._trees()
        parts = [f"{sql.name(self.key)} AS toprank_key"]
        if self.group is not None:
            parts.append(f"{sql.name(self.group)} AS toprank_list")
        for column in self.columns:
            parts += self._given(column)
        path = ".".join(sql.name(part) for part in table.split("."))
        self.add("given", f"SELECT {_lines(parts)}\n  FROM {path}")
        self.source = "given"
        if trees:
            looked_at = Formula(self.formula.cells, {}, 0.0, trees).used_cells()
            cells = [f"{self._number(cell)} AS toprank_c{cell}" for cell in looked_at]
            row = "ROW_NUMBER() OVER (ORDER BY toprank_key) AS toprank_row"
            parts = [row, "given.*", *cells]
            self.add("numbered", f"SELECT {_lines(parts)}\n  FROM given", once=True)
            self.source = "numbered"

    def _trees(self) -> list[Summand]:
        kinds = (ObliviousTrees, BinaryTrees)
        return [member for member in self.formula.members if isinstance(member.term, kinds)]

    def _given(self, column: str) -> list[str]:
        sql, name, kind = self.dialect, self.dialect.name(column), self.formula.kinds[column]
        if kind == "category":
            return [f"{sql.as_word(name)} AS {name}"]
        if kind == "date":
            date = sql.as_date(name)
            found = {"days": sql.days(date), "month": sql.month(date), "weekday": sql.weekday(date)}
            return [f"{text} AS {self._date_part(column, part)}" for part, text in found.items()]
        typed = sql.as_boolean(name) if kind == "boolean" else sql.as_number(name)
        codes = ", ".join(map(sql.number, self.formula.codes(column)))
        if codes:
            typed = f"CASE WHEN {typed} IN ({codes}) THEN NULL ELSE {typed} END"
        return [f"{typed} AS {name}"]

    def _date_part(self, column: str, part: str) -> str:
        return f"toprank_{part}_{self.places[column]}"

    def _reference(self, cell: Cell) -> str:
        """What a part after the first calls the column of a cell."""
        if self.formula.kinds[cell.column] != "date":
            return self.dialect.name(cell.column)
        return self._date_part(cell.column, "days" if cell.kind == "missing" else cell.kind)

    def _condition(self, cell: Cell) -> str:
        """When a cell of 0 and 1 is 1."""
        column = self._reference(cell)
        if cell.kind == "missing":
            return f"{column} IS NULL"
        return f"{column} = {self.dialect.text(cell.value)}"

    def _number(self, number: int) -> str:
        """A cell as a number."""
        cell = self.formula.cells[number]
        if cell.kind in ("value", "missing"):
            return f"CASE WHEN {self._condition(cell)} THEN 1e0 ELSE 0e0 END"
        column = self._reference(cell)
        return column if cell.fill is None else f"COALESCE({column}, {self.n(cell.fill)})"

    def n(self, value: float) -> str:
        """Write a number."""
        return self.dialect.number(value)

    # the score ----------------------------------------------------------------------------

    def score(self) -> None:
        """The sum of the members."""
        joins, found = "", []
        for number, member in enumerate(self.formula.members):
            if isinstance(member.term, (ObliviousTrees, BinaryTrees)):
                sums, scale = member_ctes(self, member, number)
                joins += f"\n  LEFT JOIN {sums} ON {sums}.toprank_row = {{0}}.toprank_row"
                total = f"COALESCE({sums}.total, 0e0) * {self.n(scale)}"
                found.append(f"{self.n(member.intercept)} + {total}")
            else:
                found.append(self._plain_member(member))
        if len(found) == 1 and self.formula.members[0].factor == 1.0:
            score = found[0]
        else:
            pairs = zip(self.formula.members, found, strict=True)
            terms = [f"{self.n(member.factor)} * ({text})" for member, text in pairs]
            score = self._sum([self.n(self.formula.intercept), *terms])
        parts = [f"{self.source}.*", f"{score} AS toprank_score"]
        self.add(
            "scored", f"SELECT {_lines(parts)}\n  FROM {self.source}{joins.format(self.source)}"
        )
        self.source = "scored"

    def _plain_member(self, member: Summand) -> str:
        """Intercept and terms in the order in which Python adds them."""
        terms = [text for _, text in self._terms(member.term)]
        if isinstance(member.term, Weights):
            return self._sum([self.n(member.intercept), *terms])
        return f"{self._sum(terms or ['0e0'])} + {self.n(member.intercept)}"

    def _terms(self, term: Any) -> list[tuple[str, str]]:
        """Terms of weights or steps, each with its column."""
        cells = self.formula.cells
        if isinstance(term, Steps):
            return [(cells[step.cell].column, self._step(step)) for step in term.steps]
        found, words = [], dict[str, list[tuple[Cell, float]]]()
        for number in np.flatnonzero(term.weights).tolist():
            cell, weight = cells[number], float(term.weights[number])
            if self.formula.kinds[cell.column] == "category":
                words.setdefault(cell.column, []).append((cell, weight))
                if len(words[cell.column]) == 1:
                    found.append((cell.column, ""))
            else:
                found.append((cell.column, self._product(number, weight)))
        return [(column, text or self._by_word(words[column])) for column, text in found]

    def _product(self, number: int, weight: float) -> str:
        cell = self.formula.cells[number]
        if cell.kind == "missing":
            return f"CASE WHEN {self._condition(cell)} THEN {self.n(weight)} ELSE 0e0 END"
        return f"{self.n(weight)} * {self._number(number)}"

    def _by_word(self, weights: list[tuple[Cell, float]]) -> str:
        cases = [f"WHEN {self._condition(cell)} THEN {self.n(weight)}" for cell, weight in weights]
        return f"CASE {' '.join(cases)} ELSE 0e0 END"

    def _step(self, step: Step) -> str:
        """A step function: the highest threshold that is exceeded decides."""
        cell = self.formula.cells[step.cell]

        def level(value: float) -> str:
            return self.n(step.levels[int(np.searchsorted(step.thresholds, value))])

        if cell.kind in ("value", "missing"):
            return f"CASE WHEN {self._condition(cell)} THEN {level(1.0)} ELSE {level(0.0)} END"
        column = self._reference(cell)
        pairs = list(zip(step.thresholds, step.levels[1:], strict=True))
        cases = [f"WHEN {column} > {self.n(t)} THEN {self.n(each)}" for t, each in reversed(pairs)]
        missing = self.n(step.missing) if cell.fill is None else level(cell.fill)
        cases.append(f"WHEN {column} IS NULL THEN {missing}")
        return f"CASE {' '.join(cases)} ELSE {self.n(step.levels[0])} END"

    def _sum(self, terms: list[str]) -> str:
        """Add terms from left to right; a long sum is cut into parts that are computed before."""
        while len(terms) > MOST_TERMS:
            self.n_sums += 1
            name, column = f"sums_{self.n_sums}", f"toprank_s{self.n_sums}"
            parts = [f"{self.source}.*", f"{_added(terms[:MOST_TERMS])} AS {column}"]
            self.add(name, f"SELECT {_lines(parts)}\n  FROM {self.source}", once=True)
            self.source, terms = name, [column, *terms[MOST_TERMS:]]
        return _added(terms)

    # the list -----------------------------------------------------------------------------

    def place(self, top: int | None) -> None:
        """Places within lists, ties broken by the key."""
        lists = "PARTITION BY toprank_list " if self.group is not None else ""
        place = (
            f"ROW_NUMBER() OVER ({lists}ORDER BY toprank_score DESC, toprank_key) AS toprank_place"
        )
        self.add("placed", f"SELECT {_lines([f'{self.source}.*', place])}\n  FROM {self.source}")
        self.source = "placed"
        first = "" if top is None else f"\n  WHERE toprank_place <= {int(top)}"
        self.first = first
        self.last = f"SELECT {_lines(self._results())}\nFROM placed{first}\n{self._order()}"

    def _results(self) -> list[str]:
        named = [f"toprank_key AS {self.dialect.name(self.key)}"]
        if self.group is not None and self.group != self.key:
            named.append(f"toprank_list AS {self.dialect.name(self.group)}")
        return [*named, "toprank_score AS score", "toprank_place AS place"]

    def _order(self) -> str:
        lists = "toprank_list, " if self.group is not None else ""
        return f"ORDER BY {lists}toprank_place"

    def explain(self, n_reasons: int, baseline: Any) -> None:
        """The columns that add most beyond the baseline, those of each row in columns."""
        sql = self.dialect
        # a query needs a column to choose from, also where no column adds anything
        means = dict.fromkeys(self.columns or list(self.formula.kinds)[:1], 0.0)
        for cell, mean in zip(self.formula.cells, baseline.tolist(), strict=True):
            if cell.column in means:
                means[cell.column] += mean
        parts: dict[str, list[str]] = {column: [] for column in means}
        for member in self.formula.members:
            for column, term in self._terms(member.term):
                factor = "" if member.factor == 1.0 else f"{self.n(member.factor)} * "
                parts[column].append(f"{factor}{term}")
        amounts = [
            f"{_added(parts[name] or [self.n(0.0)])} - {self.n(mean)}"
            for name, mean in means.items()
        ]
        row = "ROW_NUMBER() OVER (ORDER BY toprank_key) AS toprank_row"
        self.add("shown", f"SELECT {row}, placed.*\n  FROM placed{self.first}", once=True)
        self.add("amounts", sql.unnested(amounts, "amount", "float8", "shown"), once=True)
        cases = " ".join(f"WHEN {n} THEN {sql.text(name)}" for n, name in enumerate(means))
        name = f"CASE place {cases} END AS reason"
        number = (
            "ROW_NUMBER() OVER (PARTITION BY toprank_row ORDER BY amount DESC, place) AS number"
        )
        self.add("ordered", f"SELECT toprank_row, amount, {name}, {number}\n  FROM amounts")
        columns = []
        for each in range(1, n_reasons + 1):
            chosen = f"MAX(CASE WHEN number = {each} AND amount > 0 THEN"
            columns.append(f"{chosen} reason END) AS reason_{each}")
            columns.append(f"{chosen} amount END) AS reason_{each}_adds")
        by_row = f"SELECT {_lines(['toprank_row', *columns])}\n  FROM ordered\n"
        self.add("reasons", f"{by_row}  WHERE number <= {n_reasons}\n  GROUP BY toprank_row")
        names = [column.split(" AS ")[1] for column in columns]
        self.last = (
            f"SELECT {_lines([*self._results(), *names])}\nFROM shown\n"
            f"LEFT JOIN reasons ON reasons.toprank_row = shown.toprank_row\n{self._order()}"
        )


def _added(terms: list[str]) -> str:
    return "\n      + ".join(terms)


def _lines(parts: list[str]) -> str:
    return ",\n    ".join(parts)
