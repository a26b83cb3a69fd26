"""Ensembles of trees as plain arrays: scores and contributions."""

from toprank.trees.binary import BinaryTrees
from toprank.trees.bins import Bins
from toprank.trees.oblivious import ObliviousTrees

__all__ = ["BinaryTrees", "Bins", "ObliviousTrees"]
