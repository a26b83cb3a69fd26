"""A ranker together with the encoder of its columns and what is known about how it was made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.app.drivers import contributions, drivers_of, gathered
from toprank.inputs import rows_within_budget
from toprank.tables import as_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.app.drivers import Driver
    from toprank.app.training_data import Roles
    from toprank.tables import Table, TableEncoder

__all__ = ["Model"]


@dataclass(frozen=True, eq=False)
class Model:
    """All that ranks a table: encoder, ranker, and the facts of the training.

    Attributes
    ----------
    encoder : TableEncoder
    ranker : fitted ranker
    roles : Roles
        Target, positive values, group, weight and ignored columns of the training table.
    budget : int or float
        Rows of the list that count, or below 1 the share of them.
    cutoff : float or None
        Score at which a stream like the training rows is cut to stay within the budget.
    facts : dict
        Plain values: versions, rows, positives, parameters, certificate in words, held-out
        precision.
    baseline : array of shape (n_encoded,)
        Mean contribution of each encoded column in training, from which a row's are measured.
    spread : array of shape (n_encoded,)
        Standard deviation of the same.
    """

    encoder: TableEncoder
    ranker: Any
    roles: Roles
    budget: float
    cutoff: float | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    baseline: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    spread: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @property
    def columns(self) -> list[str]:
        """The columns that a table must have to be ranked."""
        return [name for name, _ in self.encoder.columns_]

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Score every row of a table or frame."""
        table = as_table(X)
        self.encoder.check_columns(table)
        coef = getattr(self.ranker, "coef_", None)
        if coef is not None:
            return self._linear_scores(table, np.asarray(coef, dtype=np.float64)[0])
        scores = self.ranker.decision_function(self.encoder.transform(table))
        return np.asarray(scores, dtype=np.float64)

    def _linear_scores(self, table: Table, coef: NDArray[np.float64]) -> NDArray[np.float64]:
        """Column after column: the encoded table is never held as a whole."""
        scores = np.full(table.n_rows, float(self.ranker.intercept_[0]))
        product = np.empty(table.n_rows)
        for weight, values in zip(coef, self.encoder.encoded(table), strict=True):
            if weight:
                np.multiply(values, weight, out=product)
                scores += product
        return scores

    def contributions(self, X: Any) -> NDArray[np.float64]:
        """What each encoded column adds to each row's score, beyond the mean training row."""
        encoded = self.encoder.transform(as_table(X))
        return contributions(self.ranker, encoded) - self.baseline

    def row_drivers(self, table: Table) -> tuple[list[str], NDArray[np.float64]]:
        """Columns of the table, and what each adds to each row's score: (n_rows, n_columns)."""
        return gathered(self.encoder.owners_, self.contributions(table))

    def drivers(self) -> list[Driver]:
        """What drives the score, the strongest column first."""
        return drivers_of(self)

    def in_budget(self, n_rows: int, budget: float | None = None) -> int:
        """How many rows of a list of ``n_rows`` the budget is; never more than there are."""
        amount = self.budget if budget is None else budget
        return rows_within_budget(amount, n_rows, name="budget", clip=True)
