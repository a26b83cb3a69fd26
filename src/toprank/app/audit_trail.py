"""Record how a shortlist was made, and check whether a model gives the same list again.

The SHA-256 of the model file, the date and the version are in the file's metadata, where its format
has some (Parquet); ``toprank rank --trail`` writes columns, which every format has.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from toprank.tables.columns import as_words
from toprank.tables.table import Table

if TYPE_CHECKING:
    from toprank.app.model import RankingModel
    from toprank.app.ranking import RankedRows

MODEL, DATE, RULES = "model_sha256", "ranked_at", "chosen_by"
# How far scores may lie apart: sums are rounded differently on other processors.
TOLERANCE = 1e-9
# Columns that only lists have whose rows were chosen by more than their scores.
_OF_RULES = ("gain", "propensity")
_ADDED = ("rank", "score", "reasons", "chance", "audit_weight", *_OF_RULES)


def with_trail(
    found: RankedRows,
    model: RankingModel,
    digest: str,
    date: str,
    *,
    by_rules: bool = False,
    as_columns: bool = False,
) -> RankedRows:
    """A shortlist with the model's SHA-256 and the date in its metadata, or also as columns.

    ``as_columns`` adds the chance of each row, too, where the model can tell it.
    """
    import toprank
    from toprank.app.ranking import free_name

    columns = found.columns
    if as_columns:
        names, size = columns.column_names, columns.num_rows
        if _chance_column(names, model) is None and model.calibration is not None and size:
            chances = model.chances(_numbers(columns, _name_of(names, "score")))
            columns = columns.add_column(2, free_name("chance", columns), pa.array(chances))
        for name, text in ((MODEL, digest), (DATE, date)):
            if name not in names:
                columns = columns.append_column(name, pa.array([text] * size, pa.string()))
    facts = {
        MODEL: digest,
        DATE: date,
        RULES: "rules" if by_rules else "score",
        "version": toprank.__version__,
    }
    named = {f"toprank.{name}": value for name, value in facts.items()}
    known = {**(columns.schema.metadata or {}), **named}
    return replace(found, columns=columns.replace_schema_metadata(known))


@dataclass
class Findings:
    """What was checked and agrees, what could not be checked, and what differs."""

    agrees: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)


def check_shortlist(
    shortlist: Table, model: RankingModel, digest: str, table: Table | None = None
) -> Findings:
    """Compute a shortlist again: from its own columns, or from the table it was taken from."""
    found = Findings()
    _check_model(shortlist, digest, found)
    if not {"score", "rank"} <= {name.removeprefix("toprank_") for name in shortlist.names}:
        raise ValueError(
            f"{shortlist.name} has no columns rank and score; name a list that toprank rank wrote."
        )
    lists = _lists(shortlist.columns, model)
    places = _places(shortlist)
    by_rules = _recorded(shortlist, RULES) == "rules" or bool({*_OF_RULES} & {*shortlist.names})
    rows = None
    if table is None:
        scores = model.scores(shortlist)
        _compare_numbers(shortlist, "score", scores, found)
        if by_rules:
            found.unchecked.append("places, which depend on rules and not on the scores alone")
        else:
            _check_order(places, lists, scores, found)
    elif by_rules:
        raise ValueError(
            f"the rows of {shortlist.name} were chosen by rules and not by their scores alone, so "
            "they cannot be compared with the table; leave out --table to check their scores."
        )
    else:
        scores, rows = _check_against(shortlist, model, table, places, lists, found)
        _check_order(places, lists, scores, found)
    if _chance_column(shortlist.names, model) is not None:
        _check_chances(shortlist, model, scores, found)
    if "reasons" in shortlist.names:
        _check_reasons(shortlist, model, rows, table, found)
    return found


def _name_of(names: list[str], name: str) -> str:
    """The name of a column of toprank rank: ``toprank_…`` where the table had one of its own."""
    return f"toprank_{name}" if f"toprank_{name}" in names else name


def _chance_column(names: list[str], model: RankingModel) -> str | None:
    """The chances among the columns that toprank rank has put before those of the table."""
    front = itertools.takewhile(lambda name: name.removeprefix("toprank_") in _ADDED, names)
    found = [name for name in front if name.removeprefix("toprank_") == "chance"]
    return None if not found or found[0] in model.columns else found[0]


def _numbers(columns: pa.Table, name: str) -> NDArray[np.float64]:
    return np.asarray(columns.column(name).cast(pa.float64()).to_numpy(), dtype=np.float64)


def _places(shortlist: Table) -> NDArray[np.float64]:
    name = _name_of(shortlist.names, "rank")
    try:
        places = _numbers(shortlist.columns, name)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        places = np.full(1, np.nan)
    if not (np.isfinite(places) & (places >= 1)).all():
        raise ValueError(
            f"the column {name!r} of {shortlist.name} holds values that are not places; name a "
            "list that toprank rank wrote."
        )
    return places


def _lists(columns: pa.Table, model: RankingModel) -> list[Any]:
    if model.roles.group not in columns.column_names:
        return [None] * int(columns.num_rows)
    return list(as_words(columns.column(model.roles.group)).to_pylist())


def _recorded(shortlist: Table, name: str) -> str | None:
    """What the file's metadata or a column says about its making."""
    known = shortlist.schema.metadata or {}
    if f"toprank.{name}".encode() in known:
        return str(known[f"toprank.{name}".encode()].decode())
    if name in shortlist.names and shortlist.n_rows:
        texts = set(shortlist.columns.column(name).to_pylist())
        return str(texts.pop()) if len(texts) == 1 else "several"
    return None


def _check_model(shortlist: Table, digest: str, found: Findings) -> None:
    recorded = _recorded(shortlist, MODEL)
    if recorded is None:
        found.unchecked.append("the model's SHA-256, which the list does not contain")
    elif recorded == digest:
        found.agrees.append("the model's SHA-256")
    else:
        found.differs.append(
            f"the list was made by a model with the SHA-256 {recorded}, this one has {digest}"
        )


def _compare_numbers(
    shortlist: Table, name: str, wanted: NDArray[np.float64], found: Findings
) -> None:
    given = _numbers(shortlist.columns, _name_of(shortlist.names, name))
    with np.errstate(invalid="ignore"):
        is_near = np.abs(given - wanted) <= TOLERANCE * np.maximum(1.0, np.abs(wanted))
    wrong = np.flatnonzero(~is_near)
    if not wrong.size:
        found.agrees.append(f"the {name} of {given.size:,} rows")
        return
    first = int(wrong[0])
    found.differs.append(
        f"the {name} of {wrong.size:,} of {given.size:,} rows: row {first + 1} has "
        f"{given[first]:.10g}, the model gives {wanted[first]:.10g}"
    )


def _check_order(
    places: NDArray[np.float64], lists: list[Any], scores: NDArray[np.float64], found: Findings
) -> None:
    """Check that places count from 1 in each list, and that no score is above an earlier one."""
    wrong: list[int] = []
    by_list: dict[Any, list[int]] = {}
    for row, name in enumerate(lists):
        by_list.setdefault(name, []).append(row)
    for rows in by_list.values():
        ordered = sorted(rows, key=lambda row: (places[row], row))
        limit = np.inf
        for place, row in enumerate(ordered, start=1):
            slack = TOLERANCE * max(1.0, abs(scores[row]))
            if places[row] != place or scores[row] > limit + slack:
                wrong.append(row)
            limit = min(limit, scores[row])
    if wrong:
        first = min(wrong)
        found.differs.append(
            f"the place of {len(wrong):,} of {len(lists):,} rows: row {first + 1} has the place "
            f"{places[first]:g}, which does not agree with its score"
        )
    else:
        found.agrees.append(f"the order of {len(lists):,} rows")


def _check_against(
    shortlist: Table,
    model: RankingModel,
    table: Table,
    places: NDArray[np.float64],
    lists: list[Any],
    found: Findings,
) -> tuple[NDArray[np.float64], Table]:
    """Rank the table again; give the score and the row that each place has there."""
    from toprank.app.ranking import rank_rows

    most = int(min(max(1.0, np.nanmax(places, initial=1.0)), table.n_rows))
    ranked = rank_rows(model, table, most, None).columns
    ranks = _numbers(ranked, _name_of(ranked.column_names, "rank"))
    keys = zip(_lists(ranked, model), ranks, strict=True)
    at = {key: row for row, key in enumerate(keys)}
    rows = [at.get(key, -1) for key in zip(lists, places, strict=True)]
    known = _numbers(ranked, _name_of(ranked.column_names, "score"))
    scores = np.array([known[row] if row >= 0 else np.nan for row in rows])
    _compare_numbers(shortlist, "score", scores, found)
    own, names = shortlist.columns, set(shortlist.names)
    shared = [name for name in ranked.column_names[2:] if name in names]
    is_same = np.array([row >= 0 for row in rows])
    taken = ranked.take(pa.array([max(row, 0) for row in rows]))
    for name in shared:
        # as texts: a CSV file forgets the types of its columns
        mine, theirs = (as_words(each.column(name)).to_pylist() for each in (own, taken))
        is_same &= np.array([one == two for one, two in zip(mine, theirs, strict=True)], bool)
    if is_same.all():
        found.agrees.append(f"the rows at {len(rows):,} places of {table.name}")
    else:
        first = int(np.argmin(is_same))
        found.differs.append(
            f"the rows at {int((~is_same).sum()):,} of {len(rows):,} places of {table.name}: row "
            f"{first + 1} of the list, with the place {places[first]:g}, is not the one there"
        )
    return scores, Table(taken, table.name, table.is_sparse)


def _check_chances(
    shortlist: Table, model: RankingModel, scores: NDArray[np.float64], found: Findings
) -> None:
    known = np.isfinite(scores)
    wanted = np.full(scores.size, np.nan)
    chances = model.chances(scores[known])
    if chances is None:
        found.unchecked.append("the chances, because the model file holds no calibration rows")
        return
    wanted[known] = chances
    _compare_numbers(shortlist, "chance", wanted, found)


def _check_reasons(
    shortlist: Table, model: RankingModel, rows: Table | None, table: Table | None, found: Findings
) -> None:
    """Compare reasons with those of the table's rows.

    How many places each moves a row is left out: it may hang on the last digit of a score.
    """
    name = _name_of(shortlist.names, "reasons")
    if rows is None or table is None:
        found.unchecked.append("the reasons, which need --table")
        return
    if name in table.names:  # a column of its own
        return
    from toprank.app.reasons import format_reasons, reasons_of

    given = [_without_places(text or "") for text in shortlist.columns.column(name).to_pylist()]
    wrong = []
    for row, each in enumerate(reasons_of(model, rows, table)):
        possible = [format_reasons(each.reasons, most) for most in range(len(each.reasons) + 1)]
        if given[row] not in map(_without_places, possible):
            wrong.append(row)
    if wrong:
        found.differs.append(
            f"the reasons of {len(wrong):,} of {len(given):,} rows: row {wrong[0] + 1} has "
            "other reasons"
        )
    else:
        found.agrees.append(f"the reasons of {len(given):,} rows")


def _without_places(text: str) -> str:
    return re.sub(r" \([+−]?[\d,]+ places?\)", "", text)
