"""Rankers are compared on the same rows, and the verdict follows the numbers."""

import numpy as np
import pytest

from toprank import TopRanker
from toprank.selection import LogisticRanker, RankerComparison, compare


def make_comparison(push, plain):
    """Two rankers with these precisions at a budget of ten, one a split."""
    labels = np.arange(40) % 2 == 0
    return RankerComparison(
        budget=10,
        n_train=40,
        n_test=40,
        n_test_positives=20,
        precision={"plain": np.array(plain), "push": np.array(push)},
        at_top={"plain": 20 * np.array(plain), "push": 20 * np.array(push)},
        test_rows=np.arange(40),
        test_labels=labels,
        test_scores={"plain": np.arange(40.0), "push": np.arange(40.0) + labels},
    )


@pytest.mark.parametrize(
    ("push", "plain", "words"),
    [
        ([0.9, 0.9, 0.9], [0.5, 0.5, 0.5], ["gained 4.0 rows", "excludes zero"]),
        ([0.5, 0.5, 0.5], [0.9, 0.9, 0.9], ["lost 4.0 rows", "excludes zero"]),
        ([0.9, 0.5, 0.8], [0.7, 0.6, 0.7], ["gained 0.7 rows", "includes zero"]),
        ([0.7, 0.6, 0.7], [0.9, 0.5, 0.8], ["lost 0.7 rows", "includes zero"]),
        ([0.7, 0.6], [0.6, 0.7], ["gained nothing", "includes zero"]),
    ],
)
def test_the_verdict_follows_the_numbers(push, plain, words):
    verdict = make_comparison(push, plain).verdict("push", "plain")
    for word in words:
        assert word in verdict


def test_rankers_are_compared_on_the_same_rows_that_they_did_not_see():
    seen = []

    class Watcher:
        """Scores a row by its number, and remembers what it was shown."""

        def get_params(self, **_):
            return {}

        def fit(self, X, _y):
            self.trained = set(X[:, 0])
            return self

        def decision_function(self, X):
            assert self.trained.isdisjoint(X[:, 0])
            seen.append(tuple(X[:, 0]))
            return X[:, 0]

    X = np.arange(60.0)[:, None]
    y = X[:, 0] >= 40
    calls = []
    result = compare(
        {"a": Watcher(), "b": Watcher()},
        X,
        y,
        budget=5,
        n_splits=3,
        watch=lambda *numbers: calls.append(numbers),
    )
    assert seen[0::2] == seen[1::2]
    assert result.n_splits == 3
    assert calls == [(done, 6) for done in range(1, 7)]
    assert np.all(result.precision["a"] == 1)
    assert np.all(result.at_top["b"] == result.n_test_positives)
    assert np.array_equal(result.test_scores["a"], X[result.test_rows, 0])


QUICK = {"candidates": ("logistic", "ir-push"), "n_splits": 2, "outer_splits": 0}


def test_a_comparison_lets_the_chooser_encode_within_its_own_folds(monkeypatch):
    import pyarrow as pa

    import toprank.selection.splits as module
    from toprank.tables import Table

    seen = []
    real = module.TableEncoder

    class Watched(real):
        def fit(self, X, y=None):
            seen.append(X.n_rows)
            return super().fit(X, y)

    monkeypatch.setattr(module, "TableEncoder", Watched)
    rng = np.random.default_rng(0)
    job, n = rng.choice(["a", "b"], 360), rng.normal(size=360)
    table = Table(pa.table({"job": job, "n": np.where(n > 1, np.nan, n)}))
    y = (job == "a") & (rng.random(360) < 0.6)
    rankers = {"top": TopRanker(20, **QUICK), "logistic": LogisticRanker()}
    found = compare(rankers, table, y, budget=20, n_splits=1)
    # Half the rows for the others and for the final fit, two thirds of them in every inner fold.
    assert set(seen) == {180, 120}
    assert seen.count(180) == 2
    assert found.precision["top"].shape == (1,)


def test_lists_and_weights_are_compared_too(rings):
    X, y = rings
    groups = np.arange(y.size) % 25
    weights = np.linspace(0.5, 1.5, y.size)
    found = compare(
        {"a": LogisticRanker()}, X, y, budget=3, n_splits=2, groups=groups, sample_weight=weights
    )
    assert found.precision["a"].shape == (2,)
    assert (found.at_top["a"] <= 28).all()
