"""Tables of columns of any kind: as numbers that rankers learn from, in memory or in blocks."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
