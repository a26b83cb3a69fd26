"""Rankers by name: every name makes its ranker, with its settings."""

import numpy as np
import pytest

import toprank
from toprank.selection import family
from toprank.selection.candidates import DEFAULT, LINEAR, RANKERS, STREAMED, make_ranker


@pytest.mark.parametrize("name", RANKERS)
def test_every_setting_that_is_tried_is_one_of_the_ranker(name):
    for candidate in family([name]):
        parameters = candidate.estimator.get_params(deep=False)
        assert parameters.items() >= candidate.params.items()
        assert parameters.items() >= RANKERS[name].given.items()


def test_the_streamed_and_the_linear_are_those_that_learn_from_blocks():
    can = {name for name in RANKERS if hasattr(make_ranker(name), "fit_blocks")}
    assert {*STREAMED, *LINEAR} == can - {"pnorm-push-stumps"}
    assert set(DEFAULT) <= set(RANKERS)


def test_every_bipartite_ranker_has_a_name():
    named = {kind.class_name for kind in RANKERS.values()}
    rankers = {
        name
        for name in dir(toprank)
        if isinstance(kind := getattr(toprank, name), type)
        and kind.__module__.startswith("toprank.rankers")
    }
    assert rankers - named <= {"AdaBoostMH", "AdaBoostMR"}


def test_a_seed_reaches_the_stochastic_rankers_and_a_setting_outlives_it():
    assert make_ranker("precision-at-k", seed=3).random_state == 3
    assert make_ranker("precision-at-k", {"random_state": 5}, seed=3).random_state == 5
    assert family(["precision-at-k"], share_of_positives=0.5)[0].params["k"] == 0.5
    assert np.isinf(make_ranker("pnorm-push", {"p": np.inf}).p)


def test_fits_on_folds_take_fewer_trees():
    forest = next(each for each in family(["random-forest"]) if each.name == "random-forest")
    assert forest.on_folds.n_trees < forest.estimator.n_trees
    assert forest.effort(1_000, 1_000) == forest.estimator.n_trees / forest.on_folds.n_trees
    assert forest.effort(10**6, 50_000) == forest.effort(1_000, 1_000)  # a tree sees no more rows
    (simple, _) = family(["logistic"])
    assert simple.effort(3_000, 1_000) == 3.0


def test_wide_tables_get_fewer_boosted_trees():
    (usual,), (wide,) = family(["trees"], n_features=2_000), family(["trees"], n_features=20_000)
    assert (usual.estimator.n_trees, usual.on_folds.n_trees) == (1_000, 400)
    assert (wide.estimator.n_trees, wide.on_folds.n_trees) == (100, 40)
