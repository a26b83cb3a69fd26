"""Terms score and explain as the rankers do, and loading imports none of them."""

import subprocess
import sys

import numpy as np
import pytest

from toprank.app.fitting import fit_model
from toprank.app.writing import write_table
from toprank.models import load, save, terms
from toprank.models.terms import BinarySum, Step, Steps, Weights
from toprank.selection import Blend
from toprank.selection.candidates import make_ranker

MEMBERS = {
    "logistic": {},
    "trees": {"n_trees": 20},
    "random-forest": {"n_trees": 10},
    "rankboost": {},
    "pnorm-push-stumps": {},
}


@pytest.fixture(scope="module")
def blend(data):
    rankers = [make_ranker(name, options) for name, options in MEMBERS.items()]
    return fit_model(data, Blend(rankers, [1.0, 0.5, 2.0, 0.1, 0.3]), budget=10, name="blend")


def test_ranking_and_explaining_import_neither_scikit_learn_nor_numba(deals, data, blend, tmp_path):
    model, table = save(blend, tmp_path / "blend.toprank"), tmp_path / "new.csv"
    write_table(table, data.source.given())
    out = ["-o", tmp_path / "s.csv", "--force"]
    linear = [deals / "model.toprank", deals / "new.csv"]
    _call_without("sklearn numba scipy matplotlib", ["rank", *linear, *out], ["explain", model])
    _call_without(
        "sklearn numba matplotlib",
        ["rank", model, table, *out, "--reasons", "3"],
        ["explain", model, table, "--row", "1"],
        ["explain", *linear, "--top", "3"],
        ["export", model, "--to", "python", "-o", tmp_path / "scorer.py"],
    )
    _call_without("sklearn matplotlib", ["evaluate", model, table])


def _call_without(modules, *calls):
    """Make calls in a process of their own, and look what it has imported."""
    words = [[str(word) for word in call] for call in calls]
    code = (
        "import sys; from toprank.app.cli import app\n"
        f"for words in {words}: app(words, standalone_mode=False)\n"
        f"assert not set({modules!r}.split()) & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")


def test_a_blend_out_of_a_file_scores_and_explains_as_the_fitted_one(
    data, blend, tmp_path, monkeypatch
):
    path, table = save(blend, tmp_path / "blend.toprank"), data.source
    again = load(path)
    assert np.array_equal(again.scores(table), blend.scores(table))
    assert np.array_equal(again.contributions(table), blend.contributions(table))
    monkeypatch.setattr(terms, "FEW_ANSWERS", 0)  # many rows: by compiled loops
    assert np.array_equal(load(path).scores(table), blend.scores(table))


def test_steps_come_back_from_their_arrays():
    given = [
        Step(1, np.array([0.5]), np.array([0.0, 2.0]), 1.0),
        Step(4, np.zeros(0), np.array([3.0]), -1.0),
    ]
    again = Steps.of_values(Steps.of(given).as_values(), 5).steps
    assert [(step.cell, step.missing) for step in again] == [(1, 1.0), (4, -1.0)]
    assert [step.levels.tolist() for step in again] == [[0.0, 2.0], [3.0]]
    X = np.array([[0, 0.5, 0, 0, 0], [0, 0.6, 0, 0, np.nan]])
    assert Steps.of(given).scores(X, 10.0).tolist() == [13.0, 11.0]
    assert Steps.of(given).contributions(X).sum(axis=1).tolist() == [3.0, 1.0]


def test_arrays_of_a_file_must_fit_the_cells():
    weights = Weights(np.ones(3))
    assert Weights.of_values(weights.as_values(), 3).used == [0, 1, 2]
    with pytest.raises(ValueError, match="shape"):
        Weights.of_values(weights.as_values(), 4)
    steps = Steps.of([Step(4, np.ones(1), np.ones(2), 0.0)])
    with pytest.raises(ValueError, match="cells holds values"):
        Steps.of_values(steps.as_values(), 4)
    with pytest.raises(ValueError, match="ascend"):
        Steps.of_values(Steps.of([Step(0, np.ones(2), np.ones(3), 0.0)]).as_values(), 4)


@pytest.mark.parametrize("n_questions", [400, 401])
def test_the_paths_of_trees_have_a_bound(n_questions):
    # a chain:  0 → 1 (leaf), 2 → 3 (leaf), 4 → …
    nodes = 2 * n_questions + 1
    children = np.full((nodes, 2), -1, dtype=np.int32)
    children[:-1:2] = np.arange(0, nodes - 1, 2)[:, None] + [1, 2]
    values = {
        "columns": np.zeros(nodes, dtype=np.int32),
        "missing_left": np.zeros(nodes, dtype=bool),
        "children": children,
        "roots": np.zeros(1, dtype=np.int32),
        **{name: np.ones(nodes) for name in ("thresholds", "values", "cover")},
    }
    if n_questions == 400:
        assert BinarySum.of_values(values, 1).used == [0]
    else:
        with pytest.raises(ValueError, match="more than 400 questions on a path"):
            BinarySum.of_values(values, 1)
