"""Readers on texts small enough to check by eye."""

import numpy as np
import pytest

from experiments.datasets.readers import Arff, Challenge, Delimited, Libsvm, MultilabelArff, numeric


def test_delimited_text_becomes_numbers_and_one_hot_blocks():
    reader = Delimited({"age": None, "sex": ("M", "F")}, label="class", classes=("sick", "well"))
    raw = reader(b"41, F, sick\n?,M,well\n23,?,well\n")
    assert raw.feature_names == ("age", "sex=M", "sex=F")
    np.testing.assert_array_equal(raw.X, [[41, 0, 1], [np.nan, 1, 0], [23, 0, 0]])
    assert raw.y.tolist() == ["sick", "well", "well"]


@pytest.mark.parametrize("text", [b"sick,1,2\nwell,3,4\n", b"1,2,sick\n3,4,well\n"])
def test_the_label_may_stand_first_or_last(text):
    reader = Delimited(numeric("ab"), label="class", classes=("sick", "well"), label_at=None)
    raw = reader(text)
    assert raw.X.tolist() == [[1, 2], [3, 4]]
    assert raw.y.tolist() == ["sick", "well"]


@pytest.mark.parametrize(
    "text",
    [
        b"1,2,>50K.\n",
        b"|1x3 Cross validator\n1, 2, >50K.\n",
        b"a,b,income\r\n1,2,>50K\r\n",
        b"1,2,>50K",
    ],
)
def test_comments_headers_and_full_stops_of_copies_do_not_matter(text):
    raw = Delimited(numeric("ab"), label="income", classes=(">50K", "<=50K"))(text)
    assert raw.X.tolist() == [[1, 2]]
    assert raw.y.tolist() == [">50K"]


@pytest.mark.parametrize("text", [b"1 2 3\n4 5 1\n", b" 1  2\n 3\n4 5\n1", b"1,2,3,\n4,5,1,\n"])
def test_blank_separated_rows_may_be_broken_or_carry_commas(text):
    reader = Delimited(numeric("ab"), label="c", classes=("1", "3"), blank_separated=True)
    raw = reader(text)
    assert raw.X.tolist() == [[1, 2], [4, 5]]
    assert raw.y.tolist() == [3, 1]


def test_dense_arff_takes_its_levels_from_the_header():
    raw = Arff("class")(
        b"% a comment\n@relation r\n@ATTRIBUTE 'x box' integer\n@attribute sex {M, F}\n"
        b"@attribute class {1,2}\n@data\n% another\n 3,F,2\n\n4,?,1\n"
    )
    assert raw.feature_names == ("x box", "sex=M", "sex=F")
    assert raw.X.tolist() == [[3, 0, 1], [4, 0, 0]]
    assert raw.y.tolist() == [2, 1]


HEADER = b"@relation r\n@attribute a numeric\n@attribute L1 {0,1}\n@attribute b numeric\n"
XML = b'<labels><label name="L1"></label></labels>'


def test_sparse_and_dense_multilabel_arff_agree():
    reader = MultilabelArff(1)
    dense = reader(HEADER + b"@data\n0.5,1,0\n0,0,0\n0,1,2\n", XML)
    sparse = reader(HEADER + b"@data\n{0 0.5,1 1}\n{}\n{1 1, 2 2}\n", XML)
    assert dense.X.tolist() == sparse.X.toarray().tolist() == [[0.5, 0], [0, 0], [0, 2]]
    assert dense.y.tolist() == sparse.y.tolist() == [[True], [False], [True]]
    assert dense.target_names == sparse.target_names == ("L1",)
    assert dense.feature_names == ("a", "b")


def test_without_a_second_file_the_last_attributes_are_labels():
    raw = MultilabelArff(1)(HEADER + b"@data\n0.5,1,1\n")
    assert raw.target_names == ("b",)


def test_libsvm_text_may_hold_queries():
    text = b"2 qid:7 1:0.5 3:1 # a document\n0 qid:9 2:4\n"
    raw = Libsvm(3, lists=True)(text)
    assert raw.X.tolist() == [[0.5, 0, 1], [0, 4, 0]]
    assert raw.y.tolist() == [2, 0]
    assert raw.groups.tolist() == [7, 9]
    assert Libsvm(3, sparse=True)(text).X.format == "csr"


def test_the_challenges_features_and_labels_are_two_files():
    raw = Challenge(2)(b"1 2 \n3 4 \n", b"-1\n1\n")
    assert raw.X.tolist() == [[1, 2], [3, 4]]
    assert raw.y.tolist() == [-1, 1]
