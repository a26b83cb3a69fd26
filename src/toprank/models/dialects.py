"""How databases spell what a query needs: names, numbers, texts, dates, and lists as rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

# Characters that count as space around a text, as in Unicode.
SPACES = (
    *range(0x09, 0x0E),
    *range(0x1C, 0x21),
    *(0x85, 0xA0, 0x1680),
    *range(0x2000, 0x200B),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
)
# Columns of a table of constants, by name: the type in PostgreSQL, and the values.
Constants = dict[str, tuple[str, list[Any]]]
_DAY, _HOUR = "86400000000e0", "3600000000e0"  # microseconds


class Dialect(ABC):
    """Expressions of one database. Missing values are NULL in all of them."""

    double = "DOUBLE"
    materialized = "MATERIALIZED "  # parts that are used in many places are computed once
    stage = "MATERIALIZED "  # the same of those that columns are read in
    hint = ""  # what makes the queries of trees fast, as a comment

    def name(self, name: str) -> str:
        """Quote the name of a table or column."""
        return '"' + name.replace('"', '""') + '"'

    def text(self, text: str) -> str:
        """Quote a text."""
        return "'" + text.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """Write a float with an exponent: databases take 0.1 for a decimal number."""
        digits = repr(float(value))
        return digits if "e" in digits else f"{digits.removesuffix('.0')}e0"

    # Cells as they are given: the types of columns are known in the database alone.

    @abstractmethod
    def is_text(self, column: str) -> str:
        """Whether a cell is a text, and no typed number, boolean, date or time."""

    @abstractmethod
    def typed_number(self, column: str) -> str:
        """A typed cell as a number: booleans are 1 and 0, times and intervals hours."""

    @abstractmethod
    def typed_days(self, column: str) -> str:
        """A typed cell as days since 1970, in UTC; NULL if it is no date."""

    def word(self, column: str) -> str:
        """A cell in words, as :func:`toprank.tables.cells.text_of`."""
        return f"CAST({column} AS VARCHAR)"

    # Texts

    def letters(self, codes: Iterable[int]) -> str:
        """A text of characters that are not seen."""
        return " || ".join(f"chr({code})" for code in codes)

    def trimmed(self, text: str) -> str:
        """A text without space of any kind around it."""
        return f"TRIM({text}, {self.letters(SPACES)})"

    def replaced(self, text: str, old: Sequence[int] | str, new: str) -> str:
        """A text with each of some characters replaced; those beyond the new ones are dropped."""
        given = self.text(old) if isinstance(old, str) else self.letters(old)
        return f"translate({text}, {given}, {self.text(new)})"

    def cast(self, text: str) -> str:
        """The number of a text that is one."""
        return f"CAST({text} AS {self.double})"

    def decimal(self, text: str) -> str:
        """The same with a point in it, rounded correctly."""
        return self.cast(text)

    # Dates

    @abstractmethod
    def day(self, date: str) -> str:
        """Days since 1970 of a text such as 2024-12-31; NULL if there is no such day."""

    def whole(self, number: str) -> str:
        """The largest whole number that is not above."""
        return f"CAST(FLOOR({number}) AS INTEGER)"

    def month(self, days: str) -> str:
        """Month of whole days since 1970."""
        return f"CAST(EXTRACT(MONTH FROM DATE '1970-01-01' + {days}) AS {self.double})"

    # Trees

    def total(self, value: str) -> str:
        """Sum of whole numbers as float64."""
        return f"CAST(SUM({value}) AS {self.double})"

    @abstractmethod
    def rows(self, columns: Constants) -> str:
        """A table of constants, whose ``place`` counts from 0."""

    @abstractmethod
    def unnested(self, values: list[str], name: str, kind: str) -> str:
        """One row per value of a numbered row: ``toprank_row``, the value, its ``place`` from 0."""


class DuckDB(Dialect):
    """DuckDB 1.0 and later; types are known before it runs, so that typed cells cost nothing."""

    stage = ""

    def is_text(self, column: str) -> str:
        return f"(typeof({column}) = 'VARCHAR' OR typeof({column}) LIKE 'ENUM%')"

    def typed_number(self, column: str) -> str:
        hours = [
            f"WHEN '{kind}' THEN epoch_us(TRY_CAST({column} AS {plain})) / {_HOUR}"
            for kind, plain in (("TIME", "TIME"), ("TIME_NS", "TIME"), ("INTERVAL", "INTERVAL"))
        ]
        return f"CASE typeof({column}) {' '.join(hours)} ELSE TRY_CAST({column} AS DOUBLE) END"

    def typed_days(self, column: str) -> str:
        kind, zoned = f"typeof({column})", "TIMESTAMP WITH TIME ZONE"
        return (
            f"CASE WHEN {kind} = '{zoned}' THEN epoch_us(TRY_CAST({column} AS {zoned})) / {_DAY} "
            f"WHEN {kind} = 'DATE' OR {kind} LIKE 'TIMESTAMP%' "
            f"THEN epoch_us(TRY_CAST({column} AS TIMESTAMP)) / {_DAY} END"
        )

    def word(self, column: str) -> str:
        text = f"NULLIF(printf('%.12g', TRY_CAST({column} AS DOUBLE)), 'nan')"
        return (
            f"CASE WHEN typeof({column}) IN ('DOUBLE', 'FLOAT') THEN {text} "
            f"ELSE {super().word(column)} END"
        )

    def trimmed(self, text: str) -> str:
        # its TRIM takes ten times as long
        space = r"[\s\p{Z}\x0B\x1C-\x1F\x{85}]"
        return f"regexp_replace({text}, '^{space}+|{space}+$', '', 'g')"

    def cast(self, text: str) -> str:
        return f"TRY_CAST({text} AS DOUBLE)"

    def day(self, date: str) -> str:
        return f"TRY_CAST({date} AS DATE) - DATE '1970-01-01'"

    def total(self, value: str) -> str:
        # a sum of 128 bits is not rounded correctly where it becomes a float
        return f"CAST(CAST(SUM({value}) AS BIGINT) AS DOUBLE)"

    def rows(self, columns: Constants) -> str:
        size = len(next(iter(columns.values()))[1])
        kinds = {"integer": "INTEGER", "bigint": "BIGINT", "float8": "DOUBLE"}
        lists = [
            f"unnest(CAST(string_split('{_listed(values)}', ',') AS {kinds[kind]}[])) AS {name}"
            for name, (kind, values) in columns.items()
        ]
        return f"SELECT unnest(range({size})) AS place, {', '.join(lists)}"

    def unnested(self, values: list[str], name: str, kind: str) -> str:  # noqa: ARG002
        places = f"unnest(range({len(values)})) AS place"
        cells = f"unnest([{', '.join(values)}]) AS {name}"
        return f"SELECT toprank_row, {cells}, {places} FROM numbered"


class Postgres(Dialect):
    """PostgreSQL 12 and later, with UTF-8."""

    double = "DOUBLE PRECISION"
    hint = "SET jit = off first: compiling this query would take far longer than running it."

    def is_text(self, column: str) -> str:
        return f"pg_typeof({column})::text IN ('text', 'character varying', 'character', 'name')"

    def typed_number(self, column: str) -> str:
        # a cast of the column itself would be an error for other types
        kind, text = f"pg_typeof({column})::text", f"CAST({column} AS TEXT)"
        numbers = "'smallint', 'integer', 'bigint', 'numeric', 'real', 'double precision'"
        return (
            f"CASE WHEN {kind} IN ({numbers}) THEN {self.cast(text)} "
            f"WHEN {kind} = 'boolean' "
            f"THEN CASE {text} WHEN 'true' THEN 1e0 WHEN 'false' THEN 0e0 END "
            f"WHEN {kind} IN ('interval', 'time without time zone') "
            f"THEN {self._microseconds(text, 'INTERVAL')} / {_HOUR} END"
        )

    def typed_days(self, column: str) -> str:
        kind, text = f"pg_typeof({column})::text", f"CAST({column} AS TEXT)"
        return (
            f"CASE WHEN {kind} = 'timestamp with time zone' "
            f"THEN {self._microseconds(text, 'TIMESTAMPTZ')} / {_DAY} "
            f"WHEN {kind} IN ('date', 'timestamp without time zone') "
            f"THEN {self._microseconds(text, 'TIMESTAMP')} / {_DAY} END"
        )

    @staticmethod
    def _microseconds(text: str, kind: str) -> str:
        return f"CAST(EXTRACT(EPOCH FROM CAST({text} AS {kind})) * 1000000 AS DOUBLE PRECISION)"

    def day(self, date: str) -> str:
        parts = [f"CAST(SUBSTR({date}, {start}, 2) AS INTEGER) - 1" for start in (6, 9)]
        first = f"MAKE_DATE(CAST(SUBSTR({date}, 1, 4) AS INTEGER), 1, 1)"
        found = f"CAST({first} + MAKE_INTERVAL(0, {parts[0]}, 0, {parts[1]}) AS DATE)"
        is_day = f"TO_CHAR({found}, 'YYYY-MM-DD') = {date}"
        return f"CASE WHEN {is_day} THEN {found} - DATE '1970-01-01' END"

    def number(self, value: float) -> str:
        return f"{super().number(value)}::float8"

    def rows(self, columns: Constants) -> str:
        arrays = [f"'{{{_listed(values)}}}'::{kind}[]" for kind, values in columns.values()]
        names = ", ".join(columns)
        return (
            f"SELECT given.place - 1 AS place, {names} "
            f"FROM unnest({', '.join(arrays)}) WITH ORDINALITY AS given({names}, place)"
        )

    def unnested(self, values: list[str], name: str, kind: str) -> str:  # noqa: ARG002
        return (
            f"SELECT toprank_row, given.{name}, given.place - 1 AS place FROM numbered "
            f"CROSS JOIN LATERAL unnest(ARRAY[{', '.join(values)}]) "
            f"WITH ORDINALITY AS given({name}, place)"
        )


class SQLite(Dialect):
    """SQLite 3.35 and later, where each cell has its own type, and none is a date."""

    double = "REAL"

    def name(self, name: str) -> str:
        # between double quotes, the name of a column that does not exist would be a text
        return "`" + name.replace("`", "``") + "`"

    def number(self, value: float) -> str:
        over, under = self._quotient(value)
        return super().number(value) if under == 1 else f"({over}e0 / {under}e0)"

    @staticmethod
    def _quotient(value: float) -> tuple[float, int]:
        """Two numbers whose quotient it is: SQLite may misread the last bit of decimals."""
        over, under = float(value).as_integer_ratio()
        return (value, 1) if under == 1 or under > 1 << 62 else (over, under)

    def is_text(self, column: str) -> str:
        return f"typeof({column}) = 'text'"

    def typed_number(self, column: str) -> str:
        return f"CASE WHEN typeof({column}) IN ('integer', 'real') THEN CAST({column} AS REAL) END"

    def typed_days(self, column: str) -> str:  # noqa: ARG002
        return "NULL"

    def word(self, column: str) -> str:
        text = f"printf('%.12g', {column})"
        return f"CASE typeof({column}) WHEN 'real' THEN {text} ELSE CAST({column} AS TEXT) END"

    def letters(self, codes: Iterable[int]) -> str:
        return f"char({', '.join(map(str, codes))})"

    def replaced(self, text: str, old: Sequence[int] | str, new: str) -> str:
        codes = [ord(each) if isinstance(each, str) else each for each in old]
        for code, other in zip_longest(codes, new, fillvalue=""):
            given = self.letters([int(code)])
            text = f"REPLACE({text}, {given}, {self.text(str(other))})"
        return text

    def decimal(self, text: str) -> str:
        # SQLite misreads the last bit of some decimals: up to 15 digits are divided instead
        digits = f"CAST(REPLACE({text}, '.', '') AS INTEGER)"
        power = f"CAST('1e' || (LENGTH({text}) - INSTR({text} || '.', '.')) AS REAL)"
        is_short = f"LENGTH({text}) < 17 AND INSTR({text}, '.') > 0 AND {text} NOT LIKE '%e%'"
        return f"CASE WHEN {is_short} THEN {digits} / {power} ELSE CAST({text} AS REAL) END"

    def day(self, date: str) -> str:
        # it takes the 31st of February for a day in March
        return (
            f"CASE WHEN date({date}, '+0 days') = {date} THEN julianday({date}) - 2440587.5e0 END"
        )

    def whole(self, number: str) -> str:
        return f"(CAST({number} AS INTEGER) - ({number} < CAST({number} AS INTEGER)))"

    def month(self, days: str) -> str:
        return f"CAST(strftime('%m', {days} + 2440587.5e0) AS REAL)"

    def rows(self, columns: Constants) -> str:
        cells, lists = [], list[Any]()
        for name, (kind, values) in columns.items():
            cells.append(f"json_extract(given.value, '$[{len(lists)}]') AS {name}")
            lists.append(values)
            if kind == "float8":  # as a quotient, too; see number
                pairs = [self._quotient(value) for value in values]
                lists[-1:] = zip(*pairs, strict=True)
                divided = [f"json_extract(given.value, '$[{len(lists) - k}]')" for k in (2, 1)]
                cells[-1] = f"CAST({divided[0]} AS REAL) / {divided[1]} AS {name}"
        content = ",".join(f"[{_listed(line)}]" for line in zip(*lists, strict=True))
        return (
            f"SELECT given.key AS place, {', '.join(cells)} FROM json_each('[{content}]') AS given"
        )

    def unnested(self, values: list[str], name: str, kind: str) -> str:
        if kind == "integer":  # as text, which would round floats
            content = " || ',' || ".join(f"({value})" for value in values)
            given = f"json_each('[' || {content} || ']') AS given"
            return (
                f"SELECT toprank_row, given.value AS {name}, given.key AS place "
                f"FROM numbered, {given}"
            )
        cases = " ".join(f"WHEN {place} THEN {value}" for place, value in enumerate(values))
        places = f"json_each('[{','.join(map(str, range(len(values))))}]') AS given"
        return (
            f"SELECT toprank_row, CASE given.key {cases} END AS {name}, given.key AS place "
            f"FROM numbered CROSS JOIN {places}"
        )


def _listed(values: Iterable[Any]) -> str:
    return ",".join(map(str, values))


DIALECTS: dict[str, Dialect] = {"duckdb": DuckDB(), "postgres": Postgres(), "sqlite": SQLite()}
