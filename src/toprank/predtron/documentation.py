"""Parameters that the learners share, documented once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toprank.rankers.documentation import documented as filled

if TYPE_CHECKING:
    from collections.abc import Callable

    from toprank.rankers.documentation import Estimator

__all__ = ["documented"]

PASSES = """\
average : bool, default=True
    Predict with the average of all rounds' weights, which wavers less than the last.
max_iter : int, default=10
    Most passes of ``fit``; it ends after a pass without a loss. Averages settle in about ten.
shuffle : bool, default=True
    Whether each pass of ``fit`` has an order of its own; a stream keeps its order.
random_state : int, RandomState or None, default=None
    For the orders."""

SHARED = """\
variant : {"standard", "loss_driven"}, default=VARIANT
    Algorithm 1 steps away from the loss-augmented prediction, whatever the loss; the loss-driven
    variant away from the prediction itself, by the loss. VARIANT_REASON
link : {"none", "l_r", "group", "schatten"}, default="none"
    Norm of the margin: Euclidean, or one that favours few entries, few features or low rank.
    The Euclidean one is the quickest and the only one with kernels.
r : float, default=None
    Order of the link's norm, above 1 and at most 2; None takes q = max(2, ln n), the paper's.
kernel : str or callable, default=None
    None is linear; otherwise a name or function for scikit-learn's ``pairwise_kernels``.
kernel_params : dict, default=None
    Its parameters, for instance ``{"gamma": 0.1}``.
budget : int, default=None
    Most support vectors of a kernel; None keeps all. The one that the others need least makes
    room, and from then on there is no average.
eta : float or "auto", default="auto"
    The step. "auto" is Theorem 1's c/(4R²), with c and R of the table (of the first batch, in a
    stream), and 1 for the loss-driven variant, whose predictions do not depend on it.
INTERCEPT\
PASSES"""

INTERCEPT = """\
fit_intercept : bool, default=True
    Whether each score has a constant term, as a feature that is always 1.
"""

ATTRIBUTES = """\
coef_, intercept_ : weights of shape (d, n_features) and constant terms of shape (d,)
    Averaged with ``average``; d is the dimension of the representation. Not with a kernel.
support_vectors_, dual_coef_ : with a kernel
certificate_ : :class:`toprank.guarantees.PredtronCertificate`
    Cumulative loss, rounds, mistakes and the constants of the bound, over all rounds so far.
losses_ : loss of every round of the last call
eta_ : the step
n_iter_ : passes of the last ``fit``
n_rounds_ : rounds so far"""


RANKING = """\
loss : {"ndcg", "precision_at_k"}, default="ndcg"
    1 − NDCG counts the whole ranking, its top most; 1 − precision counts the first ``k`` alone.
k : int, default=None
    Length of the shortlist for "precision_at_k".
representation : {"discount", "reciprocal"}, float or callable, default=1.1
    f in rep(σ) = f(σ)/Z: 1/log₂(1 + i), 1/i, −i^α for a number α > 0, or any strictly decreasing
    function of an array of positions. −i^1.1 is the paper's, and better than the others on most
    lists: it asks for no larger margin far down than at the top. In the standard variant NDCG's
    own "discount" makes the search one sort; with any other f it is a linear assignment, O(m³)."""


def documented(
    *,
    variant: str = "standard",
    reason: str = "The first is the paper's.",
    intercept: bool = True,
) -> Callable[[Estimator], Estimator]:
    """Fill the shared parameters into a learner's docstring."""
    shared = SHARED.replace("VARIANT_REASON", reason).replace("VARIANT", f'"{variant}"')
    shared = shared.replace("INTERCEPT", INTERCEPT if intercept else "").replace("PASSES", PASSES)
    return filled(shared=shared, passes=PASSES, ranking=RANKING, attributes=ATTRIBUTES)
