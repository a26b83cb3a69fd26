"""Label matrices keep their columns, class vectors their classes."""

import numpy as np
import pytest

from tests.predtron.streams import LABEL_SETS, N, labels_for, state
from toprank.predtron import (
    PredtronLabelRanker,
)


@pytest.mark.parametrize("learner", LABEL_SETS)
def test_a_new_label_in_mid_stream_is_refused(rng, X, learner):
    Y = labels_for(learner, rng)
    model = learner().partial_fit(X, Y)
    before = state(model)
    with pytest.raises(ValueError, match="y has 5 labels, but the first call had 4"):
        model.partial_fit(X, np.hstack([Y, Y[:, :1]]))
    with pytest.raises(ValueError, match="between a matrix of labels and a vector"):
        model.partial_fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="matrix of 0 and 1"):
        model.partial_fit(X, Y + 1)
    assert state(model) == before


def test_a_new_class_of_a_vector_is_refused_by_label_sets(rng, X):
    model = PredtronLabelRanker().partial_fit(X, rng.integers(0, 3, N), classes=[0, 1, 2])
    before = state(model)
    with pytest.raises(ValueError, match="none of the classes"):
        model.partial_fit(X, np.full(N, 9))
    assert state(model) == before
