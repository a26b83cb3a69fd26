"""Options out of a TOML file, for those that are not typed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["Config"]


def _take_options(context: typer.Context, path: Path | None) -> Path | None:
    """Make the values of a file the defaults of the command.

    Keys outside of any table are for every command that has such an option, those of a table such
    as ``[fit]`` for that command alone.
    """
    if path is None or context.resilient_parsing:
        return path
    try:
        values = _read(path, context.info_name or "")
        context.default_map = _checked(values, context, path)
    except (ValueError, OSError) as error:
        typer.echo(f"toprank: {error}", err=True)
        raise typer.Exit(2) from None
    return path


def _read(path: Path, command: str) -> dict[tuple[str, str], Any]:
    import tomllib

    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r} for --config.")
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is no TOML: {error}.") from error
    own = found.get(command, {})
    shared = {key: value for key, value in found.items() if not isinstance(value, dict)}
    return {("shared", key): value for key, value in shared.items()} | {
        (command, key): value for key, value in own.items()
    }


def _checked(
    values: dict[tuple[str, str], Any], context: typer.Context, path: Path
) -> dict[str, Any]:
    """Values by the names of parameters; raises where the command has no such option."""
    from toprank.tables.table import did_you_mean

    known: dict[str, Any] = {}
    for parameter in context.command.params:
        for option in parameter.opts:
            known[option.lstrip("-").replace("_", "-")] = parameter
    found: dict[str, Any] = {}
    for (where, key), value in values.items():
        option = key.replace("_", "-")
        if option not in known:
            if where == "shared":
                continue  # of another command
            hint = did_you_mean(option, list(known))
            raise ValueError(
                f"{path.name} has {key!r} for {where}, which has no such option{hint}."
            )
        is_many = bool(getattr(known[option], "multiple", False))
        found[str(known[option].name)] = _as_text(value, is_many=is_many)
    return found


def _as_text(value: Any, *, is_many: bool) -> Any:
    if is_many:
        return [str(each) for each in (value if isinstance(value, list) else [value])]
    return value if isinstance(value, bool) else str(value)


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
