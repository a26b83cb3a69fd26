"""What a model file may hold is what the rankers need, and loading imports none of them."""

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from toprank.app.stored import (
    ARRAYS,
    CLASSES,
    StoredRanker,
    _sizes_of_binary_trees,
    stored_ranker,
)
from toprank.selection.candidates import RANKERS


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


def test_ranking_with_a_linear_model_imports_neither_scikit_learn_nor_numba(deals, tmp_path):
    code = (
        "import sys; from toprank.app.cli import app; app(standalone_mode=False); "
        "assert not {'sklearn', 'numba', 'scipy', 'matplotlib'} & set(sys.modules)"
    )
    words = ["rank", deals / "model.toprank", deals / "new.csv", "-o", tmp_path / "s.csv"]
    command = [sys.executable, "-c", code, *map(str, words)]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "s.csv").exists()


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
