"""Fits, scores and shortlists on Dask collections; imports Dask and nothing more."""

from toprank.integrations.dask.chunks import DaskBlocks
from toprank.integrations.dask.rankers import (
    IRPush,
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
    "PNormPush",
    "RankBoost",
    "TopRanker",
    "TreeRanker",
    "cutoff",
    "decision_function",
    "predict",
    "top",
]
