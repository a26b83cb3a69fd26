"""TopRanker on rows in blocks: a sample chooses, all rows are fitted, promises hold."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from experiments.datasets import load_magic
from toprank import TopRanker
from toprank.blocks import ArrayBlocks, Survey
from toprank.selection import Blend, LogisticRanker
from toprank.selection.sampling import sample_rows
from toprank.tables import ParquetBlocks

QUICK = {"candidates": ("logistic", "pnorm-push", "rankboost")}


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    """Samples of ten times max_rows, so that few rows are many."""
    monkeypatch.setattr("toprank.selection.top_ranker._SAMPLED", 10)


def table(n_rows=3000, seed=0, rate=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    scores = X[:, 0] + X[:, 1] + rng.logistic(size=n_rows)
    y = np.where(scores > np.quantile(scores, 1 - rate), "yes", "no")
    return X, y, rng.integers(0, 4, n_rows).astype(float)


def blocks(X, y, weights=None, size=700):
    return ArrayBlocks.cut(X, y, weights, size=size)


@pytest.mark.parametrize("is_plain", [True, False])
def test_few_rows_give_the_model_of_memory(is_plain):
    X, y, weights = table(1500)
    if is_plain:
        weights = None
    else:
        X[::7, 2] = np.nan
    known = TopRanker(50, **QUICK).fit(X, y, weights)
    found = TopRanker(50, **QUICK).fit_blocks(blocks(X, y, weights, 400))
    np.testing.assert_array_equal(found.decision_function(X), known.decision_function(X))
    np.testing.assert_array_equal(found.predict(X), known.predict(X))
    assert found.promise_ == known.promise_
    assert found.summary() == known.summary()
    assert found.fitted_rows_ == known.fitted_rows_
    assert found.sampled_rows_ is None
    assert "may find more" not in found.verdict()
    np.testing.assert_array_equal(found.calibration_.scores, known.calibration_.scores)


def test_of_many_rows_a_sample_chooses_and_all_fit_what_learns_by_passes():
    X, y, _ = table(6000)
    model = TopRanker(50, max_rows=200, candidates=("pnorm-push", "ir-push"))
    first, other = (clone(model).fit_blocks(blocks(X, y, size=size)) for size in (900, 1999))
    assert first.fitted_rows_ == other.fitted_rows_
    assert set(first.fitted_rows_.values()) == {6000}
    assert first.sampled_rows_ == pytest.approx(2000, abs=150)
    assert first.hits_ == other.hits_
    np.testing.assert_allclose(first.decision_function(X), other.decision_function(X), atol=1e-6)
    assert first.comparison_.in_list == 50  # of a list of all rows
    assert first.comparison_.judged == pytest.approx(17, abs=2)
    assert (first.predict(X) == "yes").mean() == pytest.approx(0.1, abs=0.03)
    assert first.summary()["fitted_rows"] == first.fitted_rows_
    assert first.learned_rows_ == 150
    assert "measured on models of 150 rows; the one fitted on 6,000 may" in first.verdict()
    shortlist = first.shortlist(X, 50)
    hits = (y[shortlist.rows] == "yes").sum()
    assert first.hits_.low <= hits <= first.hits_.high


@pytest.mark.parametrize("name", ["pnorm-push", "logistic"])
def test_a_single_ranker_is_fitted_on_all_rows_if_it_can_be(name):
    X, y, _ = table(2000)
    options = {"candidates": [name], "blend": False, "max_rows": 60}
    model = TopRanker(50, **options).fit_blocks(blocks(X, y))
    assert model.best_candidate_ == name
    assert not isinstance(model.best_estimator_, Blend)
    (n_rows,) = model.fitted_rows_.values()
    assert n_rows == (2000 if name == "pnorm-push" else model.sampled_rows_)
    simple = TopRanker(50, prefer="simple", max_loss=1.0, max_rows=60, **QUICK)
    assert isinstance(simple.fit_blocks(blocks(X, y)).best_estimator_, LogisticRanker)


def test_list_sizes_shares_and_time_limits_are_heeded():
    X, y, _ = table(2000)
    fits = {"candidates": ["pnorm-push"], "max_rows": 60}
    hasty = TopRanker(50, list_size=9000, time_limit=0.0, **fits).fit_blocks(blocks(X, y))
    assert hasty.comparison_.in_list == 50
    assert max(hasty.fitted_rows_.values()) <= hasty.sampled_rows_
    model = TopRanker(0.1, time_limit=1e6, **fits).fit_blocks(blocks(X, y))
    assert model.comparison_.in_list == 200
    assert set(model.fitted_rows_.values()) == {2000}


def test_a_sample_is_the_same_in_any_blocks_and_counts_both_classes_in_proportion():
    X, y, weights = table(20_000, rate=0.3)
    taken = [sample_rows(blocks(X, y, weights, size), 4000, 3) for size in (777, 20_000)]
    for mine, theirs in zip(*taken, strict=True):
        if not isinstance(mine, Survey):
            np.testing.assert_array_equal(mine, theirs)
    assert taken[0].y.size == pytest.approx(4000, abs=250)
    assert (taken[0].y == "yes").mean() == pytest.approx(0.3, abs=0.03)
    assert (taken[0].weights > 0).all()
    assert taken[0].size == weights.sum()
    other = sample_rows(blocks(X, y, weights), 4000, 4)
    assert not np.array_equal(other.X[:50], taken[0].X[:50])
    assert not taken[0].is_whole
    assert sample_rows(blocks(X, y), 20_000, 0).is_whole


def test_more_rows_of_a_rare_class_are_taken_with_smaller_weights():
    X, y, _ = table(20_000, rate=0.0005)
    taken = sample_rows(blocks(X, y, size=90), 2000, 0)
    assert (taken.y == "yes").sum() == 10  # all
    np.testing.assert_allclose(taken.weights[taken.y == "yes"], 0.1)
    np.testing.assert_allclose(taken.weights[taken.y == "no"], 1.0)


def test_a_sample_has_rows_of_a_rare_class_whatever_is_drawn():
    X, _, _ = table(4000)
    y = np.arange(4000) % 200 == 7
    for seed in range(60):  # some of the first draws take none of the 20 positives
        taken = sample_rows(blocks(X, y, size=900), 300, seed)
        assert taken.y.any()
        assert np.array_equal(taken.X, sample_rows(blocks(X, y, size=77), 300, seed).X)


def test_the_promise_of_a_rare_class_holds_in_new_lists():
    X, y, _ = table(60_000, seed=1, rate=0.004)
    options = {"candidates": ["logistic"], "max_rows": 200, "blend": False}
    kept, means = 0, []
    for seed in range(12):
        model = TopRanker(100, random_state=seed, **options).fit_blocks(blocks(X, y, size=9000))
        new, labels, _ = table(60_000, seed=100 + seed, rate=0.004)
        hits = (labels[model.top(new, 100)] == "yes").sum()
        kept += model.hits_.low <= hits <= model.hits_.high
        means.append(model.hits_.mean - hits)
    assert kept >= 10
    assert abs(np.mean(means)) < 2.5 * np.std(means) / np.sqrt(12)


def test_a_few_positives_in_one_of_many_blocks_are_found():
    X, y, _ = table(3000)
    y = np.zeros(3000, dtype=int)
    y[2100:2108] = 1
    X[2100:2108, 0] += 6
    model = TopRanker(20, max_rows=160, **QUICK).fit_blocks(blocks(X, y, size=300))
    assert y[model.top(X, 20)].sum() >= 6
    assert model.comparison_.rows.positives.sum() == 8
    y[2101:] = 0  # one positive: nothing to divide
    alone = TopRanker(20, max_rows=60, **QUICK).fit_blocks(blocks(X, y, size=300))
    assert alone.hits_ is None
    assert list(alone.fitted_rows_) == ["logistic C=0.1"]


def test_missing_values_outside_the_sample_are_encoded_too():
    X, y, _ = table(2000)
    X[::11, 1] = np.nan
    X[np.random.default_rng(0).integers(0, 2000, 3), 2] = np.nan
    model = TopRanker(50, max_rows=60, **QUICK).fit_blocks(blocks(X, y))
    assert "x1 is missing" in model.encoder_.names
    assert np.isfinite(model.decision_function(X)).all()
    assert max(model.fitted_rows_.values()) == 2000


def test_values_missing_in_rows_of_weight_zero_alone_change_nothing():
    X, y, _ = table(2000)
    weights = np.ones(2000)
    weights[::11] = 0
    known, found = (TopRanker(50, max_rows=60, candidates=["pnorm-push"]) for _ in range(2))
    known.fit_blocks(blocks(X, y, weights))
    lacking = np.where(weights[:, None] > 0, X, np.nan)
    found.fit_blocks(blocks(lacking, y, weights))
    assert set(found.fitted_rows_.values()) == {np.count_nonzero(weights)}
    assert np.allclose(found.decision_function(X), known.decision_function(X))


def test_rows_of_the_sample_are_counted_before_copies_are_merged():
    X, y, _ = table(500)
    rows = blocks(np.repeat(X, 4, axis=0), np.repeat(y, 4))
    model = TopRanker(50, max_rows=60, candidates=["logistic"]).fit_blocks(rows)
    assert model.sampled_rows_ == pytest.approx(600, abs=80)
    assert max(model.fitted_rows_.values()) < 480  # copies count once


def test_a_sample_leaves_room_for_the_blend(monkeypatch):
    X, y, _ = table(4000)
    monkeypatch.setattr("toprank.selection.sampling.available_memory", lambda: 2000 * 48 * 4)
    assert sample_rows(blocks(X, y), 4000, 0).y.size == pytest.approx(2000, abs=150)


def test_rows_that_cannot_be_fitted_are_refused():
    X, y, _ = table(500)
    for rows, words in (
        ((X, np.zeros(500)), "class"),
        ((np.where(X > 2, np.inf, X), y), "infinite"),
        ((X.astype(int), y), "astype"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            TopRanker(20, **QUICK).fit_blocks(blocks(*rows))


def test_parquet_files_of_showers_keep_names_and_promise_hits(real, tmp_path):
    X, y = real(load_magic, return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    rows = pa.table({f"c{j}": column for j, column in enumerate(X[order].T)} | {"y": y[order]})
    for part in range(3):
        pq.write_table(rows.slice(4000 * part, 4000), tmp_path / f"{part}.parquet")
    stream = ParquetBlocks(tmp_path, target="y", batch_rows=1500, n_jobs=2)
    names = ("logistic", "pnorm-push", "rankboost", "random-forest")
    model = TopRanker(500, list_size=len(y) - 12_000, candidates=names, max_rows=300)
    model.fit_blocks(stream)
    assert list(model.feature_names_in_) == stream.feature_names
    assert {2000 < n < 4000 or n == 12_000 for n in model.fitted_rows_.values()} == {True}
    new = rows.slice(12_000)
    first = model.top(new.select(stream.feature_names), 500)
    hits = np.asarray(new["y"])[first].sum()
    assert model.hits_.low <= hits <= model.hits_.high
    assert not any(
        hasattr(member, "feature_names_in_") for member in model.best_estimator_.rankers_
    )
