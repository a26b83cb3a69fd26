"""P-Norm Push and IR Push as scikit-learn estimators (Rudin 2009)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import expit
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from toprank.objectives import ir_push, pnorm_push
from toprank.objectives.exponential import PushFormula
from toprank.objectives.push import focus_constants
from toprank.rankers.push_fit import PushRanker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.objectives.losses import LossName

__all__ = ["IRPush", "PNormPush"]


def _has_probabilities(ranker: Any) -> bool:
    if ranker.loss == "exponential" and ranker.price is None and ranker.focus in ("top", "bottom"):
        if math.isfinite(ranker.p):
            return True
        raise AttributeError(
            "predict_proba needs a finite p; use sklearn.calibration.CalibratedClassifierCV."
        )
    raise AttributeError(
        "predict_proba is known for loss='exponential', price=None and focus 'top' or 'bottom' "
        f"only (got loss={ranker.loss!r}, price={ranker.price!r}, focus={ranker.focus!r}); "
        "use sklearn.calibration.CalibratedClassifierCV for the others."
    )


class PNormPush(PushRanker):
    """Ranks so that few negatives come near the top: the P-Norm Push.

    Minimises (1/p)·log Σ_k ( Σ_i e^{-(f(x_i) - f(x̃_k))} )^p over positives i and negatives k,
    plus a penalty on the weights, for f a weighted sum of weak rankers. With other losses it is
    the p-th root of the sum, in units of its value where all rows tie. p = 1 asks for a good
    list as a whole (RankBoost's objective); the larger p, the more only the top counts. A pass
    costs O(rows·features), whatever the number of pairs.

    Parameters
    ----------
    p : float, default=4
        How hard to push, from 1 to inf. 4 gains at the top on most tables and still uses the
        whole list; larger values need more rows to generalise.
    loss : {"exponential", "logistic", "hinge", "squared_hinge"}, default="exponential"
        What a pair costs. The exponential loss is the paper's, the fastest, and the only one
        with probabilities.
    price : None or a price, default=None
        What a negative costs, as a function of the pair losses summed over the positives; None
        is the power ``p``.
    focus : {"top", "bottom", "both"}, default="top"
        The end of the list to get right; "both" adds ``bottom_weight`` times the bottom push.
    bottom_weight : float, default=1
        Weight of the bottom where ``focus="both"``.
    weak_rankers : {"features", "stumps"}, transformer or list of functions, default="features"
        What f is built from: features scaled to [0, 1], thresholds on them (missing values
        abstain), the output columns of a transformer, or functions of the table.
    solver : {"auto", "lbfgs", "coordinate"}, default="auto"
        "lbfgs" moves all weights at once; "coordinate" is the paper's boosting-style algorithm,
        one weak ranker a round, sparse when stopped early. "auto" takes "coordinate" for stumps,
        of which there are many, and "lbfgs" otherwise.
    alpha : float, default=1e-3
        Weight of the penalty. Small, but above 0, so that separable data have an optimum; the
        paper has none (``alpha=0``).
    l1_ratio : float, default=0
        Share of the penalty that is ‖λ‖₁, which makes weights exactly zero; the rest is ‖λ‖²/2.
    max_iter : int or None, default=None
        Most iterations, at ``p=inf`` over all powers on the way. None is 1000 for "lbfgs", which
        needs some ten, and 100 for "coordinate", the paper's budget of rounds.
    tol : float or None, default=1e-4
        Stop when no partial derivative is larger (each is at most 1 to begin with); None never
        stops before ``max_iter``. At 1e-4 the first hundred of a list no longer change (see
        :doc:`/experiments/tolerance`); 1e-8 gives the optimum to about 1e-13.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    n_jobs : int or None, default=None
        Threads that share the passes over the table. None is as many as this process may use, so
        that limits of ``threadpoolctl`` are kept; numbers mean what they mean in scikit-learn.
        The model does not depend on it.
    verbose : int, default=0
        1 prints every tenth iteration, 2 every one.

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one
    coef_, intercept_ : of shapes (1, n_features) and (1,), for ``weak_rankers="features"``
    weak_rankers_, weights_ : the fitted weak rankers and their weights
    n_iter_, converged_, objective_path_ : how the fit went; the path starts before iteration 1.
        ``p=inf`` is reached by growing powers, whose means are lower bounds: the path holds them
        and ends with the objective itself, and a converged fit is within max(tol, 1e-4) of the
        last bound
    certificate_ : what was measured on the training list beside what the objective promises, for
        lists of up to 100,000 rows; :meth:`certify` makes it for any list

    Examples
    --------
    >>> from toprank import PNormPush
    >>> from toprank.datasets import load_digits_eights
    >>> X, y = load_digits_eights(return_X_y=True)
    >>> model = PNormPush(p=8).fit(X[:1000], y[:1000])
    >>> model.top(X[1000:], 5)
    array([...])
    >>> int(y[1000:][model.top(X[1000:], 40)].sum())
    38
    """

    def __init__(
        self,
        p: float = 4,
        *,
        loss: LossName = "exponential",
        price: Any = None,
        focus: Literal["top", "bottom", "both"] = "top",
        bottom_weight: float = 1.0,
        weak_rankers: Any = "features",
        solver: Literal["auto", "lbfgs", "coordinate"] = "auto",
        alpha: float = 1e-3,
        l1_ratio: float = 0.0,
        max_iter: int | None = None,
        tol: float | None = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.p = p
        self.loss = loss
        self.price = price
        self.focus = focus
        self.bottom_weight = bottom_weight
        self.weak_rankers = weak_rankers
        self.solver = solver
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _priced_end(self) -> tuple[Any, Literal["top", "bottom", "both"]]:
        return (float(self.p) if self.price is None else self.price), self.focus

    def _objective(self) -> Any:
        return pnorm_push(
            self.p,
            loss=self.loss,
            price=self.price,
            focus=self.focus,
            bottom_weight=self.bottom_weight,
        )

    def _formula(self) -> PushFormula:
        return PushFormula(float(self.p), focus_constants(self.focus, self.bottom_weight))

    def _probability_formula(self) -> PushFormula | None:
        try:
            _has_probabilities(self)
        except AttributeError:
            return None
        return self._formula()

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Give the probability of each class: P(y=1|x) = 1/(1 + e^{-(1+p)·decision_function(x)}).

        Exact for a saturated exponential push; wrap the ranker in CalibratedClassifierCV where the
        weak rankers are few or the penalty strong.
        """
        check_is_fitted(self)
        self._check_has_cut()
        positive = expit((1.0 + self.p) * self.decision_function(X))
        return np.column_stack([1.0 - positive, positive])


class IRPush(PushRanker):
    """Pulls positives up, those near the top most: the IR Push.

    Minimises the mean over positives i of ln(1 + Σ_k e^{-(f(x_i) - f(x̃_k))}) (Rudin 2009,
    equation 2), a convex relative of the discounted cumulative gain. Parameters and attributes
    are those of :class:`PNormPush` that still have a meaning.

    Parameters
    ----------
    loss : {"exponential", "logistic", "hinge", "squared_hinge"}, default="exponential"
        What a pair costs; the exponential loss is the paper's.
    weak_rankers : {"features", "stumps"}, transformer or list of functions, default="features"
        What f is built from.
    solver : {"auto", "lbfgs", "coordinate"}, default="auto"
        As in :class:`PNormPush`.
    alpha : float, default=1e-3
        Weight of the penalty.
    l1_ratio : float, default=0
        Share of the penalty that is ‖λ‖₁.
    max_iter : int or None, default=None
        Most iterations, as in :class:`PNormPush`.
    tol : float or None, default=1e-4
        Stop when no partial derivative is larger, as in :class:`PNormPush`.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    n_jobs : int or None, default=None
        Threads that share the passes over the table. None is as many as this process may use, so
        that limits of ``threadpoolctl`` are kept; numbers mean what they mean in scikit-learn.
        The model does not depend on it.
    verbose : int, default=0
        1 prints every tenth iteration, 2 every one.

    Examples
    --------
    >>> from toprank import IRPush
    >>> model = IRPush().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> model.rank([[0.0], [3.0]])
    array([2, 1])
    """

    def __init__(
        self,
        *,
        loss: LossName = "exponential",
        weak_rankers: Any = "features",
        solver: Literal["auto", "lbfgs", "coordinate"] = "auto",
        alpha: float = 1e-3,
        l1_ratio: float = 0.0,
        max_iter: int | None = None,
        tol: float | None = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.weak_rankers = weak_rankers
        self.solver = solver
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _priced_end(self) -> tuple[Any, Literal["top", "bottom", "both"]]:
        return "log1p", "bottom"

    def _objective(self) -> Any:
        return ir_push(loss=self.loss)

    def _formula(self) -> None:
        return None
