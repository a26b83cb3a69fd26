"""Labels are read as classes, one of which is the positive one."""

import warnings

import numpy as np
import pytest

from toprank import PNormPush
from toprank.metrics import roc_auc


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
