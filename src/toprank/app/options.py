"""Options that several commands share, and how they are parsed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.app.console import Console

if TYPE_CHECKING:
    from toprank.app.model import RankingModel
    from toprank.app.text_columns import TextFormat
    from toprank.app.training_data import LabelledFeatures, TrainingData
    from toprank.tables.parquet_stream import ParquetStream
    from toprank.tables.table import Table

TableFile = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV, Parquet, JSON, Arrow, XLSX, LIBSVM or LETOR file, gzipped or not; a table "
        "of an SQLite or DuckDB file as FILE::TABLE; - is standard input.",
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file written by toprank fit.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse a table that differs from the training rows.")
]
Budget = Annotated[
    str, typer.Option(help="Rows of the list that can be looked at, e.g. 100 or 1%.")
]
Stream = Annotated[
    bool | None,
    typer.Option(
        "--stream/--in-memory",
        help="Read a Parquet file, or a folder of them, in pieces "
        "[default: if it would fill half of the memory].",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]
Jobs = Annotated[int, typer.Option(help="Number of processes; -1 uses all cores.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


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


def check_is_shortlist(budget: float, data: TrainingData) -> None:
    """Raise if the shortlist would be the whole list; a row of weight 2 counts as two."""
    if data.roles.group is None and budget >= data.weight:
        weighing = "" if data.roles.weight is None else f" that weigh {data.weight:g} in all"
        raise ValueError(
            f"--budget {budget:g} is not a shortlist of {data.n_rows:,} rows{weighing}; "
            "name a smaller number."
        )


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
    if path is None or context.resilient_parsing:
        return path
    try:
        context.default_map = _defaults(path, context)
    except (ValueError, OSError) as error:
        typer.echo(f"toprank: {error}", err=True)
        raise typer.Exit(2) from None
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


@dataclass(frozen=True)
class RuleOptions:
    """The options of ``toprank rank`` that choose rows by more than their scores."""

    false_alarms: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Longest list whose expected share of false alarms is at most this, e.g. 10%.",
        ),
    ] = None
    value: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|COLUMN",
            help="What a positive row is worth: rank by expected gain, keep the rows that pay.",
        ),
    ] = None
    cost: Annotated[
        str | None,
        typer.Option(metavar="NUMBER|COLUMN", help="What opening a row costs, for --value."),
    ] = None
    at_most: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER:COLUMN",
            help="Most rows with the same value of a column, e.g. 3:branch; may be given more "
            "than once.",
        ),
    ] = None
    at_least: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER|SHARE:COLUMN=VALUE",
            help="Fewest rows with one value of a column, e.g. 20%:branch=north; may be given "
            "more than once.",
        ),
    ] = None
    audit: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Replace this share of the rows by random ones, e.g. 5%, to learn what is "
            "overlooked.",
        ),
    ] = None
    daily: Annotated[
        Path | None,
        typer.Option(
            metavar="STATE",
            help="Spend --top rows per day over many runs; STATE is a file that keeps the counts.",
        ),
    ] = None


@dataclass(frozen=True)
class TargetOptions:
    """The options that say what is positive."""

    target: Annotated[str | None, typer.Option(help="Target column [LIBSVM files: the label].")] = (
        None
    )
    positive: Annotated[
        list[str] | None,
        typer.Option(
            help="Value of the target that belongs at the top; may be given more than once "
            "[default: yes, true, 1 and the like, else the rarer of two]."
        ),
    ] = None

    def label_as(self, model: RankingModel, table: Table) -> LabelledFeatures:
        """The labelled rows of a table, by default as in the model's own training."""
        from toprank.app.training_data import label_rows

        roles = model.roles
        is_same = self.target is None or self.target == roles.target
        return label_rows(
            table,
            target=self.target or roles.target,
            positives=tuple(self.positive or (roles.positives if is_same else ())),
            group=roles.group if roles.group in table.names else None,
            weight=roles.weight if roles.weight in table.names else None,
        ).in_memory()


@dataclass(frozen=True)
class RoleOptions(TargetOptions):
    """The options that say what columns are for."""

    group: Annotated[
        str | None,
        typer.Option(help="Column with list ids: rows compete within their list [LETOR: qid]."),
    ] = None
    weight: Annotated[str | None, typer.Option(help="Column with row weights.")] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="Column to exclude, e.g. a row ID; may be given more than once."),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to use although it looks like a row number; may be given more than once."
        ),
    ] = None

    def label(self, source: Table | ParquetStream) -> TrainingData:
        """The rows of a table or a file with their labels."""
        from toprank.app.training_data import label_rows

        return label_rows(
            source,
            target=self.target,
            positives=tuple(self.positive or ()),
            group=self.group,
            weight=self.weight,
            ignored=tuple(self.ignore or ()),
        )


@dataclass(frozen=True)
class TextOptions:
    """The options that say how text is read."""

    decimal: Annotated[
        str | None,
        typer.Option(metavar="MARK", help="Decimal mark of numbers, , or . [default: detected]."),
    ] = None
    dates: Annotated[
        str | None,
        typer.Option(
            metavar="ORDER", help="Order in dates: day-first or month-first [default: detected]."
        ),
    ] = None
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of text, e.g. latin-1 or cp1252 [default: UTF-8].")
    ] = None
    names: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="Names of the columns of a text without a header line."),
    ] = None

    def format(self, known: dict[str, str] | None = None) -> TextFormat:
        """What was given; ``known`` is how a model's own table was read."""
        from toprank.app.text_columns import DATE_ORDERS, TextFormat

        if self.decimal not in (None, ",", "."):
            raise ValueError(f"--decimal {self.decimal!r} is neither a comma nor a point.")
        if self.dates is not None and self.dates not in DATE_ORDERS:
            raise ValueError(f"--dates {self.dates!r} is neither {' nor '.join(DATE_ORDERS)}.")
        names, found = (self.names or "").split(","), known or {}
        return TextFormat(
            self.decimal or found.get("decimal"),
            self.dates or found.get("dates"),
            self.encoding,
            tuple(filter(None, names)),
        )

    def read(self, path: Path, model: RankingModel | None = None) -> Table:
        """Read a table, by default as the table was read that a model has learned from."""
        from toprank.app.reading import read_table

        return read_table(path, self.format(None if model is None else model.facts.get("read_as")))


@dataclass(frozen=True)
class Printing:
    """The options that say what is printed, and the one that reads others from a file."""

    _config: Config = None
    quiet: Quiet = False
    json: Json = False

    def console(self, *, to_stderr: bool = False) -> Console:
        """Where messages go."""
        return Console(quiet=self.quiet, as_json=self.json, to_stderr=to_stderr)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Spread the groups among the parameters of a command, so that typer sees single options."""
    spread: list[inspect.Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        kind: Any = parameter.annotation
        if not hasattr(kind, "__dataclass_fields__"):
            spread.append(parameter)
            continue
        fields = inspect.signature(kind, eval_str=True).parameters.values()
        groups[parameter.name] = kind, [field.name for field in fields]
        spread += [field.replace(kind=parameter.KEYWORD_ONLY) for field in fields]

    @functools.wraps(function)
    def called(**given: Any) -> None:
        for name, (kind, fields) in groups.items():
            given[name] = kind(**{field: given.pop(field) for field in fields if field in given})
        function(**given)

    vars(called)["__signature__"] = inspect.Signature(spread)
    return called
