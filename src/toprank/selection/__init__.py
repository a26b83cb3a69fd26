"""Choosing a ranker for a budget: cross-validation, halving, and confidence intervals."""

from toprank.selection.candidates import Candidate, family
from toprank.selection.comparison import RankerComparison, compare
from toprank.selection.logistic import LogisticRanker
from toprank.selection.splits import Interval, split_interval
from toprank.selection.top_ranker import TopRanker

__all__ = [
    "Candidate",
    "Interval",
    "LogisticRanker",
    "RankerComparison",
    "TopRanker",
    "compare",
    "family",
    "split_interval",
]
