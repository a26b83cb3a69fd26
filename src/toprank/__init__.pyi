from . import datasets as datasets
from . import guarantees as guarantees
from . import metrics as metrics
from . import objectives as objectives
from . import plots as plots
from . import predtron as predtron
from .predtron import PRank as PRank
from .predtron import Predtron as Predtron
from .predtron import PredtronClassifier as PredtronClassifier
from .predtron import PredtronLabelRanker as PredtronLabelRanker
from .predtron import PredtronMultilabel as PredtronMultilabel
from .predtron import PredtronOrdinal as PredtronOrdinal
from .predtron import PredtronSubsetRanker as PredtronSubsetRanker
from .rankers import AdaBoostMH as AdaBoostMH
from .rankers import AdaBoostMR as AdaBoostMR
from .rankers import AdaBoostRanker as AdaBoostRanker
from .rankers import IRPush as IRPush
from .rankers import PNormPush as PNormPush
from .rankers import PrecisionAtKRanker as PrecisionAtKRanker
from .rankers import RankBoost as RankBoost
from .rankers import RankSVM as RankSVM
from .rankers import SmoothMarginRanker as SmoothMarginRanker
from .rankers import SoftRankBoost as SoftRankBoost

__version__: str
