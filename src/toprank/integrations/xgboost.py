"""Objectives and metrics for XGBoost's native and scikit-learn interfaces.

What comes back from :func:`objective` goes into ``obj=`` of ``xgboost.train`` or into
``objective=`` of ``XGBRegressor``; what comes back from :func:`metric` into ``custom_metric=`` or
``eval_metric=``. Row weights are taken from XGBoost's own data, and so are lists (``group`` or
``qid`` of a ``DMatrix``), which may have any length. XGBoost cannot hold both at once: with lists
it wants one weight per list. So row weights within lists are handed to :func:`objective` itself.
How gradients are scaled is written in :mod:`toprank.integrations.trees`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xgboost
from numpy.typing import ArrayLike, NDArray

from toprank.integrations.trees import TreeMetric, TreeObjective, array_if_any, ids_of_lists
from toprank.objectives import objective_named

if TYPE_CHECKING:
    from toprank.objectives import Objective

__all__ = ["PARAMS", "XGBoostMetric", "XGBoostObjective", "metric", "objective"]

# Scores start at 0 (XGBoost would start them at the mean label), and the metric of XGBoost's
# stand-in objective, the squared error, is not printed.
PARAMS: dict[str, Any] = {"base_score": 0.0, "disable_default_eval_metric": True}


def objective(
    objective: str | Objective,
    *,
    row_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> XGBoostObjective:
    """Objective for XGBoost.

    Parameters
    ----------
    objective : {"pnorm_push", "ir_push", "precision_at_k", "soft_top"} or Objective
        Name of an objective, or an object from :mod:`toprank.objectives`.
    row_weight : array-like of shape (n_rows,), optional
        Weights of the training rows, for data with lists, where XGBoost has no place for them.
    n_jobs : int, optional
        Threads that compute the gradients of long lists, as in scikit-learn; the results are the
        same. By default as many as this process may use. XGBoost does not tell how many threads
        it has itself, so pass 1 where it has one.
    **options
        Options of the named objective, such as ``p=4``, ``loss="logistic"``, ``focus="both"`` or
        ``k=100``.

    Returns
    -------
    XGBoostObjective
        Function that XGBoost calls every round. Pass ``**PARAMS`` along with your parameters:
        scores then start at 0.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from toprank.integrations.xgboost import PARAMS, objective
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = (X[:, 0] + rng.normal(size=500) > 1).astype(int)
    >>> push = objective("pnorm_push", p=4)
    >>> model = xgboost.XGBRegressor(objective=push, n_estimators=20, **PARAMS).fit(X, y)
    >>> y[np.argsort(-model.predict(X))[:5]]
    array([1, 1, 1, 1, 1])
    """
    return XGBoostObjective(objective_named(objective, options), row_weight, n_jobs)


def metric(name: str, **options: Any) -> XGBoostMetric:
    """Metric for XGBoost's evaluation and early stopping.

    XGBoost cannot ask a metric whether more is better. Tell it: ``maximize=metric.maximize`` in
    ``xgboost.train``, or ``xgboost.callback.EarlyStopping(rounds=50, maximize=metric.maximize)``
    among the ``callbacks`` of an ``XGBRegressor``.

    ``name`` and ``options`` are those of :func:`toprank.metrics.scorer`.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.integrations.xgboost import metric
    >>> top = metric("precision_at_k", k=2)
    >>> top(np.array([1, 0, 1]), np.array([0.2, 0.9, 0.7]))
    0.5
    >>> top.maximize
    True
    """
    return XGBoostMetric(name, options)


def _read(data: Any, scores: Any, weight: Any) -> tuple[Any, Any, Any, Any]:
    """Scores, labels, weights and list ids, however XGBoost called.

    The native interface calls with (scores, DMatrix), the scikit-learn one with
    (labels, scores, weights).
    """
    labels, groups = data, None
    if isinstance(scores, xgboost.DMatrix):
        matrix, scores = scores, data
        labels, weight = matrix.get_label(), matrix.get_weight()
        groups = ids_of_lists(np.diff(matrix.get_uint_info("group_ptr")), matrix.num_row())
    return scores, labels, array_if_any(weight), groups


class XGBoostObjective(TreeObjective):
    """What :func:`objective` returns."""

    def __init__(
        self,
        objective: Objective,
        row_weight: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(objective, n_jobs)
        self.row_weight = None if row_weight is None else np.asarray(row_weight)

    def __call__(
        self, y_true: NDArray[Any], y_pred: Any, sample_weight: ArrayLike | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and Hessian; natively called with (scores, DMatrix)."""
        scores, y, weight, groups = _read(y_true, y_pred, sample_weight)
        if np.ndim(scores) != 1:
            raise ValueError(
                f"XGBoost gave scores of shape {np.shape(scores)}; ranking needs one score per "
                "row, so pass labels of two classes in one column."
            )
        if groups is not None and weight is not None:
            raise ValueError(
                "XGBoost holds one weight per list where there are lists, but this objective "
                "weighs rows; leave weight= of the DMatrix out and pass one weight per row to "
                "objective(..., row_weight=...)."
            )
        if self.row_weight is not None and weight is not None:
            raise ValueError(
                "there are weights in the data and in row_weight; pass them in one place."
            )
        return self.gradients(scores, y, self.row_weight if weight is None else weight, groups)


class XGBoostMetric(TreeMetric):
    """What :func:`metric` returns."""

    def __call__(
        self, y_true: NDArray[Any], y_pred: Any, sample_weight: ArrayLike | None = None
    ) -> float | tuple[str, float]:
        """The value; natively called with (scores, DMatrix), name and value."""
        scores, y, weight, groups = _read(y_true, y_pred, sample_weight)
        value = self.measure(scores, y, weight if groups is None else None, groups)
        return (self.__name__, value) if isinstance(y_pred, xgboost.DMatrix) else value
