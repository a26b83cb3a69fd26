"""How many cells of Tables 1 to 3 each reading of the settings brings to two standard errors."""

import itertools
import json
from typing import NamedTuple

import numpy as np

from experiments.svm.comparison import FOLDS
from experiments.svm.page import label_error
from experiments.svm.printed import METHODS, TABLE_1, TABLE_2, TABLE_3
from experiments.svm.readings import FOUND, GENES, ROUNDS, SCALES, share_before

__all__ = ["section"]

LAWS, WEIGHTS = ("fair", "rare"), ("simplex", "constant", "signed")
UNITS, RATIOS = ("share", "percent"), ("drawn", "given")
KINDS = ("thresholds", "features")
OTHER_NUS = (0.05, 0.1, 0.15)  # beside 0.2
SVMS = ("1-norm C. SVM", "exact 1-norm", "product 1-norm")

TEXT = """\
## Which reading fits

The tables above are one draw under one reading. `python -m experiments.svm.readings` runs the
others, so far {draws} (two of the five folds of a draw, then
another draw) and the five folds of real tables. They differ in

- the variables at r = 1: *fair* coins within each class, or *rare*, 1 with the chance 0.023;
- at 7:3 and 9:1 the ratio of the rows *drawn*, or of the labels *given*, after the flips;
- 1-norm weights: w ≥ 0 with Σw = 1 (*simplex*), the same with the *constant*, or *signed* (where
  the constant changes nothing, as w⁺ and w⁻ can cancel);
- SoftRankBoost after 3 or 200 rounds;
- SVM-Perf's loss as a *share* of the pairs or, with C a hundred times as large, a *percent*age;
- on real data features as they are (*raw*) or in [-1, 1] (which ranks like [0, 1]), columns
  *turned* around, and RankBoost on thresholds or on features.

ν is the better of 0.1 and 0.2 (on real data the best of the paper's four for the ranking SVMs; for
SoftRankBoost 0.2 alone), the gap 0.05, with at most 150 cuts; RankBoost has 1,000 rounds (100 on
features) and its exact steps. Where the 2-norm has w = 0 as its optimum the last model on the way
that is not 0 is scored; this happened in {zeros}. A cell is *beyond* if it differs from
the paper's by more than two standard errors: that of five folds of one draw (or of the flipped
labels, where that is more) on the paper's side, and that of our mean.

The grid of variables, constant and signs, each with the best of the other choices (the same in all
tables, but for scale and weak rankers, which are of real data):

{grid}

{verdict}

The best readings of each block of rows alone:

{blocks}

By column, the fewest cells beyond under one reading:

{columns}

{mixture}"""


class Spread(NamedTuple):
    """Mean over all folds that were run, and the standard error of five folds of one draw."""

    mean: float
    error: float
    n_draws: float


def by_head(found):
    """(data set, method) → cells of all draws."""
    cells = {}
    for key, values in found.items():
        head = key.rsplit(", ", 2)[0]
        for name, cell in values.items():
            cells.setdefault((head, name), []).append(cell)
    return cells


def spread_of(draws):
    """All draws together."""
    means, errors, folds = np.array(draws, dtype=float).T
    mean = float(np.average(means, weights=folds))
    return Spread(mean, float(errors.mean()), float(folds.sum()) / FOLDS)


def pooled(cells, heads, name):
    """A method's cell at its best ν, over all draws of the first of these data sets that has it.

    None where it was not run.
    """
    head = next((head for head in heads if (head, name) in cells), None)
    if head is None:
        return None
    at = [name, *(f"{name}, {nu}" for nu in OTHER_NUS)]
    return max(spread_of(cells[head, one]) for one in at if (head, one) in cells)


def is_beyond(cell, printed, least=0.0):
    """Whether a mean differs from the printed number by more than two standard errors."""
    error = max(cell.error, least) * np.sqrt(1.0 + 1.0 / cell.n_draws)
    return bool(abs(cell.mean - printed) > 2.0 * max(error, 1e-3))


def name_of(column, weights, rounds, unit, kind="thresholds"):
    """The name under which the grid has a column of the paper."""
    if column in SVMS:
        return f"{column}, {weights}"
    if column == "RankBoost":
        return f"RankBoost on {kind}, {'both' if weights == 'signed' else 'increasing'}"
    if column == "SVM-Perf":
        return f"SVM-Perf, {unit}"
    return f"SoftRankBoost {rounds}" if column == "SoftRankBoost" else column


def artificial_cells(cells, law, weights, rounds, unit, ratio):
    """(table, row, column) → whether it is beyond, None where it was not run."""
    found = {}
    for table, rows in (("1", TABLE_1), ("2", TABLE_2)):
        for row, printed in rows.items():
            r, noise, tenths = (*row, 5) if table == "1" else (row[1], 5, row[0])
            told = " given" if ratio == "given" and tenths != 5 else ""
            head = f"r {r}, {noise} %, {tenths} tenths{told}, {law if r == 1 else 'fair'}"
            least = label_error(noise, 10 * share_before(tenths, noise) if told else tenths)
            for column, number in zip(METHODS, printed, strict=True):
                cell = pooled(cells, [head], name_of(column, weights, rounds, unit))
                found[table, row, column] = None if cell is None else is_beyond(cell, number, least)
    return found


def real_cells(cells, weights, rounds, unit, scale, kind):
    """The same for Table 3; boosting and tables of genes have one scale, and no column turned."""
    found = {}
    for row, printed in TABLE_3.items():
        own = weights.removesuffix(", turned") if row in GENES else weights
        heads = [f"{row}, {scale}", f"{row}, raw"]
        for column, number in zip(METHODS, printed, strict=True):
            cell = pooled(cells, heads, name_of(column, own, rounds, unit, kind))
            found["3", row, column] = None if cell is None else is_beyond(cell, number)
    return found


def count(cells):
    """How many cells are beyond."""
    return sum(cells.values())


def complete(readings):
    """Readings that were run on all of their cells, the best first."""
    whole = {name: cells for name, cells in readings.items() if None not in cells.values()}
    return dict(sorted(whole.items(), key=lambda item: count(item[1])))


def blocks_of(cells):
    """Rows of r = 1, the other artificial rows, and real tables, under every reading."""
    rounds = [str(number) for number in ROUNDS]
    artificial = {
        name: artificial_cells(cells, *name)
        for name in itertools.product(LAWS, WEIGHTS, rounds, UNITS, RATIOS)
    }
    ones = {
        name: {key: beyond for key, beyond in found.items() if 1 in (key[1][0], key[1][1])}
        for name, found in artificial.items()
    }
    more = {
        name[1:]: {key: beyond for key, beyond in found.items() if key not in ones[name]}
        for name, found in artificial.items()
    }
    real = {
        name: real_cells(cells, *name)
        for name in itertools.product((*WEIGHTS, "simplex, turned"), rounds, UNITS, SCALES, KINDS)
    }
    return {"r = 1": ones, "r = 8 and r = 15": more, "real data": real}


def totals(blocks):
    """(cells beyond, by block, law, reading) of every single reading that was run on all cells."""
    ones, more, real = (complete(readings) for readings in blocks.values())
    found = []
    for first, last in itertools.product(ones, real):
        if first[1:] in more and (last[0].removesuffix(", turned"), *last[1:3]) == first[1:4]:
            parts = count(ones[first]), count(more[first[1:]]), count(real[last])
            found.append((sum(parts), parts, first, last))
    return sorted(found)


def grid_table(single):
    """The eight corners {law} × {constant} × {sign}, each with the best of the other choices."""
    lines = [
        "| variables | constant | weights | r = 1 | r = 8, 15 | real | all of 140 | with |",
        "|---|---|---|---|---|---|---|---|",
    ]
    corners = itertools.product(LAWS, ("out", "in"), ("w ≥ 0", "signed"))
    for law, constant, sign in corners:
        weights = "signed" if sign == "signed" else {"out": "simplex", "in": "constant"}[constant]
        own = [one for one in single if one[2][0] == law and one[3][0].split(",")[0] == weights]
        if not own:
            lines.append(f"| {law} | {constant} | {sign} | not run | | | | |")
            continue
        total, parts, first, last = own[0]
        told = " | ".join(str(part) for part in parts)
        others = [*first[2:], *last[3:], *(["turned"] if "turned" in last[0] else [])]
        lines.append(f"| {law} | {constant} | {sign} | {told} | {total} | {', '.join(others)} |")
    return "\n".join(lines)


def verdict(single):
    """The best single reading, where some was run on every cell."""
    if not single:
        return "No single reading was run on every cell yet."
    total, _, first, last = single[0]
    return (
        f"**No single reading of the {len(single)} that were run on all 140 cells has fewer than "
        f"{total} of them beyond.** The best is: {', '.join(first)}; real data {', '.join(last)}."
    )


def block_table(blocks):
    """The best readings of every block."""
    lines = ["| block | reading | cells beyond |", "|---|---|---|"]
    for title, readings in blocks.items():
        for name, cells in itertools.islice(complete(readings).items(), 4):
            lines.append(f"| {title} | {', '.join(name)} | {count(cells)} of {len(cells)} |")
    return "\n".join(lines)


def columns_of(blocks):
    """(column, block) → (cells beyond, cells, reading) of the best reading of the column alone."""
    best = {}
    for column, (title, readings) in itertools.product(METHODS, blocks.items()):
        own = {
            name: {key: beyond for key, beyond in cells.items() if key[2] == column}
            for name, cells in readings.items()
        }
        found = next(iter(complete(own).items()), None)
        if found is not None:
            best[column, title] = count(found[1]), len(found[1]), ", ".join(found[0])
    return best


def column_table(blocks, best):
    """The same as a table."""
    lines = ["| column | " + " | ".join(blocks) + " |", "|---" * (len(blocks) + 1) + "|"]
    for column in METHODS:
        cells = [
            "{} of {}: {}".format(*best[column, title]) if (column, title) in best else "not run"
            for title in blocks
        ]
        lines.append(f"| {column} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def mixture(best):
    """What would be left if every column had a reading of its own in every block."""
    left = sum(beyond for beyond, *_ in best.values())
    return (
        f"So even with the best reading for each column and block {left} of 140 cells stay beyond: "
        "no reading of these settings explains them."
    )


def with_tables(found, results):
    """The grid and, as one draw more, the page's tables: simplex weights, on real data signed.

    The 2-norm is left out: the tables score w = 0 as it is, and have another scale.
    """
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
            if column == "product 2-norm" or (words[0] == "real" and column == "SVM-Perf"):
                continue
            key = name_of(column, weights, ROUNDS[-1], "share")
            more.setdefault(f"{head}, tables, draw", {})[key] = [*cell, FOLDS]
    return found | more


def told_draws(cells):
    """How many folds a cell of artificial rows has, from the fewest to the most."""
    folds = [
        sum(int(draw[2]) for draw in draws)
        for (head, _), draws in cells.items()
        if head.startswith("r ")
    ]
    return f"{min(folds)} to {max(folds)} folds for each cell of artificial rows"


def zeros(found):
    """How often the 2-norm had w = 0."""
    cells = [values["product 2-norm, w = 0"] for values in found.values() if
             "product 2-norm, w = 0" in values]  # fmt: skip
    share = sum(round(mean * folds) for mean, _, folds in cells)
    return f"{share} of {sum(int(folds) for *_, folds in cells)} fits"


def section(results):
    """The section of the page, or nothing where the grid was not run."""
    if not FOUND.exists():
        return ""
    found = json.loads(FOUND.read_text(encoding="utf-8"))
    cells = by_head(with_tables(found, results))
    blocks = blocks_of(cells)
    single, best = totals(blocks), columns_of(blocks)
    return TEXT.format(
        draws=told_draws(cells),
        zeros=zeros(found),
        grid=grid_table(single),
        verdict=verdict(single),
        blocks=block_table(blocks),
        columns=column_table(blocks, best),
        mixture=mixture(best),
    )
