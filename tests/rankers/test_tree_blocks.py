"""TreeRanker on rows in blocks: trees that are added, told of, and of unusual rows."""

import numpy as np
import pytest

from toprank import TreeRanker
from toprank.blocks import ArrayBlocks
from toprank.objectives import Push, pnorm_push

RNG = np.random.default_rng(3)
N_ROWS = 1200
X = RNG.normal(size=(N_ROWS, 4)).astype(np.float32)
X[:, 2] = np.round(X[:, 2], 1)
Y = (X[:, 0] * X[:, 2] + X[:, 1] + RNG.normal(size=N_ROWS) > 1).astype(int)
X[::7, 1] = np.nan
FEW = {"n_trees": 5, "depth": 3, "random_state": 0}


def blocks(size=500, weights=None):
    return ArrayBlocks.cut(X, Y, weights, size=size)


def assert_same_trees(found, expected):
    for mine, theirs in zip(found.trees_.arrays, expected.trees_.arrays, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_more_trees_can_be_added():
    settings = {"random_state": 0, "learning_rate": 0.1, "depth": 3}
    model = TreeRanker(n_trees=3, warm_start=True, **settings).fit_blocks(blocks())
    model.set_params(n_trees=5).fit_blocks(blocks(200))
    assert_same_trees(model, TreeRanker(n_trees=5, **settings).fit(X, Y))
    with pytest.raises(ValueError, match="warm_start=False"):
        model.set_params(n_trees=6).fit_blocks(ArrayBlocks.cut(X + 1, Y))


@pytest.mark.parametrize("objective", ["log_loss", "pnorm_push", "ir_push"])
def test_progress_is_printed_as_in_memory(objective, capsys):
    TreeRanker(objective, verbose=2, **FEW).fit_blocks(blocks())
    found = capsys.readouterr().out
    TreeRanker(objective, verbose=2, **FEW).fit(X, Y)
    expected = capsys.readouterr().out
    assert found.count("iteration") == 5
    values = [[float(line.split()[-1]) for line in text.splitlines()] for text in (found, expected)]
    np.testing.assert_allclose(*values, rtol=1e-8)


def test_a_callback_sees_every_tree_and_may_stop():
    pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brought callbacks")
    models = []

    class StopAtThree:
        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            if fitted_estimator is not None:
                models.append(fitted_estimator)
            return len(models) == 3

    model = TreeRanker("ir_push", **FEW).set_callbacks(StopAtThree()).fit_blocks(blocks())
    assert [seen.trees_.n_trees for seen in models] == [1, 2, 3]
    np.testing.assert_array_equal(models[-1].decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    "objective",
    [
        *("precision_at_k", "soft_top", Push("hinge", 1), Push("exponential", "log1p")),
        *(pnorm_push(np.inf), pnorm_push(4, focus="both")),
    ],
    ids=str,
)
def test_objectives_that_are_no_sums_over_rows_are_refused(objective):
    model = TreeRanker(objective)
    with pytest.raises(ValueError, match="Choose one of these") as caught:
        model.fit_blocks(blocks())
    assert repr(model._objective()) in str(caught.value)


@pytest.mark.parametrize("lightest", [1e-30, 1e300])
def test_weights_that_sums_would_lose_are_refused_as_in_memory(lightest):
    extreme = np.where(np.arange(N_ROWS) == 700, lightest, max(1.0, lightest))
    with pytest.raises(ValueError, match="sample_weight") as here:
        TreeRanker(**FEW).fit(X, Y, extreme)
    with pytest.raises(ValueError, match="sample_weight") as there:
        TreeRanker(**FEW).fit_blocks(blocks(500, extreme))
    assert str(here.value) == str(there.value)
    with pytest.raises(ValueError, match="multiply all weights"):
        TreeRanker(**FEW).fit_blocks(blocks(500, np.full(N_ROWS, 1e-300)))


def test_categories_of_an_earlier_fit_are_forgotten():
    model = TreeRanker(**FEW, categories=[2]).fit(np.nan_to_num(X), Y)
    model.set_params(categories="auto").fit_blocks(blocks())
    expected = TreeRanker(**FEW).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))


def test_columns_that_tell_by_missing_values_alone_are_those_of_memory():
    table = np.column_stack([np.where(Y == 1, np.nan, 5.0), np.full(N_ROWS, np.nan)])
    expected = TreeRanker(**FEW).fit(table, Y)
    assert expected.score(table, Y) == 1.0
    assert_same_trees(TreeRanker(**FEW).fit_blocks(ArrayBlocks.cut(table, Y, size=500)), expected)
