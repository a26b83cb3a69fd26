"""From scores to a list: error control, value, caps, daily budgets, audits, stopping.

All functions take scores of any model. Promises are computed from a :class:`Calibration`, scores
and labels of rows that the model was not fitted on.
"""

import lazy_loader

# The names and where they live are in __init__.pyi; nothing is imported before it is used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
