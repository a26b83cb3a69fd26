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
from toprank.integrations.dask.streams import ClusterStream

__all__ = [
    "ClusterStream",
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
