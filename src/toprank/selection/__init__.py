"""Choosing a ranker for a budget: cross-validation, halving, and intervals that are honest."""

from toprank.selection.candidates import Candidate, family
from toprank.selection.comparison import Comparison, compare
from toprank.selection.logistic import LogisticRanker
from toprank.selection.splits import Interval, split_interval
from toprank.selection.top_ranker import TopRanker

__all__ = [
    "Candidate",
    "Comparison",
    "Interval",
    "LogisticRanker",
    "TopRanker",
    "compare",
    "family",
    "split_interval",
]
