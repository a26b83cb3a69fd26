"""Rankings as predictions: labels for every row, or the rows of lists, the relevant ones first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from toprank.inputs import check_choice, check_number
from toprank.metrics.ranked import places_in_rows
from toprank.predtron.base import BasePredtron
from toprank.predtron.documentation import documented
from toprank.predtron.inputs import StreamInputs, as_grades, lists_of_rows
from toprank.predtron.losses import NDCGLoss, ShortlistLoss
from toprank.predtron.multilabel import LabelSetPredtron
from toprank.predtron.problem import RankingProblem
from toprank.predtron.representations import Positions
from toprank.rankers.base import RowRanker

if TYPE_CHECKING:
    from toprank.guarantees import PredtronCertificate

WHY_LOSS_DRIVEN = (
    "It needs no search and no step, and its bound lacks the factor C/c, which is large."
)


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


@documented(
    variant="loss_driven",
    reason=WHY_LOSS_DRIVEN,
    classes="classes, or 0, ..., m - 1 for a matrix of labels",
)
@dataclass(kw_only=True, eq=False, repr=False)
class PredtronLabelRanker(RankingPredtron, LabelSetPredtron):
    """Ranks m labels for every row, so that those that apply come first (multilabel ranking).

    Each label has a weight vector; rankings are represented by f(position)/Z, pred(t) = the
    labels by falling score, and the loss is 1 − NDCG or 1 − precision at k. Corollaries 7 and 8
    bound its sum. Labels with equal scores keep their order; rows without any label cost nothing.
    A round costs O(non-zeros·m + m log m), but for the assignment.

    Parameters
    ----------
    {ranking}

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

    def _problem_of_labels(self, n_labels: int) -> RankingProblem:
        problem = self._ranking_problem()
        problem.representation.heights(n_labels)
        return problem

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


@documented(variant="loss_driven", reason=WHY_LOSS_DRIVEN, intercept=False)
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
    {ranking}

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
        return self._certify(X, (y, groups), coef)

    def _check_labels(self, y: Any, table: Any) -> Any:
        grades, groups = y
        return as_grades(grades, table), lists_of_rows(groups, table.shape[0])

    def _start(self, labels: Any, classes: Any) -> None:
        del labels, classes  # grades are grades
        self._begin(self._ranking_problem(), self.n_features_in_, 1)

    def _stream(self, table: Any, labels: Any) -> tuple[StreamInputs, Any]:
        grades, lists = labels
        inputs = StreamInputs(table, lists)
        by_list = [grades[inputs.rows(number)] for number in range(len(inputs))]
        # a function of the user's must suit every length before the stream starts
        for length in {own.size for own in by_list}:
            self._problem.representation.heights(length)
        return inputs, self._problem.prepare(by_list)

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
        inputs, labels = self._stream(places, self._check_labels((y, groups), places))
        losses = [
            self._problem.loss(places[inputs.rows(number)], grades)
            for number, grades in enumerate(labels)
        ]
        return 1.0 - float(np.mean(losses))
