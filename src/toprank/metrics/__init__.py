"""Metrics of ranked lists, with explicit rules for ties, weights and groups."""

from toprank.metrics.gains import average_precision, average_reciprocal_rank, bedroc, dcg, ndcg
from toprank.metrics.heights import height, pnorm_error, ranks, reverse_height
from toprank.metrics.pairs import partial_auc, positives_at_top, r_max, roc_auc, winner_take_all
from toprank.metrics.scoring import names, scorer
from toprank.metrics.shortlists import (
    enrichment_factor,
    lift,
    prbep,
    precision_at_k,
    recall_at_k,
    shortlist_overlap,
    value_at_k,
)

__all__ = [
    "average_precision",
    "average_reciprocal_rank",
    "bedroc",
    "dcg",
    "enrichment_factor",
    "height",
    "lift",
    "names",
    "ndcg",
    "partial_auc",
    "pnorm_error",
    "positives_at_top",
    "prbep",
    "precision_at_k",
    "r_max",
    "ranks",
    "recall_at_k",
    "reverse_height",
    "roc_auc",
    "scorer",
    "shortlist_overlap",
    "value_at_k",
    "winner_take_all",
]
