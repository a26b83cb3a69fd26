"""The exponential push and the metrics for CatBoost.

CatBoost hands a custom objective blocks of at most 1,000 rows, without saying which rows they are.
A push compares every positive with every negative, so no push can be computed there, with one
exception. The exponential push has a twin that is a sum over rows (P-Classification, Ertekin and
Rudin 2011)::

    PC(s) = Σ_i w_i·e^{-s_i} + (b/p)·Σ_k w_k·e^{p·s_k},    b above 0,

whose minimum over all shifts s + c is a multiple of R_p^{1/(p + 1)}: where a model can shift its
scores, as trees can, both are minimised by the same rankings. Metrics do see all rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from toprank.integrations.trees import TreeMetric
from toprank.kernels.tilts import class_exponents
from toprank.objectives import OBJECTIVES
from toprank.objectives.exponential import PushFormula

__all__ = ["CatBoostMetric", "CatBoostObjective", "metric", "objective"]

# e^HIGHEST is the largest derivative that is handed over; CatBoost sums them in float64.
HIGHEST = 300.0

_WHY = (
    "CatBoost shows a custom objective at most 1,000 rows at a time and not which, so only the "
    "exponential push can be computed, row by row; use toprank.integrations.lightgbm or .xgboost."
)


def objective(
    objective: str, *, p: float = 4.0, focus: str = "top", balance: float = 1.0, **options: Any
) -> CatBoostObjective:
    """Exponential push for CatBoost's ``loss_function``.

    Parameters
    ----------
    objective : {"pnorm_push"}
        The only objective that can be computed row by row; others raise and say why.
    p : float, default=4
        How hard to push, from 1 to below inf.
    focus : {"top", "bottom"}, default="top"
        Which end of the list is pushed.
    balance : float, default=1
        b above: how much the class whose heights are priced (the negatives at the top) counts.
        It changes no ranking at the minimum, only by how much all scores are shifted; the number
        of positives over that of negatives lets the scores stay near 0 from the first round on.
    **options
        None is taken; an option of another engine raises and says why.

    Examples
    --------
    >>> import catboost, numpy as np
    >>> from toprank.integrations.catboost import metric, objective
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = (X[:, 0] + rng.normal(size=500) > 1).astype(int)
    >>> model = catboost.CatBoost(
    ...     {"loss_function": objective("pnorm_push", p=2, balance=y.mean() / (1 - y.mean())),
    ...      "eval_metric": metric("precision_at_k", k=20), "iterations": 50, "verbose": False,
    ...      "allow_writing_files": False}
    ... ).fit(X, y)
    >>> float(y[np.argsort(-model.predict(X))[:5]].mean())
    1.0
    """
    if objective not in OBJECTIVES:
        raise ValueError(f"objective={objective!r} is not known; CatBoost can take 'pnorm_push'.")
    loss = options.pop("loss", "exponential")
    if objective != "pnorm_push" or loss != "exponential" or options:
        asked = ", ".join(f"{key}={value!r}" for key, value in options.items())
        what = f"{objective} with loss={loss!r}" + (f" and {asked}" if asked else "")
        raise ValueError(f"{what} is not possible in CatBoost. {_WHY}")
    if focus not in ("top", "bottom"):
        raise ValueError(
            f"focus={focus!r} is not possible in CatBoost, 'top' or 'bottom' is. {_WHY}"
        )
    if not 1 <= p < math.inf:
        raise ValueError(f"p must be at least 1 and finite in CatBoost, got {p!r}. {_WHY}")
    if not 0 < balance < math.inf:
        raise ValueError(f"balance must be above 0 and finite, got {balance!r}.")
    return CatBoostObjective(float(p), focus, float(balance))


def metric(name: str, **options: Any) -> CatBoostMetric:
    """Metric for CatBoost's ``eval_metric`` and early stopping.

    It sees all rows of a set and their weights, but no lists: CatBoost does not pass them on.

    ``name`` and ``options`` are those of :func:`toprank.metrics.scorer`.

    Examples
    --------
    >>> from toprank.integrations.catboost import metric
    >>> metric("precision_at_k", k=2).evaluate([[0.2, 0.9, 0.7]], [1, 0, 1], None)
    (0.5, 1.0)
    """
    return CatBoostMetric(name, options)


class CatBoostObjective:
    """What :func:`objective` returns."""

    no_jit = True  # CatBoost would try to compile the method, and warn that it cannot

    def __init__(self, p: float, focus: str, balance: float) -> None:
        self.p = p
        self.focus = focus
        self.balance = balance

    def calc_ders_range(
        self, approxes: ArrayLike, targets: ArrayLike, weights: ArrayLike | None
    ) -> list[tuple[float, float]]:
        """First and second derivative of -PC for a block of rows."""
        sign = 1 if self.focus == "top" else -1
        powers = PushFormula(self.p, {sign: 1.0}).powers(sign)
        scores, positives = np.asarray(approxes, dtype=np.float64), np.asarray(targets) > 0
        exponents = np.empty_like(scores)
        class_exponents(scores, positives, (0.0, 0.0), powers, exponents)
        exponents[positives != (sign > 0)] += math.log(self.balance)
        slopes = np.exp(np.minimum(exponents, HIGHEST))
        if weights is not None:
            slopes = slopes * np.asarray(weights)
        first = np.where(positives, slopes, -slopes)
        second = -np.where(positives, *powers) * slopes
        return list(zip(first.tolist(), second.tolist(), strict=True))

    def __repr__(self) -> str:
        return f"objective('pnorm_push', p={self.p:g}, focus={self.focus!r})"


class CatBoostMetric(TreeMetric):
    """What :func:`metric` returns."""

    no_jit = True  # as for objectives

    def is_max_optimal(self) -> bool:
        """Whether more is better."""
        return self.maximize

    def evaluate(
        self, approxes: Any, target: ArrayLike, weight: ArrayLike | None
    ) -> tuple[float, float]:
        """The metric of all rows, and a weight that leaves it as it is."""
        return self.measure(np.asarray(approxes[0]), np.asarray(target), weight, None), 1.0

    def get_final_error(self, error: float, weight: float) -> float:  # noqa: ARG002
        """The metric itself."""
        return error
