"""Where files are looked for, and what is said when they are not there."""

import bz2
import gzip
import lzma

import platformdirs
import pytest

from toprank.datasets import DatasetNotFoundError, describe, list_datasets, load_magic, load_mulan
from toprank.datasets.home import data_home_folder


def test_the_argument_wins_over_the_variable_and_the_variable_over_the_cache(tmp_path, monkeypatch):
    argument, variable, cache = (tmp_path / name for name in ("argument", "variable", "cache"))
    argument.mkdir()
    variable.mkdir()
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_, **__: str(cache))
    monkeypatch.setenv("TOPRANK_DATA", str(variable))
    assert data_home_folder(argument) == argument
    assert data_home_folder() == variable
    monkeypatch.setenv("TOPRANK_DATA", "")
    assert data_home_folder() == cache


def test_a_missing_file_says_what_to_get_where_and_where_to_put_it(tmp_path):
    with pytest.raises(DatasetNotFoundError) as caught:
        load_magic(data_home=tmp_path)
    message = str(caught.value)
    for part in (
        "magic04.data",
        ".gz",
        'UCI Machine Learning Repository, "MAGIC Gamma Telescope"',
        str(tmp_path / "magic04"),
        "data_home",
        "TOPRANK_DATA",
    ):
        assert part in message
    assert isinstance(caught.value, FileNotFoundError)


def test_a_missing_second_file_is_named(tmp_path):
    folder = tmp_path / "ml_scene"
    folder.mkdir()
    (folder / "scene-train.arff").write_text("@data\n")
    with pytest.raises(DatasetNotFoundError, match=r"scene\.xml"):
        load_mulan("scene", data_home=tmp_path)


def test_a_data_home_that_is_a_file_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(DatasetNotFoundError, match=r"data_home is .* is a file, not a folder"):
        load_magic(data_home=file)


def test_a_data_home_that_does_not_exist_is_refused(tmp_path, monkeypatch):
    with pytest.raises(DatasetNotFoundError, match=r"data_home is .* does not exist"):
        load_magic(data_home=tmp_path / "nowhere")
    monkeypatch.setenv("TOPRANK_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetNotFoundError, match=r"TOPRANK_DATA is .* does not exist"):
        load_magic()


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)],
)
def test_files_may_be_plain_or_compressed(tmp_path, suffix, compress):
    folder = tmp_path / "magic04"
    folder.mkdir()
    text = b"1,2,3,4,5,6,7,8,9,10,g\n11,12,13,14,15,16,17,18,19,20,h\n"
    (folder / f"magic04.data{suffix}").write_bytes(compress(text))
    data = load_magic(data_home=tmp_path, verify=False)
    assert data.y.tolist() == [True, False]
    assert data.X[1, 9] == 20.0


def test_the_list_says_which_sets_are_at_hand(made_up_housing):
    present = {info.name for info in list_datasets(data_home=made_up_housing) if info.present}
    assert present == {"digits_eights", "housing"}


def test_every_set_of_the_list_can_be_called_by_its_loader():
    from toprank import datasets

    names = [info.name for info in list_datasets()]
    assert len(names) == len(set(names)) > 35
    for info in list_datasets():
        assert callable(getattr(datasets, info.loader.partition("(")[0]))
        assert info.rows > 0
        assert info.source
        assert info.licence


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="known are digits_eights, magic"):
        describe("magick")
    with pytest.raises(ValueError, match=r"known are \['yeast'"):
        load_mulan("yeats")
