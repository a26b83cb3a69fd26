"""Comparisons as the report tells them; they are made in :mod:`toprank.selection`."""

from toprank.selection.comparison import Comparison, compare
from toprank.selection.intervals import Interval, split_interval

__all__ = ["Comparison", "Interval", "compare", "split_interval"]
