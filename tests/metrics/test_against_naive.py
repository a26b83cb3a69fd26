"""Every metric equals its definition, read off every order that the ties allow."""

import functools
import itertools
import math
import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from tests.metrics import naive
from toprank import metrics
from toprank.metrics.lists import METRICS

N_CASES = 1000
GRADED = ("dcg", "ndcg")
UNITS = [Fraction(1), Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(1, 5), Fraction(1, 10)]
LEVELS = (-0.2, 0.0, 0.1, 0.4, 0.5, 0.7, 0.8)

OPTIONS = {
    "partial_auc": [{}, {"max_fpr": 0.3}, {"max_fpr": 0.7, "standardize": False}, {"max_fpr": 1.0}],
    "pnorm_error": [
        *({"p": p} for p in (1, 2.5, 4)),
        *({"p": p, "normalize": True} for p in (1, 3, 64, math.inf)),
        {"p": 2, "margin": 0.3},
        {"p": 3, "margin": 0.2, "normalize": True},
    ],
    "precision_at_k": [{"k": k} for k in (1, 2, 3, 0.4, 0.07)],
    "recall_at_k": [{"k": k} for k in (1, 2, 3, 0.5)],
    "lift": [{"k": k} for k in (1, 2, 0.25)],
    "enrichment_factor": [{"fraction": 0.3}, {"fraction": 0.01}],
    "dcg": [{}, {"k": 2, "log_base": math.e}, {"k": 0.5, "log_base": 10.0}, {"gain": "linear"}],
    "ndcg": [{}, {"k": 2, "log_base": math.e}, {"k": 0.5}, {"gain": "linear", "k": 1}],
    "average_reciprocal_rank": [{}, {"normalize": True}],
    "bedroc": [{"alpha": 0.5}, {"alpha": 20.0}],
    "value_at_k": [{"k": 2}, {"k": 0.4, "value": 3.0, "cost": 1.0}, {"k": 1, "cost": 0.5}],
}


class Case:
    """Rows of up to three lists with many ties, as fractions and as a call of a metric."""

    def __init__(self, seed, *, graded):
        rng = np.random.default_rng([seed, graded])
        size = int(rng.integers(1, 21))
        self.rng, self.unit = rng, UNITS[rng.integers(len(UNITS))]
        self.weighted = bool(self.unit != 1 or rng.random() < 0.5)
        self.lists = rng.integers(0, rng.integers(1, 7), size)
        copies = rng.integers(0, 4, size) if self.weighted else np.ones(size, dtype=int)
        copies[0] = max(copies[0], 1)
        # Few copies in each list, for all their orders are judged.
        before = np.tril(self.lists[:, None] == self.lists) @ copies
        kept = before <= (7 if graded else 9)
        self.y = rng.integers(0, 3 if graded else 2, size)
        # Positives tend to the top, as they do where a ranking is of use.
        n_levels = rng.integers(1, 8)
        drawn = rng.integers(0, n_levels, size) + rng.integers(0, 3) * self.y
        self.levels = np.minimum(drawn, n_levels - 1)
        self.copies, self.y, self.levels, self.lists = (
            column[kept] for column in (copies, self.y, self.levels, self.lists)
        )
        self.grouped = bool(self.lists.any() or rng.random() < 0.5)
        self.undefined = ["skip", "error", 0.25][rng.integers(3)]

    @property
    def given(self):
        """What the metric is called with; weights are rounded, as users' are."""
        weights = self.copies * float(self.unit) if self.weighted else None
        return {"sample_weight": weights, "groups": self.lists if self.grouped else None}

    def rows(self, gains, margin=0.0):
        """The same as fractions; positives are lowered by the margin."""
        scores = [Fraction(str(LEVELS[level])) for level in self.levels]
        lowered = Fraction(str(margin))
        return [
            naive.Row(gain, score - lowered * (gain > 0), int(copies), int(group))
            for gain, score, copies, group in zip(
                gains, scores, self.copies, self.lists, strict=True
            )
        ]


def call_of(name, case):
    """Options of a metric and a policy for ties that it offers for them."""
    options = dict(OPTIONS.get(name, [{}])[case.rng.integers(len(OPTIONS.get(name, [{}])))])
    offered = re.findall(r'"(\w+)"', re.search(r"ties : {(.*)}", METRICS[name].__doc__)[1])
    ties = offered[case.rng.integers(len(offered))]
    closed = name != "pnorm_error" or options.get("p") == 1 or not options.get("normalize")
    if "margin" in options or (ties == "average" and not closed):
        ties = "pessimistic"
    return options, ties


def expected_of(name, case, options, ties):
    """What the definition says, or the error that it has to be."""
    own = {key: option for key, option in options.items() if key != "margin"}
    exponential = options.get("gain", "exponential") == "exponential"
    gains = [2.0**y - 1 if exponential else float(y) for y in case.y]
    rows = case.rows(gains, options.get("margin", 0.0))
    kept = [row for row in rows if row.copies]
    fractional = any((row.copies * case.unit).denominator > 1 for row in kept)
    no_closed_form = name == "pnorm_error" and options.get("p") != 1
    if ties == "average" and fractional and no_closed_form:
        return ValueError
    try:
        return naive.value(name, rows, ties=ties, unit=case.unit, undefined=case.undefined, **own)
    except ValueError:
        return ValueError


def outcome(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        try:
            return call()
        except ValueError:
            return ValueError


@pytest.mark.parametrize("name", sorted(METRICS))
def test_metric_equals_its_definition(name):
    for seed in range(N_CASES):
        case = Case(seed, graded=name in GRADED)
        options, ties = call_of(name, case)
        expected = expected_of(name, case, options, ties)
        scores = np.array(LEVELS)[case.levels]
        found = outcome(
            functools.partial(
                getattr(metrics, name),
                *(case.y, scores),
                **(case.given | options),
                ties=ties,
                undefined=case.undefined,
            )
        )
        if ValueError in (found, expected):
            assert found is expected, (seed, options, ties)
        else:
            near = pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
            assert found == near, (seed, options, ties)


def test_amounts_of_rows_equal_their_definition():
    for seed in range(N_CASES):
        case = Case(seed, graded=True)
        ties = ["average", "pessimistic", "optimistic"][seed % 3]
        k = [1, 2, 0.4][case.rng.integers(3)]
        y = np.minimum(case.y, 1)
        value, cost = (case.rng.integers(0, 5, y.size) for _ in range(2))
        rows = case.rows([float(net) for net in value * y - cost])
        found, expected = (
            outcome(call)
            for call in (
                functools.partial(
                    metrics.value_at_k,
                    *(y, np.array(LEVELS)[case.levels]),
                    **(case.given | {"k": k, "value": value, "cost": cost, "ties": ties}),
                ),
                functools.partial(naive.value, "value_at_k", rows, ties=ties, unit=case.unit, k=k),
            )
        )
        assert found == (ValueError if expected is ValueError else pytest.approx(expected)), seed


def test_heights_of_rows_equal_their_definition():
    for seed in range(N_CASES):
        case = Case(seed, graded=False)
        ties = ["pessimistic", "average", "optimistic"][seed % 3]
        share = {"pessimistic": 1, "average": 0.5, "optimistic": 0}[ties]
        weights = float(case.unit) * case.copies
        lists = case.lists if case.grouped else np.zeros_like(case.lists)
        same = lists[:, None] == lists
        below = same & (case.levels[:, None] > case.levels)
        above, tied = below.T, same & (case.levels[:, None] == case.levels)
        positive = case.y == 1
        n_tied = tied @ weights
        first = np.minimum(n_tied, 1)
        expected = {
            "height": ((below + share * tied) @ (weights * positive))[~positive],
            "reverse_height": ((above + share * tied) @ (weights * ~positive))[positive],
            "ranks": (above @ weights + first + share * (n_tied - first))[positive],
        }
        scores = np.array(LEVELS)[case.levels]
        for name, places in expected.items():
            found = getattr(metrics, name)(case.y, scores, ties=ties, **case.given)
            np.testing.assert_allclose(found, places, rtol=1e-12, atol=0, err_msg=f"{name}, {seed}")


@functools.cache
def shortlists(levels, k):
    """Every set of k copies that falling scores allow, equally likely ones equally often."""
    cut = sorted(levels, reverse=True)[k - 1]
    inside = {at for at, level in enumerate(levels) if level > cut}
    tied = [at for at, level in enumerate(levels) if level == cut]
    return [inside | set(rest) for rest in itertools.combinations(tied, k - len(inside))]


def overlap_of_list(a, b, copies, k, ties):
    """Share of the k copies of either shortlist that both hold."""
    first, second = (shortlists(tuple(np.repeat(part, copies).tolist()), k) for part in (a, b))
    pairs = [len(one & other) / k for one in first for other in second]
    return {"average": np.mean, "pessimistic": min, "optimistic": max}[ties](pairs)


def test_shortlist_overlap_equals_its_definition():
    for seed in range(N_CASES):
        case = Case(seed, graded=False)
        ties = ["average", "pessimistic", "optimistic"][case.rng.integers(3)]
        copies = np.minimum(case.copies, 2)
        copies[0] = 1
        other = case.rng.integers(0, 3, copies.size)
        lists = case.lists if case.grouped else np.zeros_like(case.lists)
        counts = [copies[lists == group].sum() for group in np.unique(lists)]
        k = int(case.rng.integers(1, 3))
        taken = k / case.unit
        found = outcome(
            functools.partial(
                metrics.shortlist_overlap,
                *(0.1 * case.levels, 0.1 * other),
                k=k,
                sample_weight=copies * float(case.unit),
                groups=case.given["groups"],
                ties=ties,
            )
        )
        if taken > max(counts):
            assert found is ValueError, seed
            continue
        values = [
            overlap_of_list(
                *(part[lists == group] for part in (case.levels, other, copies)),
                min(int(taken), count),
                ties,
            )
            for group, count in zip(np.unique(lists), counts, strict=True)
            if count
        ]
        assert found == pytest.approx(np.mean(values), rel=1e-9, abs=1e-12), (seed, ties)


@pytest.mark.parametrize("ties", ["pessimistic", "optimistic"])
@pytest.mark.parametrize("options", [{"p": 1}, {"p": 2.5}, {"p": 4}, {"p": 3, "margin": 0.25}])
@pytest.mark.parametrize("digits", [0, 2, None])
def test_long_lists_pay_for_the_same_heights_as_rows_of_weight_1(ties, options, digits):
    if "margin" in options and ties == "optimistic":
        pytest.skip("ties are errors where there is a margin")
    rng = np.random.default_rng(0)
    scores = rng.normal(size=70_000)
    scores = scores if digits is None else np.round(scores, digits)  # with zeros of both signs
    y = rng.random(scores.size) < 0.1
    found = metrics.pnorm_error(y, scores, ties=ties, **options)
    ranked = metrics.pnorm_error(y, scores, ties=ties, sample_weight=np.ones(y.size), **options)
    assert found == pytest.approx(ranked, rel=1e-12)


@pytest.mark.parametrize("n_rows", [20_000, 70_000])
@pytest.mark.parametrize("ties", ["pessimistic", "average"])
def test_an_error_that_overflows_says_so_and_is_finite_if_normalised(n_rows, ties):
    y, s = np.arange(n_rows) % 2, np.arange(n_rows)[::-1] // 5
    with pytest.warns(RuntimeWarning, match=r"overflows at p=100; pass normalize=True") as told:
        assert metrics.pnorm_error(y, s, p=100, ties=ties) == math.inf
    assert told[0].filename == __file__
    exact = metrics.pnorm_error(y, s, p=math.inf, normalize=True)
    for p in (64, 1e4, 1e300):
        value = metrics.pnorm_error(y, s, p=p, normalize=True)
        assert exact * 0.5 ** (1 / p) * 0.8 < value <= exact
