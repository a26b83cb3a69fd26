"""Rankings that are right at the top of the list."""

import lazy_loader

__version__ = "0.1.0"

# The names and where they live are in __init__.pyi; nothing is imported before it is used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
