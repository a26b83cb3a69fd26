"""What all learners share: streams, batches, refused input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.model_selection import cross_val_score

from tests.predtron.streams import LABEL_SETS, LEARNERS, N, labels_for, refuses, state, table
from toprank.predtron import (
    Basis,
    PRank,
    Predtron,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronOrdinal,
    PredtronSubsetRanker,
    ZeroOne,
)

CLASSES = [PredtronClassifier, PredtronOrdinal, PRank]


def first(learner):
    return {"classes": [0, 1, 2]} if learner in CLASSES else {}


ALL = [*CLASSES, *LABEL_SETS, PredtronSubsetRanker]


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("learner", ALL)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_table_with_nan_or_infinity_is_refused(rng, X, learner, fitted, bad):
    y = labels_for(learner, rng)
    model = learner()
    if fitted:
        model.partial_fit(X, y, **first(learner))
    broken = X.copy()
    broken[3, 2] = bad
    refuses(model, "contains (NaN|infinity)|Input X contains", broken, y, **first(learner))


@pytest.mark.parametrize("learner", ALL)
def test_an_empty_batch_is_refused(rng, X, learner):
    y = labels_for(learner, rng)
    model = learner().partial_fit(X, y, **first(learner))
    refuses(model, "0 sample|minimum of 1 is required", X[:0], y[:0])


@pytest.mark.parametrize("learner", ALL)
def test_other_lengths_and_widths_are_refused(rng, X, learner):
    y = labels_for(learner, rng)
    model = learner().partial_fit(X, y, **first(learner))
    refuses(model, "39 rows", X, y[:-1])
    before = state(model)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :4], y)
    assert state(model) == before


@pytest.mark.parametrize("learner", CLASSES)
def test_a_new_class_in_mid_stream_is_refused(rng, X, learner):
    y = labels_for(learner, rng)
    model = learner().partial_fit(X, y, classes=[0, 1, 2])
    before = state(model)
    y[7] = 3
    with pytest.raises(ValueError, match="label 3, which is none of the classes"):
        model.partial_fit(X, y)
    assert state(model) == before
    model.partial_fit(X[:5], y[:5])


@pytest.mark.parametrize("learner", CLASSES)
def test_classes_are_named_first_and_stay(rng, X, learner):
    y = labels_for(learner, rng)
    with pytest.raises(ValueError, match="name all classes at the first partial_fit"):
        learner().partial_fit(X, y)
    with pytest.raises(ValueError, match="one class only"):
        learner().fit(X, np.zeros(N))


@pytest.mark.parametrize("scale", [1e150, 1e300, 1e-150, 1e-310])
@pytest.mark.parametrize("learner", ALL)
def test_tables_whose_squares_are_no_numbers_are_refused(rng, X, learner, scale):
    model = learner()
    refuses(model, "Scale the columns first", scale * X, labels_for(learner, rng), **first(learner))


@pytest.mark.parametrize("scale", [1e100, 1e-100])
@pytest.mark.parametrize("learner", ALL)
def test_other_scales_are_learned_from(rng, X, learner, scale):
    y = labels_for(learner, rng)
    model = learner(random_state=0).fit(scale * X, y)
    assert np.isfinite(model.decision_function(scale * X)).all()


def test_kernels_refuse_sparse_tables(rng, X):
    from scipy import sparse

    with pytest.raises(TypeError, match=r"pass X.toarray\(\)"):
        PredtronClassifier(kernel="rbf").fit(sparse.csr_array(X), rng.integers(0, 2, N))


def test_certify_checks_its_reference(rng, X):
    y = rng.integers(0, 3, N)
    model = PredtronClassifier().fit(X, y)
    with pytest.raises(ValueError, match="coef has shape"):
        model.certify(X, y, np.ones((2, 5)))
    with pytest.raises(ValueError, match="must not be 0 everywhere"):
        model.certify(X, y, np.zeros((3, 5)))
    with pytest.raises(TypeError, match="linear model"):
        PredtronClassifier(kernel="rbf").fit(X, y).certify(X, y, np.ones((3, 5)))


def test_weights_and_support_vectors_exist_where_they_make_sense(rng, X):
    y = rng.integers(0, 3, N)
    assert not hasattr(PredtronClassifier().fit(X, y), "support_vectors_")
    assert not hasattr(PredtronClassifier(kernel="rbf").fit(X, y), "coef_")
    assert not hasattr(PredtronClassifier(), "coef_")


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])


@pytest.mark.parametrize("make", [lambda f: f, lambda f: pl.DataFrame(f.to_dict("list"))])
def test_frames_in(frame, make):
    y = (frame["a"] > 0).to_numpy()
    model = PredtronClassifier(random_state=0).fit(make(frame), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    plain = PredtronClassifier(random_state=0).fit(frame.to_numpy(), y)
    np.testing.assert_allclose(model.coef_, plain.coef_)


def test_bad_columns_are_named(frame):
    y = (frame["a"] > 0).to_numpy()
    with pytest.raises(ValueError, match="not numbers: 'd'"):
        PredtronClassifier().fit(frame.assign(d="text"), y)
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        PredtronClassifier().fit(pd.concat([frame, frame[["a"]]], axis=1), y)


def test_cross_validation_works(rng):
    X = rng.normal(size=(200, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    assert cross_val_score(PredtronOrdinal(random_state=0, max_iter=30), X, y).mean() > 0.8
    generic = Predtron(ZeroOne(), Basis([0, 1, 2]), random_state=0, max_iter=30)
    assert cross_val_score(generic, X, y).mean() > -0.2


def first_options(y):
    return {} if y.ndim == 2 else {"classes": np.unique(y)}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("average", [False, True])
def test_batches_add_up_to_one_pass(rng, name, average):
    learner, labels = LEARNERS[name]
    X, y = table(rng, 120), labels(rng)
    options = {"average": average} | ({} if learner is PRank else {"eta": 0.3})
    whole = learner(max_iter=1, shuffle=False, **options).fit(X, y)
    parts = learner(**options)
    for start in range(0, 120, 50):
        rows = slice(start, start + 50)
        parts.partial_fit(X[rows], y[rows], **(first_options(y) if start == 0 else {}))
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-12)
    assert parts.n_rounds_ == whole.n_rounds_ == 120


@pytest.mark.parametrize("name", LEARNERS)
def test_sparse_tables_teach_what_dense_ones_teach(rng, name):
    learner, labels = LEARNERS[name]
    X, y = table(rng, 120), labels(rng)
    dense = learner(random_state=0).fit(X, y)
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        other = learner(random_state=0).fit(kind(X), y)
        np.testing.assert_allclose(other.coef_, dense.coef_, atol=1e-9)
        np.testing.assert_allclose(
            other.decision_function(kind(X)), dense.decision_function(X), atol=1e-8
        )


def test_the_loss_driven_variant_does_not_depend_on_the_step(rng):
    X, y = table(rng, 200), rng.integers(0, 2, (200, 5))
    runs = [
        PredtronLabelRanker(eta=eta, random_state=0).fit(X, y).losses_ for eta in (0.01, 1.0, 64.0)
    ]
    np.testing.assert_allclose(runs[0], runs[1])
    np.testing.assert_allclose(runs[2], runs[1])


def test_a_fit_ends_after_a_pass_without_a_loss(rng):
    X = rng.normal(size=(50, 3))
    X[:, 0] += np.sign(X[:, 0]) * 2
    model = PredtronClassifier(max_iter=1000, random_state=0).fit(X, X[:, 0] > 0)
    assert model.n_iter_ < 1000
    assert not model.losses_[-50:].any()
