"""Rows that pretend to be spread over machines."""

import numpy as np

from toprank.blocks import ArrayBlocks, SpreadBlocks, Tasks


class AtOnce(Tasks):
    """Tasks that are done when they are described."""

    def task(self, work, *arguments):
        return work(*arguments)

    def split(self, n_parts, work, *arguments):
        parts = work(*arguments)
        assert len(parts) == n_parts
        return parts

    def start(self, parts):
        return parts

    def keep(self, parts):
        return parts

    def gather(self, parts):
        return parts


class SpreadArrays(ArrayBlocks):
    """Blocks in memory that pretend to lie elsewhere."""

    def spread(self):
        return SpreadBlocks(AtOnce(), self._blocks)

    def total_beside(self, column, starts, work, *arguments):
        if isinstance(column, np.ndarray):
            return super().total_beside(column, starts, work, *arguments)
        pairs = zip(self._blocks, column, strict=True)
        total, *others = [work(block, part, *arguments) for block, part in pairs]
        for other in others:
            total = total + other
        return total
