"""Rankers by the names they have on the command line, and settings given as text."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import toprank

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RANKERS", "make_ranker", "parse_settings"]

# Name on the command line: class, and what differs from its defaults there.
_KNOWN: dict[str, tuple[str, dict[str, Any]]] = {
    "pnorm-push": ("PNormPush", {}),
    "pnorm-push-stumps": ("PNormPush", {"weak_rankers": "stumps"}),
    "ir-push": ("IRPush", {}),
    "precision-at-k": ("PrecisionAtKRanker", {}),
    "rankboost": ("RankBoost", {}),
    "smooth-margin": ("SmoothMarginRanker", {}),
    "adaboost": ("AdaBoostRanker", {}),
    "soft-rankboost": ("SoftRankBoost", {}),
    "rank-svm": ("RankSVM", {}),
}
RANKERS = ("logistic", *(name for name, (kind, _) in _KNOWN.items() if kind in dir(toprank)))


def make_ranker(name: str, settings: dict[str, Any] | None = None, *, seed: int = 0) -> Any:
    """Make an unfitted ranker from its command-line name and its parameters."""
    settings = dict(settings or {})
    if name not in RANKERS:
        raise ValueError(f"there is no ranker {name!r}; choose top or one of {', '.join(RANKERS)}.")
    if name == "logistic":
        from toprank.selection.logistic import LogisticRanker

        kind, given = LogisticRanker, {}
    else:
        kind, given = getattr(toprank, _KNOWN[name][0]), _KNOWN[name][1]
    known = list(inspect.signature(kind).parameters)
    for setting in settings:
        if setting not in known:
            raise ValueError(
                f"{name} has no setting {setting!r}; it has {', '.join(sorted(known))}."
            )
    if "random_state" in known:
        settings.setdefault("random_state", seed)
    return kind(**{**given, **settings})


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Read ``p=8``, ``loss=logistic`` and their kin: numbers, true, false, none, else text.

    Examples
    --------
    >>> parse_settings(["p=8", "alpha=0.1", "loss=logistic", "p=inf"])
    {'p': inf, 'alpha': 0.1, 'loss': 'logistic'}
    """
    settings: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise ValueError(f"--set {text!r} is not NAME=VALUE, for instance --set p=8.")
        settings[name.strip()] = _value(value.strip())
    return settings


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
