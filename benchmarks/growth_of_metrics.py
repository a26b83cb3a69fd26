"""How the seconds of metrics grow with the length of one list; see :mod:`benchmarks.growth`."""

import numpy as np

from benchmarks import growth
from toprank import metrics

OPTIONS = {
    "roc_auc": {},
    "average_precision": {},
    "ndcg": {},
    "precision_at_k": {"k": 0.01},
    "pnorm_error": {"p": 4},
}


def ranked_list(n_rows):
    rng = np.random.default_rng(0)
    return rng.random(n_rows) < 0.1, rng.normal(size=n_rows)


def metric(name):
    call, options = getattr(metrics, name), OPTIONS[name]
    return lambda y, scores: growth.timed(lambda: call(y, scores, **options))


def results():
    yield from growth.results([(name, ranked_list, metric(name)) for name in OPTIONS])
