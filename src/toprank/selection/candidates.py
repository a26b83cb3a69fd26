"""All rankers by name, and the settings among which a choice is made."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from sklearn.base import clone

import toprank
from toprank.selection import engines
from toprank.tables.table import did_you_mean


class RankerKind(NamedTuple):
    """A ranker by its name on the command line.

    ``given`` differs there from the defaults of the class; ``grid`` holds the settings that a
    choice tries, ``on_folds`` those that differ in its fits on folds, which need not be as fine;
    ``is_streamed`` says whether it learns by sums over batches of rows, ``is_linear`` whether by
    one coefficient per feature, also of sparse rows; ``votes`` is the count with which a blend
    starts for each setting.
    """

    class_name: str
    grid: dict[str, list[Any]]
    given: dict[str, Any] = {}  # noqa: RUF012 (never changed)
    on_folds: dict[str, Any] = {}  # noqa: RUF012
    is_streamed: bool = False
    is_linear: bool = False
    votes: float = 0.0


class Candidate(NamedTuple):
    """One setting of one ranker; ``quick``, where given, takes its place on folds."""

    name: str
    params: dict[str, Any]
    estimator: Any
    quick: Any = None

    @property
    def on_folds(self) -> Any:
        """The unfitted ranker for folds."""
        return self.estimator if self.quick is None else self.quick

    def effort(self, n_rows: int, on_fold: int) -> float:
        """How many times as long a fit on all rows takes as one on the rows of a fold."""
        both = (self.estimator, self.on_folds)
        n_trees = [float(getattr(each, "n_trees", 1)) for each in both]
        rows = min(n_rows, getattr(self.estimator, "most_rows", n_rows))
        return n_trees[0] / n_trees[1] * rows / on_fold

    @property
    def label(self) -> str:
        """Name and settings, such as ``pnorm-push p=4 alpha=0.01``."""
        return " ".join([self.name, *(f"{name}={value}" for name, value in self.params.items())])


# Order is simplicity: linear before thresholds before trees, no push before a hard one.
RANKERS = {
    "logistic": RankerKind("LogisticRanker", {"C": [0.1, 1.0]}, is_linear=True),
    "pnorm-push": RankerKind(
        "PNormPush", {"p": [1, 4], "alpha": [0.01]}, is_streamed=True, is_linear=True
    ),
    "ir-push": RankerKind("IRPush", {"alpha": [0.01]}, is_streamed=True, is_linear=True),
    "linear-rank-svm": RankerKind("LinearRankSVM", {"alpha": [0.1, 0.01]}, is_linear=True),
    "rank-svm": RankerKind("RankSVM", {"nu": [0.3, 0.1]}),
    "precision-at-k": RankerKind("PrecisionAtKRanker", {"k": [], "alpha": [1e-3]}, is_linear=True),
    "pnorm-push-stumps": RankerKind(
        "PNormPush", {"p": [1], "alpha": [0.1]}, {"weak_rankers": "stumps"}
    ),
    "rankboost": RankerKind("RankBoost", {"max_iter": [100]}, {"max_step": 2.0}, is_streamed=True),
    "smooth-margin": RankerKind("SmoothMarginRanker", {"max_iter": [200]}, {"max_step": 2.0}),
    "adaboost": RankerKind("AdaBoostRanker", {"max_iter": [100]}, {"max_step": 2.0}),
    "soft-rankboost": RankerKind("SoftRankBoost", {"nu": [0.1, 0.3]}),
    "trees": RankerKind(
        "TreeRanker",
        {},
        {"n_jobs": 1},
        {"n_trees": 400},
        is_streamed=True,
        votes=30.0,
    ),
    "random-forest": RankerKind(
        "ForestRanker",
        {"max_features": [0.4], "min_samples_leaf": [2]},
        {"kind": "random"},
        {"n_trees": 80},
    ),
    "extra-trees": RankerKind(
        "ForestRanker",
        {"max_features": [0.5], "min_samples_leaf": [2]},
        {"kind": "extra"},
        {"n_trees": 80},
    ),
    "lightgbm": RankerKind("EngineRanker", {}, {"engine": "lightgbm"}),
    "xgboost": RankerKind("EngineRanker", {}, {"engine": "xgboost"}),
    "catboost": RankerKind("EngineRanker", {}, {"engine": "catboost"}),
}
# Those that helped most in our own comparisons, in order of what they add: with a time limit the
# last are left out. The others can be named.
DEFAULT = (
    "logistic",
    "trees",
    "random-forest",
    "extra-trees",
    "pnorm-push",
    "pnorm-push-stumps",
    "rankboost",
)
# Wider tables get fewer boosted trees, and take no longer.
_MOST_FEATURES, _FEWEST_TREES = 2_000, 20
STREAMED = tuple(name for name, kind in RANKERS.items() if kind.is_streamed)
LINEAR = tuple(name for name, kind in RANKERS.items() if kind.is_linear)


def make_ranker(name: str, settings: dict[str, Any] | None = None, *, seed: int = 0) -> Any:
    """Make an unfitted ranker from its name on the command line and its parameters."""
    if name not in RANKERS:
        hint = did_you_mean(name, list(RANKERS))
        raise ValueError(f"there is no ranker {name!r}{hint}; choose among {', '.join(RANKERS)}.")
    class_name, given = RANKERS[name].class_name, RANKERS[name].given | (settings or {})
    kind: Any = getattr(engines, class_name, None) or getattr(toprank, class_name)
    known = list(inspect.signature(kind).parameters)
    for setting in given:
        if setting not in known:
            raise ValueError(
                f"{name} has no setting {setting!r}{did_you_mean(setting, known)}; it has "
                f"{', '.join(sorted(known))}."
            )
    if "random_state" in known:
        given = {"random_state": seed} | given
    return kind(**given)


def family(
    names: Sequence[str] | None = None,
    *,
    share_of_positives: float = 0.25,
    n_features: int = 1,
    random_state: int = 0,
) -> list[Candidate]:
    """All settings of the named rankers, in the order of the names.

    Parameters
    ----------
    names : sequence of str, optional
        Names as on the command line; by default a spread of the family.
    share_of_positives : float, default=0.25
        Budget over positives: the length that precision at k is tried with.
    n_features : int, default=1
        Columns of the table: beyond 2,000 there are fewer boosted trees, each of which looks at all
        columns.
    random_state : int, default=0
        Seed of the stochastic rankers.

    Examples
    --------
    >>> from toprank.selection import family
    >>> [candidate.label for candidate in family(["logistic"])]
    ['logistic C=0.1', 'logistic C=1.0']
    """
    chosen = list(dict.fromkeys(DEFAULT if names is None else names))
    unknown = [name for name in chosen if name not in RANKERS]
    if unknown or not chosen:
        raise ValueError(f"candidates has {unknown}; choose among {', '.join(RANKERS)}.")
    found: list[Candidate] = []
    for name in chosen:
        grid = dict(RANKERS[name].grid)
        if "k" in grid:
            grid["k"] = [round(min(1.0, max(share_of_positives, 0.01)), 4)]
        for values in product(*grid.values()):
            params = dict(zip(grid, values, strict=True))
            made = make_ranker(name, params, seed=random_state)
            quick = clone(made).set_params(**RANKERS[name].on_folds)
            if name == "trees" and n_features > _MOST_FEATURES:
                for each in (made, quick):
                    fewer = each.n_trees * _MOST_FEATURES // n_features
                    each.set_params(n_trees=max(_FEWEST_TREES, fewer))
            found.append(Candidate(name, params, made, quick))
    return found
