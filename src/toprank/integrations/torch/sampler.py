"""Batches in which the top of the list means something: positives in every one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch.utils.data import Sampler

if TYPE_CHECKING:
    from torch import Tensor


class ClassAwareBatchSampler(Sampler[list[int]]):
    """Row numbers of batches with a fixed number of positives.

    A push compares positives with negatives *within* a batch, and its top is the top of the batch.
    Random batches of a rare class hold few positives or none. Here every batch holds ``positives``
    of them, and as many negatives as fill it; an epoch visits every negative once and goes round
    the positives as often as needed, in a new order each time.

    The share of positives changes what p and k mean, not what is learned from a pair: both sums of
    a push are means over their class up to a constant. The larger the batch, the closer its top is
    to that of the whole list.

    Parameters
    ----------
    y : Tensor
        Labels of all rows, positive where y > 0.
    batch_size : int, default=512
        Rows of a batch; the last negatives of an epoch wait for the next one.
    positives : int or float, default=0.25
        Positives of a batch: a number of rows, or a share of the batch.
    seed : int, default=0
        Where the random order starts; each epoch goes on from there.

    Examples
    --------
    >>> import torch
    >>> from toprank.integrations.torch import ClassAwareBatchSampler
    >>> y = torch.arange(100) % 20 == 0
    >>> sampler = ClassAwareBatchSampler(y, batch_size=20, positives=4)
    >>> len(sampler), [int(y[batch].sum()) for batch in sampler]
    (5, [4, 4, 4, 4, 4])
    """

    def __init__(
        self, y: Tensor, batch_size: int = 512, *, positives: float = 0.25, seed: int = 0
    ) -> None:
        labels = torch.as_tensor(y).reshape(-1) > 0
        self.positive, self.negative = labels.nonzero()[:, 0], (~labels).nonzero()[:, 0]
        if not self.positive.numel() or not self.negative.numel():
            raise ValueError(
                f"y has {self.positive.numel()} positive and {self.negative.numel()} negative "
                "rows; a batch needs both."
            )
        count = positives if isinstance(positives, int) else round(positives * batch_size)
        self.n_positives = max(1, int(count))
        self.n_negatives = batch_size - self.n_positives
        if not 0 < self.n_negatives <= self.negative.numel():
            raise ValueError(
                f"batch_size={batch_size} with {self.n_positives} positives leaves "
                f"{self.n_negatives} places for negatives, of which there are "
                f"{self.negative.numel()}; change batch_size or positives."
            )
        self._random = torch.Generator().manual_seed(seed)

    def __len__(self) -> int:
        return self.negative.numel() // self.n_negatives

    def __iter__(self) -> Iterator[list[int]]:
        down = self._shuffled(self.negative)
        needed = len(self) * self.n_positives
        rounds = -(-needed // self.positive.numel())
        up = torch.cat([self._shuffled(self.positive) for _ in range(rounds)])
        for batch in range(len(self)):
            ups = up[batch * self.n_positives : (batch + 1) * self.n_positives]
            downs = down[batch * self.n_negatives : (batch + 1) * self.n_negatives]
            yield torch.cat([ups, downs]).tolist()

    def _shuffled(self, rows: Tensor) -> Tensor:
        return rows[torch.randperm(rows.numel(), generator=self._random)]
