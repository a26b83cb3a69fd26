"""How many cells of Tables 1 to 3 each reading of the settings brings to two standard errors."""

import itertools
import json
from typing import NamedTuple

import numpy as np

from experiments.svm.page import label_error
from experiments.svm.printed import METHODS, TABLE_1, TABLE_2, TABLE_3
from experiments.svm.readings import FOUND, GENES, ROUNDS, SCALES, WEIGHTS

__all__ = ["section"]

LAWS, KINDS = ("fair", "rare"), ("thresholds", "features")

TEXT = """\
## Which reading fits

The tables above are one draw under one reading. Readings were run on {draws}, with five folds
each, as far as `python -m experiments.svm.readings` has come. They differ in

- the variables at r = 1: *fair* coins within each class, or *rare*, 1 with the chance 0.023;
- 1-norm weights: w ≥ 0 with Σw = 1 (*simplex*), the same with the *constant*, or *signed* (where
  the constant changes nothing, as w⁺ and w⁻ can cancel);
- SoftRankBoost after 3 or 200 rounds;
- on real data features as they are (*raw*), in [0, 1] or in [-1, 1], columns turned around, and
  RankBoost on thresholds or on features.

ν is 0.2 (for the classification SVM the better of 0.1 and 0.2), the gap 0.05; RankBoost has 1,000
rounds (100 on features) and its exact steps. A cell is *beyond* if it differs from the paper's by
more than two standard errors: that of five folds of one draw (or of the flipped labels, where that
is more) on the paper's side, and that of our mean.

Cells beyond, for the readings that were run on all cells of a block, the best first:

{blocks}

{verdict}

By column, the fewest cells beyond under one reading:

{columns}"""


class Spread(NamedTuple):
    """Mean over the draws, and the standard error of one draw."""

    mean: float
    error: float
    n_draws: int


def pooled(found, head, part, name):
    """A method's cell over all draws that are there, or None."""
    cells = [
        tuple(values[name])
        for key, values in found.items()
        if key.startswith(f"{head}, {part}, draw") and name in values
    ]
    if not cells:
        return None
    means, errors = np.array(cells).T
    return Spread(float(means.mean()), float(errors.mean()), len(cells))


def is_beyond(cell, printed, least=0.0):
    """Whether a mean differs from the printed number by more than two standard errors."""
    error = max(cell.error, least) * np.sqrt(1.0 + 1.0 / cell.n_draws)
    return abs(cell.mean - printed) > 2.0 * max(error, 1e-3)


def source(column, weights, rounds, kind="thresholds"):
    """The part of the grid and the name under which a column of the paper is found there."""
    plain = weights.removesuffix(", turned")
    part = "turned" if plain != weights else plain
    if column in ("1-norm C. SVM", "exact 1-norm", "product 1-norm"):
        return part, f"{column}, {plain}"
    if column == "RankBoost":
        directions = "both" if plain == "signed" else "increasing"
        on = "RankBoost" if kind == "thresholds" else "RankBoost on features"
        return "others", f"{on}, {directions}"
    return "others", f"SoftRankBoost {rounds}" if column == "SoftRankBoost" else column


def artificial_cells(found, law, weights, rounds):
    """(table, row, column) → whether it is beyond, None where it was not run."""
    cells = {}
    for table, rows in (("1", TABLE_1), ("2", TABLE_2)):
        for row, printed in rows.items():
            r, noise, tenths = (*row, 5) if table == "1" else (row[1], 5, row[0])
            head = f"r {r}, {noise} %, {tenths} tenths, {law if r == 1 else 'fair'}"
            least = label_error(noise, tenths)
            for column, number in zip(METHODS, printed, strict=True):
                cell = pooled(found, head, *source(column, weights, rounds))
                beyond = None if cell is None else is_beyond(cell, number, least)
                cells[table, row, column] = beyond
    return cells


def real_cells(found, scale, weights, rounds, kind):
    """The same for Table 3."""
    cells = {}
    for row, printed in TABLE_3.items():
        own = "raw" if row in GENES else scale
        chosen = weights.removesuffix(", turned") if row in GENES else weights
        for column, number in zip(METHODS, printed, strict=True):
            cell = pooled(found, f"{row}, {own}", *source(column, chosen, rounds, kind))
            cells["3", row, column] = None if cell is None else is_beyond(cell, number)
    return cells


def tally(cells):
    """How many cells are beyond, and how many there are."""
    return f"{sum(cells.values())} of {len(cells)}"


def complete(readings):
    """Readings that were run on all of their cells, the best first."""
    whole = {name: cells for name, cells in readings.items() if None not in cells.values()}
    return dict(sorted(whole.items(), key=lambda item: sum(item[1].values())))


def blocks_of(found):
    """Rows of r = 1, the other artificial rows, and real tables, under every reading."""
    rounds = [str(number) for number in ROUNDS]
    artificial = {
        (law, weights, number): artificial_cells(found, law, weights, number)
        for law, weights, number in itertools.product(LAWS, WEIGHTS, rounds)
    }
    ones = {
        name: {key: beyond for key, beyond in cells.items() if 1 in (key[1][0], key[1][1])}
        for name, cells in artificial.items()
    }
    more = {
        name[1:]: {key: beyond for key, beyond in cells.items() if key not in ones[name]}
        for name, cells in artificial.items()
    }
    real = {
        (weights, number, scale, kind): real_cells(found, scale, weights, number, kind)
        for scale, weights, number, kind in itertools.product(
            SCALES, (*WEIGHTS, "simplex, turned"), rounds, KINDS
        )
    }
    return {"r = 1": ones, "r = 8 and r = 15": more, "real data": real}


def block_table(blocks):
    """The best readings of every block."""
    lines = ["| block | reading | cells beyond |", "|---|---|---|"]
    for title, readings in blocks.items():
        for name, cells in itertools.islice(complete(readings).items(), 6):
            lines.append(f"| {title} | {', '.join(name)} | {tally(cells)} |")
    return "\n".join(lines)


def column_table(blocks):
    """For every column and block the fewest cells beyond under one reading, and that reading."""
    lines = ["| column | " + " | ".join(blocks) + " |", "|---" * (len(blocks) + 1) + "|"]
    for column in METHODS:
        cells = []
        for readings in blocks.values():
            own = {
                name: {key: beyond for key, beyond in cells.items() if key[2] == column}
                for name, cells in readings.items()
            }
            best = next(iter(complete(own).items()), None)
            cells.append("not run" if best is None else f"{tally(best[1])}: {', '.join(best[0])}")
        lines.append(f"| {column} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def verdict(blocks):
    """The best single reading, where some was run on every cell."""
    ones, more, real = (complete(readings) for readings in blocks.values())
    totals = [
        (sum(sum(cells.values()) for cells in (ones[a], more[b], real[c])), a, c)
        for a, b, c in itertools.product(ones, more, real)
        if a[1:] == b and c[1] == b[1]
    ]
    if not totals:
        return "No single reading was run on every cell yet."
    beyond, first, last = min(totals)
    return (
        f"**{beyond} of 140 cells are beyond under the best single reading that was run on every "
        f"cell:** artificial data {', '.join(first)} rounds, real data {', '.join(last)}."
    )


def with_tables(found, results):
    """The grid and, as one draw more, the page's tables: simplex weights, on real data signed."""
    more = {}
    for name, cells in results.items():
        if not cells or "auc" not in cells:
            continue
        words = name.split()
        if words[0] == "real":
            head, weights = f"{words[1]}, raw", "signed"
        else:
            noise, tenths = (words[1], 5) if words[0] == "noise" else (5, words[1])
            law = "rare" if words[3] == "1" else "fair"
            head, weights = f"r {words[3]}, {noise} %, {tenths} tenths, {law}", "simplex"
        for column, cell in zip(METHODS, cells["auc"], strict=True):
            part, key = source(column, weights, str(ROUNDS[-1]))
            more.setdefault(f"{head}, {part}, draw of the tables", {})[key] = cell
    return found | more


def section(results):
    """The section of the page, or nothing where the grid was not run."""
    if not FOUND.exists():
        return ""
    found = json.loads(FOUND.read_text(encoding="utf-8"))
    blocks = blocks_of(with_tables(found, results))
    draws = len({key.rsplit(" ", 1)[1] for key in found})
    return TEXT.format(
        draws="one more draw" if draws == 1 else f"{draws} more draws",
        blocks=block_table(blocks),
        verdict=verdict(blocks),
        columns=column_table(blocks),
    )
