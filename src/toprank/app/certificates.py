"""What a fit guarantees, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.rankers import IRPush, PNormPush

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.app.labels import Supervision
    from toprank.tables import TableEncoder

__all__ = ["certificate_in_words", "of_list"]


def certificate_in_words(
    ranker: Any, encoder: TableEncoder, lesson: Supervision, scores: NDArray[np.float64]
) -> str:
    """Say what is certain about a fitted ranker on its training list, and what is not."""
    known = getattr(ranker, "certificate_", None)
    if isinstance(ranker, (PNormPush, IRPush)):
        if known is None:  # a fit of many rows leaves none
            X = encoder.transform(lesson.features)
            known = ranker.certify(X, lesson.positives, lesson.weights, lesson.groups)
        # A function in Python is no help to people with a terminal or a page.
        words = str(known).removesuffix("see push_generalization.")
        return f"{words}toprank evaluate measures what is true of them."
    words = _in_words(known) if known is not None else ""
    return f"{words} {_of_scores(lesson.positives, scores)}".strip()


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


def _of_scores(positives: NDArray[np.bool_], scores: NDArray[np.float64]) -> str:
    highest = scores[~positives].max()
    above = int(np.count_nonzero(scores[positives] > highest))
    return of_list(int(positives.sum()), int((~positives).sum()), above)


def of_list(n_positives: int, n_negatives: int, n_above: int) -> str:
    """Say how many positives stand above every negative."""
    return (
        f"Training list of {n_positives:,} positives and {n_negatives:,} "
        f"negatives: {n_above:,} positives stand above every negative. New rows are another "
        "matter; the held-out figures speak of them."
    )
