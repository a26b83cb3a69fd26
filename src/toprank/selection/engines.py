"""Boosted trees of other libraries, with their defaults, as contestants."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from toprank.rankers.base import BaseRanker
from toprank.rankers.supervised import binary_labels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ENGINES", "EngineRanker", "installed_engines"]

# Module, class, and settings that only silence it, fix its seed and its threads.
ENGINES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "lightgbm": ("lightgbm", "LGBMClassifier", {"verbose": -1, "random_state": 0, "n_jobs": 1}),
    "xgboost": ("xgboost", "XGBClassifier", {"verbosity": 0, "random_state": 0, "n_jobs": 1}),
    "catboost": (
        "catboost",
        "CatBoostClassifier",
        {"verbose": False, "random_seed": 0, "thread_count": 1, "allow_writing_files": False},
    ),
}


def installed_engines() -> list[str]:
    """Names of those that can be imported here."""
    return [name for name, (module, *_) in ENGINES.items() if importlib.util.find_spec(module)]


class EngineRanker(BaseRanker):
    """Scores rows by an engine's probability, learned with its defaults.

    Parameters
    ----------
    engine : {"lightgbm", "xgboost", "catboost"}, default="lightgbm"
    """

    def __init__(self, engine: str = "lightgbm") -> None:
        self.engine = engine

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,  # noqa: ARG002
    ) -> Self:
        """Learn from a table and its labels; ``groups`` is taken and not used."""
        module, kind, settings = ENGINES[self.engine]
        self.classes_, positives = binary_labels(y)
        self.model_ = getattr(importlib.import_module(module), kind)(**settings)
        self.model_.fit(np.ascontiguousarray(X), positives.astype(int), sample_weight=sample_weight)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give the log-odds of the positive class."""
        chance = np.asarray(self.model_.predict_proba(np.ascontiguousarray(X)), np.float64)[:, 1]
        chance = np.clip(chance, 1e-12, 1.0 - 1e-12)
        return np.asarray(np.log(chance / (1.0 - chance)))
