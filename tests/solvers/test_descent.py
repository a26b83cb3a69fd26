import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from toprank.solvers.descent import Point, minimize_on_line


def search(value, slope, **options):
    return minimize_on_line(
        lambda t: Point(t, value(t), slope(t)), Point(0.0, value(0.0), slope(0.0)), **options
    )


@given(
    minimum=st.floats(1e-6, 1e6),
    curvature=st.floats(1e-3, 1e3),
    first=st.floats(1e-3, 1e3),
)
def test_the_minimum_of_a_parabola_is_found_from_any_first_step(minimum, curvature, first):
    best = search(
        lambda t: curvature * (t - minimum) ** 2,
        lambda t: 2 * curvature * (t - minimum),
        reduction=1e-6,
        first=first,
    )
    assert best.step == pytest.approx(minimum, rel=1e-5)


@given(left=st.floats(0.1, 50), right=st.floats(0.1, 50))
def test_the_minimum_of_two_exponentials_is_found(left, right):
    assume(left > right * math.exp(-right))  # downhill from 0
    # e^{-left·t} + e^{right·(t - 1)} has its minimum where both slopes are equal
    best = search(
        lambda t: math.exp(-left * t) + math.exp(min(right * (t - 1), 700)),
        lambda t: -left * math.exp(-left * t) + right * math.exp(min(right * (t - 1), 700)),
        reduction=1e-8,
    )
    assert abs(best.slope) <= 1e-6 * left


def test_a_function_without_a_minimum_stops_below_the_floor():
    best = search(lambda t: -t, lambda _: -1.0, reduction=0.1, floor=-100.0)
    assert best.value < -100
    assert best.step < 1000


def test_no_step_is_better_than_a_bad_one():
    best = search(abs, lambda t: 1.0 if t else -1.0, reduction=0.1)
    assert best.step <= 1e-6
