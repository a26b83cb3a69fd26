"""Bad streams: a clear error or the documented policy, and the model as it was."""

import pickle

import numpy as np
import pytest

from toprank.predtron import (
    PRank,
    Predtron,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabel,
    PredtronOrdinal,
    PredtronSubsetRanker,
    Vectors,
    ZeroOne,
    search_by_enumeration,
)

N = 40


@pytest.fixture(name="X")
def some_rows(rng):
    return rng.normal(size=(N, 5))


CLASSES = [PredtronClassifier, PredtronOrdinal, PRank]
LABEL_SETS = [PredtronMultilabel, PredtronLabelRanker]


def labels_for(learner, rng):
    return rng.integers(0, 2, (N, 4)) if learner in LABEL_SETS else rng.integers(0, 3, N)


def first(learner):
    return {"classes": [0, 1, 2]} if learner in CLASSES else {}


def state(model):
    """Everything an estimator knows, as bytes."""
    return pickle.dumps(vars(model))


def refuses(model, complaint, X, y, error=ValueError, **options):
    """A call that fails in both ways of learning, and leaves no trace."""
    before = state(model)
    for method in ("partial_fit", "fit"):
        own = {} if method == "fit" else options
        with pytest.raises(error, match=complaint):
            getattr(model, method)(X, y, **own)
        assert state(model) == before


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


def test_other_classes_later_are_refused(rng, X):
    model = PredtronClassifier().partial_fit(X, rng.integers(0, 2, N), classes=[0, 1])
    with pytest.raises(ValueError, match="not those of the first call"):
        model.partial_fit(X, rng.integers(0, 2, N), classes=[0, 1, 2])


@pytest.mark.parametrize("learner", LABEL_SETS)
def test_a_new_label_in_mid_stream_is_refused(rng, X, learner):
    Y = labels_for(learner, rng)
    model = learner().partial_fit(X, Y)
    before = state(model)
    with pytest.raises(ValueError, match="y has 5 labels, but the first call had 4"):
        model.partial_fit(X, np.hstack([Y, Y[:, :1]]))
    with pytest.raises(ValueError, match="between a matrix of labels and a vector"):
        model.partial_fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="matrix of 0 and 1"):
        model.partial_fit(X, Y + 1)
    assert state(model) == before


def test_a_new_class_of_a_vector_is_refused_by_label_sets(rng, X):
    model = PredtronLabelRanker().partial_fit(X, rng.integers(0, 3, N), classes=[0, 1, 2])
    before = state(model)
    with pytest.raises(ValueError, match="none of the classes"):
        model.partial_fit(X, np.full(N, 9))
    assert state(model) == before


@pytest.mark.parametrize(
    ("y", "complaint", "error"),
    [
        ([0, 1, -1, 2], r"y\[2\] is -1", ValueError),
        ([0, 1, np.nan, 2], r"y\[2\] is nan", ValueError),
        ([0, 1, 2000, 2], r"y\[2\] is 2000", ValueError),
        (["a", "b", "c", "d"], "must be grades", TypeError),
    ],
)
def test_strange_grades_are_refused(X, y, complaint, error):
    model = PredtronSubsetRanker().partial_fit(X[:4], [0, 1, 1, 2])
    refuses(model, complaint, X[:4], y, error=error)


def test_lists_that_cannot_be_wrong_count_as_rounds_and_teach_nothing(rng, X):
    model = PredtronSubsetRanker(average=False)
    model.partial_fit(X, rng.integers(0, 3, N), groups=np.arange(N) // 10)
    before = model.coef_.copy()
    rounds = model.n_rounds_
    one_of_one = [0] * 10 + list(range(1, 31))
    model.partial_fit(X, np.r_[np.full(10, 2), np.zeros(30)], groups=one_of_one)
    assert model.n_rounds_ == rounds + 31
    assert not model.losses_.any()
    assert np.array_equal(model.coef_, before)


def test_a_stream_may_begin_with_lists_that_teach_nothing(X):
    model = PredtronSubsetRanker(variant="standard").partial_fit(X, np.zeros(N))
    assert model.decision_function(X).tolist() == [0.0] * N
    assert model.score(X, np.zeros(N)) == 1.0


def test_rows_without_labels_cost_a_label_ranker_nothing(X):
    model = PredtronLabelRanker().partial_fit(X, np.zeros((N, 3), dtype=int))
    assert model.certificate_.cumulative_loss == 0


def test_group_ids_must_fit_the_rows(rng, X):
    with pytest.raises(ValueError, match="one list id a row"):
        PredtronSubsetRanker().fit(X, rng.integers(0, 2, N), groups=[10, 30])


def test_a_loss_that_fails_in_mid_stream_leaves_the_model_as_it_was(X):
    class Shaky(ZeroOne):
        broken = False

        def __call__(self, prediction, label):
            if self.broken and label == 2:
                raise RuntimeError("no idea")
            return super().__call__(prediction, label)

    loss = Shaky()
    corners = Vectors([0, 1, 2], np.eye(3))
    model = Predtron(loss, corners, search=search_by_enumeration)
    y = np.r_[np.zeros(20), np.ones(19), 2].astype(int)
    model.fit(X, y)
    before, rounds = model.coef_.copy(), model.n_rounds_
    Shaky.broken = True
    with pytest.raises(RuntimeError, match="no idea"):
        model.set_params(eta=1.0).partial_fit(X, y)
    assert np.array_equal(model.coef_, before)
    assert model.n_rounds_ == rounds


def test_a_problem_of_ones_own_takes_new_labels_and_refuses_hopeless_ones(X):
    corners = Vectors(["a", "b"], [[1.0], [-1.0]])
    model = Predtron(lambda p, y: float(p != y[0]), corners)
    model.partial_fit(X, ["apple"] * N).partial_fit(X, ["bean", "avocado"] * (N // 2))
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="at least one prediction must cost nothing"):
        model.partial_fit(X, ["cherry"] * N)
    assert np.array_equal(model.coef_, before)


@pytest.mark.parametrize("search", [None, search_by_enumeration])
def test_a_loss_of_ones_own_may_round(X, search):
    # 0.1 + 0.2 - 0.3 is 5.6e-17: right predictions must not count as mistakes
    costs = {("a", "b"): 1.0, ("b", "a"): 1.0, ("a", "a"): 0.1 + 0.2 - 0.3, ("b", "b"): 0.0}
    corners = Vectors(["a", "b"], [[1.0], [-1.0]])
    y = np.where(X[:, 0] > 0, "a", "b").tolist()
    runs = [
        Predtron(loss, corners, search=search, random_state=0).fit(X, y)
        for loss in (lambda p, t: costs[p, t], lambda p, t: float(p != t))
    ]
    assert np.array_equal(runs[0].losses_, runs[1].losses_)
    assert np.array_equal(runs[0].coef_, runs[1].coef_)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"variant": "lazy"}, "variant must be"),
        ({"link": "l1"}, "link must be"),
        ({"r": 1.5}, "means nothing with link='none'"),
        ({"link": "l_r", "kernel": "rbf"}, "has no kernel form"),
        ({"budget": 10}, "belong to a kernel"),
        ({"kernel": "rbf", "budget": 0}, "budget must be a whole number"),
        ({"eta": 0}, "eta must be"),
        ({"eta": "fast"}, "eta must be"),
        ({"eta": np.nan}, "eta must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"loss": "hinge"}, "loss must be"),
        ({"costs": {0: 1.0}}, "no entry for the classes"),
        ({"costs": {0: 1.0, 1: -1.0, 2: 1.0}}, "finite and above 0"),
        ({"costs": np.ones((3, 3))}, "0 on the diagonal"),
        ({"costs": np.eye(2)}, "matrix of shape"),
        ({"reject_cost": 1.5}, "at most 1"),
        ({"reject_cost": 0.0}, "finite and above 0"),
        ({"reject_cost": 0.3, "reject_label": 1}, "none of"),
        ({"reject_cost": 0.3, "reject_label": "?"}, "of the classes' type"),
        ({"reject_cost": 0.3, "fit_intercept": False}, "needs constant terms"),
    ],
)
def test_bad_parameters_are_named(rng, X, options, complaint):
    with pytest.raises(ValueError, match=complaint):
        PredtronClassifier(**options).fit(X, rng.integers(0, 3, N))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"loss": "map"}, "loss must be 'ndcg' or 'precision_at_k'"),
        ({"k": 3}, "belongs to loss='precision_at_k'"),
        ({"loss": "precision_at_k"}, "how long the shortlist"),
        ({"loss": "precision_at_k", "k": 0}, "k must be a whole number"),
        ({"representation": lambda i: i}, "strictly decreasing"),
        ({"representation": "cubic"}, "representation must be"),
    ],
)
@pytest.mark.parametrize("learner", [PredtronSubsetRanker, PredtronLabelRanker])
def test_bad_parameters_of_rankers_are_named(rng, X, learner, options, complaint):
    with pytest.raises(ValueError, match=complaint):
        learner(**options).fit(X, labels_for(learner, rng))


def test_a_representation_that_fails_for_a_later_list_is_refused_before_the_stream(X):
    model = PredtronSubsetRanker(representation=lambda i: -np.minimum(i, 4))
    model.partial_fit(X[:4], [0, 1, 2, 0])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="strictly decreasing"):
        model.partial_fit(X[:8], [0, 1, 2, 0, 1, 1, 1, 1])
    assert np.array_equal(model.coef_, before)


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
