from .contributions import pair_contributions as pair_contributions
from .path import fit_push_path as fit_push_path
from .path import push_path as push_path
from .roc import roc_curve as roc_curve
from .shortlist import gain_curve as gain_curve
from .shortlist import precision_curve as precision_curve
from .shortlist import value_curve as value_curve
