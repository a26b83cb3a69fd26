"""Mistake-driven rounds, compiled: score a row, decide, and step where the decision costs.

Weights are kept feature by feature (p × d, so that a sparse row touches the memory of its
non-zeros only), with the intercept as one more feature that is always 1::

    weights   feature 0   [ w_00 ... w_0d ]
              ...
              feature p   [ b_0  ... b_d  ]      only with an intercept

What is decided depends on the problem: one of a table of predictions, a subset of labels, a
ranking of labels, or a grade between thresholds. The stream is written once; the compiler picks
the decision by the type of the problem.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from toprank.kernels.jit import compiled
from toprank.kernels.rows import add_outer, score_row

Floats = NDArray[np.float64]

# Similarities closer than this share of the largest similarity or loss are tied.
TIED = 1e-12
# Losses of subsets of labels.
HAMMING, SUBSET_ZERO_ONE, ERROR_SET_SIZE = 0, 1, 2


class TableRounds(NamedTuple):
    """Few predictions: a vector for each (k × d), and what each costs under each label (k × ℓ)."""

    vectors: NDArray[np.float64]
    losses: NDArray[np.float64]
    ties_wrong: bool
    similarities: NDArray[np.float64]  # working memory, one number for each prediction


class SubsetRounds(NamedTuple):
    """Subsets of labels, under the loss of this code."""

    loss: int


class RankingRounds(NamedTuple):
    """Rankings of labels: how they are represented and judged.

    ``heights`` is f/Z from the top down, ``shares`` NDCG's discounts, ``k`` the length of the
    shortlist (0 for NDCG), ``slope`` that of the heights over the discounts, where one sort is
    the search.
    """

    heights: NDArray[np.float64]
    shares: NDArray[np.float64]
    k: int
    slope: float


class PRankRounds(NamedTuple):
    """Ordered grades by one score: the thresholds between them, and Σ_τ (τ − 1)·Δ_τ of these.

    Both are changed by rounds, and ``clock`` counts them.
    """

    thresholds: NDArray[np.float64]
    drift: NDArray[np.float64]
    clock: NDArray[np.intp]


def _decide(problem: Any, scores: Floats, label: Any, loss_driven: bool, step: Floats) -> float:
    """Return the loss of the decoded prediction σ and, if there is any, the step.

    The step is rep(σ̃) − rep(σ_y), with σ̃ the loss-augmented prediction, or with ``loss_driven``
    L·(rep(σ) − rep(σ_y)). σ_y is the correct prediction most similar to the scores.
    """
    raise NotImplementedError  # the compiler puts one of the decisions below in its place


@compiled
def _compare(vectors: Floats, scores: Floats, similarities: Floats) -> tuple[float, float]:
    """Fill in ⟨rep(σ), t⟩ of every σ; give the highest, and the largest without its sign."""
    highest, largest = -np.inf, 0.0
    for a in range(vectors.shape[0]):
        total = 0.0
        for j in range(vectors.shape[1]):
            total += vectors[a, j] * scores[j]
        similarities[a] = total
        highest, largest = max(highest, total), max(largest, abs(total))
    return highest, largest


def _decide_prediction(
    problem: Any, scores: Floats, label: Any, loss_driven: bool, step: Floats
) -> float:
    """Ties go to the first prediction; with ``ties_wrong`` to the one that costs most. O(k·d).

    Similarities that differ by rounding only are tied: another order of the sums that they are
    made of, such as that of a kernel, must not choose another prediction.
    """
    vectors, costs, similarities = problem.vectors, problem.losses[:, label], problem.similarities
    n_predictions, dimension = vectors.shape
    highest, largest = _compare(vectors, scores, similarities)
    slack = TIED * max(largest, costs.max())
    decoded = -1
    for a in range(n_predictions):
        costlier = decoded < 0 or (problem.ties_wrong and costs[a] > costs[decoded])
        if costlier and similarities[a] >= highest - slack:
            decoded = a
    loss = costs[decoded]
    if loss <= 0.0:
        return 0.0
    wrong, correct, augmented = decoded, -1, -np.inf
    for a in range(n_predictions):
        if not loss_driven and costs[a] + similarities[a] > augmented + slack:
            wrong, augmented = a, costs[a] + similarities[a]
        if costs[a] == 0.0 and (correct < 0 or similarities[a] > similarities[correct] + slack):
            correct = a
    scale = loss if loss_driven else 1.0
    for j in range(dimension):
        step[j] = scale * (vectors[wrong, j] - vectors[correct, j])
    return loss  # type: ignore[no-any-return]


@compiled
def subset_loss(predicted: NDArray[np.bool_], truth: NDArray[np.bool_], loss: int) -> float:
    """The loss of a predicted subset."""
    missed = false = 0
    for j in range(truth.size):
        missed += truth[j] and not predicted[j]
        false += predicted[j] and not truth[j]
    if loss == HAMMING:
        return float(missed + false)
    if loss == SUBSET_ZERO_ONE:
        return 1.0 if missed + false else 0.0
    return float(missed * false)


@compiled
def _error_set_flips(price: Floats, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Maximise a·b − (the a cheapest true flips) − (the b cheapest false flips).

    For a missed labels it pays to add false ones as long as their price is below a, so the best b
    never falls as a grows: one walk up the two sorted lists, O(m log m).
    """
    order = np.argsort(price, kind="mergesort")
    true_ones = order[truth[order]]
    false_ones = order[~truth[order]]
    best, best_a, best_b = 0.0, 0, 0
    b, paid = 0, 0.0
    # a = 0: only flips with a negative price pay
    for a in range(true_ones.size + 1):
        if a > 0:
            paid += price[true_ones[a - 1]]
        while b < false_ones.size and price[false_ones[b]] < a:
            paid += price[false_ones[b]]
            b += 1
        value = a * b - paid
        if value > best:
            best, best_a, best_b = value, a, b
    flips = np.zeros(truth.size, dtype=np.bool_)
    flips[true_ones[:best_a]] = True
    flips[false_ones[:best_b]] = True
    return flips


@compiled
def augmented_flips(scores: Floats, truth: NDArray[np.bool_], loss: int) -> NDArray[np.bool_]:
    """Labels of the loss-augmented subset that differ from the truth; ties stay unflipped.

    A subset of m labels is represented by ±1/√m. With a_j = t_j where label j is true and −t_j
    where it is not, flipping label j away from the truth takes 2·a_j/√m off the similarity. So the
    loss-augmented subset maximises (loss of the flips) − (2/√m)·Σ a_j over the flipped labels.
    """
    price = np.where(truth, scores, -scores) * (2.0 / np.sqrt(truth.size))
    flips: NDArray[np.bool_]
    if loss == HAMMING:
        flips = price < 1.0
    elif loss == SUBSET_ZERO_ONE:
        flips = price < 0.0
        cheapest = np.argmin(price)
        if price[cheapest] < 1.0:
            flips[cheapest] = True
    else:
        flips = _error_set_flips(price, truth)
    return flips


def _decide_subset(
    problem: Any, scores: Floats, label: Any, loss_driven: bool, step: Floats
) -> float:
    """Predict sign(scores) and step towards the truth itself.

    A score of 0 counts as wrong, whatever the truth: from W = 0 no subset of the error set loss
    would ever be, as the empty and the full one cost nothing. O(m), or O(m log m) for the error
    set size.
    """
    predicted = (scores > 0.0) | ((scores == 0.0) & ~label)
    loss = subset_loss(predicted, label, problem.loss)
    if loss == 0.0:
        return 0.0
    flips = predicted != label if loss_driven else augmented_flips(scores, label, problem.loss)
    scale = 2.0 / np.sqrt(label.size) * (loss if loss_driven else 1.0)
    for j in range(label.size):
        step[j] = 0.0
        if flips[j]:
            step[j] = -scale if label[j] else scale
    return loss


# Rankings of items --------------------------------------------------------------------------------

# A ranking is the position of every item, 1 for the best; it is represented by f(position)/Z for a
# strictly decreasing f. ``heights`` is f(1)/Z, ..., f(m)/Z, ``discounts`` is what NDCG gives to the
# positions, and ``gains`` is what the items are worth (2^grade − 1).


@compiled
def best_first(scores: Floats) -> NDArray[np.intp]:
    """Items by falling score; equal scores in the order of the items. O(m log m)."""
    return np.argsort(-scores, kind="mergesort")


@compiled
def ndcg_loss(order: NDArray[np.intp], gains: Floats, discounts: Floats) -> float:
    """1 − NDCG of the items in this order; exactly 0 if no gain rises along it.

    Without any gain (Z(y) = 0) every order is right: the loss is 0 by convention.
    """
    rises = False
    reached = 0.0
    for place in range(order.size):
        reached += discounts[place] * gains[order[place]]
        rises |= place > 0 and gains[order[place]] > gains[order[place - 1]]
    if not rises:
        return 0.0
    ideal = 0.0
    for place, gain in enumerate(np.sort(gains)[::-1]):
        ideal += discounts[place] * gain
    return max(1.0 - reached / ideal, 0.0)


@compiled
def precision_loss(order: NDArray[np.intp], relevant: NDArray[np.bool_], k: int) -> float:
    """1 − (relevant items among the first k) / min(k, relevant items); 0 if none is relevant."""
    reachable = min(k, relevant.sum())
    if reachable == 0:
        return 0.0
    found = 0
    for place in range(min(k, order.size)):
        found += relevant[order[place]]
    return 1.0 - found / reachable if found < reachable else 0.0


@compiled
def correct_for_ndcg(scores: Floats, gains: Floats) -> NDArray[np.intp]:
    """The order without loss that is most similar to the scores: by gain, then by score."""
    by_score = best_first(scores)
    return by_score[np.argsort(-gains[by_score], kind="mergesort")]


@compiled
def with_top(
    by_score: NDArray[np.intp], relevant: NDArray[np.bool_], k: int, wanted: int
) -> NDArray[np.intp]:
    """Items by score, but for a top k that holds the ``wanted`` best relevant ones.

    ::

        by_score   - + - - + + -        k = 3, wanted = 2
        top        - + . . + . .        the best 2 of +, the best 1 of -
        order      - + + | - - + -
    """
    order = np.empty_like(by_score)
    inside, outside = 0, k
    relevant_left, others_left = wanted, k - wanted
    for item in by_score:
        left = relevant_left if relevant[item] else others_left
        if left > 0:
            order[inside] = item
            inside += 1
            if relevant[item]:
                relevant_left -= 1
            else:
                others_left -= 1
        else:
            order[outside] = item
            outside += 1
    return order


@compiled
def correct_for_precision(scores: Floats, relevant: NDArray[np.bool_], k: int) -> NDArray[np.intp]:
    """The order without loss at k that is most similar to the scores.

    If sorting by score leaves no loss it is that; otherwise as many relevant items as can be are
    in the top k, the best of them by score.
    """
    by_score = best_first(scores)
    top = min(k, by_score.size)
    return with_top(by_score, relevant, top, min(top, relevant.sum()))


@compiled
def search_for_precision(
    scores: Floats, relevant: NDArray[np.bool_], k: int, heights: Floats
) -> NDArray[np.intp]:
    """The loss-augmented order for precision at k.

    If the top k holds a relevant items, these are the a best by score, and everything else is
    sorted by score inside and outside the top. So one candidate for each a: O(m·min(k, m)).
    """
    by_score = best_first(scores)
    top = min(k, by_score.size)
    n_relevant = relevant.sum()
    reachable = min(top, n_relevant)
    best, highest = by_score, -np.inf
    for wanted in range(max(0, top - (by_score.size - n_relevant)), reachable + 1):
        order = with_top(by_score, relevant, top, wanted)
        value = -wanted / reachable if reachable else 0.0
        for place in range(order.size):
            value += heights[place] * scores[order[place]]
        if value > highest:
            best, highest = order, value
    return best


def _decide_ranking(
    problem: Any, scores: Floats, label: Any, loss_driven: bool, step: Floats
) -> float:
    """Rank the items by falling score; labels are gains. O(m log m), O(m·k) to search at k."""
    heights, shares, k = problem.heights, problem.shares, problem.k
    order = best_first(scores)
    relevant = label > 0.0
    loss = precision_loss(order, relevant, k) if k > 0 else ndcg_loss(order, label, shares)
    if loss == 0.0:
        return 0.0
    if k > 0:
        correct = correct_for_precision(scores, relevant, k)
        if not loss_driven:
            order = search_for_precision(scores, relevant, k, heights)
    else:
        correct = correct_for_ndcg(scores, label)
        if not loss_driven:
            ideal = 0.0
            for place in range(order.size):
                ideal += label[correct[place]] * shares[place]
            order = best_first(problem.slope * scores - label / ideal)
    scale = loss if loss_driven else 1.0
    for place in range(order.size):
        step[order[place]] = scale * heights[place]
    for place in range(order.size):
        step[correct[place]] -= scale * heights[place]
    return loss


def _decide_grade(
    problem: Any,
    scores: Floats,
    label: Any,
    loss_driven: bool,  # noqa: ARG001  (steps have one length)
    step: Floats,
) -> float:
    """PRank (Crammer and Singer 2002): the grade is the first r with score < b_r, or the last.

    Each threshold on the wrong side of the score moves by 1, and the row pulls as often the other
    way.
    """
    thresholds, score, clock = problem.thresholds, scores[0], problem.clock[0]
    problem.clock[0] += 1
    predicted = 0
    while predicted < thresholds.size and score >= thresholds[predicted]:
        predicted += 1
    step[0] = 0.0
    if predicted != label:
        for r in range(thresholds.size):
            side = 1.0 if label > r else -1.0
            if (score - thresholds[r]) * side <= 0.0:
                step[0] -= side
                thresholds[r] -= side
                problem.drift[r] -= clock * side
    return float(abs(predicted - label))


_DECISIONS = {
    TableRounds: _decide_prediction,
    SubsetRounds: _decide_subset,
    RankingRounds: _decide_ranking,
    PRankRounds: _decide_grade,
}


@overload(_decide)
def _choose_decision(
    problem: Any, scores: Floats, label: Any, loss_driven: bool, step: Floats
) -> Any:
    del scores, label, loss_driven, step
    return _DECISIONS[problem.instance_class]


@compiled
def play_round(problem: Any, scores: Floats, label: Any, loss_driven: bool, step: Floats) -> float:
    """One round on given scores: the loss and, if there is any, the step."""
    return _decide(problem, scores, label, loss_driven, step)


@compiled
def play_rows(
    table: Any,
    intercept: bool,
    rows: Any,
    labels: Any,
    weights: Floats,
    drift: Floats,
    clock: int,
    problem: Any,
    eta: float,
    loss_driven: bool,
    out: Floats,
) -> None:
    """Go through the given rows of a table; ``out`` receives the loss of every round.

    ``drift`` has the shape of ``weights`` and gathers Σ_τ (τ − 1)·Δ_τ for the average, or has no
    rows where no average is wanted; ``clock`` is the number of rounds before this call.
    """
    scores, step = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
    last = weights.shape[0] - 1
    for i in range(rows.size):
        row = rows[i]
        score_row(table, row, weights, scores)
        if intercept:
            scores += weights[last]
        out[i] = _decide(problem, scores, labels[row], loss_driven, step)
        if out[i] > 0.0:
            add_outer(table, row, -eta, step, weights)
            if intercept:
                weights[last] -= eta * step
            if drift.shape[0] > 0:
                later = -eta * (clock + i)
                add_outer(table, row, later, step, drift)
                if intercept:
                    drift[last] += later * step


@compiled
def score_rows(table: Any, rows: Any, weights: Floats) -> Floats:
    """x·W of the given rows: n × d, for weights of shape p × d.

    Equal rows get equal scores to the last bit, wherever they stand: a matrix product of BLAS
    sums the last rows of a block in another order.
    """
    scores = np.empty((rows.size, weights.shape[1]))
    for i in range(rows.size):
        score_row(table, rows[i], weights, scores[i])
    return scores


@compiled
def add_rows(table: Any, rows: Any, steps: Floats, weights: Floats) -> None:
    """Add Σ_i x_i·step_iᵀ over the given rows to the weights."""
    for i in range(rows.size):
        add_outer(table, rows[i], 1.0, steps[i], weights)
