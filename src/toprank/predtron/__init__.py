"""Mistake-driven online learning for any prediction problem (Jain, Natarajan and Tewari 2015).

A problem is a loss and a representation; everything else follows from the two.
"""

from toprank.predtron.classifier import PRank, PredtronClassifier, PredtronOrdinal
from toprank.predtron.generic import Predtron
from toprank.predtron.links import EntrywiseLink, GroupLink, Link, SchattenLink
from toprank.predtron.losses import (
    Absolute,
    ErrorSetSize,
    Hamming,
    NDCGLoss,
    ShortlistLoss,
    SubsetZeroOne,
    ZeroOne,
)
from toprank.predtron.multilabel import PredtronMultilabel
from toprank.predtron.problem import compose, search_by_enumeration, surrogate
from toprank.predtron.rankers import PredtronLabelRanker, PredtronSubsetRanker
from toprank.predtron.representations import (
    Basis,
    Indicators,
    Positions,
    Representation,
    Signs,
    Vectors,
)

__all__ = [
    "Absolute",
    "Basis",
    "EntrywiseLink",
    "ErrorSetSize",
    "GroupLink",
    "Hamming",
    "Indicators",
    "Link",
    "NDCGLoss",
    "PRank",
    "Positions",
    "Predtron",
    "PredtronClassifier",
    "PredtronLabelRanker",
    "PredtronMultilabel",
    "PredtronOrdinal",
    "PredtronSubsetRanker",
    "Representation",
    "SchattenLink",
    "ShortlistLoss",
    "Signs",
    "SubsetZeroOne",
    "Vectors",
    "ZeroOne",
    "compose",
    "search_by_enumeration",
    "surrogate",
]
