"""The family from which a ranker is chosen, from the simplest to the least simple."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import toprank
from toprank.selection.logistic import LogisticRanker

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FAMILIES", "Candidate", "family"]


class Candidate(NamedTuple):
    """One setting of one ranker.

    ``simplicity`` orders candidates: of two that the data cannot tell apart the one with the
    smaller number is chosen.
    """

    name: str
    params: dict[str, Any]
    estimator: Any
    simplicity: int


# Order is simplicity: linear before thresholds, no push before a hard one.
FAMILIES = (
    "logistic",
    "pnorm-push",
    "ir-push",
    "rank-svm",
    "precision-at-k",
    "pnorm-push-stumps",
    "rankboost",
    "smooth-margin",
    "soft-rankboost",
)
_CLASSES = {
    "pnorm-push": "PNormPush",
    "ir-push": "IRPush",
    "rank-svm": "RankSVM",
    "precision-at-k": "PrecisionAtKRanker",
    "pnorm-push-stumps": "PNormPush",
    "rankboost": "RankBoost",
    "smooth-margin": "SmoothMarginRanker",
    "soft-rankboost": "SoftRankBoost",
}
# By default those that paid in our own comparisons; the others can be named.
DEFAULT = ("logistic", "pnorm-push", "ir-push", "precision-at-k", "pnorm-push-stumps", "rankboost")


def family(
    names: Sequence[str] | None = None,
    *,
    share_of_positives: float = 0.25,
    random_state: int = 0,
) -> list[Candidate]:
    """All settings of the named rankers, the simplest first.

    Parameters
    ----------
    names : sequence of str, optional
        Names as on the command line; by default a spread of the family.
    share_of_positives : float, default=0.25
        Budget over positives: one of the lengths that precision at k is tried with.
    random_state : int, default=0
        Seed of the stochastic rankers.

    Examples
    --------
    >>> from toprank.selection import family
    >>> [candidate.params for candidate in family(["logistic"])]
    [{'C': 0.01}, {'C': 0.1}, {'C': 1.0}, {'C': 10.0}]
    """
    chosen = list(DEFAULT if names is None else names)
    known = [name for name in FAMILIES if name == "logistic" or _CLASSES[name] in dir(toprank)]
    unknown = [name for name in chosen if name not in known]
    if unknown or not chosen:
        raise ValueError(f"candidates has {unknown}; choose among {', '.join(known)}.")
    found: list[Candidate] = []
    for name in known:
        if name in chosen:
            for params in _grid(name, share_of_positives):
                estimator = _estimator(name, params, random_state)
                found.append(Candidate(name, params, estimator, len(found)))
    return found


def _grid(name: str, share: float) -> list[dict[str, Any]]:
    lengths = sorted({0.25, 1.0, round(min(1.0, max(share, 0.01)), 4)})
    grids: dict[str, dict[str, list[Any]]] = {
        "logistic": {"C": [0.01, 0.1, 1.0, 10.0]},
        "pnorm-push": {"p": [1, 2, 4, 8, 16], "alpha": [1.0, 0.1, 0.01, 0.001]},
        "ir-push": {"alpha": [0.1, 0.01, 0.001]},
        "rank-svm": {"nu": [0.3, 0.1]},
        "precision-at-k": {"k": lengths, "alpha": [1e-2, 1e-4]},
        "pnorm-push-stumps": {"p": [1, 4, 16], "alpha": [0.1]},
        "rankboost": {"max_iter": [50, 200]},
        "smooth-margin": {"max_iter": [200]},
        "soft-rankboost": {"nu": [0.1, 0.3]},
    }
    grid = grids[name]
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def _estimator(name: str, params: dict[str, Any], random_state: int) -> Any:
    if name == "logistic":
        return LogisticRanker(**params)
    given = dict(params)
    if name == "pnorm-push-stumps":
        given["weak_rankers"] = "stumps"
    if name == "precision-at-k":
        given["random_state"] = random_state
    return getattr(toprank, _CLASSES[name])(**given)
