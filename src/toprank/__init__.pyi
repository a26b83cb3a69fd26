from . import datasets as datasets
from . import metrics as metrics
from . import objectives as objectives
from . import plots as plots
from .rankers import IRPush as IRPush
from .rankers import PNormPush as PNormPush
from .rankers import PrecisionAtKRanker as PrecisionAtKRanker
from .rankers import RankBoost as RankBoost

__version__: str
