"""Random models in all their forms: ``python -m tests.models.forms 200`` prints the coverage.

Each model is one member, or a blend of three, over some columns, each in a notation of its own.
Estimator, loaded file, SQL on DuckDB and SQLite, the Python file and ONNX must give the same scores
to 1e-9 and the same places; all but ONNX read the cells as they are given.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

from tests.models.test_sql import COLUMNS, in_database, made_table
from toprank.models import formula_of, load, save, to_python, to_sql
from toprank.models.model import Model, Roles
from toprank.selection import Blend
from toprank.selection.candidates import make_ranker
from toprank.selection.engines import ENGINES, installed_engines
from toprank.tables import Table, TableEncoder

FEW = {"max_iter": 15}
MEMBERS = {
    "logistic": {}, "pnorm-push": {}, "ir-push": {}, "linear-rank-svm": {}, "rank-svm": {"nu": 0.9},
    "precision-at-k": {}, "pnorm-push-stumps": {}, "rankboost": FEW, "smooth-margin": FEW,
    "adaboost": FEW, "soft-rankboost": FEW, "trees": {"n_trees": 15, "depth": 3},
    "random-forest": {"n_trees": 8}, "extra-trees": {"n_trees": 8},
    **{name: {} for name in installed_engines()},
}  # fmt: skip
PER_MODEL = 5  # columns


def draw(rng, counts):
    """A member, or three of them in a blend, and columns: those that were together least often."""
    members = list(MEMBERS)
    rng.shuffle(members)
    members.sort(key=lambda member: sum(counts[member, kind] for kind in COLUMNS))
    chosen = members[: 3 if rng.random() < 0.2 else 1]
    kinds = list(COLUMNS)
    rng.shuffle(kinds)
    kinds.sort(key=lambda kind: sum(counts[member, kind] for member in chosen))
    for member in chosen:
        counts.update((member, kind) for kind in kinds[:PER_MODEL])
    return chosen, kinds[:PER_MODEL]


def fitted(seed, members, kinds):
    """A model of cells in the columns' notations, its estimator, and a table of new rows."""
    rng = np.random.default_rng(seed)
    cells = {name: made_table(seed, 150, "text")[name] for name in kinds}
    table = Table(cells)
    encoding = TableEncoder().fit(table).encoding_
    X = encoding.transform(table)
    y = X @ (rng.normal(size=X.shape[1]) / np.maximum(X.std(axis=0), 1e-12))
    y = (y + rng.normal(size=y.size) > np.median(y)).astype(int)
    rankers = [make_ranker(name, MEMBERS[name]) for name in members]
    ranker = rankers[0] if len(rankers) == 1 else Blend(rankers, [1.0, 0.5, 0.25])
    ranker.fit(X, y)
    formula = formula_of(ranker, encoding)
    model = Model(
        formula,
        Roles("y", ("1",)),
        10,
        schema=table.schema,
        facts={"class": type(ranker).__name__, "ranker": members[0], "parameters": {}},
        baseline=np.zeros(len(encoding.cells)),
        spread=np.zeros(len(encoding.cells)),
    )
    new = made_table(seed + 1, 60, "text", is_new=True)
    return ranker, model, Table({name: new[name] for name in kinds}, schema=table.schema)


def typed_inputs(formula, table):
    """What the graph of a model takes: values typed by the schema."""
    if formula.encoding.is_plain:
        return {"X": formula.encoding.transform(table)}
    columns = {name: table.column(name) for name in formula.encoding.schema}
    return {
        name: np.array([[text or ""] for text in column.texts()], dtype=object)
        if column.is_category
        else column.values[:, None]
        for name, column in columns.items()
    }


def all_scores(ranker, model, table, folder):
    """By form the score of each row."""
    again = load(save(model, folder / "m.toprank"))
    keyed = {"key": pl.Series(range(table.n_rows)), **table.cells}
    found = {
        "estimator": ranker.decision_function(model.formula.encoding.transform(table)),
        "loaded": again.scores(table),
    }
    for dialect in ("duckdb", "sqlite"):
        query = to_sql(again, key="key", table="new rows", dialect=dialect)
        result = in_database(dialect, keyed, query)
        order = np.argsort(result["key"])
        found[dialect] = np.array(result["score"], dtype=float)[order]
        places = np.array(result["place"])[order]
        assert np.array_equal(np.argsort(places), by_score(found["loaded"])), dialect
    scope = {"__name__": "exported"}
    exec(to_python(again), scope)  # noqa: S102
    found["python"] = np.array(scope["scores_of"](table.given().to_dicts()))
    found["onnx"] = by_graph(again.formula, table)
    return found


def by_graph(formula, table):
    """Scores of a model's graph, where its libraries are installed."""
    import onnxruntime

    from toprank.integrations.onnx import to_onnx

    graph = to_onnx(formula).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    (scores,) = session.run(["scores"], typed_inputs(formula, table))
    return scores


def by_score(scores):
    """Rows from the best to the worst; tied ones in their order."""
    return np.argsort(-scores, kind="stable")


def check(number, members, kinds):
    """Compare all forms of one random model."""
    with tempfile.TemporaryDirectory() as name:
        ranker, model, table = fitted(number, members, kinds)
        found = all_scores(ranker, model, table, Path(name))
    for form, scores in found.items():
        np.testing.assert_allclose(
            scores, found["loaded"], rtol=1e-9, atol=1e-12, err_msg=f"{form} of {members}, {kinds}"
        )
        assert np.array_equal(by_score(scores), by_score(found["loaded"])), (form, members, kinds)
    parts = model.contributions(table).sum(axis=1) + model.formula.base
    np.testing.assert_allclose(parts, found["loaded"], rtol=1e-9, atol=1e-9)


def main(n_models):
    rng, counts = np.random.default_rng(0), Counter()
    for number in range(n_models):
        check(number, *draw(rng, counts))
    width = max(map(len, MEMBERS))
    lines = [f"{'':{width}}  " + " ".join(f"{kind[:7]:>7}" for kind in COLUMNS)]
    for member in MEMBERS:
        cells = " ".join(f"{counts[member, kind]:7}" for kind in COLUMNS)
        lines.append(f"{member:{width}}  {cells}")
    least = min(counts[member, kind] for member in MEMBERS for kind in COLUMNS)
    lines.append(f"{n_models} models, each pair at least {least} times; all forms agree.")
    missing = set(ENGINES) - set(installed_engines())
    lines += [f"not installed: {', '.join(sorted(missing))}"] if missing else []
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
