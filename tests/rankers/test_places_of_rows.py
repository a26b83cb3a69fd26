"""One battery over the places of rows: a fit there is that of a table in memory.

Rows are in a mapped file, in blocks, in Parquet files or on a cluster. Fits that are sums over rows
agree up to rounding; all others are spooled into a file and agree bit for bit.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
from toprank.objectives import Price, pnorm_push
from toprank.selection import LogisticRanker
from toprank.tables import ParquetBlocks

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TREES = {"n_trees": 5, "depth": 3, "random_state": 0}
EXACT = {"tol": 1e-12}

# Sums over rows, with the difference to memory that rounding may make.
SUMS = {
    "p=1": (PNormPush(1, **EXACT), 1e-8),
    "p=8": (PNormPush(8, **EXACT), 1e-8),
    "bottom": (PNormPush(4, focus="bottom", **EXACT), 1e-8),
    "both": (PNormPush(4, focus="both", bottom_weight=0.5, **EXACT), 1e-8),
    "ir": (IRPush(**EXACT), 1e-8),
    "stumps": (RankBoost(max_iter=30), 1e-10),
    "steepest stumps": (RankBoost("steepest", max_iter=30), 1e-10),
    "trees, log loss": (TreeRanker("log_loss", **TREES), 1e-12),
    "trees, p-norm": (TreeRanker("pnorm_push", **TREES), 1e-12),
    "trees, ir": (TreeRanker("ir_push", **TREES), 1e-12),
    "trees, bottom": (TreeRanker(pnorm_push(4, focus="bottom"), **TREES), 1e-12),
    "trees, directions": (TreeRanker(**TREES, monotone=[1, 0, 0, -1]), 1e-12),
    "trees, a generator": (TreeRanker(**TREES | {"random_state": np.random.RandomState(5)}), 1e-12),
}
# Objectives that need all scores at once: their rows are spooled.
SPOOLED = {
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
SPOOLED_LISTS = SPOOLED | {"exponential": PNormPush(), "ir": IRPush()}
SPOOLED_GRADES = ("hinge", "exponential", "ir", "svm")


class Rows(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None


def draw(n_rows=900, n_features=4, seed=0, *, weighted=False):
    """Values that float32 has; the first third is sorted, so the first blocks have no positive."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * np.arange(1, n_features + 1) + 3.0
    X = X.astype(np.float32).astype(np.float64)
    y = (X[:, 0] + rng.normal(size=n_rows) > 4).astype(int)
    third = np.argsort(y[: n_rows // 3], kind="stable")
    X[: third.size], y[: third.size] = X[third], y[third]
    weights = rng.integers(0, 4, n_rows).astype(float)
    weights[200] = 0.0  # all that this block holds
    return Rows(X, y, weights if weighted else None)


def cut(rows, size=200):
    return ArrayBlocks.cut(*rows, size=size)


def cut_at(rows, cuts):
    """Blocks that begin and end at these rows; a block may be empty."""
    edges = itertools.pairwise([0, *sorted(cuts), len(rows.y)])
    return ArrayBlocks(
        [
            Block(*(None if column is None else column[slice(*edge)] for column in rows[:3]), n, g)
            for n, edge in enumerate(edges)
            for g in [None if rows.groups is None else rows.groups[slice(*edge)]]
        ]
    )


# The places --------------------------------------------------------------------------------------


def fit_in_memory(ranker, rows, *, grades=False):
    fit = ranker.fit_grades if grades else ranker.fit
    lists = {} if rows.groups is None else {"groups": rows.groups}
    return fit(rows.X, rows.y, sample_weight=rows.weights, **lists)


def fit_mapped(ranker, rows, folder, **options):
    np.save(folder / "table.npy", rows.X)
    table = np.load(folder / "table.npy", mmap_mode="r")
    with pytest.MonkeyPatch.context() as patch:
        if not isinstance(ranker, RankBoost | TreeRanker):  # which bin a table in memory
            patch.setattr("toprank.kernels.memory.available_memory", lambda: 10)
        return fit_in_memory(ranker, rows._replace(X=table), **options)


def fit_blocks(ranker, rows, _, **options):
    return ranker.fit_blocks(cut_at(rows, [200, 201, 201, 600]), **options)


def fit_files(ranker, rows, folder, **options):
    columns = {f"x{j}": column for j, column in enumerate(rows.X.T)}
    roles = {"target": rows.y, "weight": rows.weights, "group": rows.groups}
    roles = {role: column for role, column in roles.items() if column is not None}
    table = pa.table(columns | roles)
    for part in range(3):
        path = folder / f"{part}.parquet"
        pq.write_table(table.slice(part * 333, 333), path, row_group_size=130)
    named = {role: role for role in roles}
    blocks = ParquetBlocks(folder, batch_rows=97, n_jobs=2, scratch=folder, **named)
    ranker.fit_blocks(blocks, **options)
    assert ranker.feature_names_in_.tolist() == list(columns)
    assert len(list(folder.iterdir())) == 3
    return ranker


def fit_dask(ranker, X, y, weights):
    import dask

    import toprank.integrations.dask as there

    twin = getattr(there, type(ranker).__name__)(**ranker.get_params())
    with dask.config.set(scheduler="synchronous"):
        return twin.fit(X, y, weights).to_local()


def fit_dask_array(ranker, rows, _):
    da = pytest.importorskip("dask.array")
    y = da.from_array(rows.y, chunks=999)
    return fit_dask(ranker, da.from_array(rows.X, chunks=(350, 2)), y, rows.weights)


def fit_dask_frame(ranker, rows, _):
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(rows.X, columns=list("abcd")).assign(y=rows.y, w=rows.weights)
    frames = dd.from_pandas(frame, npartitions=4)
    found = fit_dask(ranker, frames[list("abcd")], frames["y"], frames["w"])
    assert found.feature_names_in_.tolist() == list("abcd")
    return found


ONE_MACHINE = [fit_mapped, fit_blocks, fit_files]
PLACES = [*ONE_MACHINE, fit_dask_array, fit_dask_frame]


def assert_same_model(found, expected, atol=0.0):
    """The same stumps and trees, and weights and cuts up to rounding."""
    assert found.classes_.tolist() == expected.classes_.tolist()
    if hasattr(expected, "trees_"):
        for mine, theirs in zip(found.trees_.arrays, expected.trees_.arrays, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        assert found.learning_rate_ == expected.learning_rate_
    if hasattr(expected, "selected_"):
        np.testing.assert_array_equal(found.selected_, expected.selected_)
    for name in ("coef_", "intercept_", "steps_"):
        if hasattr(expected, name):
            mine, theirs = getattr(found, name), getattr(expected, name)
            np.testing.assert_allclose(mine, theirs, atol=atol, rtol=0, err_msg=name)
    if atol == 0.0 or hasattr(expected, "steps_"):
        mine, theirs = found.objective_path_, expected.objective_path_
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", SUMS)
def test_sums_over_rows_give_the_model_of_memory(name, place, tmp_path):
    ranker, atol = SUMS[name]
    rows = draw(weighted=True)
    if isinstance(ranker, RankBoost | TreeRanker):
        rows.X[::7, 1] = np.nan
    expected = fit_in_memory(clone(ranker), rows)
    found = place(clone(ranker), rows, tmp_path)
    assert_same_model(found, expected, atol)


@pytest.mark.parametrize("place", ONE_MACHINE)
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "labels") for name in SPOOLED),
        *((name, "lists") for name in SPOOLED_LISTS),
        *((name, "graded lists") for name in SPOOLED_GRADES),
    ],
)
def test_fits_that_compare_rows_are_those_in_memory_bit_for_bit(name, kind, place, tmp_path):
    ranker, rows, options = SPOOLED_LISTS[name], draw(weighted=True), {}
    if kind != "labels":
        rows = rows._replace(groups=np.array([f"list {n % 7}" for n in range(900)]))
    if kind == "graded lists":
        rows, options = rows._replace(y=rows.y + (rows.X[:, 1] > 4)), {"grades": True}
    as_spooled = rows._replace(X=rows.X.astype(np.float32))
    expected = fit_in_memory(clone(ranker), as_spooled, **options)
    given = as_spooled if place is fit_mapped else rows
    found = place(clone(ranker), given, tmp_path, **options)
    assert hasattr(found, "classes_") == (not options)
    found.classes_ = expected.classes_ = getattr(expected, "classes_", np.empty(0))
    assert_same_model(found, expected)


@given(st.integers(0, 99), st.lists(st.integers(0, 60), max_size=4), st.booleans(), st.booleans())
@settings(max_examples=15)
def test_ties_weights_lists_and_the_cuts_between_blocks_do_not_matter(seed, cuts, weighted, listed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (60, 2)).astype(float)
    y = (X[:, 0] + rng.integers(0, 4, 60) > 3).astype(int)
    y[:6], X[:2, 1] = [0, 1, 0, 1, 0, 1], [0, 3]
    weights = rng.integers(0, 3, 60) + np.where(np.arange(60) < 6, 1.0, 0.0) if weighted else None
    rows = Rows(X, y, weights, np.arange(60) % 3 if listed else None)
    for name in ("squared hinge", "logistic", "svm"):
        ranker = SPOOLED[name]
        expected = fit_in_memory(clone(ranker), rows._replace(X=X.astype(np.float32)))
        assert_same_model(clone(ranker).fit_blocks(cut_at(rows, cuts)), expected)
    for name in [] if listed else ["ir", "stumps", "trees, p-norm"]:
        ranker, _ = SUMS[name]
        expected = fit_in_memory(clone(ranker), rows)
        assert_same_model(clone(ranker).fit_blocks(cut_at(rows, cuts)), expected, atol=1e-6)


def test_logistic_regression_on_blocks_is_that_in_memory_but_for_rounding():
    rows = draw(weighted=True)
    expected = fit_in_memory(LogisticRanker(), rows)
    found = LogisticRanker().fit_blocks(cut(rows))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-4)


class Interrupted(ParquetBlocks):
    """Rows whose third pass is interrupted."""

    passes_left = 2

    def total(self, work, *arguments):
        if not self.passes_left:
            raise KeyboardInterrupt
        self.passes_left -= 1
        return super().total(work, *arguments)

    def kept(self, work, *arguments):
        blocks = super().kept(work, *arguments)
        blocks.total = Interrupted.total.__get__(self)
        return blocks


@pytest.mark.parametrize(
    "ranker", [PNormPush(), IRPush(), RankBoost(), TreeRanker(n_trees=2)], ids=str
)
def test_an_interrupted_fit_leaves_the_model_and_the_disk_as_they_were(ranker, tmp_path):
    rows = draw(300)
    model = fit_files(clone(ranker), rows, tmp_path)
    table = pd.DataFrame(rows.X, columns=model.feature_names_in_)
    scores = model.decision_function(table)
    with pytest.raises(KeyboardInterrupt):
        model.fit_blocks(Interrupted(tmp_path, target="target", scratch=tmp_path))
    np.testing.assert_array_equal(model.decision_function(table), scores)
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("ranker", [PNormPush(), RankBoost(), TreeRanker()], ids=str)
@pytest.mark.parametrize("place", [fit_blocks, fit_files, fit_dask_array])
def test_rows_that_cannot_be_fitted_are_refused_in_every_place(place, ranker, tmp_path):
    rows = draw(weighted=True)
    infinite, weights = rows.X.copy(), rows.weights.copy()
    infinite[777, 2], weights[-1] = np.inf, -1.0
    for changed, message in (
        ({"X": infinite}, "infinite values, in '.*2' first"),
        ({"y": np.ones(900)}, "one class only"),
        ({"y": np.arange(900) % 3}, "binary"),
        ({"weights": weights}, "numbers ≥ 0|weights are ≥ 0"),
        ({"weights": np.zeros(900)}, "nothing to learn"),
    ):
        with pytest.raises(ValueError, match=message):
            place(ranker, rows._replace(**changed), tmp_path)
