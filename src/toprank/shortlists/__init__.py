"""From scores to a list: error control, value, caps, daily budgets, audits, stopping.

Scores in, list out: nothing here needs a ranker of ours. Promises rest on a
:class:`Calibration`, scores and labels of rows that the model did not learn from.
"""

import lazy_loader

# The names and where they live are in __init__.pyi; nothing is imported before it is used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
