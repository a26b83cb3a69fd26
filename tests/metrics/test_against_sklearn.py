"""Where scikit-learn has the same metric, ours gives the same number."""

import numpy as np
import pytest
from sklearn import metrics as theirs

from toprank import metrics

rng = np.random.default_rng(0)
N_ROWS = 300
Y = rng.integers(0, 2, N_ROWS)
GRADES = rng.integers(0, 5, N_ROWS)
TIED = rng.integers(0, 20, N_ROWS).astype(float)
DISTINCT = rng.permutation(N_ROWS) / 7
WEIGHTS = rng.exponential(size=N_ROWS) * (rng.random(N_ROWS) < 0.9)


@pytest.mark.parametrize("scores", [TIED, DISTINCT], ids=["ties", "no ties"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
class TestSameAsScikitLearn:
    def test_roc_auc(self, scores, weights):
        expected = theirs.roc_auc_score(Y, scores, sample_weight=weights)
        assert metrics.roc_auc(Y, scores, sample_weight=weights) == pytest.approx(expected)

    @pytest.mark.parametrize("max_fpr", [0.05, 0.3, 0.77, 1.0])
    def test_partial_auc(self, scores, weights, max_fpr):
        expected = theirs.roc_auc_score(Y, scores, sample_weight=weights, max_fpr=max_fpr)
        value = metrics.partial_auc(Y, scores, sample_weight=weights, max_fpr=max_fpr)
        # Theirs joins curve points by straight lines, also the steps that the cut goes through.
        assert value == pytest.approx(expected, rel=1e-9 if scores is TIED else 5e-3)

    def test_average_precision(self, scores, weights):
        expected = theirs.average_precision_score(Y, scores, sample_weight=weights)
        value = metrics.average_precision(Y, scores, sample_weight=weights)
        assert value == pytest.approx(expected)


@pytest.mark.parametrize("name", ["dcg", "ndcg"])
@pytest.mark.parametrize("scores", [TIED, DISTINCT], ids=["ties", "no ties"])
@pytest.mark.parametrize("k", [None, 10])
def test_gains_are_the_same_as_scikit_learns(name, scores, k):
    expected = getattr(theirs, f"{name}_score")([GRADES], [scores], k=k)
    assert getattr(metrics, name)(GRADES, scores, k=k, gain="linear") == pytest.approx(expected)


def test_average_precision_in_random_order_keeps_its_digits_in_long_lists():
    """A positive alone at place n has precision 1/n, also where harmonic sums are large."""
    n_rows = 1_000_000
    y = np.arange(n_rows) == 0
    value = metrics.average_precision(y, np.arange(n_rows), ties="average")
    assert value == pytest.approx(1 / n_rows, rel=1e-9)
    tied = metrics.average_precision(y, np.arange(n_rows) // 2, ties="average")
    assert tied == pytest.approx((1 / n_rows + 1 / (n_rows - 1)) / 2, rel=1e-8)
