"""Fitting a push on rows in blocks: a file larger than memory, a cluster."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

from toprank.rankers.base import keep_columns
from toprank.rankers.callbacks import with_callbacks
from toprank.rankers.cuts import matching_intercept_on_blocks
from toprank.rankers.push_fit import PushRanker
from toprank.rankers.survey import survey
from toprank.solvers.passes import BlockFeatures, minimize_by_passes
from toprank.weak_rankers import Features, weak_rankers_from
from toprank.weak_rankers.features import check_spans

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from toprank.blocks import Blocks
    from toprank.objectives.exponential import Tilt
    from toprank.solvers import Solution
    from toprank.solvers.passes import Landscape

__all__ = ["LearnsFromBlocks"]


class LearnsFromBlocks(PushRanker):
    """A push that also takes rows in blocks."""

    @abstractmethod
    def _landscape(self, blocks: Blocks, features: BlockFeatures, p: float | None) -> Landscape:
        """Give the objective on blocks, with another power if one is named."""

    def _intercept_tilts(self) -> list[Tilt] | None:
        """Tilts whose log masses give the intercept, where theory does."""
        return None

    @with_callbacks
    def fit_blocks(self, blocks: Blocks) -> Self:
        """Learn from labelled rows in blocks, in one list: the same model as :meth:`fit` finds.

        One pass finds the ranges of the features; each iteration, a Newton step where there are
        up to 512 features, takes a pass more (two with :class:`IRPush`). Memory does not grow
        with the rows. Needs ``loss="exponential"`` and ``weak_rankers="features"``.

        Parameters
        ----------
        blocks : Blocks
            Such as ``toprank.tables.ParquetBlocks`` (a file larger than memory) or
            ``toprank.integrations.dask.DaskBlocks`` (a cluster).

        Examples
        --------
        >>> import numpy as np
        >>> from toprank import PNormPush
        >>> from toprank.blocks import ArrayBlocks
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
        >>> model = PNormPush().fit_blocks(ArrayBlocks.cut(X, y, size=2))
        >>> model.rank([[0.0], [3.0]])
        array([2, 1])
        """
        family = self._family_for_blocks()
        seen, classes = survey(blocks, accepts_missing=False)
        keep_columns(self, seen.low.size, blocks.feature_names)
        family.low_, family.span_ = seen.low, seen.span
        check_spans(seen.span, seen.dtype, getattr(self, "feature_names_in_", None))
        features = BlockFeatures(seen.low, seen.span, classes[1])

        def learned(weights: NDArray[np.float64]) -> dict[str, Any]:
            intercept = self._intercept_on_blocks(blocks, features, weights)
            attributes = self._attributes(family, weights, intercept, seen.dtype)
            return {"classes_": classes, **attributes}

        def minimize(power: float | None, **options: Any) -> Solution:
            landscape: Any = self._landscape(blocks, features, power)
            if power is not None:
                landscape.use_mean()
            return minimize_by_passes(landscape, **options)

        def largest_term(weights: NDArray[np.float64]) -> float:
            landscape: Any = self._landscape(blocks, features, None)
            return float(landscape.largest_term(weights))

        return self._minimize(minimize, largest_term, seen.low.size, learned, {})

    def _family_for_blocks(self) -> Features:
        self._check_parameters()
        family = weak_rankers_from(self.weak_rankers)
        if not isinstance(family, Features):
            raise ValueError(  # noqa: TRY004  (a value of weak_rankers)
                f"rows in blocks need weak_rankers='features', got {self.weak_rankers!r}; "
                "for stumps use RankBoost."
            )
        if self.solver == "coordinate":
            raise ValueError("rows in blocks need solver='auto' or 'lbfgs', got 'coordinate'.")
        if self.loss != "exponential" or getattr(self, "price", None) is not None:
            raise ValueError(
                "rows in blocks need loss='exponential' and price=None: other pushes compare "
                f"sorted scores, which no pass over the rows can give; got loss={self.loss!r}, "
                f"price={getattr(self, 'price', None)!r}."
            )
        return family

    def _intercept_on_blocks(
        self, blocks: Blocks, features: BlockFeatures, weights: NDArray[np.float64]
    ) -> float:
        tilts = self._intercept_tilts()
        if tilts is None:
            return matching_intercept_on_blocks(blocks, features, weights)
        rises, falls = self._landscape(blocks, features, None).masses(weights, tilts)
        return (rises.log - falls.log) / (1.0 + float(self.p))
