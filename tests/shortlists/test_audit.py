"""Random rows in a list, and figures from them that are right on average."""

from itertools import combinations

import numpy as np
import pytest

from toprank.shortlists import audit_rows, estimate_hits, inverse_weights


def test_an_audited_list_is_the_head_and_random_rows_of_the_rest():
    scores = np.random.default_rng(0).normal(size=500)
    found = audit_rows(scores, 50, share=0.1)
    order = np.argsort(-scores)
    assert found.rows[:45].tolist() == order[:45].tolist()
    assert set(found.rows[45:]) <= set(order[45:])
    assert found.propensity[-1] == pytest.approx(5 / 455)
    assert found.is_audit.sum() == 5
    assert len(set(found.rows)) == 50
    assert audit_rows(scores, 50, share=0).rows.tolist() == order[:50].tolist()
    drawn = [audit_rows(scores, 50, share=0.1, random_state=seed).rows[45:] for seed in range(400)]
    counts = np.bincount(np.concatenate(drawn), minlength=500)[order[45:]]
    assert counts.max() < 20
    assert abs(counts[:200].sum() / counts.sum() - 200 / 455) < 0.05


def test_the_estimate_and_its_variance_are_unbiased_over_every_draw():
    rng = np.random.default_rng(0)
    y, listed = rng.random(12) < 0.4, rng.random(12) < 0.6
    surely, others = np.arange(4), np.arange(4, 12)
    values, variances = [], []
    for drawn in combinations(others, 3):
        opened = np.append(surely, drawn)
        propensity = np.append(np.ones(4), np.full(3, 3 / 8))
        found = estimate_hits(y[opened], propensity, listed=listed[opened])
        values.append(found.value)
        variances.append(found.error**2)
    assert np.mean(values) == pytest.approx((y & listed).sum())
    assert np.mean(variances) == pytest.approx(np.var(values))


def test_propensities_outside_their_range_are_refused():
    with pytest.raises(ValueError, match="chances above 0 and at most 1"):
        inverse_weights([0.5, 0.0])
    assert inverse_weights([0.5, 1.0]).tolist() == [2, 1]
    # a single audited row has the largest error that it can have
    assert estimate_hits([1], [0.5]).error == pytest.approx(np.sqrt(0.5))
