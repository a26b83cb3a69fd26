"""Shortlists of ``toprank rank`` with promises, amounts, limits, audits or daily budgets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.app.options import RuleOptions, parse_share
from toprank.app.ranking import RankedRows, take_ranked
from toprank.blocks import Sums
from toprank.shortlists import Cap, DailyBudget, Quota, audit_rows, make_shortlist
from toprank.tables.columns import as_row_weights
from toprank.tables.schema import Schema
from toprank.tables.table import RowBatch, Table, check_has_column, listing

if TYPE_CHECKING:
    from toprank.app.model import RankingModel
    from toprank.tables.parquet_stream import ParquetStream

Floats = NDArray[np.float64]

# Rows that tell how a column of amounts is written that the model does not have.
_SAMPLE = 10_000


@dataclass(frozen=True)
class ListRules:
    """What the options of ``toprank rank`` ask of a list, beyond its length.

    Amounts are numbers or names of columns. ``at_most`` are pairs of a number and a column,
    ``at_least`` triples of a number or share, a column and its value.
    """

    false_alarms: float | None = None
    value: float | str | None = None
    cost: float | str | None = None
    at_most: tuple[tuple[int, str], ...] = ()
    at_least: tuple[tuple[float, str, str], ...] = ()
    audit: float | None = None
    daily: Path | None = None

    @property
    def is_promise(self) -> bool:
        """Whether calibration rows are needed."""
        return bool(self.false_alarms or self.has_amounts or self.at_most or self.at_least)

    @property
    def has_amounts(self) -> bool:
        """Whether rows are ranked by their gain."""
        return self.value is not None or self.cost is not None

    @property
    def columns(self) -> list[str]:
        """Columns that the rules are about."""
        amounts = [each for each in (self.value, self.cost) if isinstance(each, str)]
        named = [*amounts, *(name for _, name in self.at_most), *(n for _, n, _ in self.at_least)]
        return list(dict.fromkeys(named))


def parse_rules(given: RuleOptions) -> ListRules:
    """Read the options, and refuse those that do not go together.

    Examples
    --------
    >>> given = RuleOptions(value="10", at_most=["3:branch"], at_least=["20%:sex=f"])
    >>> rules = parse_rules(given)
    >>> rules.value, rules.at_most, rules.at_least
    (10.0, ((3, 'branch'),), ((0.2, 'sex', 'f'),))
    """
    rules = ListRules(
        false_alarms=_parse_share(given.false_alarms, "--false-alarms"),
        value=_parse_amount(given.value),
        cost=_parse_amount(given.cost),
        at_most=tuple(_parse_cap(text) for text in given.at_most or ()),
        at_least=tuple(_parse_quota(text) for text in given.at_least or ()),
        audit=_parse_share(given.audit, "--audit"),
        daily=given.daily,
    )
    if rules.false_alarms is not None and rules.has_amounts:
        raise ValueError(
            "--false-alarms and --value or --cost both say how long the list is; give one of them."
        )
    if sum((rules.is_promise, rules.audit is not None, rules.daily is not None)) > 1:
        raise ValueError(
            "--audit and --daily can be combined with --top only; leave out the other options."
        )
    return rules


def _parse_share(text: str | None, option: str) -> float | None:
    return None if text is None else parse_share(text, option)


def _parse_amount(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _parse_cap(text: str) -> tuple[int, str]:
    number, sign, name = text.partition(":")
    if not sign or not name or not number.strip().isdecimal() or int(number) < 1:
        raise ValueError(f"--at-most {text!r} is not NUMBER:COLUMN, for instance 3:branch.")
    return int(number), name


def _parse_quota(text: str) -> tuple[float, str, str]:
    amount, sign, rest = text.partition(":")
    name, equals, value = rest.partition("=")
    number = amount.strip()
    if not sign or not equals or not name or not (number.isdecimal() or number.endswith("%")):
        raise ValueError(
            f"--at-least {text!r} is not NUMBER:COLUMN=VALUE or SHARE:COLUMN=VALUE, for instance "
            "20%:branch=north."
        )
    least = float(number) if number.isdecimal() else parse_share(number, "--at-least")
    return least, name, value


def rank_by_rules(
    model: RankingModel,
    source: Table | ParquetStream,
    top: int | None,
    rules: ListRules,
    *,
    day: str,
    seed: int = 0,
) -> RankedRows:
    """Rank a table by the rules; all scores are held in memory, 8 bytes per row."""
    _check_possible(model, source, top, rules)
    source = _with_amounts(source, rules)
    scores, *others = (
        np.concatenate(pieces)
        for pieces in source.total(
            lambda batch: _gather(model, rules, batch),
            [*dict.fromkeys([*model.columns, *rules.columns])],
        ).parts
    )
    columns = dict(zip(rules.columns, others, strict=True))
    if rules.daily is not None:
        budget = int(top or model.budget)
        return _spend_daily_budget(source, scores, rules.daily, budget=budget, day=day)
    length = top if top is not None else model.in_budget(source.n_rows)
    if rules.audit is not None:
        return _replace_by_random(source, scores, length, rules.audit, seed)
    amounts: dict[Any, Any] = columns
    given: dict[str, Any] = {
        "value": amounts.get(rules.value, rules.value),
        "cost": amounts.get(rules.cost, rules.cost),
        "at_most": [Cap(columns[name], most) for most, name in rules.at_most],
        "at_least": [
            Quota(_rows_with_value(columns, name, value), least)
            for least, name, value in rules.at_least
        ],
    }
    if rules.false_alarms is not None:
        given["false_alarms"] = rules.false_alarms
    elif not rules.has_amounts:
        given["k"] = length
    elif top is not None:
        given["k"] = top
    made = make_shortlist(scores, model.calibration, **given)  # type: ignore[arg-type]
    more = {"chance": made.chances} | ({"gain": made.gains} if rules.has_amounts else {})
    ranked = take_ranked(source, made.rows, made.scores, more)
    facts: dict[str, Any] = {
        "expected_hits": made.expected_hits,
        "hits_at_least": made.hits_at_least,
        "confidence": made.confidence,
        "is_exact": made.is_exact,
        "drift": made.drift.distance,
    }
    if made.profit is not None:
        facts["profit"] = list(made.profit)
    if made.price:
        facts["price"] = made.price
    return replace(ranked, words=str(made), facts=facts)


def _check_possible(
    model: RankingModel, source: Table | ParquetStream, top: int | None, rules: ListRules
) -> None:
    names = source.names
    if model.roles.group in names:
        raise ValueError(
            f"the model ranks within the lists of {model.roles.group!r}, but promises, limits, "
            "audits and daily budgets are about one list; rank one list at a time, without that "
            "column."
        )
    if rules.is_promise and model.calibration is None:
        raise ValueError(
            "the model file holds no calibration rows, which chances and promises need; fit "
            "again with --hold-out 20%, or without --folds 0."
        )
    for name in rules.columns:
        check_has_column(source.name, names, name, "the rules of the list")
    if rules.daily is not None and top is None and model.budget < 1:
        raise ValueError("the model's budget is a share; name the rows of a day with --top.")
    if top is not None and rules.false_alarms is not None:
        raise ValueError("--top and --false-alarms both say how long the list is; give one.")
    if top is not None and top > source.n_rows and rules.daily is None:
        raise ValueError(f"--top {top} is more than the {source.n_rows} rows of {source.name}.")


def _with_amounts(source: Table | ParquetStream, rules: ListRules) -> Table | ParquetStream:
    """Rows whose amounts are read by one schema in all batches, if the model knows none."""
    amounts = [name for name in (rules.value, rules.cost) if isinstance(name, str)]
    new = [name for name in amounts if name not in source.schema]
    if not new or isinstance(source, Table):
        return source
    some = source.take(np.arange(min(source.n_rows, _SAMPLE)))
    found = Schema.infer({name: some[name] for name in new})
    return source.read_by(source.schema.changed(**found.columns))


def _gather(model: RankingModel, rules: ListRules, batch: RowBatch) -> Sums:
    """Scores of the rows of a batch, and the columns that rules are about."""
    roles = {rules.cost: "cost", rules.value: "value"}
    found: list[list[NDArray[Any]]] = [[model.scores(batch.table, batch.first_row)]]
    for name in rules.columns:
        if name in roles:
            column = batch.table.column(name)
            found.append([as_row_weights(column, name, role=roles[name])])
        else:
            keys = batch.table.keys(name)
            found.append([np.array([*keys.words, ""])[keys.values]])
    return Sums(found)


def _rows_with_value(columns: dict[str, NDArray[Any]], name: str, value: str) -> NDArray[np.bool_]:
    marked: NDArray[np.bool_] = columns[name] == value
    if not marked.any():
        few = listing(sorted(set(columns[name].tolist())), most=5)
        raise ValueError(f"no row has {name}={value}; its values are {few}.")
    return marked


def _replace_by_random(
    source: Table | ParquetStream, scores: Floats, length: int, share: float, seed: int
) -> RankedRows:
    made = audit_rows(scores, length, share=share, random_state=seed)
    n_audit = int(made.is_audit.sum())
    more = {"propensity": made.propensity, "audit_weight": 1.0 / made.propensity}
    ranked = take_ranked(source, made.rows, scores[made.rows], more)
    words = (
        f"{n_audit} of the {length} rows are random, with the chance {made.propensity[-1]:.3g} in "
        "propensity; toprank evaluate --propensity propensity and toprank fit --weight "
        "audit_weight count them for all rows that are not opened."
    )
    return replace(ranked, words=words, facts={"audited": n_audit})


def _spend_daily_budget(
    source: Table | ParquetStream, scores: Floats, path: Path, *, budget: int, day: str
) -> RankedRows:
    """Open the rows of a batch that the day's budget allows; the state is saved first."""
    with DailyBudget.kept(path, budget) as state:
        opened = np.flatnonzero(state.open_rows(scores, day=day))
    rows = opened[np.argsort(-scores[opened], kind="stable")]
    words = f"Opened today: {state.n_opened} of {budget} rows, from {state.n_seen:,}."
    facts = {"opened_today": state.n_opened, "seen_today": state.n_seen, "day": day}
    ranked = take_ranked(source, rows, scores[rows], {})
    return replace(ranked, words=words, facts=facts)
