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


def few_rows(noise=0.1, n_rows=60, seed=0):
    from experiments.svm.data import threshold_rows

    X, y = threshold_rows(n_rows, r=4, k=8, n_variables=12, noise=noise, seed=seed)
    return X[:, :-1], y


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("form", ["exact", "product", "classification"])
def test_the_programs_of_the_grid_solve_the_problems_of_rank_svm(form, signed):
    from experiments.svm.readings import MarginLP
    from toprank import RankSVM

    X, y = few_rows()
    program = MarginLP(form, 0.3, signed=signed).fit(X, y)
    options = {"nu_plus": np.sqrt(0.3)} if form == "product" else {}
    ranker = RankSVM(
        form=form, nu=0.3, signed=signed, constant=signed, scale=False, tol=1e-6, **options
    ).fit(X, y)
    assert program.soft_margin_ == pytest.approx(ranker.certificate_.soft_margin, abs=1e-5)


@pytest.mark.parametrize("noise", [0.05, 0.4])
@pytest.mark.filterwarnings("ignore:RankSVM")
def test_the_constant_takes_all_weight_or_none(noise):
    from experiments.svm.readings import has_margin
    from toprank import RankSVM

    X, y = few_rows(noise)
    without, with_constant = (
        RankSVM(nu=0.2, signed=False, constant=constant, scale=False, tol=1e-6).fit(X, y)
        for constant in (False, True)
    )
    assert has_margin(without) == with_constant.coef_.any() == (noise < 0.1)
    if has_margin(without):
        soft_margins = [one.certificate_.soft_margin for one in (without, with_constant)]
        assert soft_margins[0] == pytest.approx(soft_margins[1], abs=1e-5)


def test_where_zero_is_the_optimum_of_the_2_norm_the_last_model_on_the_way_is_scored():
    from experiments.svm.readings import last_nonzero
    from toprank import RankSVM

    X, y = few_rows(0.4)
    fitted = last_nonzero(RankSVM(2, nu=0.05, form="product", scale=False, tol=1e-2), X, y)
    assert fitted.is_zero_
    assert fitted.coef_.any()


def test_a_cell_is_beyond_by_the_errors_of_both_sides():
    from experiments.svm.fits import Spread, is_beyond, pooled

    assert not is_beyond(Spread(0.90, 0.01, 1.0), 0.928)  # two of 0.01·√2
    assert is_beyond(Spread(0.90, 0.01, 1.0), 0.929)
    assert is_beyond(Spread(0.90, 0.01, 1e9), 0.9201)
    cells = {("row", "SVM"): [(0.8, 0.01, 5), (0.9, 0.03, 5)], ("row", "SVM, 0.1"): [(0.7, 0.1, 2)]}
    assert pooled(cells, ["other", "row"], "SVM") == pytest.approx((0.85, 0.02, 2.0))
    assert pooled(cells, ["row"], "RankBoost") is None
