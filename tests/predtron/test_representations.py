"""Representations are unit vectors that decode to what they stand for."""

import numpy as np
import pytest

from toprank.predtron import (
    Basis,
    Indicators,
    Positions,
    Vectors,
)


def test_decoding_gives_back_what_was_represented():
    for representation in (Basis("abc", reject="?"), Indicators(4), Positions(1.1, 4)):
        for one in representation.predictions():
            vector = representation.vector(one)
            assert np.linalg.norm(vector) == pytest.approx(1)
            assert np.array_equal(representation.decode(vector), one)
            assert np.array_equal(representation.decode(7 * vector), one)


@pytest.mark.parametrize(
    ("profile", "complaint"),
    [
        (lambda i: i, "strictly decreasing"),
        (lambda i: -np.minimum(i, 2), "strictly decreasing"),
        (lambda i: -i[:1], "one finite number per position"),
        (lambda i: -np.inf * i, "one finite number per position"),
        (-1.0, "α > 0"),
        ("log", "α > 0"),
    ],
)
def test_bad_representations_of_rankings_are_refused(profile, complaint):
    with pytest.raises(ValueError, match=complaint):
        Positions(profile).heights(4)


@pytest.mark.parametrize(
    ("vectors", "complaint"),
    [
        ([[1, 0]], "one vector per prediction"),
        ([[1, 0], [0, 0]], "none of them zero"),
        ([[1, 0], [2, 0]], "differ in direction"),
        ([[1, 0], [np.nan, 0]], "finite"),
    ],
)
def test_bad_vectors_are_refused(vectors, complaint):
    with pytest.raises(ValueError, match=complaint):
        Vectors(["a", "b"], vectors)
