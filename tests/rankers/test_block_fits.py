"""Fits on rows in blocks: the same models as in memory, whatever the blocks."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toprank import (
    IRPush,
    LinearRankSVM,
    PNormPush,
    PrecisionAtKRanker,
    RankBoost,
    TreeRanker,
)
from toprank.blocks import ArrayBlocks, Block
from toprank.datasets import load_digits_eights
from toprank.objectives import Price
from toprank.selection import LogisticRanker

PUSHES = {
    "p=1": PNormPush(1, tol=1e-12),
    "p=8": PNormPush(8, tol=1e-12),
    "bottom": PNormPush(4, focus="bottom", tol=1e-12),
    "both": PNormPush(4, focus="both", bottom_weight=0.5, tol=1e-12),
    "ir": IRPush(tol=1e-12),
}


def rows(n_rows=3000, n_features=5, seed=0, *, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * np.arange(1, n_features + 1) + 3.0
    y = (X[:, 0] + rng.normal(size=n_rows) * 2 > 5).astype(int)
    weights = rng.integers(0, 4, n_rows).astype(float) if weighted else None
    return X, y, weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", PUSHES)
def test_a_push_on_blocks_is_the_push_in_memory(name, weighted):
    X, y, weights = rows(weighted=weighted)
    ranker = PUSHES[name]
    expected = ranker.fit(X, y, weights)
    coef, intercept = expected.coef_.copy(), expected.intercept_.copy()
    found = ranker.fit_blocks(ArrayBlocks.cut(X, y, weights, size=700))
    np.testing.assert_allclose(found.coef_, coef, atol=1e-8, rtol=0)
    np.testing.assert_allclose(found.intercept_, intercept, atol=1e-8, rtol=0)
    assert found.converged_
    assert list(found.classes_) == [0, 1]


@pytest.mark.parametrize("scale", [5e-324, 1e-170, 8.9e307])
@pytest.mark.parametrize(
    "options", [{}, {"p": np.inf}, {"focus": "bottom"}, {"focus": "both"}, {"loss": "hinge"}]
)
@pytest.mark.filterwarnings("error", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_of_any_size_give_the_model_and_the_objective_in_memory(options, scale):
    X, y, _ = rows(200, 3)
    weights = np.arange(200) % 2 + 1.0
    ordinary = PNormPush(**options).fit_blocks(ArrayBlocks.cut(X, y, weights, size=20))
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


def test_infinite_power_goes_through_the_same_powers():
    X, y, _ = rows(500)
    expected = PNormPush(np.inf).fit(X, y)
    found = PNormPush(np.inf).fit_blocks(ArrayBlocks.cut(X, y, size=123))
    assert found.objective_path_[-1] == pytest.approx(expected.objective_path_[-1], abs=1e-6)


def test_a_penalty_with_l1_leaves_the_same_weights_at_0():
    X, y, _ = rows(1000, 8)
    expected = PNormPush(alpha=0.1, l1_ratio=0.9).fit(X, y)
    found = PNormPush(alpha=0.1, l1_ratio=0.9).fit_blocks(ArrayBlocks.cut(X, y, size=300))
    np.testing.assert_allclose(found.weights_, expected.weights_, atol=1e-5)
    assert (found.weights_ == 0).any()


def test_more_features_than_a_hessian_pays_for_go_by_the_history():
    X, y, _ = rows(800, 520)
    expected = PNormPush(alpha=0.1, tol=1e-9).fit(X, y)
    found = PNormPush(alpha=0.1, tol=1e-9).fit_blocks(ArrayBlocks.cut(X, y, size=300))
    np.testing.assert_allclose(found.weights_, expected.weights_, atol=1e-6)


@pytest.mark.parametrize("name", ["p=8", "ir"])
@pytest.mark.parametrize(
    ("scale", "offset", "dtype"),
    [(1e30, 0.0, np.float32), (1e300, 0.0, np.float64), (1.0, 1e5, np.float32), (1.0, 1e9, float)],
)
def test_columns_of_any_scale_and_far_from_0_take_as_few_passes(name, scale, offset, dtype):
    X, y, _ = rows(500, 3)
    plain = PUSHES[name].fit_blocks(ArrayBlocks.cut(X, y, size=128))
    weights, passes = plain.weights_.copy(), len(plain.objective_path_)
    moved = (X * scale + offset).astype(dtype)
    found = PUSHES[name].fit_blocks(ArrayBlocks.cut(moved, y, size=128))
    np.testing.assert_allclose(found.weights_, weights, atol=0.01)  # values were rounded
    assert len(found.objective_path_) <= passes + 3


def test_separable_rows_without_a_penalty_end_as_in_memory():
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 9).astype(int)
    with pytest.warns(UserWarning, match="without a mistake"):
        model = PNormPush(alpha=0).fit_blocks(ArrayBlocks.cut(X, y, size=6))
    assert model.score(X, y) == 1.0


# Objectives that need all scores at once: their rows are spooled.
COMPARING = {
    "hinge": PNormPush(loss="hinge", alpha=0.1),
    "squared hinge": PNormPush(2, loss="squared_hinge", focus="both"),
    "infinite": PNormPush(np.inf, loss="squared_hinge"),
    "logistic": PNormPush(loss="logistic", focus="bottom"),
    "l1": PNormPush(loss="logistic", alpha=0.1, l1_ratio=0.9),
    "price": PNormPush(loss="logistic", price=Price(np.square, lambda r: 2 * r)),
    "exponential price": PNormPush(price="log1p"),
    "logistic ir": IRPush(loss="logistic"),
    "svm": LinearRankSVM(),
    "svm hinge": LinearRankSVM(loss="hinge", alpha=0.1),
    "precision": PrecisionAtKRanker(solver="cutting_plane", alpha=0.1),
}
WITH_LISTS = COMPARING | {"exponential": PNormPush(), "ir": IRPush()}
CASES = [*((name, False) for name in COMPARING), *((name, True) for name in WITH_LISTS)]


def blocks_at(edges, X, y, weights=None, groups=None):
    """Blocks that begin and end at these rows."""
    return ArrayBlocks(
        [
            Block(
                X[start:stop],
                y[start:stop],
                None if weights is None else weights[start:stop],
                number,
                None if groups is None else groups[start:stop],
            )
            for number, (start, stop) in enumerate(itertools.pairwise(edges))
        ]
    )


def assert_same_model(ranker, X, y, weights, groups, edges):
    """The fit of a spool is that of memory, to the last bit."""
    expected = vars(ranker.fit(X.astype(np.float32), y, weights, groups)).copy()
    found = ranker.fit_blocks(blocks_at(edges, X, y, weights, groups))
    for name in ("coef_", "intercept_", "objective_path_", "classes_"):
        np.testing.assert_array_equal(vars(found)[name], expected[name])


@pytest.mark.parametrize(("name", "listed"), CASES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_compares_rows_of_blocks_is_that_in_memory(name, listed):
    X, y = load_digits_eights(return_X_y=True)
    X, y = X[:900, 18:46:5], y[:900]
    order = np.argsort(y[:300], kind="stable")  # the first blocks have no positive row
    X[:300], y[:300] = X[order], y[order]
    weights = np.random.default_rng(0).integers(0, 4, 900).astype(float)
    groups = np.array([f"list {number % 7}" for number in range(900)]) if listed else None
    assert_same_model(WITH_LISTS[name], X, y, weights, groups, [0, 200, 201, 201, 600, 900])


@given(st.integers(0, 99), st.lists(st.integers(0, 60), max_size=4), st.booleans(), st.booleans())
@settings(max_examples=15, deadline=None)
def test_ties_weights_lists_and_the_cut_between_blocks_do_not_matter(seed, cuts, weighted, listed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (60, 2)).astype(float)
    y = (X[:, 0] + rng.integers(0, 4, 60) > 3).astype(int)
    y[:6], X[:2, 1] = [0, 1, 0, 1, 0, 1], [0, 3]
    weights = rng.integers(0, 3, 60) + np.where(np.arange(60) < 6, 1.0, 0.0) if weighted else None
    groups = np.arange(60) % 3 if listed else None
    edges = [0, *sorted(cuts), 60]
    for ranker in (COMPARING["squared hinge"], COMPARING["logistic"], COMPARING["svm"]):
        assert_same_model(ranker, X, y, weights, groups, edges)


@pytest.mark.parametrize("ranker", [PNormPush(), PNormPush(loss="hinge", alpha=0.1), IRPush()])
@pytest.mark.parametrize("listed", [False, True])
def test_grades_in_blocks_are_those_in_memory(ranker, listed):
    X, y, weights = rows(600, weighted=True)
    grades, groups = y + (X[:, 1] > 4), np.arange(600) % 9 if listed else None
    coef = ranker.fit_grades(X.astype(np.float32), grades, weights, groups).coef_.copy()
    found = ranker.fit_blocks(ArrayBlocks.cut(X, grades, weights, groups, size=130), grades=True)
    np.testing.assert_array_equal(found.coef_, coef)
    assert not hasattr(found, "classes_")


def test_logistic_regression_on_blocks_is_that_in_memory_but_for_rounding():
    X, y, weights = rows(2000, weighted=True)
    expected = LogisticRanker().fit(X, y, weights).coef_.copy()
    found = LogisticRanker().fit_blocks(ArrayBlocks.cut(X, y, weights, size=300))
    np.testing.assert_allclose(found.coef_, expected, rtol=1e-4)


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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("selection", ["largest_decrease", "steepest"])
def test_boosting_on_blocks_takes_the_same_stumps(selection, weighted):
    X, y, weights = rows(weighted=weighted)
    X[::7, 1] = np.nan
    ranker = RankBoost(selection, max_iter=30)
    expected = ranker.fit(X, y, weights)
    selected, steps = expected.selected_.copy(), expected.steps_.copy()
    path, scores = expected.objective_path_.copy(), expected.decision_function(X)
    found = ranker.fit_blocks(ArrayBlocks.cut(X, y, weights, size=611))
    np.testing.assert_array_equal(found.selected_, selected)
    np.testing.assert_allclose(found.steps_, steps, rtol=1e-9)
    np.testing.assert_allclose(found.objective_path_, path, rtol=1e-12)
    np.testing.assert_allclose(found.decision_function(X), scores, atol=1e-9)


@given(st.integers(1, 400), st.integers(0, 5), st.booleans())
@settings(max_examples=15, deadline=None)
def test_the_cut_between_blocks_does_not_matter(size, seed, weighted):
    X, y, weights = rows(400, 3, seed, weighted=weighted)
    whole = IRPush(tol=1e-10).fit(X, y, weights)
    parts = IRPush(tol=1e-10).fit_blocks(ArrayBlocks.cut(X, y, weights, size=size))
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-7)
    np.testing.assert_allclose(parts.intercept_, whole.intercept_, atol=1e-6)


def test_the_intercept_by_selection_is_exact_beyond_what_is_gathered(monkeypatch):
    monkeypatch.setattr("toprank.solvers.cuts.GATHERED", 10)
    monkeypatch.setattr("toprank.solvers.cuts.BINS", 7)
    X, y, _ = rows(2000, 3)
    X = X.round()  # ties
    whole = IRPush(tol=1e-12).fit(X, y)
    parts = IRPush(tol=1e-12).fit_blocks(ArrayBlocks.cut(X, y, size=300))
    np.testing.assert_allclose(parts.intercept_, whole.intercept_, atol=1e-8)


def test_float32_stays_float32_and_text_labels_are_labels():
    X, y, _ = rows()
    labels = np.where(y, "yes", "no")
    model = PNormPush().fit_blocks(ArrayBlocks.cut(X.astype(np.float32), labels, size=1000))
    assert model.coef_.dtype == np.float32
    assert set(model.predict(X)) == {"yes", "no"}


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


def test_names_of_columns_are_kept_and_forgotten():
    X, y, _ = rows(300, 2)
    blocks = ArrayBlocks.cut(X, y)
    blocks.feature_names = ["age", "income"]
    model = PNormPush().fit_blocks(blocks)
    assert list(model.feature_names_in_) == ["age", "income"]
    assert not hasattr(model.fit_blocks(ArrayBlocks.cut(X, y)), "feature_names_in_")


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (PNormPush(weak_rankers="stumps"), "or RankBoost for stumps"),
        (PNormPush(solver="coordinate"), "'coordinate'"),
        (PrecisionAtKRanker(), "use partial_fit"),
        (RankBoost(weak_rankers="features"), "'stumps' only"),
        (RankBoost(early_stopping=True), "rows in memory"),
    ],
)
def test_what_no_pass_can_give_is_refused(ranker, message):
    X, y, _ = rows(50)
    with pytest.raises(ValueError, match=message):
        ranker.fit_blocks(ArrayBlocks.cut(X, y))


@pytest.mark.parametrize("ranker", [PNormPush(), RankBoost()])
def test_faults_in_any_block_are_named(ranker):
    X, y, _ = rows(100, 3)

    def refused(X, y, weights=None, kind=ValueError):
        with pytest.raises(kind) as caught:
            ranker.fit_blocks(ArrayBlocks.cut(X, y, weights, size=30))
        return str(caught.value)

    spoilt = X.copy()
    spoilt[77, 2] = np.inf
    assert "infinite values, in 'column 2'" in refused(spoilt, y)
    assert "one class only" in refused(X, np.ones(100))
    assert "binary" in refused(X, np.arange(100) % 3)
    assert "NaN" in refused(X, np.where(np.arange(100) == 80, np.nan, y))
    assert "sample_weight" in refused(X, y, np.where(np.arange(100) == 80, -1.0, 1.0))
    assert "nothing to learn" in refused(X, y, np.zeros(100))
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


@pytest.mark.parametrize("loss", ["exponential", "hinge"])
def test_constant_columns_are_told(loss):
    with pytest.warns(UserWarning, match="every row gets the same score"):
        PNormPush(loss=loss).fit_blocks(ArrayBlocks.cut(np.ones((9, 2)), np.arange(9) % 2, size=4))


def test_huge_values_are_not_missing_in_blocks_either():
    X, y, _ = rows(90)
    X = np.sign(X - X.mean(axis=0)) * 1.7e308
    found = RankBoost(max_iter=5).fit_blocks(ArrayBlocks.cut(X, y, size=30))
    assert not found.weak_rankers_.has_missing_.any()
    np.testing.assert_allclose(found.weights_, RankBoost(max_iter=5).fit(X, y).weights_)


def test_a_missing_value_is_a_fault_for_features_only():
    X, y, _ = rows(100, 3)
    X[60, 1] = np.nan
    with pytest.raises(ValueError, match="missing values, in 'column 1'"):
        PNormPush().fit_blocks(ArrayBlocks.cut(X, y, size=30))
    RankBoost(max_iter=2).fit_blocks(ArrayBlocks.cut(X, y, size=30))


@pytest.mark.parametrize("weighted", [False, True])
def test_long_lists_are_sampled_for_thresholds_as_in_memory(monkeypatch, weighted):
    monkeypatch.setattr("toprank.weak_rankers.stumps.SAMPLE", 100)
    monkeypatch.setattr("toprank.solvers.boosting_classes.SAMPLE", 100)
    X, y, weights = rows(weighted=weighted)
    whole = RankBoost(max_iter=2).fit(X, y, weights).weak_rankers_
    parts = RankBoost(max_iter=2).fit_blocks(ArrayBlocks.cut(X, y, weights, size=611)).weak_rankers_
    for expected, found in zip(whole.thresholds_, parts.thresholds_, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("ranker", [PNormPush(), PNormPush(loss="hinge"), LinearRankSVM()])
@pytest.mark.parametrize(("value", "named"), [(np.nan, "missing"), (np.inf, "infinite")])
def test_what_cannot_be_added_up_is_refused_also_in_rows_of_weight_0(ranker, value, named):
    X, y, _ = rows(60)
    X[7, 2], weights = value, np.ones(60)
    weights[7] = 0.0
    with pytest.raises(ValueError, match=f"{named} values, in 'column 2'"):
        ranker.fit_blocks(ArrayBlocks.cut(X, y, weights, size=20))


def test_trees_on_blocks_refuse_weights_too_small_to_add_up():
    X, y, _ = rows(60)
    with pytest.raises(ValueError, match="multiply all weights"):
        TreeRanker(n_trees=1).fit_blocks(ArrayBlocks.cut(X, y, np.full(60, 1e-300), size=20))
