"""Heads of lists: sorted as far as needed, cut where the weight ends."""

from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank.kernels import top_k as kernel
from toprank.kernels.top_k import cut, sort_head
from toprank.objectives import PrecisionAtK


def naive_head(values, weights, amount):
    """The twin of :func:`sort_head` and :func:`cut`: a full sort."""
    if amount <= 0:
        return np.inf, 0.0
    counts = np.ones(values.size) if weights is None else weights
    order = np.argsort(-values, kind="stable")
    place = min(int(np.searchsorted(np.cumsum(counts[order]), amount)), values.size - 1)
    score = float(values[order][place])
    above, tied = counts[values > score].sum(), counts[values == score].sum()
    return score, min(1.0, float((amount - above) / tied))


@st.composite
def heads(draw):
    n = draw(st.integers(1, 200))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.normal(size=n) if draw(st.booleans()) else rng.integers(0, 4, n).astype(float)
    weights = draw(st.sampled_from([None, "whole", "real"]))
    if weights == "whole":
        weights = rng.integers(1, 5, n).astype(float)
    elif weights == "real":
        weights = rng.uniform(0.1, 2.0, n)
    total = n if weights is None else weights.sum()
    return values, weights, float(draw(st.integers(0, int(total))))


@given(case=heads())
@settings(max_examples=300, deadline=None)
def test_the_head_is_sorted_and_holds_the_amount(case):
    values, weights, amount = case
    sorted_values = values.copy()
    moved = None if weights is None else weights.copy()
    n_sorted = sort_head(sorted_values, moved, amount).size
    head, rest = sorted_values[:n_sorted], sorted_values[n_sorted:]
    assert np.array_equal(head, np.sort(values)[::-1][:n_sorted])
    assert not rest.size or not head.size or rest.max() <= head[-1]
    counts = np.ones(values.size) if moved is None else moved
    assert counts[:n_sorted].sum() >= min(amount, counts.sum()) - 1e-9
    assert n_sorted == 0 or counts[: n_sorted - 1].sum() < amount
    if weights is not None:
        pairs = sorted(zip(values, weights, strict=True))
        assert pairs == sorted(zip(sorted_values, moved, strict=True))


@given(case=heads())
@settings(max_examples=300, deadline=None)
def test_a_cut_equals_that_of_a_full_sort(case):
    values, weights, amount = case
    expected = naive_head(values, weights, amount)
    assert cut(sort_head(values, weights, amount), amount) == pytest.approx(expected, rel=1e-9)


def test_the_bound_avg_peaks_at_a_whole_number_of_whole_weights():
    y, scores, counts = np.array([True, False, True]), np.array([1.0, -1.0, 1.5]), [1, 1, 2]
    weighted = PrecisionAtK(2, "avg").on(y, sample_weight=counts).value(scores)
    assert weighted == PrecisionAtK(2, "avg").on(np.repeat(y, counts)).value(scores.repeat(counts))


@pytest.mark.parametrize("pattern", ["equal", "rising", "falling", "organ pipe", "two values"])
def test_no_common_pattern_is_slow(pattern):
    n = 1_000_000  # a quadratic sort would not come back
    ramp = np.arange(n, dtype=float)
    values = {
        "equal": np.zeros(n),
        "rising": ramp,
        "falling": ramp[::-1].copy(),
        "organ pipe": np.minimum(ramp, ramp[::-1]),
        "two values": ramp % 2,
    }[pattern]
    expected = np.sort(values)[::-1][:1000]
    n_sorted = sort_head(values, None, 1000.0).size
    assert np.array_equal(values[:n_sorted], expected)


class Undecided:
    """A value that is chosen as late as it can be: lower than all later ones (McIlroy 1999)."""

    chosen = count()
    candidate = None

    def __init__(self):
        self.value = np.inf

    def __lt__(self, other):
        both = [one for one in (self, other) if one.value == np.inf]
        if len(both) == 2:
            lowest = both[0] if both[0] is Undecided.candidate else both[1]
            lowest.value = float(next(self.chosen))
            both.remove(lowest)
        Undecided.candidate = both[0] if both else Undecided.candidate
        return self.value < other.value

    def __gt__(self, other):
        return other < self


def test_rows_on_which_every_split_is_a_bad_one_are_sorted(monkeypatch):
    for name in ("_split", "_insert"):
        loop = getattr(kernel, name)
        monkeypatch.setattr(kernel, name, getattr(loop, "py_func", loop))
    rows = [Undecided() for _ in range(1_000)]
    getattr(sort_head, "py_func", sort_head)(np.array(rows), None, 1.0)
    monkeypatch.undo()
    values = np.array([min(row.value, 1e6) for row in rows])
    expected = np.sort(values)[::-1]
    assert sort_head(values, None, 1_000.0).size == 1_000
    assert np.array_equal(values, expected)
