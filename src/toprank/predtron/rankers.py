"""Rankings as predictions: labels for every row, or the rows of lists, the relevant ones first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, column_or_1d

from toprank.inputs import as_lists, check_choice, check_given, check_length, check_number
from toprank.metrics.ranked import places_in_rows
from toprank.predtron.base import BasePredtron, documented
from toprank.predtron.losses import NDCGLoss, ShortlistLoss
from toprank.predtron.models import StreamInputs
from toprank.predtron.multilabel import CLASSES, LabelSetPredtron
from toprank.predtron.problem import RankingProblem
from toprank.predtron.representations import Positions
from toprank.rankers.base import RowRanker

if TYPE_CHECKING:
    from toprank.guarantees import PredtronCertificate

# 2^1000 is near the largest number there is; beyond, gains would be infinite.
LARGEST_GRADE = 1000

RANKING = """\
loss : {"ndcg", "precision_at_k"}, default="ndcg"
    1 − NDCG counts the whole ranking, its top most; 1 − precision counts only the first ``k``.
k : int, default=None
    Length of the shortlist for "precision_at_k".
representation : {"discount", "reciprocal"}, float or callable, default=1.1
    f in rep(σ) = f(σ)/Z: 1/log₂(1 + i), 1/i, −i^α for a number α > 0, or any strictly decreasing
    function of an array of positions. −i^1.1 is the paper's choice and works better than the
    others on most lists, as it needs no larger margin far down the list than at the top. In the
    standard variant NDCG's own "discount" makes the search one sort; with any other f it is a
    linear assignment, O(m³).
"""
FACTS = {
    "variant": "loss_driven",
    "reason": "It needs no search and no step, and its bound lacks the factor C/c, which is large.",
    "ranking": RANKING,
}


@dataclass(kw_only=True, eq=False, repr=False)
class RankingPredtron(BasePredtron):
    """What the two rankers share: the losses and the representation of a ranking."""

    loss: Literal["ndcg", "precision_at_k"] = "ndcg"
    k: int | None = None
    representation: Any = 1.1
    variant: Literal["standard", "loss_driven"] = "loss_driven"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._ranking_problem()

    def _ranking_problem(self) -> RankingProblem:
        """The problem of the parameters; refuses those that make no sense."""
        check_choice("loss", self.loss, ("ndcg", "precision_at_k"))
        if self.loss == "ndcg":
            if self.k is not None:
                raise ValueError(f"k={self.k!r} belongs to loss='precision_at_k'; leave it out.")
            return RankingProblem(NDCGLoss(), Positions(self.representation))
        if self.k is None:
            raise ValueError("k=None: say how long the shortlist of loss='precision_at_k' is.")
        return RankingProblem(ShortlistLoss(self.k), Positions(self.representation))


@documented(**FACTS, classes=CLASSES)
@dataclass(kw_only=True, eq=False, repr=False)
class PredtronLabelRanker(RankingPredtron, LabelSetPredtron):
    """Ranks m labels for every row, so that those that apply come first (multilabel ranking).

    Each label has a weight vector; rankings are represented by f(position)/Z, pred(t) = the
    labels by falling score, and the loss is 1 − NDCG or 1 − precision at k. Corollaries 7 and 8
    bound its sum. Labels with equal scores keep their order; rows without any label cost nothing.
    A round costs O(non-zeros·m + m log m), but for the assignment.

    Parameters
    ----------
    {shared}

    Examples
    --------
    >>> from toprank import PredtronLabelRanker
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(n_samples=300, random_state=0)
    >>> model = PredtronLabelRanker(random_state=0).fit(X[:200], Y[:200])
    >>> model.predict(X[200:202])
    array([[...]])
    >>> round(model.score(X[200:], Y[200:]), 2)
    0.96
    """

    def _make_problem(self) -> tuple[RankingProblem, int]:
        return self._ranking_problem(), self.classes_.size

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Compute the score of every label: (n_rows, n_labels)."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Rank the labels of every row, as :meth:`rank` does.

        After a fit on a vector of classes: the best class of every row.
        """
        check_is_fitted(self, "n_rounds_")
        return self.top(X, 1)[:, 0] if self._one_class_per_row else self.rank(X)

    def rank(self, X: Any) -> NDArray[np.intp]:
        """Return the rank of every label for every row, 1 for the best: (n_rows, n_labels)."""
        return places_in_rows(self._scores(X))

    def top(self, X: Any, k: int) -> NDArray[Any]:
        """Return the ``k`` best labels of every row, best first (as entries of ``classes_``)."""
        scores = self._scores(X)
        check_number("k", k, 1, whole=True)
        if k > scores.shape[1]:
            raise ValueError(f"k={k} is more than the {scores.shape[1]} labels; ask for fewer.")
        best: NDArray[Any] = self.classes_[np.argsort(-scores, axis=1, kind="stable")[:, :k]]
        return best

    def score(self, X: Any, y: ArrayLike) -> float:
        """Return the mean of 1 − loss over the rows: NDCG, or the share of the best precision."""
        places = self.rank(X)
        grades = self._matrix(self._check_labels(y, places))
        loss = self._problem.loss
        return float(np.mean([1.0 - loss(*pair) for pair in zip(places, grades, strict=True)]))


@documented(**FACTS, intercept="")
@dataclass(kw_only=True, eq=False, repr=False)
class PredtronSubsetRanker(RankingPredtron, RowRanker):
    """Ranks the rows of lists by one scoring function ⟨w, x⟩, from graded relevance.

    A round is a list: its rows are sorted by falling score (equal scores in their order), the
    loss is 1 − NDCG or 1 − precision at k, and a step moves w by Xᵀ(rep(σ̃) − rep(σ_y)).
    Corollaries 5 and 6 bound the sum of the losses. A list of one row, of equal grades or of
    grades 0 only is always right: it counts as a round and changes nothing. A constant term would
    change no ranking, so there is none.

    Parameters
    ----------
    {shared}

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import PredtronSubsetRanker
    >>> rng = np.random.default_rng(0)
    >>> X, queries = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.digitize(X @ [2.0, -1.0, 0.0, 0.5], [0.5, 2.0])
    >>> model = PredtronSubsetRanker(random_state=0).fit(X[:200], y[:200], groups=queries[:200])
    >>> round(model.score(X[200:], y[200:], groups=queries[200:]), 2)
    1.0
    >>> model.rank(X[200:205])
    array([...])
    """

    def fit(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Learn from lists, in passes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, CSR matrix, pandas, polars or pyarrow table of numbers.
        y : array-like of shape (n_rows,)
            Grades of relevance, at least 0; 0 is irrelevant.
        groups : array-like of shape (n_rows,), optional
            The list of each row, in any order; without it all rows are one list.
        """
        return self._learn(X, (y, groups))

    def partial_fit(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Learn from one more batch of whole lists, in the order of their first rows.

        Parameters
        ----------
        X, y, groups : as in ``fit``
            A list that goes on in the next batch would count as another list.
        """
        return self._learn(X, (y, groups), batch=True)

    def certify(
        self, X: Any, y: ArrayLike, coef: ArrayLike, groups: ArrayLike | None = None
    ) -> PredtronCertificate:
        """Compare the cumulative loss of the run with the bound for given reference weights.

        Parameters
        ----------
        X, y, groups : the stream of the run
        coef : array-like of shape (1, n_features)
            The reference w; it is scaled to norm 1.
        """
        return super().certify(X, (y, groups), coef)

    def _check_labels(self, y: Any, table: Any) -> Any:
        grades, groups = y
        return as_grades(grades, table), lists_of_rows(groups, table.shape[0])

    def _make_problem(self) -> tuple[RankingProblem, int]:
        return self._ranking_problem(), 1

    def _stream(self, table: Any, labels: Any) -> tuple[StreamInputs, Any]:
        grades, lists = labels
        return StreamInputs(table, lists), self._problem.prepare([grades[rows] for rows in lists])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score every row; higher is better."""
        return self._scores(X)[:, 0]

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Score every row, as rankers of other libraries do; see :meth:`rank` for positions."""
        return self.decision_function(X)

    def score(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        """Return the mean of 1 − loss over the lists: NDCG, or the share of the best precision.

        Lists that cannot be wrong count 1.
        """
        places = self.rank(X, groups)
        grades, lists = self._check_labels((y, groups), places)
        loss = self._problem.loss
        return 1.0 - float(np.mean([loss(places[rows], grades[rows]) for rows in lists]))


def lists_of_rows(groups: Any, n_rows: int) -> list[NDArray[np.intp]]:
    """Row numbers of every list, by their first rows; without groups all rows are one list."""
    lists = as_lists(groups, n_rows)
    if lists is None:
        return [np.arange(n_rows)]
    parts = np.split(lists.order, lists.starts[1:-1])
    return sorted(parts, key=lambda rows: int(rows[0]))


def as_grades(y: Any, table: Any) -> NDArray[np.float64]:
    """One grade of relevance per row, at least 0."""
    check_given(y)
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind not in "biuf":
        raise TypeError(
            f"Unknown label type: y must be grades (numbers of at least 0), got {labels.dtype}."
        )
    check_length("y", len(labels), table.shape[0])
    grades: NDArray[np.float64] = labels.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(grades) & (grades >= 0) & (grades <= LARGEST_GRADE)))
    if bad.size:
        raise ValueError(
            f"y must be grades between 0 and {LARGEST_GRADE}, but y[{bad[0]}] is "
            f"{grades[bad[0]]:g} (NaN and infinity are not grades); shift, scale or drop such rows."
        )
    return grades
