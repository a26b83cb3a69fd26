"""Fits, scores and shortlists on Dask collections, under the names that rankers have in memory."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Self

import dask
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from dask import compute, delayed
from numpy.typing import NDArray

import toprank.rankers
import toprank.selection
from toprank.inputs import as_scores, rows_within_budget
from toprank.integrations.dask.chunks import DaskBlocks, cluster_faults, kept_parts
from toprank.integrations.dask.streams import ClusterStream
from toprank.metrics import roc_auc
from toprank.metrics.ranked import best_rows
from toprank.solvers.cuts import cut_above

if TYPE_CHECKING:
    from toprank.rankers import BaseRanker

__all__ = [
    "ClusterStream",
    "DaskBlocks",
    "IRPush",
    "PNormPush",
    "RankBoost",
    "TopRanker",
    "TreeRanker",
    "cutoff",
    "decision_function",
    "predict",
    "top",
]


class _OnCluster:
    """Fit on Dask collections; Dask collections are scored lazily, arrays in memory at once."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from rows on a cluster.

        Parameters
        ----------
        X : Dask array of shape (n_rows, n_features), or Dask dataframe of numbers
        y : Dask array, series or one-column dataframe, or an array in memory
            Two classes; ``classes_[1]``, the larger label, is the positive one.
        sample_weight : as y, optional
            A row of weight 2 counts as two rows, a row of weight 0 is ignored.
        groups : None
            Lists are compared on one machine, see :class:`toprank.tables.ParquetBlocks`.
        """
        if groups is not None:
            raise ValueError(
                "groups are compared on one machine alone: write the collection as Parquet "
                "(X.to_parquet) and fit PNormPush, IRPush or LinearRankSVM on "
                "toprank.tables.ParquetBlocks(path, target=..., group=...)."
            )
        with cluster_faults(), closing(DaskBlocks(X, y, sample_weight)) as blocks:
            return self.fit_blocks(blocks)  # type: ignore[attr-defined]

    def to_local(self) -> BaseRanker:
        """Give the ordinary ranker, without Dask, for model files and other machines."""
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

    def top(self, X: Any, k: float, groups: Any = None) -> NDArray[np.intp]:
        """Give the row numbers of the ``k`` best rows, best first (of every list)."""
        if dask.is_dask_collection(X) and groups is None:
            return top(self.to_local(), X, k)
        return super().top(X, k, groups)  # type: ignore[misc]

    def cutoff(self, X: Any, budget: float) -> float:
        """Give the score at which a stream like ``X`` should be cut to stay within a budget."""
        if dask.is_dask_collection(X):
            return cutoff(self.to_local(), X, budget)
        return super().cutoff(X, budget)  # type: ignore[misc]

    def score(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> float:
        """Give the ROC AUC (with ``groups``, its mean over the lists) of scores gathered here."""
        if not dask.is_dask_collection(X):
            return super().score(X, y, sample_weight, groups)  # type: ignore[misc]
        with cluster_faults():
            columns = compute(y, self.decision_function(X), sample_weight, groups)
        labels, scores, weights, lists = map(_values, columns)
        return roc_auc(
            labels,
            scores,
            sample_weight=weights,
            groups=lists,
            pos_label=self.classes_[1],  # type: ignore[attr-defined]
        )


def _values(column: Any) -> Any:
    return None if column is None else np.asarray(column).reshape(-1)


class PNormPush(_OnCluster, toprank.rankers.PNormPush):
    """:class:`toprank.PNormPush` on a cluster: Newton's method, one reduction per iteration.

    Needs ``loss="exponential"``, no ``price`` and ``weak_rankers="features"``. Parameters and
    attributes are those of :class:`toprank.PNormPush`.

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


class TreeRanker(_OnCluster, toprank.rankers.TreeRanker):
    """:class:`toprank.TreeRanker` on a cluster: ``depth`` + 3 reductions per tree.

    Needs ``objective`` to be "pnorm_push" of finite p, "ir_push" or "log_loss". The bins, one byte
    per cell, and 30 bytes per row are held on the cluster during the fit; what does not fit into
    the memory of a worker is computed again.
    """


class TopRanker(_OnCluster, toprank.selection.TopRanker):
    """:class:`toprank.TopRanker` on a cluster: a blend that is chosen on a sample.

    Forty times ``max_rows`` random rows are sent to the client, where the blend is chosen and its
    hits are estimated. Members that learn by passes are fitted on all rows, on the cluster, others
    on the sample, on the client: see ``fitted_rows_``. Takes one list only.
    """


def decision_function(model: Any, X: Any) -> Any:
    """Score every row of a table on a cluster, lazily.

    Parameters
    ----------
    model : fitted ranker
        Any object with ``decision_function``. It is sent to the workers.
    X : Dask array of shape (n_rows, n_features), or Dask dataframe
        In any chunks.

    Returns
    -------
    Dask array, or Dask series with the index of the dataframe
        Higher is better.

    Examples
    --------
    >>> import dask.array as da
    >>> from toprank import PNormPush
    >>> from toprank.integrations.dask import decision_function, top
    >>> model = PNormPush().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> X = da.from_array([[1.0], [3.0], [2.0]], chunks=(2, 1))
    >>> decision_function(model, X).shape
    (3,)
    >>> top(model, X, 2)
    array([1, 2])
    """
    return on_chunks(model, "decision_function", X)


def predict(model: Any, X: Any) -> Any:
    """Give the class of every row, lazily; parameters as in :func:`decision_function`."""
    return on_chunks(model, "predict", X)


def on_chunks(model: Any, method: str, X: Any) -> Any:
    """Call a method that gives one value per row on every chunk of a table."""
    dtype = np.dtype(np.float64) if method == "decision_function" else model.classes_.dtype
    if hasattr(X, "map_partitions"):
        return X.map_partitions(_on_frame, model, method, dtype, meta=(method, dtype), token=method)
    if getattr(X, "ndim", None) != 2 or not hasattr(X, "map_blocks"):
        raise TypeError(
            f"X must be a Dask dataframe or a Dask array of rows and columns, got {X!r}; "
            f"for a table in memory call model.{method}(X)."
        )
    rows = X.rechunk({1: X.shape[1]})
    return rows.map_blocks(
        _on_block,
        model,
        method,
        dtype,
        drop_axis=1,
        dtype=dtype,
        meta=np.empty(0, dtype),
        token=method,
    )


def _on_block(block: Any, model: Any, method: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    if not block.shape[0]:  # estimators refuse tables without rows
        return np.empty(0, dtype)
    return np.asarray(getattr(model, method)(block)).astype(dtype, copy=False)


def _on_frame(frame: Any, model: Any, method: str, dtype: np.dtype[Any]) -> Any:
    return pd.Series(_on_block(frame, model, method, dtype), index=frame.index, name=method)


@cluster_faults()
def top(model: Any, X: Any, k: float) -> NDArray[np.intp]:
    """Give the row numbers of the ``k`` best rows of a table on a cluster, best first.

    ``k`` is a number of rows or, below 1, a share of them; rows of equal score are in the order of
    the table, as in memory. Each worker sends the k best rows of its chunks. The scores are held on
    the cluster meanwhile.
    """
    n_rows, parts = _scored(model, X)
    inside = rows_within_budget(k, n_rows, name="k")
    rows, scores = _heads(parts, inside)
    return rows[best_rows(scores, inside)]


@cluster_faults()
def cutoff(model: Any, X: Any, budget: float) -> float:
    """Give the score at which a stream like ``X`` should be cut to stay within a budget.

    ``budget`` is a number of rows of ``X`` or, below 1, a share of them. The same score as that of
    ``model.cutoff`` on the table in memory.
    """
    n_rows, parts = _scored(model, X)
    inside = rows_within_budget(budget, n_rows, name="budget")
    # the cut lies between the last row inside and the first one outside, or below all rows
    return cut_above(_heads(parts, inside + 1)[1], inside)


def _scored(model: Any, X: Any) -> tuple[int, list[Any]]:
    """The number of rows, and the scores of each chunk, kept on the cluster."""
    n_rows, parts = kept_parts(decision_function(model, X))
    if not n_rows:
        raise ValueError("X has no rows; there is nothing to rank.")
    return n_rows, parts


def _heads(parts: list[Any], k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Row numbers and scores of the k best rows of each chunk, chunk after chunk."""
    heads, scores, sizes = zip(*compute(*(delayed(_head)(part, k) for part in parts)), strict=True)
    starts = np.cumsum([0, *sizes[:-1]])
    rows = [start + head for start, head in zip(starts, heads, strict=True)]
    return np.concatenate(rows), np.concatenate(scores)


def _head(part: Any, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64], int]:
    """Places and scores of the k best rows of a chunk, best first, and how many rows it has."""
    scores = as_scores(part).astype(np.float64, copy=False)
    rows = best_rows(scores, k)
    return rows, scores[rows], scores.size
