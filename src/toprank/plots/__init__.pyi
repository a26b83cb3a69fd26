from .curves import precision_curve as precision_curve
from .curves import roc_curve as roc_curve
from .curves import value_curve as value_curve
from .push import fit_push_path as fit_push_path
from .push import pair_contributions as pair_contributions
from .push import push_path as push_path
