"""Mistake-driven online learning for any prediction problem (Jain, Natarajan and Tewari 2015).

A problem is a loss and a representation; everything else follows from the two.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
