"""What a model file may hold is what the rankers need, and loading imports none of them."""

import subprocess
import sys
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from toprank.app import stored
from toprank.app.fitting import fit_model
from toprank.models.file import save
from toprank.app.stored import (
    ARRAYS,
    CLASSES,
    StoredRanker,
    _sizes_of_binary_trees,
    stored_ranker,
)
from toprank.app.writing import write_table
from toprank.selection import Blend
from toprank.selection.candidates import RANKERS, make_ranker


def test_every_ranker_by_name_can_be_stored():
    assert {kind.class_name for kind in RANKERS.values()} <= set(CLASSES)


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_is_where_the_table_says(name):
    assert getattr(import_module(CLASSES[name].module), name).__module__ == CLASSES[name].module


def test_arrays_named_in_the_table_are_those_of_some_class():
    needed = {name for kind in CLASSES.values() for names in kind.needed for name in names}
    assert ARRAYS.keys() <= needed


def test_a_stored_ranker_has_what_the_ranker_has(model):
    again = StoredRanker(stored_ranker(model.ranker))
    assert again.p == model.ranker.p
    assert (again.coef_ == model.ranker.coef_).all()
    assert not hasattr(again, "support_")
    assert not hasattr(again, "no_such_thing")


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


def test_ranking_with_a_linear_model_or_a_blend_imports_neither_scikit_learn_nor_numba(
    deals, data, blend, tmp_path
):
    save(blend, tmp_path / "blend.toprank")
    write_table(tmp_path / "new.csv", data.source.given())
    out = ["-o", tmp_path / "s.csv", "--force"]
    _call_without(
        "sklearn numba scipy matplotlib",
        ["rank", deals / "model.toprank", deals / "new.csv", *out],
        ["rank", tmp_path / "blend.toprank", tmp_path / "new.csv", *out],
    )


def test_commands_with_a_blend_do_not_import_scikit_learn(data, blend, tmp_path):
    model, table = tmp_path / "blend.toprank", tmp_path / "new.csv"
    save(blend, model)
    write_table(table, data.source.given())
    _call_without(
        "sklearn matplotlib",
        ["rank", model, table, "-o", tmp_path / "s.csv", "--reasons", "3"],
        ["explain", model, table, "--row", "1"],
        ["evaluate", model, table],
        ["export", model, "--to", "python", "-o", tmp_path / "scorer.py"],
    )


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


def test_a_blend_out_of_a_file_scores_and_explains_as_the_fitted_one(data, blend, monkeypatch):
    again = replace(blend, ranker=StoredRanker(stored_ranker(blend.ranker)))
    table = data.source
    assert np.array_equal(again.scores(table), blend.scores(table))
    assert np.array_equal(again.contributions(table), blend.contributions(table))
    monkeypatch.setattr(stored, "_FEW", 0)  # many rows: by compiled loops
    many = replace(blend, ranker=StoredRanker(stored_ranker(blend.ranker)))
    assert np.array_equal(many.scores(table), blend.scores(table))


@pytest.mark.parametrize("n_questions", [400, 401])
def test_the_paths_of_trees_have_a_bound(n_questions):
    # a chain:  0 → 1 (leaf), 2 → 3 (leaf), 4 → …
    nodes = 2 * n_questions + 1
    children = np.full((nodes, 2), -1, dtype=np.int32)
    children[:-1:2] = np.arange(0, nodes - 1, 2)[:, None] + [1, 2]
    attributes = {
        "columns": np.zeros(nodes, dtype=np.int32),
        "missing_left": np.zeros(nodes, dtype=bool),
        "children": children,
        "roots": np.zeros(1, dtype=np.int32),
        **{name: np.ones(nodes) for name in ("thresholds", "values", "cover")},
    }
    if n_questions == 400:
        assert _sizes_of_binary_trees(attributes) == {"columns of trees": 1}
    else:
        with pytest.raises(ValueError, match="more than 400 questions on a path"):
            _sizes_of_binary_trees(attributes)
