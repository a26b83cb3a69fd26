"""Tables larger than memory: when they are streamed, and how ``fit`` and ``rank`` do it."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toprank.app.options import check_shortlist

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toprank.app.console import Talk
    from toprank.app.model import Model
    from toprank.tables.parquet_stream import ParquetStream

__all__ = ["Scratch", "Stream", "choose_and_fit", "is_streamed", "ranked_stream"]

# Off a terminal a fit of a hundred quick passes would fill the log with them.
SECONDS_A_LINE = 5.0

Stream = Annotated[
    bool | None,
    typer.Option(
        "--stream/--in-memory",
        help="Read a Parquet file, or a folder of them, in pieces "
        "[default: where it would fill half of the memory].",
    ),
]
Scratch = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Where a streamed rankboost keeps its bins, a byte a cell [default: as TMPDIR says].",
    ),
]


def is_streamed(table: Path, asked: bool | None) -> bool:
    """Say whether a table is read in pieces: as asked, or where it is large beside the memory."""
    if table.is_dir():
        if asked is False:
            raise ValueError(f"{str(table)!r} is a folder, which is read with --stream only.")
        return True
    if asked is False or not table.is_file():  # what is not there is told by whoever reads it
        return False
    from toprank.app.reading import format_of

    if format_of(table) != "parquet":
        if asked:
            raise ValueError(
                f"--stream needs Parquet, which {table.name} is not; write it as Parquet first."
            )
        return False
    if asked:
        return True
    from toprank.tables.parquet_stream import ParquetStream

    try:
        stream = ParquetStream(table)
    except ValueError:  # told by whoever reads it
        return False
    free = available_memory()
    needed = max(stream.decoded_bytes(), 8 * stream.n_rows * len(stream.schema.names))
    return free is not None and needed > free / 2


def available_memory() -> int | None:
    """Bytes that can be taken without pushing anything out; None where no one says."""
    found = []
    with contextlib.suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if "MemAvailable:" in line]
    for limit in ("memory.max", "memory/memory.limit_in_bytes"):  # of a container
        with contextlib.suppress(OSError, ValueError):
            found.append(int(Path("/sys/fs/cgroup", limit).read_text(encoding="utf-8")))
    if not found:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(found, default=None)


@contextlib.contextmanager
def _watched(talk: Talk, stream: ParquetStream, numbers: Iterator[int]) -> Iterator[None]:
    """Show how far each pass has come: a bar on a terminal, elsewhere a line now and then."""
    from rich.console import Console

    told = -math.inf

    def line(done: int, total: int) -> None:
        nonlocal told
        if done < total:
            return
        number = next(numbers)
        if time.monotonic() - told >= SECONDS_A_LINE:
            told = time.monotonic()
            typer.echo(f"toprank: pass {number} over {total:,} rows is done", err=True)

    is_bar = talk.quiet or Console(stderr=True).is_terminal
    with talk.progress("rows of this pass") if is_bar else contextlib.nullcontext(line) as step:
        stream.watch = step
        try:
            yield
        finally:
            stream.watch = None


def choose_and_fit(
    talk: Talk,
    table: Path,
    roles: dict[str, Any],
    ranker: tuple[str, dict[str, Any]],
    budget: float,
    options: dict[str, Any],
) -> Model:
    """Fit the named ranker, or one chosen on a sample, by passes over the file."""
    from toprank.app.model_streaming import STREAMED, choose_for_stream, fit_stream
    from toprank.app.names import make_ranker
    from toprank.app.training_data import supervise_stream

    name, settings = ranker
    if name not in ("top", *STREAMED):
        raise ValueError(
            f"{name} needs all rows in memory, but {table.name} is read in pieces; take one of "
            f"{', '.join(STREAMED)}, or fit on a part of the rows."
        )
    if roles.pop("group") is not None:
        raise ValueError(
            f"--group needs all rows in memory, but {table.name} is read in pieces; fit on a part "
            "of its lists."
        )
    if roles["target"] is None:
        raise ValueError("name the target with --target.")
    if name == "top" and settings:
        raise ValueError("--set needs a --ranker: top finds its settings itself.")
    made = None if name == "top" else make_ranker(name, settings, seed=options["seed"])
    stream, numbers = _open(table), itertools.count(1)
    talk.note(f"{stream.n_rows:,} rows are read in pieces, once in every pass.")
    with _watched(talk, stream, numbers):
        lesson = supervise_stream(stream, **roles)
    weight = None if lesson.roles.weight is None else lesson.weight
    check_shortlist(budget, lesson.n_rows, weight)
    if lesson.n_left_out:
        talk.note(f"{lesson.n_left_out:,} rows without a target are left out.")
    facts: dict[str, Any] = {}
    if made is None:
        chosen = {key: options[key] for key in ("outer", "jobs", "seed")}
        with talk.progress("choosing a ranker") as step, talk.warnings_as_notes():
            made, facts = choose_for_stream(lesson, budget=budget, watch=step, **chosen)
        talk.note(
            f"a ranker was chosen among {', '.join(STREAMED)} on {facts['chosen_on']:,} rows "
            "spread over the file, and is fitted on all."
        )
    with _watched(talk, stream, numbers), talk.warnings_as_notes():
        return fit_stream(
            lesson, made, budget=budget, name=name, facts=facts, scratch=options["scratch"]
        )


def _open(table: Path, width: int | None = None) -> ParquetStream:
    """Open a stream on all cores, whose batches stay small also when they are encoded."""
    from toprank.tables.parquet_stream import CELLS, ParquetStream

    stream = ParquetStream(table)
    widest = width or sum(_width(kind) for kind in stream.schema.types)
    rows = max(1024, CELLS // max(widest, len(stream.schema.names)))
    return ParquetStream(table, batch_rows=rows)


def _width(kind: Any) -> int:
    """Columns that a column of this type becomes at most: of a text 40 values and the missing."""
    import pyarrow as pa

    if pa.types.is_temporal(kind):
        return 4
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return 2 if is_number or pa.types.is_boolean(kind) else 41


def ranked_stream(
    talk: Talk, model: Model, table: Path, top: int | None, cutoff: float | None
) -> tuple[Any, int, float | None]:
    """The shortlist of a file read in pieces, the rows of the file, and the last score."""
    import numpy as np

    from toprank.app.model_streaming import best_of_stream, rows_above
    from toprank.tables import Table

    stream = _open(table, len(model.encoder.owners_))
    if model.roles.group in stream.schema.names:
        raise ValueError(
            f"the model ranks within the lists of {model.roles.group!r}, which needs all rows in "
            "memory; rank a part of the lists at a time."
        )
    if top is not None and top > stream.n_rows:
        raise ValueError(f"--top {top} is more than the {stream.n_rows} rows of {stream.name}.")
    with _watched(talk, stream, itertools.count(1)):
        if cutoff is None:
            count = top if top is not None else model.in_budget(stream.n_rows)
            _check_memory(stream, count)
            best = best_of_stream(model, stream, count)
        else:
            best = rows_above(model, stream, cutoff)
            _check_memory(stream, best.rows.size)
        order = np.argsort(best.rows)
        kept = stream.take(best.rows[order])
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    rows = Table(kept.take(places), stream.name)
    last = float(best.scores[-1]) if best.rows.size else None
    return model.ranked(rows, best.scores, np.arange(best.rows.size)), stream.n_rows, last


def _check_memory(stream: ParquetStream, count: int) -> None:
    """Raise where the shortlist itself would not fit into memory."""
    free = available_memory()
    needed = 2 * stream.decoded_bytes() * count // stream.n_rows
    if free is not None and needed > free:
        raise ValueError(
            f"a shortlist of {count:,} rows needs some {needed / 1e9:.3g} GB, but {free / 1e9:.3g} "
            "are free; ask for fewer rows with --top or a higher --cutoff."
        )
