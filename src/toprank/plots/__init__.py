"""Pictures of ranked lists: Axes in, Axes out.

Every function draws on the Axes it is given, or makes a figure where ``ax`` is None, and returns
what it drew on. None shows a figure or changes matplotlib's settings. Series differ in colour and
in dash, so that they can be told apart without colour.
"""

from toprank.plots.contributions import pair_contributions
from toprank.plots.path import fit_push_path, push_path
from toprank.plots.roc import roc_curve
from toprank.plots.shortlist import gain_curve, precision_curve

__all__ = [
    "fit_push_path",
    "gain_curve",
    "pair_contributions",
    "precision_curve",
    "push_path",
    "roc_curve",
]
