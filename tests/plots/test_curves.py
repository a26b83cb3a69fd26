"""ROC, precision and value curves hold the numbers of the metrics; their bands are honest."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.metrics import roc_curve as sklearn_roc_curve

from toprank.metrics import precision_at_k, value_at_k
from toprank.plots import precision_curve, roc_curve, value_curve

CURVES = (roc_curve, precision_curve, value_curve)


@pytest.fixture
def ranked():
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.2
    # Rounded, so that many rows are tied.
    scores = np.round(rng.normal(size=300) + 1.5 * y, 1)
    return y, scores


def drawn(ax, line=0):
    return np.asarray(ax.lines[line].get_xdata()), np.asarray(ax.lines[line].get_ydata())


@pytest.mark.parametrize("weighted", [False, True])
def test_roc_curve_is_scikit_learns(ranked, weighted):
    y, scores = ranked
    weights = np.random.default_rng(0).random(300) if weighted else None
    false, true = drawn(roc_curve(y, scores, sample_weight=weights, zoom=None))
    expected_false, expected_true, _ = sklearn_roc_curve(
        y, scores, sample_weight=weights, drop_intermediate=False
    )
    assert np.allclose(false, expected_false)
    assert np.allclose(true, expected_true)


def test_roc_curve_in_counts_ends_at_the_numbers_of_rows(ranked):
    y, scores = ranked
    full, zoomed = roc_curve(y, {"a": scores, "b": -scores}, counts=True, zoom=20)
    false, true = drawn(full)
    assert (false[-1], true[-1]) == (np.sum(~y), np.sum(y))
    assert zoomed.get_xlim()[1] == 20
    assert [text.get_text() for text in full.get_legend().get_texts()] == ["a", "b"]


def test_zoom_shows_the_curves_inside_it(ranked):
    y, scores = ranked
    _, zoomed = roc_curve(y, scores, zoom=0.1)
    false, true = drawn(zoomed)
    low, high = zoomed.get_ylim()
    leaves_the_edge, reached = true[false == 0].max(), np.interp(0.1, false, true)
    assert leaves_the_edge - 0.1 * reached <= low <= leaves_the_edge
    assert reached <= high <= reached * 1.1


def test_training_and_test_rows_share_a_picture(ranked):
    y, scores = ranked
    labels = {"training": y[:200], "test": y[200:]}
    lists = {"training": scores[:200], "test": scores[200:]}
    full, _ = roc_curve(labels, lists, counts=True, zoom=5)
    assert drawn(full, 0)[1][-1] == np.sum(y[:200])
    assert drawn(full, 1)[1][-1] == np.sum(y[200:])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("curve", "metric"),
    [(precision_curve, precision_at_k), (value_curve, value_at_k)],
)
def test_curves_are_the_metrics_at_every_length(ranked, curve, metric, weighted):
    y, scores = ranked
    weights = np.random.default_rng(1).integers(1, 4, 300) if weighted else None
    places, values = drawn(curve(y, scores, sample_weight=weights, max_k=60, n_resamples=0))
    assert places.tolist() == list(range(1, 61))
    expected = [metric(y, scores, k=k, sample_weight=weights) for k in range(1, 61)]
    assert np.allclose(values, expected)


def band_of(ax):
    edges = ax.collections[0].get_paths()[0].vertices
    return edges[:, 0], edges[:, 1]


def test_bands_agree_with_resampling_rows_one_by_one(ranked):
    y, scores = ranked
    places, heights = band_of(precision_curve(y, scores, max_k=40, n_resamples=2000))
    band = np.sort(heights[places == 40])[[0, -1]]
    rng = np.random.default_rng(5)
    values = []
    for _ in range(2000):
        rows = np.concatenate([rng.choice(np.flatnonzero(y == c), np.sum(y == c)) for c in (0, 1)])
        values.append(precision_at_k(y[rows], scores[rows], k=40))
    # 0.02 is three standard errors of such a quantile.
    assert np.allclose(band, np.quantile(values, [0.025, 0.975]), atol=0.02)


def test_bands_of_a_long_list_cost_its_head_only():
    rng = np.random.default_rng(0)
    y = rng.random(1_000_000) < 0.01
    scores = rng.normal(size=y.size) + 2.0 * y
    ax = precision_curve(y, scores, max_k=100, n_resamples=20)
    places, heights = band_of(ax)
    value = precision_at_k(y, scores, k=100)
    assert heights[places == 100].min() <= value <= heights[places == 100].max()


def test_weighted_bands_treat_a_weight_as_a_size(ranked):
    y, scores = ranked
    plain = precision_curve(y, scores, max_k=40, n_resamples=400)
    doubled = precision_curve(y, scores, sample_weight=np.full(300, 2.0), max_k=80, n_resamples=400)
    for at in (20, 40):
        (places, heights), (places2, heights2) = band_of(plain), band_of(doubled)
        one = np.sort(heights[places == at])[[0, -1]]
        two = np.sort(heights2[places2 == 2 * at])[[0, -1]]
        assert np.allclose(one, two, atol=0.05)


def test_the_same_seed_draws_the_same_band(ranked):
    y, scores = ranked
    first, again, other = (
        band_of(precision_curve(y, scores, random_state=seed))[1] for seed in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("curve", CURVES)
def test_drawing_on_given_axes_makes_no_figure(ranked, curve):
    y, scores = ranked
    figure = Figure()
    ax = figure.subplots(1, 2) if curve is roc_curve else figure.subplots()
    returned = curve(y, scores, ax=ax)
    assert np.array_equal(returned, ax)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("curve", CURVES)
def test_settings_of_matplotlib_stay_as_they_were(ranked, curve):
    before = dict(plt.rcParams)
    curve(*ranked)
    assert dict(plt.rcParams) == before


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize(
    ("y", "scores", "message"),
    [
        ([1, 1, 1], [1, 2, 3], "no negative row"),
        ([0, 0, 0], [1, 2, 3], "no positive row"),
        ([0, 1], [1, 2, 3], "y_true has 2 rows"),
        ([0, 1, 1], [1, np.nan, 3], "scores must be finite"),
        ([0, 1, 1], {"a": [1, np.inf, 3]}, r"scores\['a'\] must be finite"),
        ([0, 1, 1], {}, "scores is empty"),
        ({"a": [0, 1, 1]}, {"b": [1, 2, 3]}, "use the same names"),
    ],
)
def test_bad_rows_are_refused_in_words(curve, y, scores, message):
    with pytest.raises(ValueError, match=message):
        curve(y, scores)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_k": 0}, "max_k must be a number of rows ≥ 1"),
        ({"max_k": "all"}, "max_k must be a number of rows ≥ 1"),
        ({"level": 95}, "level must be a number between 0 and 1, both excluded, got 95"),
        ({"n_resamples": -1}, "n_resamples must be a whole number ≥ 0, got -1"),
        ({"sample_weight": [1, -1, 1, 1]}, "must not be negative"),
    ],
)
def test_bad_options_are_refused_in_words(options, message):
    with pytest.raises(ValueError, match=message):
        precision_curve([0, 1, 1, 0], [1, 2, 3, 4], **options)


@pytest.mark.parametrize(("zoom", "counts"), [(0, False), (2, False), (50, True)])
def test_a_zoom_outside_the_list_is_refused(zoom, counts):
    with pytest.raises(ValueError, match="zoom="):
        roc_curve([0, 1, 1, 0], [1, 2, 3, 4], zoom=zoom, counts=counts)


def test_wrong_axes_are_refused():
    with pytest.raises(ValueError, match="2 Axes"):
        roc_curve([0, 1], [1, 2], ax=Figure().subplots())
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes"):
        precision_curve([0, 1], [1, 2], ax="here")


def test_a_share_of_the_list_is_a_length(ranked):
    places, _ = drawn(value_curve(*ranked, max_k=0.1, n_resamples=0))
    assert places[-1] == 30


def test_weights_that_sum_to_three_rows_are_three_rows():
    y, scores, weights = np.arange(30) % 2, np.arange(30), np.full(30, 0.1)
    for curve in (precision_curve, value_curve):
        places, _ = drawn(curve(y, scores, sample_weight=weights, max_k=3, n_resamples=0))
        assert places.tolist() == [1, 2, 3]
    places, _ = drawn(value_curve(y, scores, sample_weight=weights, n_resamples=0))
    assert places.tolist() == [1, 2, 3]


def test_a_value_curve_marks_its_best_length(ranked):
    y, scores = ranked
    ax = value_curve(y, scores, value=5.0, cost=1.0)
    places, values = drawn(ax)
    expected = [value_at_k(y, scores, k=int(k), value=5.0, cost=1.0) for k in places]
    assert np.allclose(values, expected)
    assert drawn(ax, 1) == (places[np.argmax(values)], max(expected))
    with pytest.raises(ValueError, match="cost must be a number ≥ 0"):
        value_curve(y, scores, cost=-1)
