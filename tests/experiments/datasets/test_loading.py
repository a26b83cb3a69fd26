"""Files that are there but not what they should be."""

import gzip

import numpy as np
import pytest

from experiments.datasets import (
    DamagedDatasetError,
    load_a9a,
    load_donors,
    load_housing,
    load_letter,
    load_magic,
    load_mulan,
)
from experiments.datasets.home import data_home_folder
from experiments.datasets.readers import Raw


def test_one_flipped_value_of_a_real_file_is_noticed(need, tmp_path):
    need("magic")
    original = data_home_folder() / "magic04" / "magic04.data.gz"
    if not original.is_file():
        pytest.skip("magic04.data is not there in compressed form")
    text = gzip.decompress(original.read_bytes())
    (tmp_path / "magic04").mkdir()
    copy = tmp_path / "magic04" / "magic04.data"
    copy.write_bytes(text)
    assert load_magic(data_home=tmp_path).y.sum() == 12332
    copy.write_bytes(text.replace(b"28.7967", b"28.7968", 1))
    with pytest.raises(DamagedDatasetError, match=r"magic04\.data .*SHA-256"):
        load_magic(data_home=tmp_path)


def test_the_right_shape_with_other_values_is_noticed(made_up_housing):
    with pytest.raises(DamagedDatasetError, match=r"housing\.data .*SHA-256.* verify=False"):
        load_housing(data_home=made_up_housing)
    assert load_housing(data_home=made_up_housing, verify=False).y.sum() == 35


def test_a_missing_row_is_noticed(made_up_housing):
    path = made_up_housing / "boston_housing" / "housing.data"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(DamagedDatasetError, match=r"holds 505 rows .* where 506 rows"):
        load_housing(data_home=made_up_housing)


def test_a_truncated_archive_is_named(tmp_path):
    (tmp_path / "magic04").mkdir()
    whole = gzip.compress(b"1,2,3,4,5,6,7,8,9,10,g\n" * 1000)
    (tmp_path / "magic04" / "magic04.data.gz").write_bytes(whole[:-20])
    with pytest.raises(DamagedDatasetError, match=r"magic04\.data\.gz .*cut off or damaged"):
        load_magic(data_home=tmp_path)


@pytest.mark.parametrize(
    ("load", "file", "content"),
    [
        (load_magic, "magic04/magic04.data", b""),
        (load_magic, "magic04/magic04.data", b"1,2,3\n"),
        (load_magic, "magic04/magic04.data", b"1,2,3,4,5,6,7,8,9,ten,g\n"),
        (load_magic, "magic04/magic04.data", b"1,2,3,4,5,6,7,8,9,10,x\n"),
        (load_magic, "magic04/magic04.data", b"1,2,3,4,5,6,7,8,9,10,\n"),
        (load_a9a, "a9a/a9a", b"not a number\n"),
        (load_letter, "letter/letter.arff", b"no header at all\n"),
        (load_letter, "letter/letter.arff", b"@attribute a real\n@attribute a real\n@data\n1,2\n"),
        (load_letter, "letter/letter.arff", b"@attribute a real\n@data\n1\n"),
        (load_donors, "adbench_donors/11_donors.npz", b"PK\x03\x04 cut off"),
        (
            lambda **options: load_mulan("mediamill_small", **options),
            "ml_mediamill_small/mediamill_small.arff",
            b"@attribute a real\n@data\n{0 1,\n",
        ),
    ],
)
def test_a_file_that_cannot_be_parsed_is_named(tmp_path, load, file, content):
    path = tmp_path / file
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(DamagedDatasetError) as caught:
        load(data_home=tmp_path)
    assert str(path) in str(caught.value)


def test_the_fingerprint_sees_values_not_their_representation():
    def fingerprint(X, y=(1, 0), **more):
        return Raw(np.asarray(X), np.asarray(y), ("a", "b"), **more).fingerprint()

    X = np.array([[1.0, np.nan], [0.0, 2.0]])
    assert fingerprint(X) == fingerprint(np.asfortranarray(X))
    assert fingerprint(X) == fingerprint(X, y=np.array([1, 0], dtype=np.int8))
    assert fingerprint(X) != fingerprint(X, y=(0, 1))
    assert fingerprint(X) != fingerprint(X.reshape(1, 4))
    assert fingerprint(X) != fingerprint(X, groups=np.array([1, 1]))
    assert fingerprint(X) != fingerprint(np.nextafter(X, 3.0))
