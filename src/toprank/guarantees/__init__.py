"""Margins, certificates and bounds of the papers, computed on your data."""

from toprank.guarantees.best_margin import BestMargin, best_margin, best_margin_of_matrix
from toprank.guarantees.certificates import (
    GapCertificate,
    MarginCertificate,
    SoftMarginCertificate,
)
from toprank.guarantees.precision import (
    MistakeCertificate,
    StreamCertificate,
    TopMargins,
    mistake_bound,
    top_margins,
)
from toprank.guarantees.predtron import (
    PredtronCertificate,
    loss_driven_bound,
    ndcg_margin,
    precision_margin,
    predtron_bound,
    predtron_step,
    subset_margin,
    table_margin,
)
from toprank.guarantees.push_promises import PushCertificate, push_certificate
from toprank.guarantees.ranking_margins import (
    ClassLosses,
    MarginBound,
    Slack,
    class_losses,
    convex_slack,
    crucial_share,
    f_skew,
    margin_share,
    misranking_bound,
    ranking_margin,
    smooth_margin,
)
from toprank.guarantees.svm import RankingBound, SvmCertificate, auc_at_margin, ranking_bound

__all__ = [
    "BestMargin",
    "ClassLosses",
    "GapCertificate",
    "MarginBound",
    "MarginCertificate",
    "MistakeCertificate",
    "PredtronCertificate",
    "PushCertificate",
    "RankingBound",
    "Slack",
    "SoftMarginCertificate",
    "StreamCertificate",
    "SvmCertificate",
    "TopMargins",
    "auc_at_margin",
    "best_margin",
    "best_margin_of_matrix",
    "class_losses",
    "convex_slack",
    "crucial_share",
    "f_skew",
    "loss_driven_bound",
    "margin_share",
    "misranking_bound",
    "mistake_bound",
    "ndcg_margin",
    "precision_margin",
    "predtron_bound",
    "predtron_step",
    "push_certificate",
    "ranking_bound",
    "ranking_margin",
    "smooth_margin",
    "subset_margin",
    "table_margin",
    "top_margins",
]
