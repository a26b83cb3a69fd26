"""Fits on rows in blocks: extreme rows, faults in any block, and what no pass can give.

test_places_of_rows.py compares fits on blocks with those in memory.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from toprank import (
    IRPush,
    LinearRankSVM,
    PNormPush,
    PrecisionAtKRanker,
    RankBoost,
    TreeRanker,
)
from toprank.blocks import ArrayBlocks, Block


def rows(n_rows=3000, n_features=5, seed=0, *, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * np.arange(1, n_features + 1) + 3.0
    y = (X[:, 0] + rng.normal(size=n_rows) * 2 > 5).astype(int)
    weights = rng.integers(0, 4, n_rows).astype(float) if weighted else None
    return X, y, weights


@pytest.mark.parametrize(
    "options", [{}, {"p": np.inf}, {"focus": "bottom"}, {"focus": "both"}, {"loss": "hinge"}]
)
@pytest.mark.filterwarnings("error", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_of_any_size_give_the_model_and_the_objective_in_memory(options):
    X, y, _ = rows(200, 3)
    weights = np.arange(200) % 2 + 1.0
    ordinary = PNormPush(**options).fit_blocks(ArrayBlocks.cut(X, y, weights, size=20))
    for scale in (5e-324, 1e-170, 8.9e307):
        found = PNormPush(**options).fit_blocks(ArrayBlocks.cut(X, y, scale * weights, size=20))
        in_memory = PNormPush(**options).fit(X, y, scale * weights)
        np.testing.assert_allclose(found.weights_, ordinary.weights_, rtol=1e-9)
        np.testing.assert_allclose(found.intercept_, ordinary.intercept_, rtol=1e-9)
        assert found.objective_path_[-1] == pytest.approx(in_memory.objective_path_[-1], rel=1e-6)


def test_blocks_without_weights_count_1_beside_heavy_ones():
    X, y, _ = rows(200, 3)
    weights = np.where(np.arange(200) < 100, 2.0**300, 1.0)
    heavy, _ = np.split(weights, 2)
    halves = zip(np.split(X, 2), np.split(y, 2), [heavy, None], range(2), strict=True)
    found = PNormPush().fit_blocks(ArrayBlocks([Block(*half) for half in halves]))
    expected = PNormPush().fit(X, y, weights)
    np.testing.assert_allclose(found.weights_, expected.weights_, rtol=1e-6)


@pytest.mark.parametrize(
    ("ranker", "n_features", "atol"),
    [
        (PNormPush(np.inf), 5, 1e-3),  # goes through the same powers
        (PNormPush(alpha=0.1, l1_ratio=0.9), 8, 1e-5),
        (PNormPush(alpha=0.1, tol=1e-9), 520, 1e-6),  # more than a Hessian pays for
    ],
    ids=["infinite", "l1", "wide"],
)
def test_ways_other_than_newtons_end_as_in_memory(ranker, n_features, atol):
    X, y, _ = rows(800, n_features)
    expected = clone(ranker).fit(X, y)
    found = clone(ranker).fit_blocks(ArrayBlocks.cut(X, y, size=300))
    assert found.objective_path_[-1] == pytest.approx(expected.objective_path_[-1], abs=1e-6)
    np.testing.assert_allclose(found.weights_, expected.weights_, atol=atol)
    np.testing.assert_array_equal(found.weights_ == 0, expected.weights_ == 0)
    assert (found.weights_ == 0).any() == (ranker.l1_ratio > 0)


@pytest.mark.parametrize("ranker", [PNormPush(8, tol=1e-12), IRPush(tol=1e-12)], ids=["p", "ir"])
@pytest.mark.parametrize(
    ("scale", "offset", "dtype"),
    [(1e30, 0.0, np.float32), (1e300, 0.0, np.float64), (1.0, 1e5, np.float32), (1.0, 1e9, float)],
)
def test_columns_of_any_scale_and_far_from_0_take_as_few_passes(ranker, scale, offset, dtype):
    X, y, _ = rows(500, 3)
    plain = ranker.fit_blocks(ArrayBlocks.cut(X, y, size=128))
    weights, passes = plain.weights_.copy(), len(plain.objective_path_)
    moved = (X * scale + offset).astype(dtype)
    found = ranker.fit_blocks(ArrayBlocks.cut(moved, y, size=128))
    np.testing.assert_allclose(found.weights_, weights, atol=0.01)  # values were rounded
    assert len(found.objective_path_) <= passes + 3


def test_separable_rows_without_a_penalty_end_as_in_memory():
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 9).astype(int)
    with pytest.warns(UserWarning, match="without a mistake"):
        model = PNormPush(alpha=0).fit_blocks(ArrayBlocks.cut(X, y, size=6))
    assert model.score(X, y) == 1.0


def test_a_column_too_fine_for_float32_is_spooled_in_float64():
    X, y, _ = rows(500)
    X[:, 1] += 1e9
    expected = LinearRankSVM().fit(X, y).coef_.copy()
    found = LinearRankSVM().fit_blocks(ArrayBlocks.cut(X, y, size=130))
    np.testing.assert_array_equal(found.coef_, expected)


def test_lists_in_blocks_are_refused_where_all_rows_are_compared_and_where_they_hold_no_pair():
    X, y, _ = rows(60)
    listed = ArrayBlocks.cut(X, y, groups=np.arange(60) % 3, size=20)
    for ranker in (RankBoost(), TreeRanker()):
        with pytest.raises(ValueError, match="take lists in blocks"):
            ranker.fit_blocks(listed)
    with pytest.raises(ValueError, match="no pair to learn from"):
        PNormPush().fit_blocks(ArrayBlocks.cut(X, y, groups=np.arange(60), size=20))
    with pytest.raises(ValueError, match="every row must name its list"):
        PNormPush().fit_blocks(ArrayBlocks.cut(X, y, groups=np.full(60, np.nan), size=20))


def test_the_intercept_by_selection_is_exact_beyond_what_is_gathered(monkeypatch):
    monkeypatch.setattr("toprank.solvers.cuts.GATHERED", 10)
    monkeypatch.setattr("toprank.solvers.cuts.BINS", 7)
    X, y, _ = rows(2000, 3)
    X = X.round()  # ties
    whole = IRPush(tol=1e-12).fit(X, y)
    parts = IRPush(tol=1e-12).fit_blocks(ArrayBlocks.cut(X, y, size=300))
    np.testing.assert_allclose(parts.intercept_, whole.intercept_, atol=1e-8)


def test_float32_text_labels_and_names_of_columns_are_kept():
    X, y, _ = rows()
    blocks = ArrayBlocks.cut(X.astype(np.float32), np.where(y, "yes", "no"), size=1000)
    model = PNormPush().fit_blocks(blocks)
    assert model.coef_.dtype == np.float32
    assert set(model.predict(X)) == {"yes", "no"}
    blocks.feature_names = list("abcde")
    assert list(model.fit_blocks(blocks).feature_names_in_) == list("abcde")
    assert not hasattr(model.fit_blocks(ArrayBlocks.cut(X, y)), "feature_names_in_")


def test_a_float32_table_takes_as_few_passes_as_a_float64_one():
    class Counting(ArrayBlocks):
        def total(self, work, *arguments):
            self.n_passes = getattr(self, "n_passes", 0) + 1
            return super().total(work, *arguments)

    X, y, _ = rows(20_000)

    def passes(X):
        blocks = Counting.cut(X, y, size=6000)
        PNormPush().fit_blocks(blocks)
        return blocks.n_passes

    assert passes(X.astype(np.float32)) == passes(X) < 12


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (PNormPush(weak_rankers="stumps"), "or RankBoost for stumps"),
        (PNormPush(solver="coordinate"), "'coordinate'"),
        (PrecisionAtKRanker(), "use partial_fit"),
        (RankBoost(weak_rankers="features"), "'stumps' only"),
        (RankBoost(early_stopping=True), "rows in memory"),
        (TreeRanker(early_stopping=True), "choose n_trees on a part of the rows"),
        (TreeRanker(categories=[2]), r"categories=\[2\] needs rows in memory"),
    ],
)
def test_what_no_pass_can_give_is_refused(ranker, message):
    X, y, _ = rows(50)
    with pytest.raises(ValueError, match=message):
        ranker.fit_blocks(ArrayBlocks.cut(X, y))


@pytest.mark.parametrize("ranker", [LinearRankSVM(), RankBoost()])
def test_faults_in_any_block_are_named(ranker):
    X, y, _ = rows(100, 3)

    def refused(X, y, weights=None, kind=ValueError):
        with pytest.raises(kind) as caught:
            ranker.fit_blocks(ArrayBlocks.cut(X, y, weights, size=30))
        return str(caught.value)

    assert "NaN" in refused(X, np.where(np.arange(100) == 80, np.nan, y))
    assert "sample_weight" in refused(X, y, np.where(np.arange(100) == 80, -1.0, 1.0))
    assert "use X.astype(float)" in refused(X.astype(int), y, kind=TypeError)
    assert "y has 20 rows in block 1, but X has 30" in refused(X, y[:50])
    assert "sample_weight has 20 rows in block 1" in refused(X, y, np.ones(50))
    assert "no blocks" in refused(X[:0], y[:0])
    for other in (X, "rows.parquet"):
        with pytest.raises(TypeError, match="ParquetBlocks"):
            ranker.fit_blocks(other)


@pytest.mark.parametrize("scale", [True, False])
def test_a_column_that_cannot_be_added_up_is_named(scale):
    table = pd.DataFrame({"age": np.arange(6.0), "income": 1e308 * (np.arange(6.0) / 5)})
    y = np.arange(6) % 2
    blocks = ArrayBlocks([Block(table.to_numpy(), y, None, 0)], list(table))
    with pytest.raises(ValueError, match="in column 'income', "):
        LinearRankSVM(scale=scale).fit(table, y)
    with pytest.raises(ValueError, match="in column 'income', "):
        LinearRankSVM(scale=scale).fit_blocks(blocks)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (PNormPush(), "every row gets the same score"),
        (PNormPush(loss="hinge"), "every row gets the same score"),
        (TreeRanker(n_trees=5), "columns of X are constant"),
    ],
)
def test_constant_columns_are_told(ranker, message):
    with pytest.warns(UserWarning, match=message):
        ranker.fit_blocks(ArrayBlocks.cut(np.ones((9, 2)), np.arange(9) % 2, size=4))
    assert np.ptp(ranker.decision_function(np.ones((3, 2)))) == 0


def test_huge_values_are_not_missing_in_blocks_either():
    X, y, _ = rows(90)
    X = np.sign(X - X.mean(axis=0)) * 1.7e308
    found = RankBoost(max_iter=5).fit_blocks(ArrayBlocks.cut(X, y, size=30))
    assert not found.weak_rankers_.has_missing_.any()
    np.testing.assert_allclose(found.weights_, RankBoost(max_iter=5).fit(X, y).weights_)


@pytest.mark.parametrize("weighted", [False, True])
def test_long_lists_are_sampled_for_thresholds_as_in_memory(monkeypatch, weighted):
    monkeypatch.setattr("toprank.weak_rankers.stumps.SAMPLE", 100)
    monkeypatch.setattr("toprank.solvers.boosting_classes.SAMPLE", 100)
    X, y, weights = rows(weighted=weighted)
    blocks = ArrayBlocks.cut(X, y, weights, size=611)
    whole, parts = RankBoost(max_iter=2).fit(X, y, weights), RankBoost(max_iter=2)
    parts.fit_blocks(blocks)
    for expected, found in zip(
        whole.weak_rankers_.thresholds_, parts.weak_rankers_.thresholds_, strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    whole, parts = (TreeRanker(n_trees=3, random_state=0) for _ in range(2))
    expected = whole.fit(X, y, weights).trees_.arrays
    for found, mine in zip(parts.fit_blocks(blocks).trees_.arrays, expected, strict=True):
        np.testing.assert_array_equal(found, mine)


@pytest.mark.parametrize("ranker", [PNormPush(), PNormPush(loss="hinge"), LinearRankSVM()])
@pytest.mark.parametrize(("value", "named"), [(np.nan, "missing"), (np.inf, "infinite")])
def test_what_cannot_be_added_up_is_refused_also_in_rows_of_weight_0(ranker, value, named):
    X, y, _ = rows(60)
    X[7, 2], weights = value, np.ones(60)
    weights[7] = 0.0
    with pytest.raises(ValueError, match=f"{named} values, in 'column 2'"):
        ranker.fit_blocks(ArrayBlocks.cut(X, y, weights, size=20))
