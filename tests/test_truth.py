import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprank import PNormPush
from toprank.metrics import roc_auc
from toprank.truth import Truth

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.integers(0, 2)),
    min_size=1,
    max_size=12,
)


@given(ROWS)
def test_rows_of_weight_0_leave_nothing_behind(rows):
    grades, weights, groups = (np.array(column) for column in zip(*rows, strict=True))
    counted = np.flatnonzero(weights)
    pairs = [
        (i, j) for i in counted for j in counted if grades[i] > grades[j] and groups[i] == groups[j]
    ]
    if not pairs:
        with pytest.raises(ValueError, match=r"no pair to learn from|zero for every row"):
            Truth.of_grades(grades, sample_weight=weights, groups=groups)
        return
    truth = Truth.of_grades(grades, sample_weight=weights, groups=groups)
    alone = Truth.of_grades(grades[counted], sample_weight=weights[counted], groups=groups[counted])
    np.testing.assert_array_equal(truth.rows_of(np.arange(len(rows))), counted)
    np.testing.assert_array_equal(truth.weights, alone.weights)
    np.testing.assert_array_equal(truth.lists.names, alone.lists.names)
    np.testing.assert_array_equal(truth.lists.codes, alone.lists.codes)
    orders = [np.argsort(t.grades, kind="stable") for t in (truth, alone)]
    np.testing.assert_array_equal(*orders)
    assert truth.n_given == len(rows)


def test_labels_are_the_grades_0_and_1():
    truth = Truth.of_labels(["no", "yes", "no"], classes=np.array(["no", "yes"]))
    assert truth.is_labels
    assert truth.positives.tolist() == [False, True, False]
    assert truth.total_weight == 3.0
    assert truth.is_one_list
    assert truth.classes.tolist() == ["no", "yes"]


def test_pairs_that_do_not_count_are_left_out():
    truth = Truth.of_pairs(
        [[0, 1], [1, 2], [2, 0]], 3, pair_weight=[1, 0, 3], sample_weight=[1, 1, 0]
    )
    assert truth.pairs.tolist() == [[0, 1]]
    assert truth.pair_weights.tolist() == [1.0]
    assert not truth.is_one_list
    with pytest.raises(ValueError, match="no positive rows"):
        _ = truth.positives


def test_a_part_of_a_part_knows_its_rows_in_the_given_table():
    truth = Truth.of_labels([1, 0, 1, 0, 1], sample_weight=[1, 1, 0, 1, 1], groups=[3, 3, 3, 7, 7])
    half = truth.part(np.array([2, 3]))
    assert half.kept.tolist() == [3, 4]
    assert half.lists.names.tolist() == [7]
    with pytest.raises(ValueError, match="pairs cannot be cut"):
        Truth.of_pairs([[0, 1]], 2).part(np.array([0]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [1, 1, 0], "sample_weight": [1, 1, 0]}, "2 positive and 0 negative rows"),
        ({"y": [1, 0], "groups": [0, 1]}, "no positive row in one list with a negative"),
    ],
)
def test_labels_without_a_pair_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Truth.of_labels(arguments.pop("y"), **arguments)


@pytest.mark.parametrize(
    ("labels", "doubtful"),
    [(["fraud", "legit"], True), (["ja", "nein"], True), (["no", "yes"], False), ([0, 7], False)],
)
def test_a_positive_class_by_the_alphabet_alone_is_warned_of(labels, doubtful):
    y = np.array(labels)[[0, 1, 0, 1]]
    X = [[1.0], [2.0], [1.5], [3.0]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = PNormPush().fit(X, y)
        roc_auc(y, [1.0, 2.0, 1.5, 3.0])
    assert model.classes_[1] == labels[1]
    remedies = [
        f"pass {name} == '{labels[0]}'" in str(each.message)
        for name, each in zip(("y", "y_true"), caught, strict=False)
    ]
    assert remedies == [True, True] * doubtful
