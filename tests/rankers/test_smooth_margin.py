"""SmoothMarginRanker: what its certificate may say."""

import numpy as np

from toprank import (
    SmoothMarginRanker,
)


def test_a_light_pair_is_no_reason_to_believe_in_a_margin():
    X, y = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 1, 0, 1])
    model = SmoothMarginRanker(max_iter=50).fit(X, y, sample_weight=[1, 1e-9, 1e-9, 1])
    assert not model.certificate_.separable
