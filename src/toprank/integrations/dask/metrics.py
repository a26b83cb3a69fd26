"""The metrics of :mod:`toprank.metrics` on Dask collections: the same names, the same values.

Every argument that holds one value per row may be a Dask array, series or one-column dataframe, or
an array in memory, in any chunks, of known sizes or not. The values are exact: scores are sorted
into ranges across the cluster and measured by the formulas of one machine; nothing is sampled.
Only the order in which weights that are not whole numbers are summed differs from memory.

The columns (not the table) are held on the cluster while a metric is computed, up to 60 bytes per
row; one task holds about as many rows as the largest chunk. Metrics of the head of a list, such as
``precision_at_k``, move its head only. With ``groups``, the rows of each list are sent to one task.

Examples
--------
>>> import dask.array as da
>>> from toprank.integrations.dask import metrics
>>> y = da.from_array([1, 0, 1, 0], chunks=2)
>>> scores = da.from_array([0.9, 0.8, 0.7, 0.1], chunks=3)
>>> metrics.roc_auc(y, scores)
0.75
>>> metrics.precision_at_k(y, scores, k=2)
0.5
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.inputs import check_choice
from toprank.integrations.dask.chunks import (
    check_chunks,
    cluster_faults,
    cut_alike,
    labels_of,
    totals_of,
)
from toprank.integrations.dask.ranges import (
    judge_every_list,
    judge_sections,
    rank_ranges,
    sort_chunks,
    split_chunks,
)
from toprank.metrics.driver import (
    DECLARATIONS,
    METRICS,
    defined_lists,
    order_in_ties,
    read_call,
    settle,
)
from toprank.metrics.ranked import Reach

if TYPE_CHECKING:
    from toprank.metrics.driver import Metric

__all__ = list(METRICS)


def __getattr__(name: str) -> Metric:
    """Give the metric of this name, made when it is first used."""
    if name not in METRICS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.")
    return _on_collections(name)


@functools.cache
def _on_collections(name: str) -> Metric:
    """The same metric, of columns on a cluster."""
    metric, declared = METRICS[name], DECLARATIONS[name]
    signature = inspect.signature(metric)

    @functools.wraps(metric)
    def measured(*arguments: Any, **keywords: Any) -> float:
        with cluster_faults():  # no decorator: warnings count the frames to the caller
            columns, options = read_call(signature, arguments, keywords)
            pos_label, ties, undefined = (
                columns.pop(each) for each in ("pos_label", "ties", "undefined")
            )
            check_choice("ties", ties, declared.ties)
            if declared.worth is not None and declared.worth(0, **options) is not None:
                raise TypeError(f"{name} takes amounts per row in memory alone; pass numbers.")
            grouped = columns["groups"] is not None
            # The scores come first: they decide about the chunks.
            columns = {
                name: columns[name]
                for name in ("scores", "y_true", "sample_weight", "groups")
                if columns[name] is not None
            }
            n_rows, chunks = cut_alike(columns)
            if n_rows == 0:
                return settle(name, declared.needs, np.empty(0), np.empty(0, bool), None, undefined)
            labels = labels_of(chunks, pos_label, options.get("gain"))
            # Lists are prepared when they are judged.
            prepare = None if grouped else declared.prepare
            if prepare is not None:
                prepare = functools.partial(prepare, ties=ties, **options)
            checked = check_chunks(chunks, labels, prepare)
            del chunks  # releases what is no longer needed on the cluster
            totals = totals_of(checked, labels)
            if grouped:
                judged = judge_every_list(name, checked, ties, options)
                return settle(name, declared.needs, *judged, undefined)
            defined = defined_lists(declared.needs, totals.positives, totals.negatives)
            looks = declared.reach if defined.all() else None
            reach = Reach() if looks is None else looks(totals, **options)
            in_order = sort_chunks(checked, reach)
            del checked
            pieces = split_chunks(in_order)
            del in_order
            ranges = rank_ranges(pieces, totals, order_in_ties(declared, ties))
            del pieces
            values = judge_sections(name, ranges, totals, {"ties": ties, **options})
            return settle(name, declared.needs, values, defined, None, undefined)

    vars(measured)["__signature__"] = signature
    measured.__module__ = __name__
    summary = inspect.cleandoc(metric.__doc__ or "").split("\n", 1)[0]
    measured.__doc__ = (
        f"{summary}\n\n:func:`toprank.metrics.{name}` on Dask collections: "
        "the same parameters, the same value."
    )
    return measured
