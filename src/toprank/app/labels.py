"""What the columns of a table are for: target, lists, weights, features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from toprank.app.sparse_text import GROUP, LABEL
from toprank.tables.columns import as_row_weights, as_words
from toprank.tables.table import Table, listing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Roles", "Supervision", "lists_of", "supervise"]


@dataclass(frozen=True)
class Roles:
    """Which column is what. ``positives`` are the target's values that belong at the top."""

    target: str
    positives: tuple[str, ...] = ()
    group: str | None = None
    weight: str | None = None
    ignored: tuple[str, ...] = ()

    @property
    def not_features(self) -> tuple[str, ...]:
        """All columns that a ranker must not learn from."""
        named = (self.target, self.group, self.weight, *self.ignored)
        return tuple(name for name in named if name is not None)


@dataclass(frozen=True)
class Supervision:
    """A table with its labels: rows without a target are left out and counted."""

    features: Table
    positives: NDArray[np.bool_]
    groups: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    roles: Roles
    n_left_out: int
    rows: NDArray[np.intp]


def supervise(
    table: Table,
    *,
    target: str | None,
    positives: tuple[str, ...] = (),
    group: str | None = None,
    weight: str | None = None,
    ignored: tuple[str, ...] = (),
) -> Supervision:
    """Split a table into features, labels, lists and weights.

    Where ``positives`` is empty the target must have two values, of which the larger is the
    positive one, as in scikit-learn. LIBSVM and LETOR files name their target and lists.
    """
    if target is None and table.is_sparse:
        target = LABEL
    if target is None:
        raise ValueError(f"name the target with --target; {table.name} has {listing(table.names)}.")
    if group is None and table.is_sparse and GROUP in table.names:
        group = GROUP
    check_roles(table.names, table.name, target, group, weight, ignored)
    words = np.array(as_words(table.column(target, what="target")).to_pylist(), dtype=object)
    is_known = np.array([word is not None for word in words], dtype=bool)
    if not is_known.any():
        raise ValueError(f"the target {target!r} of {table.name} has no value in any row.")
    values = set(words[is_known])
    chosen = positives or larger_of_two(list(values), table.column(target).type, target)
    check_positives(chosen, values, target)
    rows = np.flatnonzero(is_known)
    kept = table if is_known.all() else table.rows(rows)
    labels = np.isin(words[rows].astype(str), list(chosen))
    if labels.all() or not labels.any():
        raise ValueError(
            f"every known row of the target {target!r} is {'positive' if labels.all() else 'not'}; "
            "ranking needs positive and negative rows."
        )
    roles = Roles(target, tuple(chosen), group, weight, ignored)
    features = kept.without(roles.not_features)
    if not features.names:
        raise ValueError(f"{table.name} has no column left to learn from beside {target!r}.")
    return Supervision(
        features,
        labels,
        lists_of(kept, group),
        None if weight is None else as_row_weights(kept.columns.column(weight), weight),
        roles,
        int(table.n_rows - rows.size),
        rows,
    )


def check_roles(
    names: list[str],
    table: str,
    target: str,
    group: str | None,
    weight: str | None,
    ignored: tuple[str, ...],
) -> None:
    """Raise unless the columns with a role are there, and no column has two."""
    named = {"target": target, "group": group, "weight": weight}
    for what, name in [*named.items(), *(("--ignore option", name) for name in ignored)]:
        if name is not None and name not in names:
            raise ValueError(
                f"{table} has no column {name!r} for the {what}; it has {listing(names)}."
            )
    given = [name for name in named.values() if name is not None]
    if len(set(given)) < len(given):
        raise ValueError(f"one column cannot be two of target, group and weight: {listing(given)}.")


def larger_of_two(values: list[str], kind: pa.DataType, target: str) -> tuple[str]:
    """The positive value of a target with two: the larger, as scikit-learn has it."""
    if len(values) != 2:
        few = listing(sorted(values), most=5)
        raise ValueError(
            f"the target {target!r} has {len(values)} different values ({few}), but ranking needs "
            "two; name the positive ones with --positive VALUE."
        )
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return (max(values, key=float),)
    return (max(values),)


def check_positives(chosen: tuple[str, ...], values: set[str], target: str) -> None:
    """Raise if a positive value never comes."""
    unknown = [value for value in chosen if value not in values]
    if unknown:
        raise ValueError(
            f"the target {target!r} is never {unknown[0]!r}; its values are "
            f"{listing(sorted(values))}."
        )


def lists_of(table: Table, group: str | None) -> NDArray[Any] | None:
    """List ids, one a row."""
    if group is None:
        return None
    column = table.column(group, what="group")
    if column.null_count:
        raise ValueError(
            f"the group {group!r} is missing in {column.null_count} rows; every row needs a list."
        )
    return np.array(as_words(column).to_pylist(), dtype=str)
