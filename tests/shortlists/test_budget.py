"""A day's budget is never exceeded, nearly spent, and remembered between runs."""

import json
import threading

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


@pytest.mark.parametrize("n_batches", [1, 4])
def test_days_of_batches_leave_nothing_unused(n_batches):
    """Volumes and scores jump, and the day's last batch is known from the days before."""
    stream, rng = DailyBudget(20), np.random.default_rng(0)
    for day in range(30):
        scores = np.split(rng.normal(size=rng.integers(50, 100) * n_batches), n_batches)
        for batch in scores:
            stream.open_rows(batch - 2.0 * (day > 10) + (day % 3), day=day)
        assert stream.n_opened == 20


def test_a_batch_of_low_scores_still_gets_its_share():
    stream = DailyBudget(10, rows_per_day=100)
    for _ in range(2):
        stream.open_rows(np.full(50, 90.0), day="Monday")
    stream.open_rows(np.arange(50.0), day="Tuesday")
    assert stream.n_opened == 5


def test_runs_of_one_day_share_the_budget(tmp_path):
    path, opened = tmp_path / "state.json", []

    def run(seed):
        scores = np.random.default_rng(seed).normal(size=4)
        with DailyBudget.kept(path, 6) as stream:
            opened.append(int(stream.open_rows(scores, day="Monday").sum()))

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(opened) == 6
    assert [each.name for each in tmp_path.iterdir()] == ["state.json"]


def test_a_run_that_fails_leaves_the_old_state(tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    with DailyBudget.kept(path, 6) as stream:
        stream.open_rows([1.0], day="Monday")
    before = path.read_text()
    with pytest.raises(TypeError, match="scores"), DailyBudget.kept(path, 6) as stream:
        stream.open_rows(["no score"], day="Monday")
    assert path.read_text() == before
    monkeypatch.setattr("toprank.shortlists.budget.PATIENCE", 0.0)
    (tmp_path / "state.json.lock").touch()
    message = r"another run is using .* delete '.*state\.json\.lock'"
    with pytest.raises(ValueError, match=message), DailyBudget.kept(path, 6):
        pass


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
    with pytest.raises(ValueError, match=r"not the state of a daily budget .* delete the file"):
        DailyBudget.load(path)
    good = DailyBudget(3).state()
    path.write_text(json.dumps(good | {"n_opened": -1}))
    with pytest.raises(ValueError, match="n_opened"):
        DailyBudget.load(path)
