"""Choosing for a budget: members fitted on folds, blended, with the hits to expect."""

from toprank.selection.blending import Blend, compare
from toprank.selection.candidates import Candidate, family
from toprank.selection.engines import EngineRanker, ForestRanker
from toprank.selection.judging import Hits, Interval, LabelledRows, RankerComparison
from toprank.selection.logistic import LogisticRanker
from toprank.selection.top_ranker import TopRanker

__all__ = [
    "Blend",
    "Candidate",
    "EngineRanker",
    "ForestRanker",
    "Hits",
    "Interval",
    "LabelledRows",
    "LogisticRanker",
    "RankerComparison",
    "TopRanker",
    "compare",
    "family",
]
