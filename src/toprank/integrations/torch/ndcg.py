"""The structured hinge of NDCG on graded or binary labels.

With gains G, discounts D_j = 1/log2(1 + j), N = Σ_j D_j·G of the best order and a ranking π
valued at Σ_j D_j·s_π(j), the margin-rescaled hinge over all n! rankings is

    max_π [1 - NDCG(π) + Σ_j D_j·s_π(j)] - Σ_j D_j·s_π*(j)
        = Σ_j D_j·(r sorted)_j - Σ_j D_j·r_π*(j),    r = s - G/N,

since the bracket is itself valued like a ranking, by the scores r: sorting does it. π* is the best
order, rows of one grade in the order of their scores, which is that of their r. So behind the
sort of r a stable sort of the grades is enough, and grades are short numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from toprank.integrations.torch.rows import Batch


def ndcg_hinge(batch: Batch, gain: str) -> tuple[Tensor, Tensor]:
    """Value of one list, and whether any of its rows has a gain."""
    scores, grades = batch.scores, batch.y
    places = torch.arange(scores.shape[0], device=scores.device, dtype=torch.float64) + 2.0
    discounts = (1.0 / torch.log2(places)).to(scores.dtype)
    best_grades = torch.sort(grades, descending=True).values
    ideal = (discounts * _gains(best_grades, gain, scores.dtype)).sum(dtype=torch.float64)
    found = ideal > 0
    rate = (1.0 / torch.where(found, ideal, 1.0)).to(scores.dtype)
    rivals = scores - _gains(grades, gain, scores.dtype) * rate
    ranked, order = torch.sort(rivals, descending=True)
    best = torch.argsort(grades[order], descending=True, stable=True)
    # row by row: two long sums would lose the small number between them
    value = (discounts * (ranked - ranked.gather(0, best))).sum(dtype=torch.float64)
    return torch.where(found, value, 0.0), found


def _gains(grades: Tensor, gain: str, dtype: torch.dtype) -> Tensor:
    grades = grades.to(dtype).clamp(min=0.0)
    return grades if gain == "linear" else 2.0**grades - 1.0
