"""Losses for PyTorch networks that look at the top of the list, and batches that suit them.

Every loss is called as ``loss(scores, y, weight=None, groups=None)`` on 1-D tensors: one score and
one label per row (positive where y > 0), row weights, and list ids. It computes on the device of
the scores, in float32 (sums in float64) or float64, and gives a 0-D tensor. A batch that leaves no
pair to compare costs 0 and has a gradient of 0.

The losses are forward formulas in plain PyTorch, which autograd differentiates once or twice, on
every device.
"""

from toprank.integrations.torch.batches import ClassAwareBatchSampler
from toprank.integrations.torch.losses import (
    IRPushLoss,
    NDCGHingeLoss,
    PairLoss,
    PrecisionAtKLoss,
    PushLoss,
)

__all__ = [
    "ClassAwareBatchSampler",
    "IRPushLoss",
    "NDCGHingeLoss",
    "PairLoss",
    "PrecisionAtKLoss",
    "PushLoss",
]
