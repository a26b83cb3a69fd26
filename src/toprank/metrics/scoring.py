"""Metrics as scikit-learn scorers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from toprank.metrics.lists import METRICS

# Losses, of which a smaller value is better: their scorers return the negative.
LOSSES = frozenset({"pnorm_error", "r_max", "winner_take_all"})
_GRADED = frozenset({"dcg", "ndcg"})


def names() -> list[str]:
    """Names of all metrics that :func:`scorer` takes, in alphabetical order.

    Examples
    --------
    >>> from toprank.metrics import names
    >>> names()[:3]
    ['average_precision', 'average_reciprocal_rank', 'bedroc']
    """
    return sorted(METRICS)


def scorer(name: str, **options: Any) -> Scorer:
    """Scorer of a metric, for ``cross_validate``, ``GridSearchCV`` and similar tools.

    It takes the scores from ``decision_function``, or else the probability of the positive class
    ``classes_[1]`` from ``predict_proba``, or else (for regressors) from ``predict``. Losses
    (``pnorm_error``, ``r_max``, ``winner_take_all``) come with a minus sign, so that greater is
    better, as scikit-learn has it. With metadata routing enabled, ask for weights and lists with
    ``scorer(...).set_score_request(sample_weight=True, groups=True)``.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    **options
        Keywords of the metric, such as ``k=100`` or ``ties="pessimistic"``.

    Returns
    -------
    Scorer
        Callable as ``scorer(estimator, X, y)``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from toprank.metrics import scorer
    >>> X, y = make_classification(random_state=0)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=scorer("precision_at_k", k=5), cv=3)
    array([1., 1., 1.])
    """
    if name not in names():
        raise ValueError(f"name={name!r} is not a metric; choose one of {', '.join(names())}.")
    return Scorer(name, options)


class Scorer:
    """What :func:`scorer` returns; see there."""

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        self.name = name
        self.options = dict(options)
        self._requests: dict[str, bool | str | None] = {}

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, **given: Any) -> float:
        """The metric of the estimator's scores on X, greater is better.

        ``given`` are ``sample_weight`` and ``groups``, as the metric takes them.
        """
        classes = getattr(estimator, "classes_", None)
        options = dict(self.options)
        if classes is not None and self.name not in _GRADED:
            if len(classes) != 2:
                raise ValueError(
                    f"{self.name} ranks two classes, but {type(estimator).__name__} was fitted "
                    f"on {len(classes)}; pass a binary target such as y == y.max()."
                )
            options.setdefault("pos_label", classes[1])
        scores = _scores(estimator, X, options.get("pos_label"))
        value = METRICS[self.name](y, scores, **given, **options)
        return -value if self.name in LOSSES else value

    def set_score_request(self, **requests: bool | str | None) -> Scorer:
        """Ask metadata routing for ``sample_weight`` or ``groups``; returns the scorer."""
        unknown = requests.keys() - {"sample_weight", "groups"}
        if unknown:
            raise TypeError(f"{min(unknown)} cannot be routed; ask for sample_weight or groups.")
        self._requests.update(requests)
        return self

    def get_metadata_routing(self) -> Any:
        """What this scorer asks of metadata routing."""
        # scikit-learn takes a second to import, and who routes metadata has it loaded.
        from sklearn.utils.metadata_routing import MetadataRequest  # noqa: PLC0415

        routing = MetadataRequest(owner=self)
        for param in ("sample_weight", "groups"):
            routing.score.add_request(param=param, alias=self._requests.get(param))
        return routing

    def __repr__(self) -> str:
        options = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"scorer({self.name!r}{options})"


def _scores(estimator: Any, X: Any, pos_label: Any) -> Any:
    """One score per row, higher for the positive class."""
    classes = getattr(estimator, "classes_", None)
    is_first = classes is not None and pos_label is not None and classes[0] == pos_label
    if hasattr(estimator, "decision_function"):
        decisions = np.asarray(estimator.decision_function(X))
        return -decisions if is_first else decisions
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X))[:, 0 if is_first else 1]
    if classes is None and hasattr(estimator, "predict"):
        return np.asarray(estimator.predict(X))
    raise TypeError(
        f"{type(estimator).__name__} gives no scores; it needs decision_function or predict_proba."
    )
