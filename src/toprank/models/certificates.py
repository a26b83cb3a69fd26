"""What a fit guarantees, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.guarantees import push_certificate
from toprank.rankers import IRPush, PNormPush

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.tables import Supervision

__all__ = ["certificate_in_words", "of_list"]


def certificate_in_words(ranker: Any, lesson: Supervision, scores: NDArray[np.float64]) -> str:
    """Say what is certain about a fitted ranker on its training list, and what is not."""
    if isinstance(ranker, PNormPush) and isinstance(ranker.p, (int, float)):
        return _of_push(ranker, lesson, scores, price=float(ranker.p), focus=ranker.focus)
    if isinstance(ranker, IRPush):
        return _of_push(ranker, lesson, scores, price="log1p", focus="bottom")
    known = getattr(ranker, "certificate_", None)
    words = _in_words(known) if known is not None else ""
    return f"{words} {_of_scores(lesson.positives, scores)}".strip()


def _of_push(
    ranker: Any, lesson: Supervision, scores: NDArray[np.float64], *, price: Any, focus: Any
) -> str:
    certificate = push_certificate(
        lesson.positives,
        scores,
        price,
        loss=ranker.loss,
        focus=focus,
        sample_weight=lesson.weights,
        groups=lesson.groups,
    )
    # A function in Python is no help to people with a terminal or a page.
    words = str(certificate).removesuffix("see push_generalization.")
    return f"{words}toprank evaluate measures what is true of them."


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
