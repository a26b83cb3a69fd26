"""What a fit guarantees, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toprank.guarantees import PushCertificate

if TYPE_CHECKING:
    from toprank.app.model import Model
    from toprank.app.training_data import TrainingData

__all__ = ["certificate_in_words"]


def certificate_in_words(model: Model, data: TrainingData, n_above: int) -> str:
    """Say what is certain about a fitted model on its training list, and what is not.

    ``n_above`` positives stand above every negative.
    """
    ranker, rows = model.ranker, data.whole
    known = getattr(ranker, "certificate_", None)
    if known is None and rows is not None and hasattr(ranker, "certify"):
        # a fit of many rows leaves none; it costs a sort, for which they must be in memory
        X = model.encoder.transform(rows.features)
        known = ranker.certify(X, rows.positives, rows.weights, rows.groups)
    if isinstance(known, PushCertificate):
        # A function in Python is no help to people with a terminal or a page.
        words = str(known).removesuffix("measure them on held-out rows.")
        return f"{words}toprank evaluate measures what is true of them."
    words = _in_words(known)
    return (
        f"{words} Training list of {data.n_positives:,} positives and "
        f"{data.n_rows - data.n_positives:,} negatives: {n_above:,} positives stand above every "
        "negative. New rows are another matter; the held-out figures speak of them."
    ).strip()


def _in_words(certificate: Any) -> str:
    kind = type(certificate).__name__
    if kind == "MarginCertificate":
        return (
            f"The model's ranking margin is above {certificate.smooth_margin:.3g}, and no weighted "
            f"sum of these weak rankers has more than {certificate.ceiling:.3g}."
        )
    if kind == "SoftMarginCertificate":
        return (
            f"At least {certificate.share:.1%} of the pairs have a margin of "
            f"{certificate.soft_margin:.3g} or more; the best soft margin is at most "
            f"{certificate.ceiling:.3g}."
        )
    if kind in ("StreamCertificate", "MistakeCertificate"):
        return (
            f"{certificate.n_batches:,} mini-batches were ranked; in those that were new to the "
            f"model, {certificate.fresh_share:.1%} of the top was wrong on average."
        )
    if kind == "GapCertificate":
        return (
            f"The objective is within {certificate.upper - certificate.lower:.2g} of the best "
            "possible one."
        )
    return ""
