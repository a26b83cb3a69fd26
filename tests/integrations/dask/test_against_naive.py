"""Metrics of chunks equal their definition, read off every order that the ties allow."""

import functools
from fractions import Fraction

import numpy as np
import pytest

from tests.metrics import naive
from tests.metrics.test_against_naive import LEVELS, OPTIONS, Case, call_of, expected_of, outcome
from toprank.integrations.dask import metrics
from toprank.metrics.driver import DECLARATIONS

N_CASES = 200


@pytest.mark.usefixtures("chunks_at_hand")
@pytest.mark.parametrize("name", metrics.__all__)
def test_metric_of_chunks_equals_its_definition(name):
    for seed in range(N_CASES):
        case = Case(seed, graded=DECLARATIONS[name].graded)
        options, ties = call_of(name, case)
        expected = expected_of(name, case, options, ties)
        given = case.given | options | {"ties": ties, "undefined": case.undefined}
        scores = np.array(LEVELS)[case.levels]
        found = outcome(functools.partial(getattr(metrics, name), case.y, scores, **given))
        if ValueError in (found, expected):
            assert found is expected, (seed, options, ties)
        else:
            near = pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
            assert found == near, (seed, options, ties)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("name", metrics.__all__)
def test_lists_on_worker_processes_equal_their_definition(name, monkeypatch):
    monkeypatch.setattr("toprank.integrations.dask.chunks._FEWEST_ROWS", 200)
    monkeypatch.setattr(metrics, "settle", lambda *judged: judged[2:5])
    choices = OPTIONS.get(name, [{}])
    options = next(choice for choice in choices if not isinstance(choice.get("k"), int))
    unit, ties = Fraction(1, 10), "pessimistic"
    cases = [Case(seed, graded=DECLARATIONS[name].graded) for seed in range(N_CASES)]
    y, levels, copies = (
        np.concatenate([getattr(case, part) for case in cases])
        for part in ("y", "levels", "copies")
    )
    lists = np.concatenate([10 * at + case.lists for at, case in enumerate(cases)])
    values, defined, names = getattr(metrics, name)(
        *(y, np.array(LEVELS)[levels]),
        sample_weight=0.1 * copies,
        groups=lists,
        ties=ties,
        **options,
    )
    by_name = dict(zip(names, np.where(defined, values, np.nan), strict=True))
    for group in np.unique(lists[copies > 0]):
        inside = np.flatnonzero((lists == group) & (copies > 0))
        rows = [naive.Row(2.0 ** y[at] - 1, LEVELS[levels[at]], int(copies[at])) for at in inside]
        expected = naive.value(name, rows, ties=ties, unit=unit, **options)
        assert by_name[group] == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True), group
