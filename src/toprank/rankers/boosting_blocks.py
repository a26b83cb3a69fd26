"""Boosting stumps on rows in blocks: a file larger than memory, a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from toprank.rankers.base import keep_columns
from toprank.rankers.boosting import BoostedRanker, family_from, warn_if_equal
from toprank.rankers.callbacks import Watch, with_callbacks
from toprank.rankers.survey import survey
from toprank.solvers.base import Progress
from toprank.solvers.boosting import boost
from toprank.solvers.boosting_passes import PassArena, fit_stumps
from toprank.weak_rankers import Stumps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.blocks import Blocks
    from toprank.solvers.boosting import Boosted

__all__ = ["LearnsFromBlocks"]


class LearnsFromBlocks(BoostedRanker):
    """A boosted ranker that also takes rows in blocks."""

    @with_callbacks
    def fit_blocks(self, blocks: Blocks) -> Self:
        """Learn from labelled rows in blocks, in one list: the same stumps as :meth:`fit` finds.

        Two passes find thresholds, one puts the rows into bins, each round is one more. Needs
        stumps, and no early stopping.

        Parameters
        ----------
        blocks : Blocks
            Such as ``toprank.tables.ParquetBlocks`` (a file larger than memory) or
            ``toprank.integrations.dask.DaskBlocks`` (a cluster).

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
        family = family_from(self.weak_rankers)
        if not isinstance(family, Stumps):
            raise ValueError(  # noqa: TRY004  (a value of weak_rankers)
                "rows in blocks are boosted with weak_rankers='stumps' only, "
                f"got {self.weak_rankers!r}."
            )
        if self.early_stopping:
            raise ValueError(
                "early_stopping=True needs rows in memory; choose max_iter on a part of the rows."
            )
        seen, self.classes_ = survey(blocks, accepts_missing=True)
        keep_columns(self, seen.low.size, blocks.feature_names)
        fit_stumps(family, blocks, seen.starts, seen.n_rows)
        family.has_missing_ = seen.missing
        arena = PassArena.on(blocks, family, self.classes_[1], seen.largest_weight)

        def learned(weights: NDArray[np.float64]) -> dict[str, Any]:
            return {"weak_rankers_": family, "weights_": weights, "intercept_": np.zeros(1)}

        watch = Watch(self, max_iter=self.max_iter, verbose=self.verbose, learned=learned, data={})

        def intercept() -> float:
            positives, negatives = arena.class_losses()
            return 0.5 * (positives - negatives)

        def monitor(run: Boosted) -> bool:
            weights = self._weights(run, arena.n_weak)
            return watch(Progress(run.n_iter, run.path[-1], weights))

        try:
            run = boost(
                arena,
                selection=self.selection,
                both=self.directions == "both",
                max_iter=self.max_iter,
                tol=self.tol,
                intercept=intercept,
                monitor=monitor,
            )
        finally:
            watch.close()
            arena.close()
        self.weak_rankers_ = family
        self._keep(run, arena.n_weak)
        warn_if_equal(self, stacklevel=4)
        return self
