"""Fits, scores, shortlists and metrics on Dask collections; imports Dask and nothing more."""

from toprank.integrations.dask import metrics
from toprank.integrations.dask.chunks import DaskBlocks
from toprank.integrations.dask.rankers import (
    IRPush,
    LinearRankSVM,
    PNormPush,
    RankBoost,
    TopRanker,
    TreeRanker,
    cutoff,
    decision_function,
    predict,
    top,
)

__all__ = [
    "DaskBlocks",
    "IRPush",
    "LinearRankSVM",
    "PNormPush",
    "RankBoost",
    "TopRanker",
    "TreeRanker",
    "cutoff",
    "decision_function",
    "metrics",
    "predict",
    "top",
]
