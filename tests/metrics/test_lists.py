"""Labels, scores and weights of every kind, clear errors, documentation, and what calls cost."""

import inspect
import math
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from toprank import metrics

OPTIONS = {
    "precision_at_k": {"k": 2},
    "recall_at_k": {"k": 2},
    "lift": {"k": 2},
    "value_at_k": {"k": 2, "cost": 0.5},
}
NAMES = metrics.names()
Y = np.array([1, 0, 0, 1, 1, 0])
S = np.array([0.5, 0.5, 2.0, 1.5, 3.0, -1.0])


def call(name, y=Y, s=S, **options):
    return getattr(metrics, name)(y, s, **(OPTIONS.get(name, {}) | options))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "labels",
    [Y == 1, 2 * Y - 1, Y.astype(float), Y[:, None], np.where(Y == 1, "yes", "no"), Y.tolist()],
    ids=["bool", "plus-minus", "float", "column", "text", "list"],
)
def test_labels_of_every_kind_mean_the_same(name, labels):
    assert call(name, labels) == call(name)


@pytest.mark.parametrize("name", NAMES)
def test_pos_label_names_the_positive_class(name):
    assert call(name, 1 - Y, pos_label=0) == call(name)
    assert call(name, np.where(Y == 1, "b", "c"), pos_label="b") == call(name)


@pytest.mark.parametrize("name", NAMES)
def test_scores_of_every_kind_mean_the_same(name):
    assert call(name, s=S.astype(np.float32)) == call(name)
    assert call(name, s=S.tolist()) == call(name)
    assert call(name, s=S * 1e300) == call(name)
    assert call(name, s=(2 * S).astype(np.int8)) == call(name)


@pytest.mark.parametrize("name", NAMES)
def test_input_is_left_as_it_was(name):
    y, s, w, g = Y.copy(), S.copy(), np.arange(6.0), np.zeros(6)
    call(name, y, s, sample_weight=w, groups=g)
    np.testing.assert_array_equal(y, Y)
    np.testing.assert_array_equal(s, S)
    np.testing.assert_array_equal(w, np.arange(6.0))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": Y[:-1]}, r"y_true has 5 rows, but the scores have 6"),
        ({"s": np.append(S[:-1], np.nan)}, r"scores\[5\] is nan .* remove or impute"),
        ({"s": np.append(S[:-1], -np.inf)}, r"scores\[5\] is -inf"),
        (
            {"s": np.stack([S, S], axis=1)},
            r"scores must hold one number per row, got shape \(6, 2\)",
        ),
        ({"sample_weight": [1, 1]}, r"sample_weight has shape \(2,\), but there are 6 rows"),
        ({"sample_weight": [1, 1, -1, 1, 1, 1]}, r"sample_weight\[2\] is -1.0; to drop a row"),
        ({"sample_weight": np.zeros(6)}, r"sample_weight is zero for every row"),
        ({"sample_weight": [1, 1, np.nan, 1, 1, 1]}, r"sample_weight\[2\] is nan"),
        ({"groups": [3, 3]}, r"groups has shape \(2,\).*not the sizes"),
        ({"pos_label": 7}, r"pos_label=7 does not occur in y_true, which holds 0, 1; pass one of"),
        ({"y": [1, 0, 0, 1, 1, np.nan], "pos_label": 1}, r"y_true holds NaN in row 5 .*drop the"),
        (
            {"y": ["a", "b", None, "b", "a", None]},
            r"y_true holds None in row 2 \(missing in 2 of 6 rows\)",
        ),
        ({"y": ["a", "b", None, "b", "a", "a"], "pos_label": "b"}, r"y_true holds None in row 2"),
        ({"groups": [0, 0, 1, 1, np.nan, 1]}, r"groups holds NaN in row 4 .*must name its list"),
        ({"groups": [0, 0, 1, 1, 1, None]}, r"groups holds None in row 5"),
        ({"groups": np.array([0, 0, 1, 1, "NaT", 1], "M8[D]")}, r"groups holds NaT in row 4"),
        ({"groups": np.array([1, 1, 2, 2, pd.NA, 1])}, r"groups holds <NA> in row 4"),
        ({"sample_weight": np.full(6, 1.7e308)}, r"sample_weight is too large to sum"),
        ({"ties": "random"}, r"ties must be '.*', got 'random'"),
        ({"undefined": "ignore"}, r"undefined='ignore' must be 'skip', 'error' or a number"),
    ],
)
def test_bad_input_is_named(name, options, message):
    with pytest.raises(ValueError, match=message):
        call(name, **options)


@pytest.mark.parametrize("name", NAMES)
def test_wrong_types_and_options_are_named(name):
    with pytest.raises(TypeError, match=r"scores must be numbers, got dtype"):
        call(name, s=["a"] * 6)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'colour'"):
        call(name, colour="red")


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"dcg", "ndcg"}))
def test_three_classes_are_named(name):
    with pytest.raises(
        ValueError, match=r"y_true must have two classes, got 3 values .* pos_label"
    ):
        call(name, [0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize(
    ("k", "error", "message"),
    [
        (7, ValueError, r"k=7 is longer than the list: the list has 6 rows; pass a smaller k"),
        (0, ValueError, r"k=0 must be at least 1 row"),
        (-3, ValueError, r"k=-3 must be at least 1 row"),
        (1.0, ValueError, r"k=1.0 must be a whole number of rows \(an int\) or a fraction"),
        (2.5, ValueError, r"k=2.5 must be"),
        (math.nan, ValueError, r"k=nan must be"),
        (True, TypeError, r"k=True must be"),
        ("ten", TypeError, r"k='ten' must be"),
    ],
)
@pytest.mark.parametrize("name", ["precision_at_k", "recall_at_k", "lift", "dcg", "ndcg"])
def test_bad_budgets_are_named(name, k, error, message):
    with pytest.raises(error, match=message):
        call(name, k=k)
    if name == "lift":
        with pytest.raises(error, match=message):
            metrics.shortlist_overlap(S, -S, k=k)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("partial_auc", {"max_fpr": 0}, r"max_fpr=0 must lie in \(0, 1\]"),
        ("partial_auc", {"max_fpr": 1.5}, r"max_fpr=1.5 must lie in"),
        ("pnorm_error", {"p": 0.5}, r"p=0.5 must be at least 1"),
        ("pnorm_error", {"p": math.nan}, r"p=nan must be at least 1"),
        (
            "pnorm_error",
            {"p": math.inf},
            r"p=inf has no raw sum; pass normalize=True, or use r_max",
        ),
        ("pnorm_error", {"margin": -1}, r"margin=-1 must be"),
        ("pnorm_error", {"margin": 1, "ties": "average"}, r"does not go with a margin"),
        ("pnorm_error", {"normalize": True, "ties": "average"}, r"no closed form .* choose"),
        (
            "pnorm_error",
            {"ties": "average", "sample_weight": [1, 1, 1, 1, 1, 0.5]},
            r"sample_weight that is not whole",
        ),
        ("dcg", {"log_base": 1}, r"log_base=1 must be above 1"),
        ("dcg", {"gain": "cubic"}, r"gain must be 'exponential' or 'linear', got 'cubic'"),
        ("dcg", {"y": [0, 1, 2, -2, 1, 0]}, r"y_true holds the grade -2"),
        ("ndcg", {"y": [0, 1, 2, math.nan, 1, 0]}, r"y_true holds the grade nan"),
        ("dcg", {"y": [0, 1, 2, math.inf, 1, 0], "gain": "linear"}, r"grade inf; grades must be"),
        ("ndcg", {"y": [0, 1, 2, math.inf, 1, 0]}, r"grade inf; grades must be finite"),
        (
            "ndcg",
            {"y": [0, 1, 2, 1e300, 1, 0], "gain": "linear", "sample_weight": 1e10},
            r"gains up to 1e\+300, which times their weights are too large to sum",
        ),
        ("ndcg", {"y": [0, 1, 2, 2000, 1, 0]}, r"grade 2000.0, .* pass gain='linear'"),
        ("bedroc", {"alpha": 0}, r"alpha=0 must be a positive number"),
        (
            "value_at_k",
            {"value": [1, 2]},
            r"value must be a number or one number for each of the 6",
        ),
        ("value_at_k", {"cost": -1}, r"cost must be finite and not negative, got -1"),
        ("enrichment_factor", {"fraction": 1}, r"fraction=1 must lie in \(0, 1\).* use lift"),
    ],
)
def test_bad_options_are_named(name, options, message):
    with pytest.raises(ValueError, match=message):
        call(name, **options)


@pytest.mark.parametrize("name", ["height", "reverse_height", "ranks"])
def test_heights_name_what_is_wrong(name):
    with pytest.raises(ValueError, match=r"y_true is empty"):
        call(name, [], [])
    with pytest.raises(ValueError, match=r"ties must be .*, got 'together'"):
        call(name, ties="together")


def test_overlap_names_scores_of_different_rows():
    with pytest.raises(ValueError, match=r"scores_a has 6 rows, but scores_b has 5"):
        metrics.shortlist_overlap(S, S[1:], k=1)
    with pytest.raises(ValueError, match=r"scores_b\[0\] is nan"):
        metrics.shortlist_overlap(S[:1], [math.nan], k=1)


NEEDS = {
    "no rows": ([], NAMES),
    "no positives": ([0, 0], sorted(set(NAMES) - {"precision_at_k", "dcg", "value_at_k"})),
    "no negatives": (
        [1, 1],
        ["roc_auc", "partial_auc", "positives_at_top", "pnorm_error", "r_max", "bedroc"],
    ),
}


@pytest.mark.parametrize(
    ("lack", "name"), [(lack, name) for lack, (_, names) in NEEDS.items() for name in names]
)
def test_undefined_lists_follow_the_policy(lack, name):
    y = NEEDS[lack][0]
    s = np.arange(len(y))
    with pytest.warns(UndefinedMetricWarning, match=rf"{name} needs a .*; the result is nan"):
        assert math.isnan(call(name, y, s))
    with pytest.raises(ValueError, match=rf"{name} needs a .* pass undefined='skip'"):
        call(name, y, s, undefined="error")
    assert call(name, y, s, undefined=0.25) == 0.25
    if lack == "no rows":
        return
    # Beside a list that is defined, such a list is skipped, named, or replaced.
    both = {"y": [*Y, *y], "s": [*S, *s], "groups": ["good"] * len(Y) + ["bad"] * len(y)}
    assert call(name, **both) == pytest.approx(call(name))
    with pytest.raises(ValueError, match=r"1 of 2 lists \(first: .*bad.*\) have none"):
        call(name, **both, undefined="error")
    assert call(name, **both, undefined=3) == pytest.approx((call(name) + 3) / 2)


def test_undefined_warning_points_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        metrics.roc_auc([1, 1], [0, 1])
        metrics.shortlist_overlap([], [], k=1)
    assert [warning.filename for warning in caught] == [__file__, __file__]


def test_a_list_may_lack_the_positive_class():
    assert math.isnan(metrics.roc_auc([0, 0], [1, 2], pos_label=1, undefined=math.nan))


def test_lists_shorter_than_k_are_judged_at_their_own_length():
    y, s, groups = [1, 0, 0, 1, 1], [5, 4, 3, 2, 1], [0, 0, 0, 1, 1]
    assert metrics.precision_at_k(y, s, k=3, groups=groups) == pytest.approx((1 / 3 + 1) / 2)
    with pytest.raises(ValueError, match=r"k=4 is longer than the list: the longest list has 3"):
        metrics.precision_at_k(y, s, k=4, groups=groups)


def test_a_fraction_is_rounded_up_to_a_whole_row():
    y = np.arange(100) < 7
    assert metrics.precision_at_k(y, -np.arange(100), k=0.07) == 1
    assert metrics.precision_at_k(y, -np.arange(100), k=0.071) == 7 / 8
    assert metrics.precision_at_k(y, -np.arange(100), k=0.07, sample_weight=0.1) == pytest.approx(1)


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_is_documented(name):
    call = getattr(metrics, name)
    text = inspect.getdoc(call)
    assert not re.search(r"(?<!#)\{[a-z]+\}", text)
    for parameter in inspect.signature(call).parameters:
        assert f"\n{parameter} : " in text


def test_importing_the_metrics_loads_nothing_heavy():
    code = (
        "import sys, toprank.metrics as m; m.roc_auc([0, 1], [0, 1]); "
        "print([n for n in ('sklearn', 'numba', 'pandas', 'matplotlib') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def calls_on(n_lists):
    """How many functions five metrics of this many lists call."""
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(n_lists), 5))
    y, scores = rng.integers(0, 2, groups.size), rng.integers(0, 4, groups.size)
    calls = 0

    def count(*_):
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        for name in ("roc_auc", "average_precision", "ndcg", "bedroc", "r_max"):
            getattr(metrics, name)(y, scores, groups=groups)
    finally:
        sys.setprofile(None)
    return calls


def test_a_hundred_thousand_lists_take_no_loop():
    """Each list is a segment of one computation: the calls of numpy do not grow with them."""
    calls_on(10)  # what is imported and cached in the first call does not count
    assert calls_on(20_000) <= 1.1 * calls_on(2_000) < 10_000
