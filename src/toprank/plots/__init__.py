"""Plots of ranked lists, drawn on matplotlib Axes.

Every function draws on the given Axes, or on a new figure if ``ax`` is None, and returns the Axes.
No function shows a figure or changes matplotlib's settings. Series differ in colour and in dashes,
so that they can be distinguished without colour.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
