from .contributions import pair_contributions as pair_contributions
from .curves import precision_curve as precision_curve
from .curves import roc_curve as roc_curve
from .curves import value_curve as value_curve
from .path import fit_push_path as fit_push_path
from .path import push_path as push_path
