"""Margins, certificates and bounds of the papers, computed on your data."""

from toprank.guarantees.precision_margins import TopMargins, top_margins
from toprank.guarantees.precision_mistakes import (
    GapCertificate,
    MistakeCertificate,
    StreamCertificate,
    mistake_bound,
    separable_mistake_bound,
)
from toprank.guarantees.predtron_bounds import (
    PredtronCertificate,
    loss_driven_bound,
    ndcg_bound,
    ordinal_bound,
    prank_bound,
    predtron_bound,
    predtron_step,
    reject_bound,
    sparse_ndcg_bound,
    weighted_bound,
)
from toprank.guarantees.predtron_margins import (
    lemma_4_margin,
    multiclass_margin,
    ndcg_margin,
    prank_margin,
    precision_margin,
    subset_margin,
    table_margin,
)

__all__ = [
    "GapCertificate",
    "MistakeCertificate",
    "PredtronCertificate",
    "StreamCertificate",
    "TopMargins",
    "lemma_4_margin",
    "loss_driven_bound",
    "mistake_bound",
    "multiclass_margin",
    "ndcg_bound",
    "ndcg_margin",
    "ordinal_bound",
    "prank_bound",
    "prank_margin",
    "precision_margin",
    "predtron_bound",
    "predtron_step",
    "reject_bound",
    "separable_mistake_bound",
    "sparse_ndcg_bound",
    "subset_margin",
    "table_margin",
    "top_margins",
    "weighted_bound",
]
