"""Margins, certificates and bounds of the papers, computed on your data."""

from toprank.guarantees.precision import (
    MistakeCertificate,
    StreamCertificate,
    TopMargins,
    mistake_bound,
    top_margins,
)
from toprank.guarantees.predtron import PredtronCertificate
from toprank.guarantees.push_promises import PushCertificate, push_certificate
from toprank.guarantees.ranking_margins import (
    BestMargin,
    GapCertificate,
    MarginCertificate,
    SoftMarginCertificate,
    best_margin,
    f_skew,
    margin_share,
    ranking_margin,
    smooth_margin,
)
from toprank.guarantees.svm import RankingBound, SvmCertificate, auc_at_margin, ranking_bound

__all__ = [
    "BestMargin",
    "GapCertificate",
    "MarginCertificate",
    "MistakeCertificate",
    "PredtronCertificate",
    "PushCertificate",
    "RankingBound",
    "SoftMarginCertificate",
    "StreamCertificate",
    "SvmCertificate",
    "TopMargins",
    "auc_at_margin",
    "best_margin",
    "f_skew",
    "margin_share",
    "mistake_bound",
    "push_certificate",
    "ranking_bound",
    "ranking_margin",
    "smooth_margin",
    "top_margins",
]
