"""The public estimators: check, choose an objective and a solver, keep what was learned."""

from toprank.rankers.adaboost import AdaBoostRanker
from toprank.rankers.base import BaseRanker
from toprank.rankers.linear_rank_svm import LinearRankSVM
from toprank.rankers.multilabel_boosting import AdaBoostMH, AdaBoostMR
from toprank.rankers.precision_at_k import PrecisionAtKRanker
from toprank.rankers.push import IRPush, PNormPush
from toprank.rankers.rank_svm import RankSVM
from toprank.rankers.rankboost import RankBoost
from toprank.rankers.smooth_margin import SmoothMarginRanker
from toprank.rankers.soft_rankboost import SoftRankBoost
from toprank.rankers.tree import TreeRanker

__all__ = [
    "AdaBoostMH",
    "AdaBoostMR",
    "AdaBoostRanker",
    "BaseRanker",
    "IRPush",
    "LinearRankSVM",
    "PNormPush",
    "PrecisionAtKRanker",
    "RankBoost",
    "RankSVM",
    "SmoothMarginRanker",
    "SoftRankBoost",
    "TreeRanker",
]
