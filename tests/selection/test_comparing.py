"""Rankers are compared on the same rows, and the verdict follows the numbers."""

import numpy as np
import pytest

from toprank.selection import LabelledRows, LogisticRanker, RankerComparison, compare


def make_comparison(push, plain, n_rows=400):
    """Two rankers that place so many of 20 positives within a budget of 40."""
    y = np.zeros(n_rows, dtype=bool)
    y[:20] = True
    scores = {}
    for name, found in (("plain", plain), ("push", push)):
        order = np.r_[0:found, 20 : 60 - found, found:20, 60 - found : n_rows]
        scores[name] = np.empty(n_rows)
        scores[name][order] = -np.arange(n_rows, dtype=float)
    return RankerComparison(rows=LabelledRows(np.zeros((n_rows, 1)), y), scores=scores, budget=40)


@pytest.mark.parametrize(
    ("push", "plain", "words"),
    [
        (18, 4, ["gained 14.0 rows: 18.0 against 4.0 positives in the first 40", "excludes zero"]),
        (4, 18, ["lost 14.0 rows", "excludes zero"]),
        (11, 10, ["gained 1.0 rows", "includes zero"]),
        (10, 10, ["gained nothing", "includes zero"]),
    ],
)
def test_the_verdict_follows_the_numbers(push, plain, words):
    found = make_comparison(push, plain)
    verdict = found.verdict("push", "plain")
    for word in words:
        assert word in verdict
    assert found.names[0] == ("push" if push > plain else "plain")
    assert found.expected("push").mean == pytest.approx(push)
    assert found.at_top_of("plain") == plain


def test_rankers_are_compared_on_every_row(rings):
    X, y = rings
    calls = []
    found = compare(
        {"a": LogisticRanker(), "b": LogisticRanker(0.01)},
        X,
        y,
        budget=60,
        n_folds=3,
        watch=lambda *numbers: calls.append(numbers),
    )
    assert calls == [(done, 6) for done in range(1, 7)]
    assert found.judged == 60
    assert all(scores.size == y.size for scores in found.scores.values())
    low, high = found.expected("a")[1:]
    assert 0 <= low <= high <= 60
