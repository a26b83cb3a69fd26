"""Shortlists as files, of the format that their name says."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toprank.models.writing import write_atomically

if TYPE_CHECKING:
    import polars as pl

# What a spreadsheet would run, and texts that look as if an apostrophe had been put before that.
_FORMULA = r"^('*[=+\-@\t\r])"
# Numbers with a sign and dashes, which no spreadsheet runs.
_SIGNED = r"^([+-][$€£¥]?[.,]?\d[\d.,' \u{a0}\u{202f}]*([eE][+-]?\d+)? ?[%$€£¥]?|-+)$"


def check_ending(path: str | os.PathLike[str]) -> None:
    """Raise unless the name ends like a table that can be written."""
    from toprank.app.formats import WRITERS

    name = Path(path).name.lower()
    is_plain = Path(name).suffix in (".csv", ".tsv", ".parquet", *WRITERS)
    if not is_plain and not name.endswith((".csv.gz", ".tsv.gz")):
        raise ValueError(
            f"cannot write {Path(path).name!r}: end the name in .csv, .tsv (or either with .gz), "
            f".parquet, {', '.join(WRITERS)}."
        )


def write_table(path: str | os.PathLike[str], frame: pl.DataFrame, *, raw: bool = False) -> Path:
    """Write a table as its name says: .csv, .tsv (either also with .gz), .parquet and others.

    In text formats an apostrophe is put before names and texts that a spreadsheet would run as
    formulas, unless ``raw``; :func:`toprank.app.reading.read_table` takes it away again.
    """
    import polars as pl

    from toprank.app.formats import WRITERS

    name = Path(path).name.lower()
    kind, is_zipped = Path(name.removesuffix(".gz")).suffix, name.endswith(".gz")
    how: Any = {"separator": "\t" if kind == ".tsv" else ",", "time_format": "%H:%M:%S%.f"}
    if str(path) == "-":
        _plain_texts(frame, raw=raw).write_csv(sys.stdout.buffer, **how)
        sys.stdout.buffer.flush()
        return Path(path)

    def write(part: Path) -> None:
        with part.open("wb") as plain, contextlib.ExitStack() as stack:
            stream: Any = stack.enter_context(gzip.open(plain, "wb")) if is_zipped else plain
            try:
                if kind == ".parquet":
                    frame.write_parquet(stream)
                else:
                    _plain_texts(frame, raw=raw).write_csv(stream, **how)
            except pl.exceptions.ComputeError as error:  # such as a full disk
                raise OSError(f"{path} cannot be written ({error}).") from error

    check_ending(path)
    if kind in (".csv", ".tsv", ".parquet"):
        return write_atomically(path, write)
    return write_atomically(path, lambda part: WRITERS[kind](frame, part))


def _plain_texts(frame: pl.DataFrame, *, raw: bool) -> pl.DataFrame:
    """Columns that text can hold; an apostrophe before formulas and what looks as if it had one."""
    import polars as pl

    from toprank.app.formats import in_words

    rows = frame.with_columns([in_words(column) for column in frame])
    if raw:
        return rows
    texts = pl.col(pl.String)
    apart = texts.str.replace(_FORMULA, "'${1}")
    escaped = rows.with_columns(pl.when(texts.str.contains(_SIGNED)).then(texts).otherwise(apart))
    return escaped.rename({name: re.sub(_FORMULA, r"'\1", name) for name in rows.columns})
