"""What the metrics say of themselves, and what importing them costs."""

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest

from toprank import metrics

METRICS = [*metrics.names(), "price_of_heights"]


@pytest.mark.parametrize("name", METRICS)
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
