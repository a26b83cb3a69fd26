"""Fits on blocks by rankers that compare all rows: the table goes to a file, then as in memory."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import NDArray

from toprank.blocks import survey
from toprank.kernels.memory import available_memory
from toprank.labels import binary_labels
from toprank.rankers.base import keep_columns
from toprank.rankers.callbacks import with_callbacks
from toprank.rankers.supervised import LinearRanker
from toprank.spool import spool_type, spooled
from toprank.truth import Truth

if TYPE_CHECKING:
    from toprank.blocks import Blocks, Survey

# Measured at most, without lists and with them: scores, their moves and slopes, labels, weights,
# and what an evaluation sorts.
BYTES_PER_ROW = {False: 150, True: 260}


class SpoolingRanker(LinearRanker):
    """``fit_blocks`` for a linear ranker that reads its table some rows at a time, in order."""

    @abstractmethod
    def _not_in_order(self) -> str:
        """Say which parameter asks for rows or columns in another order, if one does."""

    @with_callbacks
    def fit_blocks(self, blocks: Blocks, *, grades: bool = False) -> Self:
        """Fit on labelled rows in blocks, such as a table larger than memory.

        Two passes over the blocks: one finds ranges and labels, one writes the features, four bytes
        per cell, into a file in the folder for temporary files (``scratch=`` of the blocks names
        another), which is gone when the fit ends, however it ends. The fit is that of :meth:`fit`
        on this file, which it reads twice per iteration. Scores, labels, weights and lists of all
        rows are in memory, 150 bytes per row (260 with lists) for any number of features.

        Parameters
        ----------
        blocks : Blocks
            Such as ``toprank.tables.ParquetBlocks``. Blocks with ``groups`` contain rows of several
            lists, each of which may be spread over blocks.
        grades : bool, default=False
            Whether the labels are grades: higher ones belong above lower ones.
        """
        return self._fit_blocks(blocks, grades=grades)

    def _fit_blocks(self, blocks: Blocks, *, grades: bool) -> Self:
        self._check_parameters()
        problem = self._not_in_order()
        if problem:
            raise ValueError(f"rows in blocks are read in their order, but {problem}.")
        seen = survey(blocks, accepts_missing=False)
        classes = None if grades else binary_labels(seen.labels)[0]
        keep_columns(self, seen.low.size, blocks.feature_names)
        return self._fit_surveyed(blocks, seen, classes)

    def _fit_surveyed(self, blocks: Blocks, seen: Survey, classes: NDArray[Any] | None) -> Self:
        """Learn from blocks that were looked at; without classes their labels are grades."""
        check_on_this_machine(blocks)
        check_memory(seen)
        shape, dtype = (seen.n_rows, seen.low.size), spool_type(seen.low, seen.high, seen.dtype)
        positive = None if classes is None else classes[1]
        with spooled(blocks, seen.starts, shape, dtype, positive) as rows:
            given: dict[str, Any] = {"sample_weight": rows.weights, "groups": rows.groups}
            if classes is None:
                truth = Truth.of_grades(rows.y, **given)
            else:
                truth = Truth.of_labels(rows.y, classes=classes, **given)
            return self._fit(rows.X, truth, {}, scratch=blocks.scratch)

    def _check_mapped(self, table: Any) -> None:
        """Refuse a mapped table that is read in another order and has no room in memory."""
        if self._not_in_order():
            super()._check_mapped(table)


def check_on_this_machine(blocks: Blocks) -> None:
    """Refuse blocks on a cluster, where only sums over rows are taken."""
    if blocks.is_remote:
        raise ValueError(
            "this fit compares the rows with each other, which a cluster does not do: write the "
            "collection as Parquet and fit it on one machine (toprank.tables.ParquetBlocks), or "
            "take PNormPush or IRPush with the exponential loss in one list, RankBoost or "
            "TreeRanker."
        )


def check_memory(seen: Survey) -> None:
    """Raise where the numbers that are kept per row do not fit into memory."""
    per_row, free = BYTES_PER_ROW[seen.has_groups], available_memory()
    if free is None or seen.n_rows * per_row <= free:
        return
    raise ValueError(
        f"the scores of {seen.n_rows:,} rows need some {seen.n_rows * per_row / 1e9:.3g} GB of "
        f"memory, but {free / 1e9:.3g} are free; fit on a sample of at most {free // per_row:,} "
        "rows, or use PNormPush with loss='exponential' and without lists, which keeps no scores."
    )
