"""Shortlists of ``toprank rank`` with promises, amounts, limits, audits or daily budgets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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
    from toprank.models.model import Model
    from toprank.tables.parquet_stream import TableStream

Floats = NDArray[np.float64]

# Rows that tell how a column of amounts is written that the model does not have.
_SAMPLE = 10_000


class ListRules(NamedTuple):
    """What the options of ``toprank rank`` ask of a list, beyond its length.

    ``amounts`` are the value and the cost of a row, where they are given: numbers or names of
    columns. ``at_most`` are pairs of a number and a column, ``at_least`` triples of a number or
    share, a column and its value.
    """

    false_alarms: float | None
    amounts: dict[str, float | str]
    at_most: list[tuple[int, str]]
    at_least: list[tuple[float, str, str]]
    audit: float | None
    daily: Path | None

    @property
    def is_promise(self) -> bool:
        """Whether calibration rows are needed."""
        return bool(self.false_alarms or self.amounts or self.at_most or self.at_least)

    @property
    def columns(self) -> list[str]:
        """Columns that the rules are about."""
        amounts = [each for each in self.amounts.values() if isinstance(each, str)]
        named = [*amounts, *(name for _, name in self.at_most), *(n for _, n, _ in self.at_least)]
        return list(dict.fromkeys(named))


def parse_rules(given: RuleOptions) -> ListRules:
    """Read the options, and refuse those that do not go together.

    Examples
    --------
    >>> given = RuleOptions(value="10", at_most=["3:branch"], at_least=["20%:sex=f"])
    >>> rules = parse_rules(given)
    >>> rules.amounts, rules.at_most, rules.at_least
    ({'value': 10.0}, [(3, 'branch')], [(0.2, 'sex', 'f')])
    """
    named = {"value": given.value, "cost": given.cost}
    shares = {"--false-alarms": given.false_alarms, "--audit": given.audit}
    false_alarms, audit = (
        None if text is None else parse_share(text, option) for option, text in shares.items()
    )
    rules = ListRules(
        false_alarms,
        {name: _parse_amount(text) for name, text in named.items() if text is not None},
        [_parse_cap(text) for text in given.at_most or ()],
        [_parse_quota(text) for text in given.at_least or ()],
        audit,
        given.daily,
    )
    if rules.false_alarms is not None and rules.amounts:
        raise ValueError(
            "--false-alarms and --value or --cost both say how long the list is; give one of them."
        )
    if sum((rules.is_promise, rules.audit is not None, rules.daily is not None)) > 1:
        raise ValueError(
            "--audit and --daily can be combined with --top only; leave out the other options."
        )
    return rules


def _parse_amount(text: str) -> float | str:
    try:
        return float(text)
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
    model: Model,
    source: Table | TableStream,
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
        **{role: amounts.get(amount, amount) for role, amount in rules.amounts.items()},
        "at_most": [Cap(columns[name], most) for most, name in rules.at_most],
        "at_least": [
            Quota(_rows_with_value(columns, name, value), least)
            for least, name, value in rules.at_least
        ],
    }
    if rules.false_alarms is not None:
        given["false_alarms"] = rules.false_alarms
    elif not rules.amounts:
        given["k"] = length
    elif top is not None:
        given["k"] = top
    made = make_shortlist(scores, model.calibration, **given)  # type: ignore[arg-type]
    more = {"chance": made.chances} | ({"gain": made.gains} if rules.amounts else {})
    ranked = take_ranked(source, made.rows, made.scores, more)
    told = ("expected_hits", "hits_at_least", "confidence", "is_exact")
    facts = {name: getattr(made, name) for name in told} | {"drift": made.drift.distance}
    if made.profit is not None:
        facts["profit"] = list(made.profit)
    if made.price:
        facts["price"] = made.price
    return replace(ranked, words=str(made), facts=facts)


def _check_possible(
    model: Model, source: Table | TableStream, top: int | None, rules: ListRules
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


def _with_amounts(source: Table | TableStream, rules: ListRules) -> Table | TableStream:
    """Rows whose amounts are read by one schema in all batches, if the model knows none."""
    amounts = [name for name in rules.amounts.values() if isinstance(name, str)]
    new = [name for name in amounts if name not in source.schema]
    if not new or isinstance(source, Table):
        return source
    some = source.take(np.arange(min(source.n_rows, _SAMPLE)))
    found = Schema.infer({name: some[name] for name in new})
    return source.read_by(source.schema.changed(**found.columns))


def _gather(model: Model, rules: ListRules, batch: RowBatch) -> Sums:
    """Scores of the rows of a batch, and the columns that rules are about."""
    roles: dict[Any, str] = {amount: role for role, amount in rules.amounts.items()}
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
    source: Table | TableStream, scores: Floats, length: int, share: float, seed: int
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
    source: Table | TableStream, scores: Floats, path: Path, *, budget: int, day: str
) -> RankedRows:
    """Open the rows of a batch that the day's budget allows; the state is saved first."""
    with DailyBudget.kept(path, budget) as state:
        opened = np.flatnonzero(state.open_rows(scores, day=day))
    rows = opened[np.argsort(-scores[opened], kind="stable")]
    words = f"Opened today: {state.n_opened} of {budget} rows, from {state.n_seen:,}."
    facts = {"opened_today": state.n_opened, "seen_today": state.n_seen, "day": day}
    ranked = take_ranked(source, rows, scores[rows], {})
    return replace(ranked, words=words, facts=facts)
