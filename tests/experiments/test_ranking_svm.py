"""The data of the ranking SVM experiment, and the stars on its page."""

import numpy as np
import pytest


@pytest.mark.parametrize("r", [1, 8, 15])
@pytest.mark.parametrize("positive_share", [0.5, 0.9])
def test_rows_without_noise_obey_the_threshold_function(r, positive_share):
    from experiments.svm.data import threshold_rows

    X, y = threshold_rows(400, r=r, noise=0.0, positive_share=positive_share)
    assert set(np.unique(X)) == {-1, 1}
    assert (X[:, -1] == 1).all()
    assert y.mean() == positive_share
    np.testing.assert_array_equal((X[:, :30] > 0).sum(axis=1) >= r, y)


@pytest.mark.parametrize(("r", "share"), [(1, 0.5), (8, 0.7), (15, 0.9)])
def test_at_the_even_chance_independent_variables_give_the_share(r, share):
    from experiments.svm.data import even_chance, threshold_rows

    chance = even_chance(r, share)
    drawn = np.random.default_rng(0).random((100_000, 30)) < chance
    assert (drawn.sum(axis=1) >= r).mean() == pytest.approx(share, abs=0.01)
    X, _ = threshold_rows(4_000, r=r, positive_share=share, chance=chance)
    assert (X[:, :-1] > 0).mean() == pytest.approx(chance, abs=0.01)


@pytest.mark.parametrize("tenths", [5, 7, 9])
def test_the_label_error_is_the_spread_of_the_targets_auc_over_draws(tenths):
    from experiments.svm.page import label_error

    rng = np.random.default_rng(0)
    truth = np.arange(1000) < 100 * tenths
    labels = truth ^ (rng.random((4_000, 1000)) < 0.05)
    wrong = labels != truth
    shares = [(wrong & side).sum(axis=1) / side.sum(axis=1) for side in (labels, ~labels)]
    assert (sum(shares) / 2).std() == pytest.approx(label_error(5, tenths), rel=0.05)


def test_a_star_marks_what_lies_beyond_two_standard_errors():
    from experiments.svm.page import cell

    assert cell((0.90, 0.01), 0.925, 0.01) == "0.900 ± 0.010 / 0.925"
    assert cell((0.90, 0.01), 0.93, 0.01) == "0.900 ± 0.010 / 0.930 \\*"
    assert cell((0.90, 0.01), 0.93, None) == "0.900 ± 0.010 / 0.930 \\*"
    assert cell((0.90, 0.02), 0.93, None) == "0.900 ± 0.020 / 0.930"


def test_ties_are_errors_in_the_tables_as_in_the_papers_definition():
    from experiments.svm.comparison import ties_as_errors

    y = np.array([True, True, False, False])
    assert ties_as_errors(y, np.array([4.0, 2.0, 3.0, 1.0])) == 0.75
    assert ties_as_errors(y, np.array([1.0, 0.0, 1.0 + 1e-15, 0.0])) == 0.25
    assert ties_as_errors(y, np.zeros(4)) == 0.0
