"""A prediction problem: a loss and a representation, put together so that rounds can be played.

:func:`compose` finds the quickest way to play a round for the loss and the representation it is
given; a pair that it does not know is played by trying every prediction. What costs time is the
loss-augmented search, argmax_σ L(σ, y) + ⟨rep(σ), t⟩ (line 8 of Algorithm 1):

===================  ====================  ==========================================
representation       loss                  how
===================  ====================  ==========================================
a table of vectors   any                   a pass over the table
subsets              Hamming               label by label, O(m)
subsets              subset 0-1            the disagreeing labels, or the closest, O(m)
subsets              error set size        two sorted lists and one walk, O(m log m)
rankings, discount   NDCG                  one sort, O(m log m)
rankings, any f      NDCG                  linear assignment, O(m³)
rankings, any f      precision at k        one candidate for each count, O(m·k)
===================  ====================  ==========================================

Ties may go either way: all maximisers give the same surrogate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from toprank.kernels.rounds import (
    RankingRounds,
    SubsetRounds,
    TableRounds,
    best_first,
    correct_for_ndcg,
    ndcg_loss,
    play_round,
    with_top,
)
from toprank.predtron.losses import (
    ErrorSetSize,
    NDCGLoss,
    ShortlistLoss,
    SubsetLoss,
    discounts,
    gains,
)
from toprank.predtron.representations import Indicators, Positions, Representation, Vectors

Floats = NDArray[np.float64]

if TYPE_CHECKING:
    from toprank.predtron.losses import Loss

    Search = Callable[[Loss, Representation, Floats, Any], Any]

# A loss of the user's below this is 0 (in a table: this share of the label's largest loss).
ROUNDING = 1e-12


class Problem(ABC):
    """What a learner asks: play a round on scores and a prepared label."""

    @abstractmethod
    def prepare(self, labels: Any) -> Any:
        """Turn labels into what :meth:`play` reads; refuses labels that make no sense."""

    def compiled_rounds(self, n_scores: int, *, loss_driven: bool) -> Any:
        """What the compiled loops need of the problem, or None where they cannot play it."""
        del n_scores, loss_driven

    def play(self, scores: Floats, label: Any, *, loss_driven: bool) -> tuple[float, Floats]:
        """Return the loss of the decoded prediction and, where it is above 0, the step.

        The step is rep(σ̃) − rep(σ_y) for the loss-augmented σ̃; with ``loss_driven`` it is
        L·(rep(σ) − rep(σ_y)) for the decoded σ. σ_y is the correct prediction most similar to
        the scores.
        """
        rounds = self.compiled_rounds(scores.size, loss_driven=loss_driven)
        step = np.zeros(scores.size)
        return play_round(rounds, scores, label, loss_driven, step), step

    @abstractmethod
    def margin(self, scores: Floats, label: Any) -> float:
        """Return the margin of scores t on a prepared label y (section 2.2).

        The least similarity of a correct prediction less the largest of a wrong one::

            γ = min_{σ_y ∈ Σ_y} ⟨rep(σ_y), t⟩ − max_{σ ∉ Σ_y} ⟨rep(σ), t⟩

        It is inf where no prediction is wrong. W has margin γ on a stream if every input has at
        least that; divide by W's norm before a bound is computed.
        """

    @abstractmethod
    def loss_range(self, labels: Any) -> tuple[float, float]:
        """Smallest loss above 0 and largest loss that any prediction has on prepared labels.

        (inf, 0) where no prediction can be wrong, NaN where they cannot be known.
        """


class PredictionTable(Problem):
    """Few predictions: vectors (k × d) and losses (k × ℓ) side by side.

    Labels are columns of the table of losses; one that was not seen before adds its column.
    """

    def __init__(
        self,
        vectors: Floats,
        losses: Floats | None = None,
        *,
        loss: Loss | None = None,
        names: Any = (),
        ties_wrong: bool = False,
    ) -> None:
        self.vectors = vectors
        self.losses = np.empty((vectors.shape[0], 0)) if losses is None else losses
        self.ties_wrong = ties_wrong
        self._loss = loss
        self.names = names
        self._codes: dict[Any, int] = {}

    def prepare(self, labels: Any) -> NDArray[np.intp]:
        if self._loss is None:
            return np.asarray(labels, dtype=np.intp)
        codes, columns = dict(self._codes), [self.losses]
        prepared = np.empty(len(labels), dtype=np.intp)
        for row, label in enumerate(labels):
            if label not in codes:
                codes[label] = len(codes)
                columns.append(self._column(self._loss, label))
            prepared[row] = codes[label]
        self.losses, self._codes = np.hstack(columns), codes
        return prepared

    def _column(self, loss: Loss, label: Any) -> Floats:
        column = np.array([[float(loss(name, label))] for name in self.names])
        largest = float(column.max())
        if np.isfinite(largest):
            column[np.abs(column) <= ROUNDING * largest] = 0.0
        if not (np.isfinite(column).all() and (column >= 0).all() and (column == 0).any()):
            raise ValueError(
                f"loss gives {column[:, 0].tolist()} for label {label!r}; every loss must be "
                "finite and at least 0, and at least one prediction must cost nothing."
            )
        return column

    def compiled_rounds(self, n_scores: int, *, loss_driven: bool) -> TableRounds:
        del n_scores, loss_driven  # any
        return TableRounds(
            self.vectors, self.losses, self.ties_wrong, np.empty(self.vectors.shape[0])
        )

    def margin(self, scores: Floats, label: Any) -> float:
        return _margin_of_table(scores, self.vectors, self.losses[:, label])

    def loss_range(self, labels: Any) -> tuple[float, float]:
        del labels  # all columns: the table knows labels that have not come up yet
        return _extremes(self.losses)


class SubsetProblem(Problem):
    """Subsets of m labels under one of the three multilabel losses."""

    def __init__(self, loss: SubsetLoss, representation: Indicators) -> None:
        self.loss = loss
        self.n_labels = representation.dimension

    def prepare(self, labels: Any) -> NDArray[np.bool_]:
        masks = np.asarray(labels)
        if masks.ndim != 2 or masks.shape[1] != self.n_labels:
            raise ValueError(
                f"y has shape {masks.shape}, but there are {self.n_labels} labels; pass one column "
                "of 0 and 1 for each."
            )
        return np.ascontiguousarray(masks, dtype=np.bool_)

    def compiled_rounds(self, n_scores: int, *, loss_driven: bool) -> SubsetRounds:
        del n_scores, loss_driven  # any
        return SubsetRounds(self.loss.code)

    def margin(self, scores: Floats, label: Any) -> float:
        """Margin in closed form.

        With a_j = t_j on true labels and −t_j on the others: (2/√m)·min a_j for the Hamming and
        the subset 0-1 loss, or (2/√m)·Σ a_j over the negative ones if there are any. The error set
        size only counts a miss together with a false label, so its margin is (2/√m)·(least a of
        the true + least a of the others); many subsets cost nothing there, so σ_y is the truth
        itself, and where some a_j is negative a subset without loss may come before it: there is
        no margin then, and the sum over the negative ones stands for it.
        """
        agreement = np.where(label, scores, -scores) * (2.0 / np.sqrt(scores.size))
        if agreement.min() < 0:
            return float(agreement[agreement < 0].sum())
        if not isinstance(self.loss, ErrorSetSize):
            return float(agreement.min())
        return float(agreement[label].min(initial=np.inf) + agreement[~label].min(initial=np.inf))

    def loss_range(self, labels: Any) -> tuple[float, float]:
        del labels  # the extremes are the same for every label but the trivial ones
        return self.loss.range(self.n_labels)


class RankingProblem(Problem):
    """Rankings of items with grades, under 1 − NDCG or 1 − precision at k.

    Prepared labels are the gains of the items: 2^grade − 1.
    """

    def __init__(self, loss: NDCGLoss | ShortlistLoss, representation: Positions) -> None:
        self.loss = loss
        self.representation = representation
        self.k = int(loss.k) if isinstance(loss, ShortlistLoss) else 0
        self._shapes: dict[int, tuple[Floats, Floats]] = {}

    def prepare(self, labels: Any) -> Any:
        is_table = isinstance(labels, np.ndarray) and labels.ndim == 2
        # a profile of the user's must suit every length before the stream starts
        for length in labels.shape[1:] if is_table else {len(one) for one in labels}:
            self.shape(length)
        return gains(labels) if is_table else [gains(one) for one in labels]

    def compiled_rounds(self, n_scores: int, *, loss_driven: bool) -> RankingRounds | None:
        heights, shares = self.shape(n_scores)
        is_sort = self.representation.profile == "discount"
        if not (is_sort or loss_driven or self.k):
            return None  # by linear assignment
        return RankingRounds(heights, shares, self.k, float(heights[0] / shares[0]))

    def play(self, scores: Floats, label: Any, *, loss_driven: bool) -> tuple[float, Floats]:
        if self.compiled_rounds(scores.size, loss_driven=loss_driven) is not None:
            return super().play(scores, label, loss_driven=loss_driven)
        heights, shares = self.shape(scores.size)
        paid = ndcg_loss(best_first(scores), label, shares)
        step = np.zeros(scores.size)
        if paid > 0.0:
            correct = correct_for_ndcg(scores, label)
            ideal = float(label[correct] @ shares)
            step[search_by_assignment(scores, label, ideal, heights, shares)] = heights
            step[correct] -= heights
        return paid, step

    def shape(self, n_items: int) -> tuple[Floats, Floats]:
        """f/Z and NDCG's discounts, computed once for every length."""
        if n_items not in self._shapes:
            self._shapes[n_items] = self.representation.heights(n_items), discounts(n_items)
        return self._shapes[n_items]

    def margin(self, scores: Floats, label: Any) -> float:
        heights, _ = self.shape(scores.size)
        if self.k:
            return _margin_of_shortlist(scores, label > 0, heights, self.k)
        return _margin_of_gains(scores, label, heights)

    def loss_range(self, labels: Any) -> tuple[float, float]:
        # A loss only sees which gains there are, and many labels have the same.
        is_table = isinstance(labels, np.ndarray)
        ascending = np.sort(labels, axis=1) if is_table else map(np.sort, labels)
        kinds = {one.tobytes(): one for one in ascending}
        ranges = [self.loss.range(worth) for worth in kinds.values()]
        return min(low for low, _ in ranges), max(high for _, high in ranges)


class Composed(Problem):
    """Any loss and any representation, by the user's search or by trying every prediction.

    Where there are too many predictions to try, the loss has a method ``correct(label)`` that
    gives a prediction without loss.
    """

    def __init__(
        self, loss: Loss, representation: Representation, search: Search | None = None
    ) -> None:
        self.loss = loss
        self.representation = representation
        self._search = search_by_enumeration if search is None else search

    def prepare(self, labels: Any) -> Any:
        return labels

    def correct(self, scores: Floats, label: Any) -> Any:
        """The loss's own choice, or else the correct prediction most similar to the scores."""
        choose = getattr(self.loss, "correct", None)
        if choose is not None:
            return choose(label)
        listed = self.representation.predictions()
        right = [one for one in listed if self.loss(one, label) <= ROUNDING]
        if not right:
            raise ValueError(f"loss is above 0 for every prediction where the label is {label!r}.")
        return max(right, key=lambda one: float(self.representation.vector(one) @ scores))

    def play(self, scores: Floats, label: Any, *, loss_driven: bool) -> tuple[float, Floats]:
        decoded = self.representation.decode(scores)
        paid = float(self.loss(decoded, label))
        if paid <= ROUNDING:
            return 0.0, scores
        rep = self.representation.vector
        correct = rep(self.correct(scores, label))
        if loss_driven:
            return paid, paid * (rep(decoded) - correct)
        augmented = self._search(self.loss, self.representation, scores, label)
        return paid, rep(augmented) - correct

    def margin(self, scores: Floats, label: Any) -> float:
        listed = list(self.representation.predictions())
        vectors = np.array([self.representation.vector(one) for one in listed])
        losses = np.array([float(self.loss(one, label)) for one in listed])
        return _margin_of_table(scores, vectors, losses)

    def loss_range(self, labels: Any) -> tuple[float, float]:
        try:
            listed = list(self.representation.predictions())
        except NotImplementedError:
            return np.nan, np.nan
        return _extremes(np.array([self.loss(one, label) for one in listed for label in labels]))


def _margin_of_table(scores: Floats, vectors: Floats, losses: Floats) -> float:
    """Margin where every prediction is a row of ``vectors``; losses of rounding are none."""
    similarities = vectors @ scores
    correct = losses <= ROUNDING * losses.max(initial=0.0)
    if correct.all():
        return float(np.inf)
    return float(similarities[correct].min() - similarities[~correct].max())


def _margin_of_gains(scores: Floats, gains: Floats, heights: Floats) -> float:
    """Margin for every loss that is 0 exactly where grades never rise along the ranking.

    Every order within a grade is correct, so what such orders differ by comes off what Lemma 4
    prints; where sorting by score breaks the grades, the margin is below 0. O(m log m).
    """
    order = np.lexsort((-scores, -gains))
    drops = np.flatnonzero(np.diff(gains[order]) < 0) + 1
    if not drops.size:
        return float(np.inf)
    worst, best = np.lexsort((scores, -gains)), best_first(scores)
    if (np.diff(gains[best]) > 0).any():
        highest_wrong = float(heights @ scores[best])
    else:
        ranked = scores[order]
        lost = (heights[drops - 1] - heights[drops]) * (ranked[drops - 1] - ranked[drops])
        highest_wrong = float(heights @ ranked - lost.min())
    return float(heights @ scores[worst]) - highest_wrong


def _margin_of_shortlist(
    scores: Floats, relevant: NDArray[np.bool_], heights: Floats, k: int
) -> float:
    """Margin for precision at k.

    Every order with as many relevant items as can be among the first k is correct, whatever
    stands elsewhere; so scores have a margin only if they hardly differ among the items that
    may change places. O(m·k).
    """
    top = min(k, scores.size)
    reachable = min(top, int(relevant.sum()))
    least = max(0, top - int((~relevant).sum()))
    if reachable <= least:
        return float(np.inf)
    upwards = np.argsort(scores, kind="stable")
    inside = np.concatenate(
        [upwards[relevant[upwards]][:reachable], upwards[~relevant[upwards]][: top - reachable]]
    )
    inside = inside[np.argsort(scores[inside], kind="stable")]
    outside = upwards[~np.isin(upwards, inside)]
    lowest_correct = float(heights @ scores[np.concatenate([inside, outside])])
    highest_wrong = max(
        float(heights @ scores[with_top(best_first(scores), relevant, top, wanted)])
        for wanted in range(least, reachable)
    )
    return lowest_correct - highest_wrong


def _extremes(losses: Floats) -> tuple[float, float]:
    """Smallest loss above 0 and largest loss; (inf, 0) where there is none."""
    above = losses[losses > ROUNDING * losses.max(initial=0.0)]
    return (float(above.min()), float(above.max())) if above.size else (np.inf, 0.0)


def compose(loss: Loss, representation: Representation, search: Search | None = None) -> Problem:
    """Put a loss and a representation together, with the quickest search that is known for them.

    Parameters
    ----------
    loss : callable
        L(prediction, label) ≥ 0, with a prediction of loss 0 for every label.
    representation : Representation
        A unit vector for every prediction.
    search : callable, optional
        ``search(loss, representation, scores, label)`` gives argmax_σ L(σ, y) + ⟨rep(σ), t⟩;
        needed only where the predictions are too many to try and the pair is not known here.
    """
    if search is None:
        if isinstance(representation, Vectors):
            return PredictionTable(representation.table, loss=loss, names=representation.names)
        if isinstance(representation, Indicators) and isinstance(loss, SubsetLoss):
            return SubsetProblem(loss, representation)
        if isinstance(representation, Positions) and isinstance(loss, NDCGLoss | ShortlistLoss):
            return RankingProblem(loss, representation)
    return Composed(loss, representation, search)


def surrogate(
    loss: Loss, representation: Representation, scores: Floats, label: Any, correct: Any
) -> float:
    """φ(t, y) = max_σ L(σ, y) − ⟨rep(σ_y) − rep(σ), t⟩, equation (2), for a correct σ_y.

    Convex in the scores, at least 0, and at least the loss of the decoded prediction. Every
    prediction is tried.

    Examples
    --------
    >>> from toprank.predtron import Basis, ZeroOne, surrogate
    >>> animals = Basis(["cat", "dog"])
    >>> surrogate(ZeroOne(), animals, np.array([0.25, 1.0]), "cat", "cat")
    1.75
    """
    best = search_by_enumeration(loss, representation, scores, label)
    difference = representation.vector(correct) - representation.vector(best)
    return float(loss(best, label)) - float(difference @ scores)


def search_by_enumeration(
    loss: Loss, representation: Representation, scores: Floats, label: Any
) -> Any:
    """Try every prediction: the naive twin of every other search, for any loss.

    Examples
    --------
    >>> from toprank.predtron import Basis, ZeroOne
    >>> search_by_enumeration(ZeroOne(), Basis(["a", "b"]), np.array([1.5, 1.0]), "a")
    'b'
    """
    return max(
        representation.predictions(),
        key=lambda one: float(loss(one, label)) + float(representation.vector(one) @ scores),
    )


def search_by_assignment(
    scores: Floats, gains: Floats, ideal: float, heights: Floats, discounts: Floats
) -> NDArray[np.intp]:
    """The loss-augmented order for NDCG and any f: items to positions, Lemma 3.

    Item i in position s is worth f(s)·t_i/Z − G_i·discount(s)/Z(y).
    """
    worth = np.outer(heights, scores) - np.outer(discounts, gains / ideal)
    _, items = linear_sum_assignment(worth, maximize=True)
    return np.asarray(items, dtype=np.intp)
