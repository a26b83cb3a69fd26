"""TopRanker on a real cluster: the sample, the blend and the promise of rows in blocks."""

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da

import toprank
from toprank.blocks import ArrayBlocks
from toprank.integrations.dask import TopRanker

OPTIONS = {"candidates": ("pnorm-push", "logistic"), "max_rows": 60}


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    """Samples of ten times max_rows, so that few rows are many."""
    monkeypatch.setattr("toprank.selection.top_ranker._SAMPLED", 10)


def table(n_rows=3000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    y = np.where(X[:, 0] + rng.normal(size=n_rows) > 1.8, "yes", "no")
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y, rng.integers(0, 3, n_rows).astype(float)


def test_a_cluster_gives_the_blend_of_blocks_with_weights_and_missing_values(client):
    X, y, weights = table()
    known = toprank.TopRanker(50, **OPTIONS).fit_blocks(ArrayBlocks.cut(X, y, weights, size=700))
    collection = da.from_array(X, chunks=(1000, 4))
    model = TopRanker(50, **OPTIONS).fit(collection, da.from_array(y, chunks=1000), weights)
    assert client.scheduler_info()["workers"]
    assert model.weights_ == known.weights_
    assert model.fitted_rows_ == known.fitted_rows_
    assert max(model.fitted_rows_.values()) == np.count_nonzero(weights)
    assert model.hits_ == known.hits_
    scores = known.decision_function(X)
    np.testing.assert_allclose(model.decision_function(collection).compute(), scores, atol=1e-6)
    local = model.to_local()
    assert type(local) is toprank.TopRanker
    np.testing.assert_array_equal(local.top(X, 50), model.top(X, 50))
    with pytest.raises(ValueError, match="groups are compared on one machine"):
        TopRanker(50, **OPTIONS).fit(collection, y, groups=np.arange(len(y)) % 3)
