from . import datasets as datasets
from . import metrics as metrics
from . import objectives as objectives
from . import plots as plots
from .rankers import IRPush as IRPush
from .rankers import PNormPush as PNormPush

__version__: str
