"""What the two rankers share: the losses of a ranking by name."""

from __future__ import annotations

from typing import Any

from toprank.predtron.losses import NDCGLoss, PrecisionAtKLoss
from toprank.predtron.problem import Ranking
from toprank.predtron.representations import Positions

__all__ = ["ranking_problem"]


def ranking_problem(loss: Any, k: Any, representation: Any) -> Ranking:
    """The problem of a ranker's parameters; refuses those that make no sense."""
    if loss not in ("ndcg", "precision_at_k"):
        raise ValueError(f"loss must be 'ndcg' or 'precision_at_k', got {loss!r}.")
    if loss == "ndcg":
        if k is not None:
            raise ValueError(f"k={k!r} belongs to loss='precision_at_k'; leave it out.")
        return Ranking(NDCGLoss(), Positions(representation))
    if k is None:
        raise ValueError("k=None: say how long the shortlist of loss='precision_at_k' is.")
    return Ranking(PrecisionAtKLoss(k), Positions(representation))
