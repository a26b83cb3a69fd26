"""A fitted ranker as a formula: columns as numbers, and a sum of terms over these numbers.

::

    schema ──► cells x₀ x₁ … of a row ──► score = intercept + Σ factor · (intercept + term(x))

A single ranker is one summand with factor 1, a blend has several. Storing, scoring, explaining,
SQL, Python and ONNX read this one form. A ranker hands over its own by ``_model_formula()``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toprank.models.terms import BinarySum, Part, Term, Weights
from toprank.tables.table import as_table

if TYPE_CHECKING:
    from toprank.tables.encoding import Encoding

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Summand:
    """One ranker of a blend: factor·(intercept + term)."""

    factor: float
    intercept: float
    term: Term

    def scores(self, X: Any) -> Floats:
        """What it adds to the scores of encoded rows."""
        return self.factor * self.term.scores(X, self.intercept)


@dataclass(frozen=True, eq=False)
class Formula:
    """Everything that scores a row.

    Attributes
    ----------
    encoding : Encoding
        The cells of a row, and the schema by which columns are read.
    summands : tuple of Summand
    intercept : float
    """

    encoding: Encoding
    summands: tuple[Summand, ...]
    intercept: float = 0.0

    @property
    def is_additive(self) -> bool:
        """Whether the score is a sum of functions of single cells."""
        return all(summand.term.is_additive for summand in self.summands)

    @property
    def used(self) -> list[int]:
        """Numbers of the cells that some term looks at."""
        return sorted({cell for summand in self.summands for cell in summand.term.used})

    @property
    def base(self) -> float:
        """The part of a score that no cell adds."""
        own = (each.factor * (each.intercept + each.term.base) for each in self.summands)
        return float(sum(own, self.intercept))

    @property
    def n_nodes(self) -> int:
        """Nodes of trees of any shape, which all are looked at to explain a row."""
        terms = [each.term for each in self.summands]
        return sum(term.values.size for term in terms if isinstance(term, BinarySum))

    def scores(self, X: Any) -> Floats:
        """Score every row of a table or frame."""
        table, (first, *others) = as_table(X), self.summands
        if isinstance(first.term, Weights) and not others and not self.encoding.is_sparse:
            # the encoded table is never held as a whole
            columns = self.encoding.encoded(table)
            own = first.term.scores_by_column(columns, table.n_rows, first.intercept)
            return self.intercept + first.factor * own
        return self.scores_of(self.encoding.transform(table))

    def scores_of(self, X: Any) -> Floats:
        """Score encoded rows: an array, or a CSR matrix where all terms are weights."""
        scores = np.full(X.shape[0], self.intercept)
        for summand in self.summands:
            scores += summand.scores(X)
        return scores

    def contributions_of(self, X: Any) -> Any:
        """What each cell adds to each row's score: with :attr:`base` these add up to it.

        For trees these are Shapley values. Of sparse rows it is sparse: what is 0 adds nothing.
        """
        found: Any = 0.0
        for each in self.summands:
            found = each.factor * each.term.contributions(X) + found
        return found

    def parts(self) -> list[Part]:
        """The pieces of its terms in words, with their weights; trees have none."""
        names = self.encoding.names
        return [
            part._replace(weight=each.factor * part.weight)
            for each in self.summands
            for part in each.term.parts(names)
        ]

    def of_cells(self, encoding: Encoding) -> Formula:
        """The same for rows that are encoded in another way."""
        return replace(self, encoding=encoding)


def formula_of(ranker: Any, encoder: Any = None) -> Formula:
    """Write a fitted ranker as a formula.

    Parameters
    ----------
    ranker : fitted ranker, Model or Formula
        Linear, of stumps or trees, or a blend of these: :class:`toprank.TopRanker` too. One that
        learned from an array has columns ``x0``, ``x1`` and so on.
    encoder : TableEncoder or Encoding, optional
        What turned a table into the numbers that the ranker has learned from; a ``TopRanker``
        brings its own.

    Raises
    ------
    TypeError
        If its score is no sum of plain terms: kernels, weak rankers of your own, several labels.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import PNormPush
    >>> from toprank.models import formula_of
    >>> model = PNormPush().fit(np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1])
    >>> formula = formula_of(model)
    >>> formula.encoding.cells
    (Number(column='x0', part='', fill=None),)
    >>> [type(summand.term).__name__ for summand in formula.summands]
    ['Weights']
    """
    found = getattr(ranker, "formula", ranker)  # of a stored model
    if hasattr(ranker, "_model_formula"):
        found = ranker._model_formula()  # noqa: SLF001
    if not isinstance(found, Formula):
        raise refusal(ranker)
    return found if encoder is None else found.of_cells(getattr(encoder, "encoding_", encoder))


def refusal(ranker: Any) -> TypeError:
    """What to raise for a ranker that is no formula."""
    return TypeError(
        f"{type(ranker).__name__} cannot be stored or exported: only linear rankers, rankers of "
        "stumps or trees and blends of these are sums of plain terms; kernels, weak rankers of "
        "your own and rankers of several labels stay in Python (pickle keeps them)."
    )
