"""Every member, over every kind of column, scores alike in all forms of the model."""

from collections import Counter

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
from tests.models import forms

# `python -m tests.models.forms 200` has each pair of a member and a kind at least three times.
RNG, COUNTS = np.random.default_rng(0), Counter()
DRAWN = [forms.draw(RNG, COUNTS) for _ in range(34)]


def test_each_member_and_each_kind_of_column_is_drawn():
    assert {member for member, _ in COUNTS} == set(forms.MEMBERS)
    assert {kind for _, kind in COUNTS} == set(forms.COLUMNS)


@pytest.mark.parametrize("number", range(len(DRAWN)))
def test_all_forms_of_a_model_agree(number):
    forms.check(number, *DRAWN[number])
