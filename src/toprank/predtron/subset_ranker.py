"""Subset ranking: lists of rows with graded relevance, one scoring function for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from toprank.inputs import as_lists
from toprank.predtron.base import BasePredtron
from toprank.predtron.documentation import documented
from toprank.predtron.inputs import ListInputs
from toprank.predtron.labels import as_grades
from toprank.predtron.ranking_parts import ranking_problem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.guarantees import PredtronCertificate

__all__ = ["PredtronSubsetRanker"]


@documented(
    variant="loss_driven",
    reason="It needs no search and no step, and its bound lacks the factor C/c, which is large.",
    intercept=False,
    ranking=True,
)
class PredtronSubsetRanker(BasePredtron):
    """Ranks the rows of lists by one scoring function ⟨w, x⟩, from graded relevance.

    A round is a list: its rows are sorted by falling score (equal scores in their order), the
    loss is 1 − NDCG or 1 − precision at k, and a step moves w by Xᵀ(rep(σ̃) − rep(σ_y)).
    Corollaries 5 and 6 bound the sum of the losses. A list of one row, of equal grades or of
    grades 0 only is always right: it counts as a round and teaches nothing. Constant terms would
    change no ranking, so there are none.

    Parameters
    ----------
    {ranking}
    {shared}

    Attributes
    ----------
    {attributes}

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

    def __init__(
        self,
        *,
        loss: Literal["ndcg", "precision_at_k"] = "ndcg",
        k: int | None = None,
        representation: Any = 1.1,
        variant: Literal["standard", "loss_driven"] = "loss_driven",
        link: Literal["none", "l_r", "group", "schatten"] = "none",
        r: float | None = None,
        kernel: Any = None,
        kernel_params: dict[str, Any] | None = None,
        budget: int | None = None,
        eta: float | Literal["auto"] = "auto",
        average: bool = True,
        max_iter: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.k = k
        self.representation = representation
        self.variant = variant
        self.link = link
        self.r = r
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.budget = budget
        self.eta = eta
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        ranking_problem(self.loss, self.k, self.representation)

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
        with self._unchanged_if_it_fails():
            self._check_parameters()
            table = self._table(X, reset=True)
            inputs, labels = self._lists(table, y, groups)
            self._begin_lists(inputs)
            return self._play(
                inputs, self._problem.prepare(labels), passes=self.max_iter, shuffle=self.shuffle
            )

    def partial_fit(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Learn from one more batch of whole lists, in the order of their first rows.

        Parameters
        ----------
        X, y, groups : as in ``fit``
            A list that goes on in the next batch would count as another list.
        """
        with self._unchanged_if_it_fails():
            self._check_parameters()
            first = not hasattr(self, "n_rounds_")
            table = self._table(X, reset=first)
            inputs, labels = self._lists(table, y, groups)
            if first:
                self._begin_lists(inputs)
            else:
                self._check_lengths(inputs)
            return self._play(inputs, self._problem.prepare(labels), passes=1, shuffle=False)

    def certify(
        self, X: Any, y: ArrayLike, coef: ArrayLike, groups: ArrayLike | None = None
    ) -> PredtronCertificate:
        """Put the run's cumulative loss beside the bound that reference weights give.

        Parameters
        ----------
        X, y, groups : the stream of the run
        coef : array-like of shape (1, n_features)
            The reference w; it is scaled to norm 1.
        """
        table = self._table(X, reset=False)
        inputs, labels = self._lists(table, y, groups)
        return self._certify(inputs, self._problem.prepare(labels), coef, None)

    def _begin_lists(self, inputs: ListInputs) -> None:
        self._begin(ranking_problem(self.loss, self.k, self.representation), self.n_features_in_, 1)
        self._check_lengths(inputs)

    def _check_lengths(self, inputs: ListInputs) -> None:
        """A function of the user's must suit every length before the stream starts."""
        for length in {inputs.length(number) for number in range(len(inputs))}:
            self._problem.representation.heights(length)

    def _lists(
        self, table: Any, y: Any, groups: Any
    ) -> tuple[ListInputs, list[NDArray[np.float64]]]:
        grades = as_grades(y, table.shape[0])
        inputs = ListInputs(table, as_lists(groups, table.shape[0]))
        return inputs, [grades[inputs.rows(number)] for number in range(len(inputs))]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score every row; higher is better."""
        return self._scores(X)[:, 0]

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Score every row, as rankers of other libraries do; see :meth:`rank` for positions."""
        return self.decision_function(X)

    def rank(self, X: Any, groups: ArrayLike | None = None) -> NDArray[np.intp]:
        """Give the position of every row in its list: 1 is the best."""
        scores = self.decision_function(X)
        lists = as_lists(groups, scores.size)
        places = np.empty(scores.size, dtype=np.intp)
        if lists is None:
            places[np.argsort(-scores, kind="stable")] = np.arange(1, scores.size + 1)
        else:
            above = np.repeat(lists.starts[:-1], np.diff(lists.starts))
            order = np.lexsort((-scores, lists.codes))
            places[order] = np.arange(1, scores.size + 1) - above
        return places

    def score(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        """Give the mean of 1 − loss over the lists (NDCG, or precision at k of what can be had).

        Lists that cannot be wrong count 1.
        """
        table = self._table(X, reset=False)
        inputs, labels = self._lists(table, y, groups)
        places, loss = self.rank(X, groups), self._problem.loss
        return float(
            np.mean(
                [
                    1.0 - loss(places[inputs.rows(number)], label)
                    for number, label in enumerate(labels)
                ]
            )
        )
