"""Boosted trees of other libraries, with their defaults, as contestants."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ENGINES", "EngineRanker", "installed_engines"]

# Module, class, and settings that only silence it and fix its seed.
ENGINES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "LightGBM": ("lightgbm", "LGBMClassifier", {"verbose": -1, "random_state": 0}),
    "XGBoost": ("xgboost", "XGBClassifier", {"verbosity": 0, "random_state": 0}),
}


def installed_engines() -> list[str]:
    """Names of those that can be imported here."""
    return [name for name, (module, *_) in ENGINES.items() if importlib.util.find_spec(module)]


class EngineRanker(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Scores rows by an engine's probability, learned with its defaults.

    Parameters
    ----------
    engine : str
        One of :data:`ENGINES`.
    n_jobs : int, default=1
        Threads of the engine.
    """

    def __init__(self, engine: str = "LightGBM", n_jobs: int = 1) -> None:
        self.engine = engine
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,  # noqa: ARG002
    ) -> Self:
        """Learn from a table and its labels; ``groups`` is taken and not used."""
        module, kind, silent = ENGINES[self.engine]
        maker = getattr(importlib.import_module(module), kind)
        labels = np.asarray(y).astype(int)
        self.model_ = maker(n_jobs=self.n_jobs, **silent)
        self.model_.fit(np.ascontiguousarray(X), labels, sample_weight=sample_weight)
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give the log-odds of the positive class."""
        chance = np.asarray(self.model_.predict_proba(np.ascontiguousarray(X)), np.float64)[:, 1]
        chance = np.clip(chance, 1e-12, 1.0 - 1e-12)
        return np.asarray(np.log(chance / (1.0 - chance)))
