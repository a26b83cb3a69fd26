"""Tables of texts in every kind and notation, and formulas of every kind of term over them."""

import datetime as dt

import numpy as np
import polars as pl

from toprank.models import Formula
from toprank.models.formula import Summand
from toprank.models.terms import BinarySum, ObliviousSum, Step, Steps, Weights
from toprank.tables import TableEncoder
from toprank.tables.encoding import Encoding, Number

KINDS_OF_CELLS = {
    "price": "number", "share": "number", "coded": "number", "weight": "number",
    "plain": "number", "member": "boolean", "due": "date", "seen": "date",
    "clock": "time", "took": "duration", "country": "category", "job": "category",
}  # fmt: skip


def mixed_table(rng, n_rows, *, is_new=False):
    """A column for each notation, some cells missing; new tables have cells that do not fit."""
    days = [
        dt.date(1960, 1, 1) + dt.timedelta(days=int(k)) for k in rng.integers(40_000, size=n_rows)
    ]
    minutes = rng.integers(24 * 60, size=n_rows).tolist()
    clocks = [f"{m // 60:02}:{m % 60:02}" for m in minutes]
    jobs = [" smith", "o'neil ", 'say "hi"', "日本\u3000"]
    numbers = rng.gamma(1.0, 400.0, size=n_rows).tolist()
    texts = {
        "price": [f"€ {x:_.2f}".replace(".", ",").replace("_", ".") for x in numbers],
        "share": [f"{x / 7:.1f} %" for x in numbers],
        "coded": [f"{x:.3f}" if x > 80 else "-999" for x in numbers],
        "weight": [f"{x:.0f} g" if x > 300 else f"{x / 1000:.3f} kg" for x in numbers],
        "plain": [repr(x) for x in rng.normal(size=n_rows).tolist()],
        "member": [("true", "FALSE", " True ")[k] for k in rng.integers(3, size=n_rows)],
        "due": [f"{day:%d.%m.%Y}" for day in days],
        "seen": [f"{day}T{clock}:30+02:00" for day, clock in zip(days, clocks, strict=True)],
        "clock": [f"{m // 60 % 12 or 12}:{m % 60:02} {'AP'[m >= 720]}M" for m in minutes],
        "took": [f"{m // 60}h {m % 60}m" for m in minutes],
        "country": [("NA", "DE", "n/a", "none")[k] for k in rng.integers(4, size=n_rows)],
        "job": [jobs[k] for k in rng.integers(len(jobs), size=n_rows)],
    }  # fmt: skip
    columns = {}
    for name, cells in texts.items():
        holes = [None, "", "?"] + (["12,5o", "soon", "31.02.2020", "x y z"] if is_new else [])
        chosen = rng.integers(len(holes), size=n_rows)
        is_hole = rng.random(n_rows) < 0.15
        columns[name] = pl.Series(
            [
                holes[k] if hole else cell
                for cell, k, hole in zip(cells, chosen, is_hole, strict=True)
            ]
        )
    return columns


def random_formula(rng, table):
    """A blend of weights, steps, and trees of both shapes; half of the numbers are not filled."""
    encoding = TableEncoder().fit(table).encoding_
    n_cells = len(encoding.cells)
    is_open = [isinstance(cell, Number) and rng.random() < 0.5 for cell in encoding.cells]
    cells = [
        cell._replace(fill=None) if own else cell
        for cell, own in zip(encoding.cells, is_open, strict=True)
    ]
    edges = [np.unique(rng.normal(size=5) * 10.0 ** rng.integers(0, 4)) for _ in range(n_cells)]
    steps = [
        Step(cell, edge, rng.normal(size=edge.size + 1), float(rng.normal()))
        for cell, edge in enumerate(edges)
        if rng.random() < 0.7
    ]
    terms = [
        Weights(rng.normal(size=n_cells) / 1000 * ~np.array(is_open)),
        Steps.of(steps),
        oblivious(rng, n_cells, edges),
        binary(rng, n_cells, edges),
    ]
    summands = [Summand(float(rng.normal()), float(rng.normal()), term) for term in terms]
    return Formula(Encoding(encoding.schema, cells), tuple(summands), float(rng.normal()))


def oblivious(rng, n_cells, edges, n_trees=6, depth=3):
    columns = rng.integers(n_cells, size=(n_trees, depth)).astype(np.int32)
    return ObliviousSum(
        columns,
        np.array([[rng.choice(edges[cell]) for cell in row] for row in columns]),
        rng.random((n_trees, depth)) < 0.5,
        rng.normal(size=(n_trees, 2**depth)),
        np.ones((n_trees, 2**depth)),
    )


def binary(rng, n_cells, edges, n_trees=6, n_questions=7):
    """Each question takes the place of a leaf, so trees have any shape."""
    roots, children, columns = [], [], []
    for _ in range(n_trees):
        roots.append(len(children))
        children.append([-1, -1])
        for _ in range(int(rng.integers(n_questions + 1))):
            leaves = [k for k in range(roots[-1], len(children)) if children[k][0] < 0]
            children[int(rng.choice(leaves))] = [len(children), len(children) + 1]
            children += [[-1, -1], [-1, -1]]
    columns = rng.integers(n_cells, size=len(children)).astype(np.int32)
    return BinarySum(
        columns,
        np.array([rng.choice(edges[cell]) for cell in columns]),
        rng.random(len(children)) < 0.5,
        rng.normal(size=len(children)),
        np.ones(len(children)),
        np.array(children, dtype=np.int32),
        np.array(roots, dtype=np.int32),
    )
