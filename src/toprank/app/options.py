"""Options that several commands share, and how they are parsed."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from toprank.app.console import Console
    from toprank.app.reading import TextFormat
    from toprank.app.training_data import LabelledFeatures, TrainingData
    from toprank.models.model import Model
    from toprank.tables.notation import Hints
    from toprank.tables.parquet_stream import TableStream
    from toprank.tables.schema import Schema
    from toprank.tables.table import Table

TableFile = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV, Parquet, JSON, Arrow, XLSX, LIBSVM or LETOR file, gzipped or not; a folder "
        "or a quoted pattern of Parquet files; "
        "FILE::NAME for a table of an SQLite or DuckDB file or a sheet of a workbook; - for "
        "standard input.",
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file written by toprank fit.")
]
Budget = Annotated[str, typer.Option(help="Rows at the top that can be looked at, e.g. 100 or 1%.")]
Stream = Annotated[
    bool | None,
    typer.Option(
        "--stream/--in-memory",
        help="Read a Parquet file or folder in pieces "
        "[default: if it would fill half of the memory].",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]


def _hold_threads(context: typer.Context, jobs: int) -> int:
    """Let polars have no more threads than asked for; it looks when it is imported."""
    source = context.get_parameter_source("jobs")
    if jobs > 0 and source is not None and source.name != "DEFAULT" and "polars" not in sys.modules:
        os.environ.setdefault("POLARS_MAX_THREADS", str(jobs))
    return jobs


Jobs = Annotated[
    int,
    typer.Option(help="Number of processes or threads; -1 uses all cores.", callback=_hold_threads),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def option(text: str, *names: str, default: Any = None, **details: Any) -> Any:
    """A field of a group of options: its help text, and other arguments of ``typer.Option``."""
    return field(default=default, metadata={"typer": typer.Option(*names, help=text, **details)})


def parse_budget(text: str) -> float:
    """Read a number of rows, or a share such as ``1%``.

    Examples
    --------
    >>> parse_budget("100"), parse_budget("2.5%")
    (100, 0.025)
    """
    budget = _number(text, int)
    if not (0 < budget < 1 if text.strip().endswith("%") else budget >= 1):
        raise ValueError(
            f"--budget {text!r} is neither a number of rows, such as 100, nor a share, such as 1%."
        )
    return budget


def parse_share(text: str, option: str) -> float:
    """Read a share such as ``10%`` or ``0.1``.

    Examples
    --------
    >>> parse_share("10%", "--false-alarms"), parse_share("0.1", "--false-alarms")
    (0.1, 0.1)
    """
    share = _number(text, float)
    if not 0 < share < 1:
        raise ValueError(f"{option} {text!r} is not a share between 0 and 1, such as 10% or 0.1.")
    return share


def _number(text: str, kind: type[float]) -> float:
    """A number or a percentage; 0 for anything else."""
    number = text.strip()
    try:
        return float(number[:-1]) / 100 if number.endswith("%") else kind(number)
    except ValueError:
        return 0


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Read ``p=8``, ``loss=logistic`` and the like: numbers, true, false, none, else text.

    Examples
    --------
    >>> parse_settings(["p=8", "alpha=0.1", "loss=logistic", "p=inf"])
    {'p': inf, 'alpha': 0.1, 'loss': 'logistic'}
    """
    settings: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise ValueError(f"--set {text!r} is not NAME=VALUE, for instance --set p=8.")
        settings[name.strip()] = _value(value.strip())
    return settings


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


# Options out of a TOML file, for those that are not typed --------------------------------------


def _take_options(context: typer.Context, path: Path | None) -> Path | None:
    """Make the values of a file the defaults of the command.

    Keys outside of any table are for every command that has such an option, those of a table such
    as ``[fit]`` for that command alone.
    """
    if path is not None and not context.resilient_parsing:
        context.default_map = _defaults(path, context)
    return path


def _defaults(path: Path, context: typer.Context) -> dict[str, Any]:
    """Values by the names of parameters; raises where the command has no such option."""
    import tomllib

    from toprank.tables.table import did_you_mean

    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r} for --config.")
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is not valid TOML: {error}.") from error
    parameters: dict[str, Any] = {
        option.lstrip("-").replace("_", "-"): parameter
        for parameter in context.command.params
        for option in parameter.opts
    }
    own = found.get(context.info_name or "", {})
    own = own if isinstance(own, dict) else {}  # an option may be called like a command
    shared = {key: value for key, value in found.items() if not isinstance(value, dict)}
    defaults: dict[str, Any] = {}
    for key, value in [*shared.items(), *own.items()]:
        parameter = parameters.get(key.replace("_", "-"))
        if parameter is not None and getattr(parameter, "multiple", False):
            values = value if isinstance(value, list) else [value]
            defaults[parameter.name] = [str(each) for each in values]
        elif parameter is not None:
            defaults[parameter.name] = value if isinstance(value, bool) else str(value)
        elif key in own:  # a shared one may be of another command
            hint = did_you_mean(key.replace("_", "-"), list(parameters))
            raise ValueError(
                f"{path.name} has {key!r} for {context.info_name}, which has no such option{hint}."
            )
    return defaults


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        callback=_take_options,
        is_eager=True,
        expose_value=False,
        help="TOML file with options, e.g. target = 'bought'; a table such as [fit] is for one "
        "command.",
    ),
]


# Groups of options: a command takes each as one parameter ---------------------------------------


# What typer gives for options that are not given; an empty text is given, and is an error.
_NOTHING: tuple[Any, ...] = (None, [], ())


@dataclass(frozen=True)
class RuleOptions:
    """The options of ``toprank rank`` that choose rows by more than their scores."""

    false_alarms: str | None = option(
        "Longest list whose expected share of false alarms is at most this, e.g. 10%.",
        metavar="SHARE",
    )
    value: str | None = option(
        "What a positive row is worth: rank by expected gain and keep the rows that pay.",
        metavar="NUMBER|COLUMN",
    )
    cost: str | None = option("What opening a row costs, for --value.", metavar="NUMBER|COLUMN")
    at_most: list[str] | None = option(
        "Most rows with the same value of a column, e.g. 3:branch; may be repeated.",
        metavar="NUMBER:COLUMN",
    )
    at_least: list[str] | None = option(
        "Fewest rows with one value of a column, e.g. 20%:branch=north; may be repeated.",
        metavar="NUMBER|SHARE:COLUMN=VALUE",
    )
    audit: str | None = option(
        "Replace this share of the rows by random ones, e.g. 5%, to learn what is overlooked.",
        metavar="SHARE",
    )
    daily: Path | None = option(
        "Spend --top rows per day over many runs; STATE is a file that keeps the counts.",
        metavar="STATE",
    )

    @property
    def are_given(self) -> bool:
        """Whether any of them is given."""
        return any(given not in _NOTHING for given in vars(self).values())


@dataclass(frozen=True)
class TargetOptions:
    """The options that say what is positive."""

    target: str | None = option("Target column [LIBSVM files: the label].")
    positive: list[str] | None = option(
        "Value of the target that belongs at the top; may be repeated "
        "[default: yes, true, 1 and the like, else the rarer of two]."
    )

    unlabelled: list[str] | None = option(
        "Value of the target of rows whose outcome is not known yet: they are left out; may be "
        "repeated."
    )

    def label_as(self, model: Model, table: Table, console: Console) -> LabelledFeatures:
        """The labelled rows of a table, by default as in the model's own training.

        Notes say which rows have no target, and what is negative, if these are several values.
        """
        from toprank.app.column_survey import notes_on_target
        from toprank.app.training_data import label_rows

        roles = model.roles
        target = self.target or roles.target
        is_same = target == roles.target
        own = roles.positives if is_same and not self.positive else ()
        present = set(table.keys(target).words) if is_same and target in table.names else set()
        data = label_rows(
            table,
            target=target,
            positives=tuple(self.positive or own),
            group=roles.group if roles.group in table.names else None,
            weight=roles.weight if roles.weight in table.names else None,
            unlabelled=tuple(self.unlabelled or (v for v in roles.unlabelled if v in present)),
        )
        console.note(*notes_on_target(data))
        return data.in_memory()


@dataclass(frozen=True)
class RoleOptions(TargetOptions):
    """The options that say what columns are for."""

    group: str | None = option(
        "Column with list IDs: rows are ranked within their list [LETOR: qid]."
    )
    weight: str | None = option("Column with row weights.")
    ignore: list[str] | None = option("Column to exclude, e.g. a row ID; may be repeated.")
    keep: list[str] | None = option(
        "Column to use although it looks like a row number; may be repeated."
    )

    def label(
        self, console: Console, source: Table | TableStream, budget: float
    ) -> tuple[TrainingData, list[str]]:
        """The rows of a table or a file with their labels, and lines that say what was found.

        Columns of no use are left out; a budget that covers all rows raises.
        """
        from toprank.app.column_survey import choose_columns
        from toprank.app.training_data import label_rows

        data = label_rows(
            source,
            target=self.target,
            positives=tuple(self.positive or ()),
            group=self.group,
            weight=self.weight,
            ignored=tuple(self.ignore or ()),
            unlabelled=tuple(self.unlabelled or ()),
        )
        if data.roles.group is None and budget >= data.weight:
            weighing = "" if data.roles.weight is None else f" that weigh {data.weight:g} in all"
            raise ValueError(
                f"--budget {budget:g} covers all {data.n_rows:,} rows{weighing}; name a smaller "
                "number."
            )
        return choose_columns(console, data, tuple(self.keep or ()))


@dataclass(frozen=True)
class TextOptions:
    """The options that say how cells are read."""

    decimal: list[str] | None = option(
        "Decimal mark of numbers, , or . [default: detected]; may be repeated for columns.",
        metavar="MARK|COLUMN=MARK",
    )
    dates: str | None = option(
        "Order in dates: day-first or month-first [default: detected].", metavar="ORDER"
    )
    type: list[str] | None = option(
        "Kind of a column: number, boolean, date, time, duration or category; may be repeated.",
        metavar="COLUMN=KIND",
    )
    schema: Path | None = option(
        "TOML file that says how columns are read; toprank look --write makes one.", metavar="FILE"
    )
    encoding: str | None = option("Encoding of text, e.g. latin-1 or cp1252 [default: UTF-8].")
    names: str | None = option(
        "Column names of a text file without a header line.", metavar="A,B,…"
    )

    def format(self, known: Schema | None = None) -> TextFormat:
        """What was given; ``known`` is the schema of a model."""
        from toprank.app.reading import TextFormat

        if self.dates not in (None, "day-first", "month-first"):
            raise ValueError(f"--dates {self.dates!r} is neither day-first nor month-first.")
        given = self.decimal or []
        marks = [text for text in given if text in (",", ".")]
        return TextFormat(
            decimal=marks[-1] if marks else None,
            dates=self.dates,
            encoding=self.encoding,
            names=tuple(filter(None, (self.names or "").split(","))),
            hints=self._hints([text for text in given if text not in marks]),
            schema=known if self.schema is None else _read_schema(self.schema),
            is_partial=self.schema is not None,
        )

    def _hints(self, decimals: Sequence[str]) -> dict[str, Hints]:
        """What is said of single columns."""
        from toprank.tables.notation import KINDS, Hints

        hints: dict[str, Hints] = {}
        for text in decimals:
            name, _, mark = text.rpartition("=")
            if not name or mark not in (",", "."):
                raise ValueError(
                    f"--decimal {text!r} is neither a comma nor a point, nor COLUMN=MARK, for "
                    "instance --decimal price=,"
                )
            hints[name] = Hints(decimal=mark)
        for text in self.type or []:
            name, _, kind = text.rpartition("=")
            if not name or kind not in KINDS:
                raise ValueError(
                    f"--type {text!r} is not COLUMN=KIND, where KIND is one of {', '.join(KINDS)}."
                )
            hints[name] = replace(hints.get(name, Hints()), kind=kind)
        return hints

    def open(self, model: Path, table: Path) -> tuple[Model, Table]:
        """A model, and a table that is read as the one that it has learned from."""
        from toprank.app.reading import read_table
        from toprank.models.file import load

        found = load(model)
        rows = found.with_sparse_features(read_table(table, self.format(found.schema)))
        return found.read_as(rows.schema), rows


def _read_schema(path: Path) -> Schema:
    """The schema of a TOML file, or what is wrong with it."""
    from toprank.tables.schema import Schema

    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r} for --schema.")
    try:
        return Schema.of_toml(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"--schema {path.name}: {str(error).rstrip('.')}.") from error


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command: groups become single options for typer."""
    spread: list[inspect.Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        kind: Any = parameter.annotation
        if not is_dataclass(kind):
            spread.append(parameter)
            continue
        given = [each for each in fields(kind) if each.init]
        groups[parameter.name] = kind, [each.name for each in given]
        types = get_type_hints(kind, include_extras=True)
        for each in given:
            of_typer = each.metadata.get("typer")
            type_ = Annotated[types[each.name], of_typer] if of_typer else types[each.name]
            spread.append(parameter.replace(name=each.name, default=each.default, annotation=type_))

    @functools.wraps(function)
    def called(**given: Any) -> None:
        for name, (kind, names) in groups.items():
            given[name] = kind(**{each: given.pop(each) for each in names if each in given})
        function(**given)

    vars(called)["__signature__"] = inspect.Signature(spread)
    return called
