"""Pictures of ranked lists: Axes in, Axes out.

Every function draws on the Axes it is given, or makes a figure where ``ax`` is None, and returns
what it drew on. None shows a figure or changes matplotlib's settings. Series differ in colour and
in dash, so that they can be told apart without colour.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
