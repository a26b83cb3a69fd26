"""How databases spell what a query needs: names, numbers, texts, dates, and lists as rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

# Characters that count as space around a text, as in Unicode.
SPACES = (
    *range(0x09, 0x0E),
    *range(0x1C, 0x21),
    *(0x85, 0xA0, 0x1680),
    *range(0x2000, 0x200B),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
)
# The same as a regular expression of RE2.
_SPACE = r"[\s\p{Z}\x0B\x1C-\x1F\x{85}]"
_MICROSECONDS = "86400000000e0"  # of a day


class Dialect(ABC):
    """Expressions of one database. Missing values are NULL in all of them."""

    double = "DOUBLE"
    materialized = "MATERIALIZED "
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

    @abstractmethod
    def as_number(self, column: str) -> str:
        """A column of numbers in float64; NaN is missing."""

    def as_boolean(self, column: str) -> str:
        """A column of booleans as 1 and 0."""
        return f"CAST(CAST({column} AS INTEGER) AS {self.double})"

    @abstractmethod
    def trimmed(self, column: str) -> str:
        """A column as text without space around it."""

    def as_word(self, column: str) -> str:
        """A column of texts; an empty one and ``?`` are missing."""
        return f"NULLIF(NULLIF({self.trimmed(column)}, ''), '?')"

    def as_date(self, column: str) -> str:
        """A column of dates or times."""
        return f"CAST({column} AS TIMESTAMP)"

    @abstractmethod
    def days(self, date: str) -> str:
        """Days since 1970 with their fraction."""

    def month(self, date: str) -> str:
        """Month of the year."""
        return f"CAST(EXTRACT(MONTH FROM {date}) AS {self.double})"

    def weekday(self, date: str) -> str:
        """Day of the week, Monday is 1."""
        return f"CAST(EXTRACT(ISODOW FROM {date}) AS {self.double})"

    def total(self, value: str) -> str:
        """Sum of whole numbers as float64."""
        return f"CAST(SUM({value}) AS {self.double})"

    @abstractmethod
    def rows(self, columns: Mapping[str, tuple[str, Sequence[str]]]) -> str:
        """A table of constants: ``place`` counts from 0; columns have a type and their values."""

    @abstractmethod
    def unnested(self, values: list[str], name: str, kind: str, source: str) -> str:
        """One row per value of a row: its ``toprank_row``, the value, and its ``place`` from 0."""


class DuckDB(Dialect):
    """DuckDB 1.0 and later."""

    def as_number(self, column: str) -> str:
        return f"NULLIF(CAST({column} AS DOUBLE), CAST('NaN' AS DOUBLE))"

    def trimmed(self, column: str) -> str:
        return f"regexp_replace(CAST({column} AS VARCHAR), '^{_SPACE}+|{_SPACE}+$', '', 'g')"

    def days(self, date: str) -> str:
        return f"CAST(epoch_us({date}) AS DOUBLE) / {_MICROSECONDS}"

    def total(self, value: str) -> str:
        # a sum of 128 bits is not rounded correctly where it becomes a float
        return f"CAST(CAST(SUM({value}) AS BIGINT) AS DOUBLE)"

    def rows(self, columns: Mapping[str, tuple[str, Sequence[str]]]) -> str:
        size = len(next(iter(columns.values()))[1])
        kinds = {"integer": "INTEGER", "bigint": "BIGINT", "float8": "DOUBLE"}
        lists = [
            f"unnest(CAST(string_split('{','.join(values)}', ',') AS {kinds[kind]}[])) AS {name}"
            for name, (kind, values) in columns.items()
        ]
        return f"SELECT unnest(range({size})) AS place, {', '.join(lists)}"

    def unnested(self, values: list[str], name: str, kind: str, source: str) -> str:  # noqa: ARG002
        places = f"unnest(range({len(values)})) AS place"
        return (
            f"SELECT toprank_row, unnest([{', '.join(values)}]) AS {name}, {places} FROM {source}"
        )


class Postgres(Dialect):
    """PostgreSQL 12 and later, with UTF-8."""

    double = "DOUBLE PRECISION"
    hint = "SET jit = off first: compiling this query would take far longer than running it."

    def as_number(self, column: str) -> str:
        return f"NULLIF(CAST({column} AS DOUBLE PRECISION), 'NaN')"

    def trimmed(self, column: str) -> str:
        spaces = "".join(f"\\u{code:04X}" for code in SPACES)
        return f"btrim(CAST({column} AS TEXT), E'{spaces}')"

    def days(self, date: str) -> str:
        micro = f"EXTRACT(EPOCH FROM {date}) * 1000000"
        return f"CAST({micro} AS DOUBLE PRECISION) / CAST({_MICROSECONDS} AS DOUBLE PRECISION)"

    def number(self, value: float) -> str:
        return f"{super().number(value)}::float8"

    def rows(self, columns: Mapping[str, tuple[str, Sequence[str]]]) -> str:
        arrays = [f"'{{{','.join(values)}}}'::{kind}[]" for kind, values in columns.values()]
        names = ", ".join(columns)
        return (
            f"SELECT given.place - 1 AS place, {names} "
            f"FROM unnest({', '.join(arrays)}) WITH ORDINALITY AS given({names}, place)"
        )

    def unnested(self, values: list[str], name: str, kind: str, source: str) -> str:  # noqa: ARG002
        return (
            f"SELECT toprank_row, given.{name}, given.place - 1 AS place FROM {source} "
            f"CROSS JOIN LATERAL unnest(ARRAY[{', '.join(values)}]) "
            f"WITH ORDINALITY AS given({name}, place)"
        )


class SQLite(Dialect):
    """SQLite 3.35 and later. Dates are ISO 8601 texts, which it reads to the millisecond."""

    double = "REAL"

    def name(self, name: str) -> str:
        # between double quotes, the name of a column that does not exist would be a text
        return "`" + name.replace("`", "``") + "`"

    def as_number(self, column: str) -> str:
        is_missing = f"typeof({column}) = 'text' AND TRIM({column}) IN ('', '?')"
        return f"CASE WHEN {is_missing} THEN NULL ELSE CAST({column} AS REAL) END"

    def as_boolean(self, column: str) -> str:
        word = f"LOWER(TRIM(CAST({column} AS TEXT)))"
        yes, no = "'1', '1.0', 'true'", "'0', '0.0', 'false'"
        return f"CASE WHEN {word} IN ({yes}) THEN 1e0 WHEN {word} IN ({no}) THEN 0e0 END"

    def trimmed(self, column: str) -> str:
        return f"TRIM(CAST({column} AS TEXT), char({', '.join(map(str, SPACES))}))"

    def as_date(self, column: str) -> str:
        return f"NULLIF(TRIM({column}), '')"

    def days(self, date: str) -> str:
        fraction = f"strftime('%f', {date}) - strftime('%S', {date})"
        seconds = f"strftime('%s', {date})"
        return f"({seconds} * 1000000e0 + ROUND(({fraction}) * 1000e0) * 1000e0) / {_MICROSECONDS}"

    def month(self, date: str) -> str:
        return f"CAST(strftime('%m', {date}) AS REAL)"

    def weekday(self, date: str) -> str:
        return f"CAST((strftime('%w', {date}) + 6) % 7 + 1 AS REAL)"

    def rows(self, columns: Mapping[str, tuple[str, Sequence[str]]]) -> str:
        lines = zip(*(values for _, values in columns.values()), strict=True)
        content = ",".join(f"[{','.join(line)}]" for line in lines)
        cells = [
            f"json_extract(given.value, '$[{number}]') AS {name}"
            for number, name in enumerate(columns)
        ]
        return (
            f"SELECT given.key AS place, {', '.join(cells)} FROM json_each('[{content}]') AS given"
        )

    def unnested(self, values: list[str], name: str, kind: str, source: str) -> str:
        if kind == "integer":  # as text, which would round floats
            content = " || ',' || ".join(f"({value})" for value in values)
            given = f"json_each('[' || {content} || ']') AS given"
            columns = f"toprank_row, given.value AS {name}, given.key AS place"
            return f"SELECT {columns} FROM {source}, {given}"
        cases = " ".join(f"WHEN {place} THEN {value}" for place, value in enumerate(values))
        places = f"json_each('[{','.join(map(str, range(len(values))))}]') AS given"
        return (
            f"SELECT toprank_row, CASE given.key {cases} END AS {name}, given.key AS place "
            f"FROM {source} CROSS JOIN {places}"
        )


class BigQuery(Dialect):
    """BigQuery's standard SQL; a query has at most a million characters there."""

    double = "FLOAT64"
    materialized = ""

    def name(self, name: str) -> str:
        return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"

    def text(self, text: str) -> str:
        escaped = "".join(
            f"\\u{ord(letter):04x}" if ord(letter) < 32 or letter in "'\\" else letter
            for letter in text
        )
        return f"'{escaped}'"

    def as_number(self, column: str) -> str:
        number = f"CAST({column} AS FLOAT64)"
        return f"IF(IS_NAN({number}), NULL, {number})"

    def as_boolean(self, column: str) -> str:
        return f"CAST(CAST({column} AS INT64) AS FLOAT64)"

    def trimmed(self, column: str) -> str:
        return f"REGEXP_REPLACE(CAST({column} AS STRING), r'^{_SPACE}+|{_SPACE}+$', '')"

    def days(self, date: str) -> str:
        return f"CAST(UNIX_MICROS({date}) AS FLOAT64) / {_MICROSECONDS}"

    def weekday(self, date: str) -> str:
        return f"CAST(MOD(EXTRACT(DAYOFWEEK FROM {date}) + 5, 7) + 1 AS FLOAT64)"

    def rows(self, columns: Mapping[str, tuple[str, Sequence[str]]]) -> str:
        kinds = {"integer": "INT64", "bigint": "INT64", "float8": "FLOAT64"}
        fields = ", ".join(f"{name} {kinds[kind]}" for name, (kind, _) in columns.items())
        lines = zip(*(values for _, values in columns.values()), strict=True)
        content = ", ".join(f"STRUCT({', '.join(line)})" for line in lines)
        return (
            f"SELECT place, given.* FROM UNNEST(ARRAY<STRUCT<{fields}>>[{content}]) AS given "
            "WITH OFFSET AS place"
        )

    def unnested(self, values: list[str], name: str, kind: str, source: str) -> str:  # noqa: ARG002
        return (
            f"SELECT toprank_row, {name}, place FROM {source} "
            f"CROSS JOIN UNNEST([{', '.join(values)}]) AS {name} WITH OFFSET AS place"
        )


DIALECTS: dict[str, Dialect] = {
    "duckdb": DuckDB(),
    "postgres": Postgres(),
    "sqlite": SQLite(),
    "bigquery": BigQuery(),
}
