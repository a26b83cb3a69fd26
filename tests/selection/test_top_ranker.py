"""TopRanker chooses by held-out rows alone, at the right budget, and says how sure it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from toprank import TopRanker
from toprank.app.journal import Journal
from toprank.datasets import load_digits_eights
from toprank.selection import LogisticRanker, compare, family, split_interval
from toprank.selection.engines import EngineRanker, installed_engines
from toprank.selection.halving import Halving, Trial, simplest_of_the_best
from toprank.selection.labelled import LabelledTable, budget_of_fold

QUICK = {"candidates": ("logistic", "ir-push"), "n_splits": 2, "outer_splits": 0}


@pytest.fixture(scope="module")
def rings():
    """Positives in a ring: a straight line cannot find them, thresholds can."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3))
    return X, (np.abs(X[:, 0]) < 0.35) & (np.abs(X[:, 1]) < 0.9)


@pytest.mark.parametrize(
    ("budget", "n_test", "n_rows", "expected"),
    [
        (100, 300, 1000, 30),
        (100, 333, 1000, 34),  # rounded up
        (0.01, 250, 1000, 3),
        (1, 10, 1000, 1),
        (5000, 10, 20, 10),  # never more than there are
        (0.07, 100, 100, 7),
    ],
)
def test_a_fold_is_judged_at_its_share_of_the_budget(budget, n_test, n_rows, expected):
    assert budget_of_fold(budget, n_test, n_rows) == expected


def test_lists_are_judged_at_the_budget_itself_and_never_split(rings):
    X, y = rings
    groups = np.arange(y.size) % 20
    data = LabelledTable(X, y, None, groups, 5)
    for train, test in data.splits(3, 1 / 3, 0):
        assert not set(groups[train]) & set(groups[test])
        assert data.fold(train, test, data.size).k == 5


def test_a_share_of_lists_is_a_share_of_each(rings):
    X, y = rings
    data = LabelledTable(X, y, None, np.arange(y.size) % 20, 0.1)
    [(train, test)] = data.splits(1, 1 / 3, 0)
    assert data.fold(train, test, data.size).k == 0.1


def test_budgets_of_folds_count_weight(rings):
    X, y = rings
    data = LabelledTable(X, y, np.where(y, 3.0, 1.0), None, 100)
    [(train, test)] = data.splits(1, 1 / 3, 0)
    share = data.rows(test).size / data.size
    assert data.fold(train, test, data.size).k == np.ceil(100 * share)


def test_copies_of_a_row_are_one_row_with_their_weights():
    X = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [1.0, 2.0], [-0.0, 1.0]])
    y = np.array([True, False, True, False, False])
    merged = LabelledTable(X, y, None, None, 1).merged()
    found = sorted(zip(merged.X.tolist(), merged.positives, merged.weights, strict=True))
    assert found == [([0.0, 1.0], False, 2.0), ([1.0, 2.0], False, 1.0), ([1.0, 2.0], True, 2.0)]
    apart = LabelledTable(X, y, None, np.arange(5), 1).merged()  # in lists of their own
    assert apart.n_rows == 5


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_a_row_of_weight_two_and_the_row_twice_are_the_same_lesson(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (12, 2)).astype(float), rng.random(12) < 0.5
    weights = rng.integers(1, 4, 12)
    weighted = LabelledTable(X, y, weights.astype(float), None, 1).merged()
    rows = rng.permutation(np.repeat(np.arange(12), weights))
    repeated = LabelledTable(X[rows], y[rows], np.ones(rows.size), None, 1).merged()
    for name in ("X", "positives", "weights"):
        assert np.array_equal(getattr(weighted, name), getattr(repeated, name))


def test_thresholds_are_chosen_where_a_line_is_wrong(rings):
    X, y = rings
    names = ("logistic", "pnorm-push", "rankboost")
    model = TopRanker(60, candidates=names, n_splits=4, outer_splits=2).fit(X, y)
    assert model.best_candidate_ == "rankboost"
    assert model.precision_.mean > 0.8
    assert model.precision_.low <= model.precision_.mean <= model.precision_.high
    assert model.outer_scores_.shape == (2,)


def test_logistic_regression_is_chosen_where_nothing_is_gained():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 3))
    y = X[:, 0] + rng.logistic(size=500) > 1.5
    model = TopRanker(50, candidates=("logistic", "pnorm-push"), n_splits=4, outer_splits=0)
    assert model.fit(X, y).best_candidate_ == "logistic"
    assert model.precision_ is None


def test_of_equals_the_simplest_is_chosen():
    def trial(simplicity, precision):
        candidate = family(["logistic"])[0]._replace(simplicity=simplicity)
        values = np.array(precision)
        return Trial(candidate, 0, 90, 60, 30, values, values, 0.0)

    close = [trial(0, [0.8, 0.9, 0.7]), trial(1, [0.9, 0.8, 0.8])]
    assert simplest_of_the_best(close).candidate.simplicity == 0
    clear = [trial(0, [0.5, 0.6, 0.4]), trial(1, [0.9, 0.9, 0.8])]
    assert simplest_of_the_best(clear).candidate.simplicity == 1


def test_halving_gives_many_settings_few_rows(rings):
    X, y = rings
    data = LabelledTable(np.tile(X, (10, 1)), np.tile(y, 10), None, None, 50)
    rungs = Halving().rungs(data, 40)
    rows, kept = zip(*rungs, strict=True)
    assert list(rows) == sorted(rows)
    assert rows[0] < rows[-1] == data.n_rows
    assert list(kept) == sorted(kept, reverse=True)
    assert kept[-1] == 1


def test_results_hold_every_trial_with_its_interval():
    X, y = load_digits_eights(return_X_y=True)
    results = TopRanker(50, **QUICK).fit(X[:600], y[:600]).cv_results_
    sizes = {values.shape[0] for values in results.values()}
    assert len(sizes) == 1
    assert (results["low_test_score"] <= results["mean_test_score"]).all()
    assert results["mean_test_score"][0] == pytest.approx(results["split_test_scores"][0].mean())


def test_the_same_seed_gives_the_same_choice_and_two_processes_too(rings):
    X, y = rings
    models = [TopRanker(50, n_jobs=n_jobs, **QUICK).fit(X, y) for n_jobs in (None, None, 2)]
    scores = [model.cv_results_["mean_test_score"] for model in models]
    assert np.array_equal(scores[0], scores[1])
    assert np.array_equal(scores[0], scores[2])


def test_rows_of_weight_zero_are_no_rows(rings):
    X, y = rings
    weights = np.ones(y.size)
    weights[500:] = 0
    with_zero = TopRanker(50, **QUICK).fit(X, y, sample_weight=weights)
    without = TopRanker(50, **QUICK).fit(X[:500], y[:500], sample_weight=weights[:500])
    assert np.allclose(with_zero.decision_function(X), without.decision_function(X))


def test_preprocessing_is_learned_within_each_fold(monkeypatch):
    pandas = pytest.importorskip("pandas")
    import toprank.selection.labelled as module

    seen = []
    real = module.TableEncoder

    class Watched(real):
        def fit(self, X, y=None):
            seen.append(X.n_rows)
            return super().fit(X, y)

    monkeypatch.setattr(module, "TableEncoder", Watched)
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {"job": rng.choice(["a", "b"], 300), "n": rng.normal(size=300), "gone": [None] * 300}
    )
    frame.loc[::7, "n"] = np.nan
    y = (frame["job"] == "a") & (rng.random(300) < 0.6)
    model = TopRanker(30, **QUICK).fit(frame, y)
    assert seen[-1] == 300
    assert set(seen[:-1]) == {200}
    assert model.top(frame, 30).size == 30


def test_a_comparison_lets_the_chooser_encode_within_its_own_folds(monkeypatch):
    import pyarrow as pa

    import toprank.selection.labelled as module
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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": 0}, "budget"),
        ({"budget": 2.5}, "whole number"),
        ({"budget": True}, "budget"),
        ({"n_splits": 1}, "n_splits"),
        ({"outer_splits": -1}, "outer_splits"),
        ({"test_size": 1.0}, "test_size"),
        ({"candidates": ["magic"]}, "candidates"),
        ({"candidates": []}, "candidates"),
    ],
)
def test_wrong_parameters_are_told(options, words, rings):
    with pytest.raises(ValueError, match=words):
        TopRanker(**options).fit(*rings)


def test_too_few_rows_to_compare_give_the_simplest():
    model = TopRanker(2).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert model.best_candidate_ == "logistic"
    assert model.rank([[1.0], [3.0]]).tolist() == [2, 1]


@pytest.mark.parametrize("ranker", [LogisticRanker(), TopRanker(10, **QUICK)], ids=["log", "top"])
def test_scikit_learn_checks_pass(ranker):
    failed = []
    for estimator, check in estimator_checks_generator(ranker):
        name = getattr(check, "func", check).__name__
        try:
            check(estimator)
        except Exception as error:  # noqa: BLE001 (told below, all at once)
            if type(error).__name__ != "SkipTest":
                failed.append(f"{name}: {error}")
    assert failed == []


# Comparisons ----------------------------------------------------------------------------


def test_a_journal_saves_what_is_done(rings, tmp_path):
    X, y = rings
    fits = []

    class Counted(LogisticRanker):
        def fit(self, X, y, **given):
            fits.append(1)
            return super().fit(X, y, **given)

    rankers = {"a": Counted(), "b": LogisticRanker()}
    path = tmp_path / "journal"
    first = compare(rankers, X, y, budget=20, n_splits=2, journal=Journal(path, "x", resume=False))
    again = compare(rankers, X, y, budget=20, n_splits=2, journal=Journal(path, "x", resume=True))
    assert len(fits) == 2
    assert np.array_equal(first.precision["a"], again.precision["a"])
    assert np.array_equal(first.test_scores["a"], again.test_scores["a"])
    with pytest.raises(ValueError, match="another comparison"):
        Journal(path, "y", resume=True)


def test_lists_and_weights_are_compared_too(rings):
    X, y = rings
    groups = np.arange(y.size) % 25
    weights = np.linspace(0.5, 1.5, y.size)
    found = compare(
        {"a": LogisticRanker()}, X, y, budget=3, n_splits=2, groups=groups, sample_weight=weights
    )
    assert found.precision["a"].shape == (2,)
    assert (found.at_top["a"] <= 28).all()


@pytest.mark.parametrize("engine", installed_engines())
def test_engines_score_rows(engine, rings):
    X, y = rings
    model = clone(EngineRanker(engine)).fit(X[:400], y[:400])
    scores = model.decision_function(X[400:])
    assert scores[y[400:]].mean() > scores[~y[400:]].mean()


def test_one_split_has_no_interval():
    assert split_interval(np.array([0.5]), n_train=1, n_test=1).high == np.inf
