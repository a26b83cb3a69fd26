"""Objectives and metrics for LightGBM's native and scikit-learn interfaces.

Pass the result of :func:`objective` as ``params["objective"]`` of ``lightgbm.train`` or as
``objective=`` of ``LGBMRegressor`` and ``LGBMRanker``, and the result of :func:`metric` as
``feval=`` or ``eval_metric=``. Row weights and lists (``group``) are those of LightGBM's data; a
list may have any length. For the scale of gradients see :mod:`toprank.integrations.trees`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from toprank.integrations.trees import TreeMetric, TreeObjective, ids_of_lists
from toprank.objectives import objective_named

if TYPE_CHECKING:
    from toprank.objectives import Objective

__all__ = ["LightGBMMetric", "LightGBMObjective", "metric", "objective"]


def objective(
    objective: str | Objective, *, n_jobs: int | None = None, **options: Any
) -> LightGBMObjective:
    """Objective for LightGBM.

    Parameters
    ----------
    objective : {"pnorm_push", "ir_push", "precision_at_k", "soft_top"} or Objective
        Name of an objective, or an object from :mod:`toprank.objectives`.
    n_jobs : int, optional
        Threads that compute the gradients of long lists, as in scikit-learn; the results are the
        same. By default as many as this process may use. LightGBM does not tell how many threads
        it has itself, so pass 1 where it has one.
    **options
        Options of the named objective, such as ``p=4``, ``loss="logistic"``, ``focus="both"`` or
        ``k=100``.

    Returns
    -------
    LightGBMObjective
        Function that LightGBM calls in every round. Scores start at 0, as for all custom objectives
        of LightGBM.

    Examples
    --------
    >>> import lightgbm, numpy as np
    >>> from toprank.integrations.lightgbm import objective
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = (X[:, 0] + rng.normal(size=500) > 1).astype(int)
    >>> push = objective("pnorm_push", p=4)
    >>> model = lightgbm.LGBMRegressor(objective=push, n_estimators=20, verbose=-1).fit(X, y)
    >>> y[np.argsort(-model.predict(X))[:5]]
    array([1, 1, 1, 1, 1])
    """
    return LightGBMObjective(objective_named(objective, options), n_jobs)


def metric(name: str, **options: Any) -> LightGBMMetric:
    """Metric for LightGBM's evaluation and early stopping.

    ``name`` and ``options`` are the same as for :func:`toprank.metrics.scorer`. The result includes
    whether a higher value is better.

    Examples
    --------
    >>> from toprank.integrations.lightgbm import metric
    >>> metric("precision_at_k", k=2)(np.array([1, 0, 1]), np.array([0.2, 0.9, 0.7]))
    ('precision_at_k(k=2)', 0.5, True)
    """
    return LightGBMMetric(name, options)


def _read(data: Any, scores: Any, weight: Any, group: Any) -> tuple[Any, Any, Any, Any]:
    """Scores, labels, weights and list ids, however LightGBM called.

    The native interface calls with (scores, Dataset), the scikit-learn one with
    (labels, scores, weights, sizes of lists).
    """
    labels: Any = data
    if isinstance(scores, lightgbm.Dataset):
        dataset, scores = scores, data
        labels, weight, group = dataset.get_label(), dataset.get_weight(), dataset.get_group()
    if np.ndim(scores) != 1:
        raise ValueError(
            f"LightGBM gave scores of shape {np.shape(scores)}; ranking needs one score per row, "
            "so leave num_class at 1."
        )
    return scores, labels, weight, ids_of_lists(group, np.size(labels))


class LightGBMObjective(TreeObjective):
    """What :func:`objective` returns: called, it gives gradient and Hessian."""

    # LightGBM counts the parameters: four of them bring weights and lists.
    def __call__(
        self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Answer LightGBM, however it calls."""
        return self.gradients(*_read(y_true, y_pred, weight, group))


class LightGBMMetric(TreeMetric):
    """What :func:`metric` returns: called, it gives name, value and whether more is better."""

    def __call__(
        self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None
    ) -> tuple[str, float, bool]:
        """Answer LightGBM, however it calls; as for objectives."""
        value = self.measure(*_read(y_true, y_pred, weight, group))
        return self.__name__, value, self.maximize
