"""RankBoost: coordinate descent on the exponential loss of crucial pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from toprank.rankers.base import keep_columns
from toprank.rankers.boosting import PairBoostedRanker, RoundMonitor, shared_docs, warn_if_equal
from toprank.rankers.supervised import with_callbacks
from toprank.rankers.survey import survey
from toprank.solvers.boosting_passes import PassState, fit_stumps
from toprank.weak_rankers import Stumps

if TYPE_CHECKING:
    from toprank.blocks import Blocks

__all__ = ["RankBoost"]


@shared_docs(patience=20)
@dataclass(eq=False, repr=False)
class RankBoost(PairBoostedRanker):
    """Ranks by a weighted sum of weak rankers, one added in each round.

    Minimises F̃ = Σ e^{-(f(x_i) - f(x_k))} over crucial pairs (i belongs above k) by coordinate
    descent: a round takes one weak ranker h_j and goes to the minimum along it. Without missing
    values a stump of which the pairs' weight d₊ goes the right way and d₋ the wrong way gets the
    step ½·ln(d₊/d₋), at most 2 (it is infinite where d₋ = 0). On equal rates the first weak ranker
    wins. With two classes weights are products, so a round costs O(rows·features) at most and
    memory is O(rows), whatever the number of pairs (Freund et al. 2003; Rudin and Schapire 2009,
    section 4.1).

    Parameters
    ----------
    selection : {"largest_decrease", "steepest"}, default="largest_decrease"
        The weak ranker of a round: the one that lowers the loss most, as RankBoost does
        (equation 5), or the one of largest slope, as coordinate descent does (equation 3).
        The first needs fewer rounds; for real-valued weak rankers it costs a line search each.
    {weak_rankers}
    max_iter : int, default=100
        Most rounds. A budget, as usual in boosting: a hundred stumps can still be read.
    tol : float or None, default=1e-8
        Stop when no weak ranker has a larger rate (at most 1 to begin with), or when all pairs
        are right and the loss is below e^-30 of its start; None stops at ``max_iter`` only.
    {early_stopping}

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one
    weak_rankers_, weights_, intercept_ : f(x) = Σ weights_·h(x) + intercept_
    selected_, steps_, intercepts_ : weak ranker, step and intercept of every round
    n_iter_, converged_ : how the fit went
    objective_path_ : ln F̃ before the first round and after each one
    validation_path_ : score of the held-out rows, likewise

    Examples
    --------
    >>> from toprank import RankBoost
    >>> from toprank.datasets import load_digits_eights
    >>> X, y = load_digits_eights(return_X_y=True)
    >>> model = RankBoost(max_iter=50).fit(X[:1000], y[:1000])
    >>> int(y[1000:][model.top(X[1000:], 40)].sum())
    38
    >>> print(model.to_frame()[["weak_ranker", "weight"]].round(2).head(2))
      weak_ranker  weight
    ...
    """

    selection: Literal["largest_decrease", "steepest"] = "largest_decrease"

    def _rules(self) -> dict[str, Any]:
        return {"selection": self.selection, **super()._rules()}

    @with_callbacks
    def fit_blocks(self, blocks: Blocks) -> Self:
        """Learn from labelled rows in blocks, in one list: the same stumps as :meth:`fit` finds.

        Two passes find thresholds, one puts the rows into bins, each round is one more. Needs
        stumps, and no early stopping. ``blocks`` are those of :meth:`PNormPush.fit_blocks`.

        Examples
        --------
        >>> import numpy as np
        >>> from toprank import RankBoost
        >>> from toprank.blocks import ArrayBlocks
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
        >>> model = RankBoost(max_iter=3).fit_blocks(ArrayBlocks.cut(X, y, size=2))
        >>> model.rank([[0.0], [3.0]])
        array([2, 1])
        """
        self._check_parameters()
        family = self._family()
        if not isinstance(family, Stumps):
            raise ValueError(  # noqa: TRY004  (a value of weak_rankers)
                "rows in blocks are boosted with weak_rankers='stumps' only, "
                f"got {self.weak_rankers!r}."
            )
        if self.early_stopping:
            raise ValueError(
                "early_stopping=True needs rows in memory; choose max_iter on a part of the rows."
            )
        seen, classes = survey(blocks, accepts_missing=True)
        keep_columns(self, seen.low.size, blocks.feature_names)
        fit_stumps(family, blocks, seen.starts, seen.n_rows)
        family.has_missing_ = seen.missing
        state = PassState.on(blocks, family, classes[1], seen.largest_weight)
        monitor = RoundMonitor(self, family, None, None, {})
        try:
            run = self._boost(state, monitor)
        finally:
            monitor.close()
            state.close()
        self._store_run(family, classes, run)
        warn_if_equal(self, stacklevel=4)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.selection not in ("largest_decrease", "steepest"):
            raise ValueError(
                f"selection must be 'largest_decrease' or 'steepest', got {self.selection!r}."
            )
