"""Labelled rows that a model did not learn from: what every promise about a list rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_scores, as_weights, check_number
from toprank.truth import as_positives

Floats = NDArray[np.float64]

# More rows would make promises sharper by less than a tenth, and every model file larger.
MOST_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Calibration:
    """Scores and labels of rows that a model was not fitted on.

    Make it with :meth:`of`, from the scores of any model. New rows are assumed to be *exchangeable*
    with these: drawn from the same source, in random order.

    Attributes
    ----------
    scores : array of shape (n_rows,)
    positives : array of bool
    weights : array of shape (n_rows,) or None
        How many rows each one stands for, such as 1/propensity of an audit; None counts every row
        once. Promises from weighted rows are approximate.
    is_exact : bool
        Whether the same model has scored these rows and scores the new ones. Out-of-fold scores
        come from models of parts of the rows; promises computed from them are approximate.

    Examples
    --------
    >>> from toprank.shortlists import Calibration
    >>> Calibration.of([0.9, 0.4, 0.1], [1, 0, 0]).n_rows
    3
    """

    scores: Floats
    positives: NDArray[np.bool_]
    weights: Floats | None = None
    is_exact: bool = True

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        is_exact: bool = True,
        random_state: int = 0,
    ) -> Calibration:
        """Check scores and labels; of more than 20,000 rows a random part is kept.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
            Scores of rows that the model did not learn from; higher is better.
        y : array-like of shape (n_rows,)
            Two classes; the larger label is the positive one, unless ``pos_label`` names it.
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each one stands for, such as 1/propensity of an audit.
        pos_label : label, optional
        is_exact : bool, default=True
            False for out-of-fold scores.
        random_state : int, default=0
            Seed of the part that is kept.
        """
        checked = as_scores(scores).astype(np.float64, copy=False)
        positives = as_positives(y, pos_label=pos_label, n_rows=checked.size, name="y")
        weights = as_weights(sample_weight, checked.size)
        if weights is not None and not weights.all():
            counted = weights > 0
            checked, positives, weights = checked[counted], positives[counted], weights[counted]
        if checked.size > MOST_ROWS:
            drawn = np.random.default_rng(random_state).permutation(checked.size)
            kept = np.sort(drawn[:MOST_ROWS])
            checked, positives = checked[kept], positives[kept]
            weights = None if weights is None else weights[kept]
        if positives.all() or not positives.any():
            raise ValueError(
                f"y has one class only in {positives.size} calibration rows; pass rows of both."
            )
        return cls(checked, positives, weights, is_exact)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.positives.size)

    @property
    def masses(self) -> Floats:
        """The weight of every row."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

    @property
    def counts(self) -> Floats:
        """As how many rows each one counts in a promise; without weights each counts once.

        ``w·Σw/Σw²``: rows of unequal weights tell as much as fewer equal ones, the effective number
        ``(Σw)²/Σw²``.
        """
        weights = self.masses / self.masses.max()  # squares of large weights would overflow
        return np.asarray(weights * (weights.sum() / np.square(weights).sum()))

    def negatives_above(self, scores: Floats) -> Floats:
        """Count of the negative calibration rows at or above each score."""
        negatives = ~self.positives
        order = np.argsort(self.scores[negatives], kind="stable")
        sums = np.append(0.0, np.cumsum(self.counts[negatives][order][::-1]))
        below = np.searchsorted(self.scores[negatives][order], scores, side="left")
        return np.asarray(sums[order.size - below])


def as_new_scores(scores: ArrayLike, calibration: Calibration) -> Floats:
    """Scores of new rows as float64, checked, and that there are calibration rows."""
    if not isinstance(calibration, Calibration):
        raise TypeError(
            f"calibration must be a Calibration, got {type(calibration).__name__}; make it of the "
            "scores and labels of held-out rows by Calibration.of(scores, y)."
        )
    return as_scores(scores).astype(np.float64, copy=False)


def check_confidence(confidence: float) -> None:
    """Raise unless it is a number from 0 to below 1."""
    check_number("confidence", confidence, 0.0, 1.0)
    if confidence > 1.0 - 1e-9:
        raise ValueError(
            f"confidence={confidence} would be certainty, which no sample gives; pass a number "
            "below 1, such as 0.95."
        )
