"""Where files are looked for, and what is said when they are not there."""

import bz2
import gzip
import lzma

import platformdirs
import pytest

from experiments import datasets
from experiments.datasets import CATALOGUE, DatasetNotFoundError, load_magic, load_mulan
from experiments.datasets.__main__ import main, write_table
from experiments.datasets.home import data_home_folder


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


def test_the_list_says_which_sets_are_present(made_up_housing, capsys):
    main(["--data-home", str(made_up_housing)])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [line[0] for line in lines] == list(CATALOGUE)
    assert [line[0] for line in lines if line[-1] == "yes"] == ["housing"]
    assert ["magic", "19,020", "10", "12,332", "no"] in lines


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_set_is_written_as_a_table(suffix, tmp_path, capsys):
    pandas = pytest.importorskip("pandas")
    home = tmp_path / "MSLR-WEB10K_sample"
    home.mkdir()
    for part in ("train", "test"):
        line = f"1 qid:{len(part)} " + " ".join(f"{at}:2" for at in range(1, 137)) + "\n"
        (home / f"msn1.fold1.{part}.5k.txt").write_text(line * 5000)
    table = tmp_path / f"table.{suffix}"
    with pytest.raises(SystemExit):  # these are not the published values
        main(["mslr_sample", "-o", str(table), "--data-home", str(tmp_path)])
    assert "SHA-256" in capsys.readouterr().err
    data = datasets.load_mslr_sample(data_home=tmp_path, verify=False)
    write_table(data, table)
    frame = pandas.read_csv(table) if suffix == "csv" else pandas.read_parquet(table)
    assert list(frame.columns) == [*data.feature_names, "target", "list"]
    assert frame["list"].tolist() == data.groups.tolist()
    assert (frame["target"] == 1).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["magick", "-o", "table.csv"],
            "'magick' is not a data set with one target",
        ),
        (["mulan_yeast", "-o", "table.csv"], "one target; known are magic, ionosphere"),
        (["magic"], "give both its name and --output"),
        (["magic", "-o", "table.xlsx"], "must end in .csv or .parquet"),
        (["--data-home", "nowhere"], "does not exist"),
    ],
)
def test_a_wrong_call_is_answered_with_the_remedy(arguments, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert message in capsys.readouterr().err


def test_every_set_of_the_catalogue_has_a_loader_and_a_source():
    assert len(CATALOGUE) > 35
    for entry in CATALOGUE.values():
        assert callable(getattr(datasets, entry.loader.partition("(")[0]))
        assert entry.rows > 0
        assert entry.source
        assert entry.licence


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"known are \['yeast'"):
        load_mulan("yeats")
