"""Margins, certificates and bounds of the papers, computed on your data."""

from toprank.guarantees.best_margin import (
    BestMargin,
    best_margin,
    best_margin_of_matrix,
    best_margin_of_pairs,
)
from toprank.guarantees.boosting_certificates import MarginCertificate, SoftMarginCertificate
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
    predtron_bound,
    predtron_step,
)
from toprank.guarantees.predtron_margins import (
    ndcg_margin,
    precision_margin,
    subset_margin,
    table_margin,
)
from toprank.guarantees.push_promises import PushCertificate, push_certificate
from toprank.guarantees.ranking_bounds import (
    MarginBound,
    Slack,
    convex_slack,
    misranking_bound,
)
from toprank.guarantees.ranking_margins import (
    ClassLosses,
    class_losses,
    crucial_share,
    f_skew,
    margin_share,
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
    "best_margin_of_pairs",
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
    "separable_mistake_bound",
    "smooth_margin",
    "subset_margin",
    "table_margin",
    "top_margins",
]
