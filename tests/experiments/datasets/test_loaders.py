"""What all loaders have in common."""

import inspect
from pathlib import Path

import numpy as np
import pytest

from experiments import datasets
from experiments.datasets import (
    load_a9a,
    load_housing,
    load_ionosphere,
    load_mq2008,
    load_mslr_sample,
)

LOADERS = [name for name in datasets.__all__ if name.startswith("load_")]


@pytest.mark.parametrize("name", LOADERS)
def test_every_loader_is_documented_and_keyword_only(name):
    load = getattr(datasets, name)
    assert load.__name__ == name
    documentation = inspect.getdoc(load)
    assert "rows" in documentation
    for parameter in inspect.signature(load).parameters.values():
        assert f"{parameter.name} :" in documentation
        assert parameter.kind is parameter.KEYWORD_ONLY or parameter.name == "name"


def test_x_and_y_alone_can_be_asked_for(made_up_housing):
    X, y = load_housing(data_home=made_up_housing, verify=False, return_X_y=True)
    assert X.shape == (506, 13)
    assert y.sum() == 35


def test_a_frame_holds_features_and_target(made_up_housing):
    pandas = pytest.importorskip("pandas")
    data = load_housing(data_home=made_up_housing, verify=False, as_frame=True)
    assert list(data.frame.columns) == [*data.feature_names, "target"]
    X, y = load_housing(data_home=made_up_housing, verify=False, as_frame=True, return_X_y=True)
    assert isinstance(X, pandas.DataFrame)
    assert isinstance(y, pandas.Series)
    np.testing.assert_array_equal(y, data.y)


def test_a_frame_of_a_sparse_set_stays_sparse(tmp_path):
    pytest.importorskip("pandas")
    (tmp_path / "a9a").mkdir()
    (tmp_path / "a9a" / "a9a").write_text("+1 3:1\n-1 123:1\n")
    data = load_a9a(subset="train", data_home=tmp_path, verify=False, as_frame=True)
    assert data.X.format == "csr"
    assert data.frame["x3"].tolist() == [1, 0]
    assert data.frame["x3"].sparse.density == 0.5


def test_a_frame_of_lists_holds_the_group(tmp_path):
    pytest.importorskip("pandas")
    (tmp_path / "MSLR-WEB10K_sample").mkdir()
    for part in ("train", "test"):
        file = tmp_path / "MSLR-WEB10K_sample" / f"msn1.fold1.{part}.5k.txt"
        file.write_text(f"1 qid:{len(part)} 1:2\n")
    data = load_mslr_sample(data_home=tmp_path, verify=False, as_frame=True)
    assert data.frame["group"].tolist() == [5, 4]
    assert data.frame["relevance"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("load", "wrong", "message"),
    [
        (load_a9a, {"subset": "vali"}, r"subset='vali' is not one of \['train', 'test', 'all'\]"),
        (load_ionosphere, {"positive": "g"}, r"choose one of \['good', 'bad'\] or None"),
        (load_mq2008, {"fold": 6}, "fold=6 is not one of 1, ..., 5"),
        (load_mq2008, {"fold": True}, "fold=True is not one of"),
        (load_mq2008, {"subset": "train"}, "needs a fold"),
        (load_mq2008, {"fold": 1, "subset": "valid"}, "subset='valid' is not one of"),
    ],
)
def test_a_wrong_choice_is_answered_with_the_right_ones(load, wrong, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        load(data_home=tmp_path, **wrong)


def test_the_page_about_data_sets_has_every_set_with_its_counts():
    page = Path(__file__).parents[3] / "docs" / "datasets.md"
    if not page.is_file():
        pytest.skip("the documentation is not part of this copy")
    lines = page.read_text(encoding="utf-8").splitlines()
    for entry in datasets.CATALOGUE.values():
        row = next(line for line in lines if f"| `{entry.loader.removesuffix('()')}` |" in line)
        assert f"| {entry.features:,}" in row
        assert entry.labels is not None or f"| {entry.rows:,} |" in row
        assert entry.n_positives is None or f"| {entry.n_positives:,} |" in row
