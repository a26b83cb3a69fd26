"""Ensembles of trees as plain arrays: scores and contributions."""

from toprank.trees.bins import Bins
from toprank.trees.oblivious import ObliviousTrees

__all__ = ["Bins", "ObliviousTrees"]
