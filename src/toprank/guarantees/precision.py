"""What is guaranteed about precision at k (Kar et al. 2015): margins, and mistakes of a run.

Δ_T^C is the number of negatives that stood in the top k, summed over the batches of a run, each
batch judged by the model from before it. R bounds the norms of the (scaled) rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_lists, as_scores, is_sparse
from toprank.kernels.top_k import k_of, surrogate_of_lists
from toprank.objectives.precision import as_top
from toprank.truth import as_positives

if TYPE_CHECKING:
    from toprank.kernels.mini_batches import Aim, Batches
    from toprank.solvers.mini_batch import MiniBatches, Tally
    from toprank.truth import Truth

# Rows whose norms are taken at a time.
CHUNK = 1 << 14
# Batches on which the length of the comparator is chosen, and the lengths tried.
TRIED_BATCHES = 200
TRIED_SCALES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


class TopMargins(NamedTuple):
    """The largest γ of each notion that the scores realise; negative where none is positive.

    ``strong`` ≤ ``average`` ≤ ``weak``: the hierarchy of Figure 1. Where scores are multiplied by
    1/γ, the surrogate that goes with the notion is 0: ramp with ``weak`` (Claim 3), avg with
    ``average`` (Claim 6), max with ``strong``.
    """

    weak: float
    average: float
    strong: float


def top_margins(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    k: float,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
) -> TopMargins:
    """Margins over the negatives of the k best positives, of k on average, and of all positives.

    With s⁺ best first and t the highest score of a negative::

        weak     = s⁺_k - t                                             (Definition 2)
        average  = mean of the n₊ - k + 1 lowest s⁺ - t                 (Definition 5)
        strong   = s⁺_{n₊} - t                                          (Definition 4)

    With lists the smallest over all of them; a list of one class does not count. One partition
    per list: O(n).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Two classes.
    scores : array-like of shape (n_rows,)
        Higher is better. For the margin of a linear scorer in the sense of Corollaries 8 and 10
        divide by the norm of its weights.
    k : int or float
        Length of the top, as in :class:`toprank.objectives.PrecisionAtK`.
    groups : array-like of shape (n_rows,), optional
        List ids.
    pos_label : label, optional
        The positive class; the larger label where it is not given.

    Returns
    -------
    TopMargins
        ``nan`` three times where no list holds both classes.

    Examples
    --------
    >>> from toprank.guarantees import top_margins
    >>> top_margins([1, 1, 0, 1], [5.0, 4.0, 3.0, 2.0], k=2)
    TopMargins(weak=1.0, average=0.0, strong=-1.0)
    """
    checked = as_scores(scores).astype(np.float64, copy=False)
    positives = as_positives(y_true, pos_label=pos_label, n_rows=checked.size)
    amount, is_share = as_top(k)
    lists = as_lists(groups, checked.size)
    starts = np.array([0, checked.size]) if lists is None else lists.starts
    order = np.arange(checked.size) if lists is None else lists.order
    found = [
        _of_list(checked[rows], positives[rows], amount, is_share)
        for rows in np.split(order, starts[1:-1])
        if positives[rows].any() and not positives[rows].all()
    ]
    if not found:
        return TopMargins(float("nan"), float("nan"), float("nan"))
    return TopMargins(*(float(margin) for margin in np.min(found, axis=0)))


def _of_list(
    scores: NDArray[np.float64], positives: NDArray[np.bool_], amount: float, is_share: bool
) -> tuple[float, float, float]:
    own = scores[positives]
    k = int(k_of(amount, is_share, float(own.size), True))
    lowest = own.size - k + 1
    own = np.partition(own, lowest - 1)[:lowest]
    top = scores[~positives].max()
    return own[-1] - top, own.mean() - top, own.min() - top


def mistake_bound(norm: float, reach: float, k: float, surrogate_sum: float) -> float:
    """Most mistakes of a perceptron, in terms of any other model w (Theorems 7 and 9).

    ::

        Δ_T^C ≤ ( ‖w‖·R·√(4k) + √(Σ_t surrogate(w; batch t)) )²

    with the surrogate avg for Algorithm 1 and max for Algorithm 2, plain (not divided by k).
    Where k varies from batch to batch, the largest one counts.

    Examples
    --------
    >>> from toprank.guarantees import mistake_bound
    >>> round(mistake_bound(norm=2.0, reach=1.0, k=5, surrogate_sum=0.0), 9)
    80.0
    """
    return (norm * reach * math.sqrt(4.0 * k) + math.sqrt(max(surrogate_sum, 0.0))) ** 2


@dataclass(frozen=True)
class StreamCertificate:
    """Statistics of a stochastic run.

    ``mistakes`` is Δ_T^C. ``fresh_share`` is the mean of prec@k/k over the batches that were new to
    the model judged on them (the first pass of a fit, all of a stream). Where rows come in random
    order it estimates without bias how the models w⁰ … w^{T-1} do on fresh batches, the left side
    of Theorem 13. Batches that lack a class are ``n_skipped``.
    """

    n_batches: int
    n_skipped: int
    mistakes: float
    largest_k: float
    fresh_share: float

    @classmethod
    def of(cls, tally: Tally) -> StreamCertificate:
        """Take it from what a run added up."""
        return cls(
            tally.n_batches, tally.n_skipped, tally.mistakes, tally.largest_k, tally.fresh_share
        )


@dataclass(frozen=True)
class MistakeCertificate(StreamCertificate):
    """Mistakes of a perceptron's run and the bound of Theorem 7 (avg) or 9 (max) on that run.

    The bound is evaluated with one comparator, a multiple of the model that was learned with norm
    ``norm`` and summed surrogate ``surrogate_sum`` on the very batches of the run, or w = 0 where
    that is better.
    """

    reach: float
    norm: float
    surrogate_sum: float
    bound: float

    @property
    def holds(self) -> bool:
        """Whether the mistakes stayed under the bound, as they must."""
        return self.mistakes <= self.bound * (1.0 + 1e-9)


def reach_of(X: Any, low: NDArray[np.float64], span: NDArray[np.float64]) -> float:
    """R: the largest norm of a scaled row (x - low)/span, in chunks of rows."""
    origin = low / span
    fixed = float(origin @ origin)
    largest = 0.0
    for start in range(0, X.shape[0], CHUNK):
        rows = X[start : start + CHUNK]
        if is_sparse(X):  # divided first: squares of extreme values overflow or vanish
            scaled = rows.multiply(1.0 / span).tocsr()
            squares = scaled.power(2) @ np.ones(span.size) - 2.0 * (scaled @ origin) + fixed
        else:
            squares = (((rows - low) / span) ** 2).sum(axis=1)
        largest = max(largest, float(squares.max(initial=0.0)))
    return math.sqrt(largest)


def certify_mistakes(
    aim: Aim,
    tally: Tally,
    truth: Truth,
    batches: MiniBatches,
    n_passes: int,
    scores: NDArray[np.float64],
    norm: float,
    reach: float,
) -> MistakeCertificate:
    """Go through the batches of a run once more, with the scores of one model.

    Costs a selection in every batch, but no dot product.
    """
    first = next(batches.passes())
    few = first._replace(starts=first.starts[: TRIED_BATCHES + 1])
    share = (first.starts.size - 1) / (few.starts.size - 1)

    def bound_of(scale: float, total: float) -> float:
        return mistake_bound(scale * norm, reach, tally.largest_k, total)

    unit = 1.0 / max(float(np.abs(scores - scores.mean()).mean()), 1e-300)
    tried = [scale * unit for scale in TRIED_SCALES]
    guesses = [
        bound_of(scale, share * n_passes * _surrogate_sum(aim, truth, few, scale * scores))
        for scale in tried
    ]
    best = tried[int(np.argmin(guesses))]
    visited = islice(batches.passes(), n_passes)
    total = sum(_surrogate_sum(aim, truth, batch, best * scores) for batch in visited)
    # at w = 0 the surrogate of a batch is at most k
    chosen = min((0.0, tally.total_k), (best, total), key=lambda pair: bound_of(*pair))
    return MistakeCertificate(
        **vars(StreamCertificate.of(tally)),
        reach=reach,
        norm=chosen[0] * norm,
        surrogate_sum=chosen[1],
        bound=bound_of(*chosen),
    )


def _surrogate_sum(aim: Aim, truth: Truth, batches: Batches, scores: NDArray[np.float64]) -> float:
    """Σ_t surrogate(w; batch t); a batch of one row is judged beside the origin."""
    total, _, _ = surrogate_of_lists(
        aim.kind, scores, truth.positives, truth.weights, batches.order, batches.starts,
        aim.k, aim.is_share, aim.whole, np.empty(scores.size),
    )  # fmt: skip
    alone = batches.order[batches.starts[:-1][np.diff(batches.starts) == 1]]
    if alone.size:
        signed = np.where(truth.positives[alone], scores[alone], -scores[alone])
        hinges = np.maximum(1.0 - signed, 0.0)
        total += float(hinges.sum() if truth.weights is None else hinges @ truth.weights[alone])
    return float(total)
