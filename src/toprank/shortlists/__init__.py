"""From scores to a list: error control, value, caps, daily budgets, audits, stopping.

Scores in, list out: nothing here needs a ranker of ours. Promises rest on a
:class:`Calibration`, scores and labels of rows that the model did not learn from.
"""

from toprank.shortlists.calibration import Calibration
from toprank.shortlists.conformal import (
    Drift,
    benjamini_hochberg,
    hits_at_least,
    measure_drift,
    p_values,
    select_among_models,
    select_rows,
)
from toprank.shortlists.shortlist import Shortlist, make_shortlist
from toprank.shortlists.value import (
    Profit,
    expected_gains,
    expected_profit,
    learn_chances,
    most_valuable,
)

__all__ = [
    "Calibration",
    "Drift",
    "Profit",
    "Shortlist",
    "benjamini_hochberg",
    "expected_gains",
    "expected_profit",
    "hits_at_least",
    "learn_chances",
    "make_shortlist",
    "measure_drift",
    "most_valuable",
    "p_values",
    "select_among_models",
    "select_rows",
]
