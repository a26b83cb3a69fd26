"""Export of models as an SQL query or a Python file, for use without toprank."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
