"""Parameters and attributes that the learners share, documented once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toprank.rankers.base import documented as filled

PASSES = """\
average : bool, default=True
    Predict with the average of the weights of all rounds, which varies less than the last weights.
max_iter : int, default=10
    Largest number of passes of ``fit``, which stops after a pass without a loss. Averages settle
    in about ten passes.
shuffle : bool, default=True
    Whether ``fit`` shuffles the rows before each pass; ``partial_fit`` keeps their order.
random_state : int, RandomState or None, default=None
    Seed of the shuffling."""

SHARED = """\
variant : {"standard", "loss_driven"}, default=VARIANT
    "standard" is Algorithm 1: it steps away from the loss-augmented prediction, by the same length
    for every loss. "loss_driven" steps away from the prediction itself, in proportion to the loss.
    VARIANT_REASON
link : {"none", "l_r", "group", "schatten"}, default="none"
    Norm of the margin: Euclidean, or one that favours few weights, few features or low rank.
    The Euclidean norm is the fastest and the only one that works with kernels.
r : float, default=None
    Order of the link's norm, above 1 and at most 2; None takes q = max(2, ln n), as the paper.
kernel : str or callable, default=None
    None is linear; otherwise a name or function for scikit-learn's ``pairwise_kernels``.
kernel_params : dict, default=None
    Parameters of the kernel, e.g. ``{"gamma": 0.1}``.
eta : float or "auto", default="auto"
    Step size. "auto" is Theorem 1's c/(4R²), with c and R of the table (of the first batch, in a
    stream), and 1 for the loss-driven variant, whose predictions do not depend on it.
INTERCEPT\
PASSES

Attributes
----------
CLASSES\
coef_, intercept_ : weights of shape (d, n_features) and constant terms of shape (d,)
    Averaged with ``average``; d is the dimension of the representation. Not with a kernel.
support_vectors_, dual_coef_ : with a kernel
certificate_ : :class:`toprank.guarantees.PredtronCertificate`
    Cumulative loss, rounds, mistakes and the constants of the bound, over all rounds so far.
losses_ : loss of every round of the last call
eta_ : step size
n_iter_ : passes of the last ``fit``
n_rounds_ : rounds so far"""

INTERCEPT = """\
fit_intercept : bool, default=True
    Whether each score has a constant term, as a feature that is always 1.
"""

RANKING = """\
loss : {"ndcg", "precision_at_k"}, default="ndcg"
    1 − NDCG counts the whole ranking, its top most; 1 − precision counts only the first ``k``.
k : int, default=None
    Length of the shortlist for "precision_at_k".
representation : {"discount", "reciprocal"}, float or callable, default=1.1
    f in rep(σ) = f(σ)/Z: 1/log₂(1 + i), 1/i, −i^α for a number α > 0, or any strictly decreasing
    function of an array of positions. −i^1.1 is the paper's choice and works better than the
    others on most lists, as it needs no larger margin far down the list than at the top. In the
    standard variant NDCG's own "discount" makes the search one sort; with any other f it is a
    linear assignment, O(m³)."""


def documented(
    *,
    variant: str = "standard",
    reason: str = "The default is that of the paper.",
    intercept: bool = True,
    classes: str = "",
) -> Callable[[Any], Any]:
    """Fill the shared parameters and attributes into a learner's docstring."""
    words = {
        "VARIANT_REASON": reason,
        "VARIANT": f'"{variant}"',
        "INTERCEPT": INTERCEPT if intercept else "",
        "PASSES": PASSES,
        "CLASSES": f"classes_ : {classes}\n" if classes else "",
    }
    shared = SHARED
    for word, text in words.items():
        shared = shared.replace(word, text)

    return filled(shared=shared, passes=PASSES, ranking=f"{RANKING}\n{shared}")
