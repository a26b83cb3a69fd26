"""The published counts, on real files where they are at hand."""

import functools

import numpy as np
import pytest

from experiments import datasets
from experiments.datasets import CATALOGUE


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_set_has_the_published_counts(name, need):
    load, entry = need(name), CATALOGUE[name]
    multilabel = functools.partial(datasets.load_mulan, name.removeprefix("mulan_"))
    data = (load or multilabel)()
    assert data.X.shape == (entry.rows, entry.features)
    assert data.X.dtype == np.float64
    assert data.y.shape[0] == entry.rows
    assert len(data.feature_names) == len(set(data.feature_names)) == entry.features
    if entry.n_positives is not None:
        assert data.y.dtype == np.bool_
        assert data.y.sum() == entry.n_positives
    if entry.labels is not None:
        assert data.y.dtype == np.bool_
        assert data.y.shape[1] == len(set(data.target_names)) == entry.labels


def test_the_ninth_label_of_yeast_is_yeast_ml8(need):
    need("mulan_yeast")
    assert datasets.load_mulan("yeast").y[:, 8].sum() == 178


def test_mediamill_small_has_its_labels_last(need):
    need("mulan_mediamill_small")
    data = datasets.load_mulan("mediamill_small")
    assert data.target_names[0] == "Class1"
    assert data.y.sum(axis=0).max() == 1933


@pytest.mark.parametrize(
    ("name", "rows", "features", "queries", "grades"),
    [
        ("mq2008", 15211, 46, 784, [12279, 2001, 931]),
        ("ohsumed", 16140, 45, 106, [11303, 2585, 2252]),
        ("mslr_sample", 10000, 136, 86, [2792 + 2847, 1458 + 1442, 665 + 579, 55 + 98, 30 + 34]),
    ],
)
def test_a_ranked_set_has_the_published_counts(name, rows, features, queries, grades, need):
    data = need(name)()
    assert data.X.shape == (rows, features)
    assert np.unique(data.groups).size == queries
    assert np.bincount(data.y).tolist() == grades


def test_the_folds_of_mq2008_are_those_of_the_publisher(need):
    load = need("mq2008")
    rows = {"S1": 2933, "S2": 3635, "S3": 3062, "S4": 2707, "S5": 2874}
    assert load(fold=1, subset="train").X.shape[0] == rows["S1"] + rows["S2"] + rows["S3"]
    assert load(fold=1, subset="vali").X.shape[0] == rows["S4"]
    assert load(fold=1, subset="test").X.shape[0] == rows["S5"]
    assert load(fold=5, subset="train").X.shape[0] == rows["S5"] + rows["S1"] + rows["S2"]


def test_ohsumed_tests_each_query_in_exactly_one_fold(need):
    load = need("ohsumed")
    queries = [np.unique(load(fold=fold, subset="test").groups) for fold in range(1, 6)]
    assert [q.size for q in queries] == [22, 21, 21, 21, 21]
    assert np.array_equal(np.sort(np.concatenate(queries)), np.arange(1, 107))
    # LETOR's first fold tests on the last queries and trains on the first.
    assert load(fold=1, subset="train").groups.max() == 63


def test_a_subset_is_the_publishers_part(need):
    load = need("a9a")
    assert load(subset="train").y.sum() == 7841
    assert load(subset="test").y.sum() == 3846


def test_a9a_and_adult_agree_on_every_label(need):
    a9a, adult = need("a9a"), need("adult")
    assert np.array_equal(a9a().y, adult().y)


def test_a_class_of_several_can_be_chosen(need):
    load = need("covtype")
    data = load(positive=None)
    assert data.X.shape == (581012, 54)
    assert np.bincount(data.y)[1:].tolist() == [211840, 283301, 35754, 2747, 9493, 17367, 20510]
    areas, soils = data.X[:, 10:14], data.X[:, 14:]
    for block in (areas, soils):  # one-hot: one 1 in each row
        assert (np.count_nonzero(block, axis=1) == 1).all()
        assert (block.max(axis=1) == 1).all()


def test_the_bad_returns_of_ionosphere_can_be_the_positives(need):
    data = need("ionosphere")(positive="bad")
    assert data.y.sum() == 126
    assert "bad" in data.positive
    assert (data.X[:, 1] == 0).all()


def test_housing_keeps_the_price_and_drops_the_label(need):
    data = need("housing")()
    assert "MEDV" in data.feature_names
    assert "CHAS" not in data.feature_names
    # The first row of the publisher's file: CRIM 0.00632 ... MEDV 24.00.
    assert data.X[0, [0, -1]].tolist() == [0.00632, 24.0]
    assert "Black" in data.caution


def test_missing_categories_are_zeros_and_missing_numbers_nan(need):
    data = need("hypothyroid")()
    names = list(data.feature_names)
    sexes = data.X[:, [names.index("sex=M"), names.index("sex=F")]].sum(axis=1)
    assert sorted(set(sexes)) == [0.0, 1.0]
    not_measured = data.X[:, names.index("TSH_measured=n")] == 1
    assert np.isnan(data.X[not_measured, names.index("TSH")]).all()
