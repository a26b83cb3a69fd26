"""Rankers that learn from Dask collections, under the names that they have in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import dask

import toprank.rankers
from toprank.integrations.dask.blocks import DaskBlocks
from toprank.integrations.dask.metrics import roc_auc
from toprank.integrations.dask.predicting import decision_function, on_chunks

if TYPE_CHECKING:
    from toprank.rankers import BaseRanker

__all__ = ["IRPush", "PNormPush", "RankBoost"]


class _OnCluster:
    """Fit on Dask collections; after that, Dask in is Dask out and memory in is memory out."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows of one list on a cluster.

        Parameters
        ----------
        X : Dask array of shape (n_rows, n_features), or Dask dataframe of numbers
        y : Dask array, series or one-column dataframe; an array in memory will do
            Two classes; ``classes_[1]``, the larger label, is the positive one.
        sample_weight : as y, optional
            Weight 2 is the row twice, weight 0 no row.
        """
        return self.fit_blocks(DaskBlocks(X, y, sample_weight))  # type: ignore[attr-defined]

    def to_local(self) -> BaseRanker:
        """Give the ordinary ranker, which needs no Dask: for model files and other machines."""
        (kind,) = (base for base in type(self).__bases__ if base is not _OnCluster)
        local = kind()
        vars(local).update(vars(self))
        return local

    def decision_function(self, X: Any) -> Any:
        """Score every row; lazily where ``X`` is a Dask collection."""
        if dask.is_dask_collection(X):
            return decision_function(self.to_local(), X)
        return super().decision_function(X)  # type: ignore[misc]

    def predict(self, X: Any) -> Any:
        """Give the class of every row; lazily where ``X`` is a Dask collection."""
        if dask.is_dask_collection(X):
            return on_chunks(self.to_local(), "predict", X)
        return super().predict(X)  # type: ignore[misc]

    def score(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> float:
        """Give the ROC AUC (with ``groups``, its mean over the lists), exact on any cluster."""
        if not dask.is_dask_collection(X):
            return super().score(X, y, sample_weight, groups)  # type: ignore[misc]
        return roc_auc(
            y,
            self.decision_function(X),
            sample_weight=sample_weight,
            groups=groups,
            pos_label=self.classes_[1],  # type: ignore[attr-defined]
        )


class PNormPush(_OnCluster, toprank.rankers.PNormPush):
    """:class:`toprank.PNormPush` on a cluster: Newton's method, one reduction per iteration.

    Needs ``loss="exponential"`` and ``weak_rankers="features"``. Parameters and attributes are
    those of :class:`toprank.PNormPush`.

    Examples
    --------
    >>> import dask.array as da
    >>> from toprank.integrations.dask import PNormPush
    >>> X = da.from_array([[0.0], [1.0], [2.0], [3.0]], chunks=(2, 1))
    >>> model = PNormPush(p=8).fit(X, da.from_array([0, 1, 0, 1], chunks=2))
    >>> model.to_local().rank([[0.0], [3.0]])
    array([2, 1])
    """


class IRPush(_OnCluster, toprank.rankers.IRPush):
    """:class:`toprank.IRPush` on a cluster: two reductions per iteration.

    Needs ``loss="exponential"`` and ``weak_rankers="features"``.
    """


class RankBoost(_OnCluster, toprank.rankers.RankBoost):
    """:class:`toprank.RankBoost` on a cluster: one reduction per round.

    Needs ``weak_rankers="stumps"`` and no early stopping. The bins, one byte per cell, are held on
    the cluster during the fit.
    """
