"""A day's budget is never exceeded, nearly spent, and remembered between runs."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprank.shortlists import DailyBudget


@given(
    st.integers(1, 6),
    st.lists(
        st.tuples(st.integers(0, 3), st.lists(st.integers(-3, 3), max_size=6), st.floats(0, 1)),
        max_size=12,
    ),
    st.sampled_from([None, 1.0, 20.0]),
)
def test_no_day_is_ever_above_its_budget(budget, batches, rows_per_day):
    stream = DailyBudget(budget, rows_per_day=rows_per_day)
    batches = sorted(batches, key=lambda batch: batch[0])
    opened = dict.fromkeys(range(4), 0)
    for day, scores, elapsed in batches:
        found = stream.open_rows(scores, day=day, elapsed=elapsed if day % 2 else None)
        opened[day] += int(found.sum())
        if found.any() and not found.all():
            # of rows that came together the best are opened
            assert np.min(np.array(scores)[found]) >= np.max(np.array(scores)[~found])
    assert max(opened.values()) <= budget


def day_by_day(stream, n_days, *, with_clock, seed=0):
    """Shares of the budget that stay unused, with scores and volumes that drift."""
    rng = np.random.default_rng(seed)
    unused = []
    for day in range(n_days):
        n_rows = rng.poisson(400 * (1 + 0.3 * np.sin(day / 20)))
        scores = rng.normal(size=n_rows) + 0.01 * day
        for at, score in enumerate(scores):
            stream.open_rows([score], day=day, elapsed=(at + 1) / n_rows if with_clock else None)
        unused.append(stream.left / stream.budget)
    return np.array(unused)


@pytest.mark.parametrize("with_clock", [True, False])
def test_days_with_drift_leave_little_unused(with_clock):
    unused = day_by_day(DailyBudget(20), 40, with_clock=with_clock)
    assert unused[1:].mean() <= 0.05


def test_rows_that_are_opened_are_among_the_best():
    stream, rng = DailyBudget(20, rows_per_day=400), np.random.default_rng(0)
    shares = []
    for day in range(20):
        scores = rng.normal(size=400)
        opened = np.concatenate([stream.open_rows(part, day=day) for part in np.split(scores, 40)])
        shares.append(scores[opened].sum() / np.sort(scores)[-20:].sum())
    assert np.mean(shares[5:]) > 0.85


def test_the_state_goes_on_where_it_was_saved(tmp_path):
    rng = np.random.default_rng(0)
    one, path = DailyBudget(5, rows_per_day=30), tmp_path / "state.json"
    other = DailyBudget(5, rows_per_day=30)
    for day in range(3):
        for _ in range(6):
            scores = rng.normal(size=5)
            expected = one.open_rows(scores, day=day)
            assert np.array_equal(other.open_rows(scores, day=day), expected)
            other.save(path)
            other = DailyBudget.load(path)
    assert other.state() == one.state()
    assert [each.name for each in tmp_path.iterdir()] == ["state.json"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"budget": 0}', "nonsense", '{"budget": 5, "recent": "x"}']
)
def test_a_file_that_is_no_state_is_refused(text, tmp_path):
    path = tmp_path / "state.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"no state of a daily budget .* delete the file"):
        DailyBudget.load(path)
    good = DailyBudget(3).state()
    path.write_text(json.dumps(good | {"n_opened": -1}))
    with pytest.raises(ValueError, match="n_opened"):
        DailyBudget.load(path)
