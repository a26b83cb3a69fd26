"""What the tree engines share: labels checked once, scaled gradients, metrics by name.

Engines of boosted trees set a leaf to -Σg / (Σh + λ) and hold every leaf to a least Σh. Their
defaults are made for the logistic loss, whose g and h are of order 1 per row. The objectives here
are one number for the whole list, with gradients of order 1/rows. So, with w the row weights,

    g = c·∂V/∂s,    h = max(c·∂²V/∂s², |g|),    c = min(Σ w⁺, Σ w⁻) / Σ⁺|∂V/∂s at equal scores|:

on the first round the rows of the rarer class have gradients of 1 on average, and no row asks for
a step of more than 1. Without the floor a single row that carries most of the objective would
divide by almost nothing (the exponential push: h = p·r(1 - r) with r near 1), a hinge by zero.
"""

from __future__ import annotations

import inspect
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.kernels.scratch import Scratch
from toprank.kernels.threads import Threads, allowed_threads
from toprank.kernels.tilts import bounded_steps
from toprank.metrics.lists import METRICS
from toprank.metrics.scoring import LOSSES, names

if TYPE_CHECKING:
    from toprank.objectives import Criterion, Objective


def ids_of_lists(sizes: ArrayLike | None, n_rows: int) -> NDArray[np.intp] | None:
    """Per-row ids of lists given by their sizes; ``None`` for one list."""
    if sizes is None:
        return None
    counts = np.asarray(sizes).astype(np.intp)
    if counts.size <= 1:
        return None
    if counts.sum() != n_rows:
        raise ValueError(
            f"group has lists of {counts.sum()} rows together, but there are {n_rows} rows; "
            "pass the number of rows of each list, in the order of the rows."
        )
    return np.repeat(np.arange(counts.size), counts)


class TreeObjective:
    """Gradients and Hessians of an objective as a tree engine wants them, see the module.

    Labels, weights and lists are checked on the first round and recognised on later ones.
    """

    _criterion: Criterion
    _is_curved: bool
    _scale: float | None

    def __init__(self, objective: Objective, n_jobs: int | None = None) -> None:
        self.objective = objective
        self.n_jobs = n_jobs
        self._labels: tuple[Any, ...] | None = None
        self._scratch = Scratch()
        self._one_at_a_time = Lock()

    def gradients(
        self,
        scores: NDArray[Any],
        y: ArrayLike,
        weight: ArrayLike | None,
        groups: ArrayLike | None,
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Scaled gradient and floored Hessian of every row, in the float32 that engines hold."""
        labels: tuple[Any, ...] = np.asarray(y), array_if_any(weight), array_if_any(groups)
        with self._one_at_a_time:  # models that are trained in several threads may share it
            # reading all labels is cheap compared with a round of boosting
            if self._labels is None or not all(map(np.array_equal, self._labels, labels)):
                self._bind(*labels)
            gradient, hessian = self._on_threads(scores)
            if self._scale is None:
                self._scale = self._scale_at(scores, gradient)
            scale = self._scale
        if hessian is None:
            hessian = np.zeros_like(gradient)
        steps = [self._scratch.empty(gradient.size, np.float32) for _ in range(2)]
        bounded_steps(gradient, hessian, scale, *steps)
        return steps[0], steps[1]

    def _on_threads(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        if self._criterion.n_rows < self._criterion.min_rows_for_threads:
            return self._derivatives(scores)
        # for this round only: threads do not survive a fork, and would idle while trees grow
        with Threads(allowed_threads(self.n_jobs)) as threads:
            self._criterion.spread_over(threads)
            return self._derivatives(scores)

    def _derivatives(self, scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Gradient, and the Hessian's diagonal where the objective has one."""
        try:
            if self._is_curved:
                return self._criterion.gradient_and_hessian(scores)
        except ValueError:  # p = ∞ and some prices have no second derivative, and say so
            self._is_curved = False
        return self._criterion.value_and_gradient(scores)[1], None

    def _bind(self, y: NDArray[Any], weight: Any, groups: Any) -> None:
        self._criterion = self.objective.on(y, sample_weight=weight, groups=groups)
        self._is_curved, self._scale = True, None
        # copies that nobody else can change
        self._labels = tuple(None if one is None else one.copy() for one in (y, weight, groups))

    def _scale_at(self, scores: NDArray[Any], gradient: NDArray[Any]) -> float:
        """Factor of all gradients, from those at equal scores; first scores mostly are equal."""
        y, weight, _ = self._labels or (None, None, None)
        if scores.min() != scores.max():
            equal = np.zeros(self._criterion.n_rows)
            _, gradient = self._criterion.value_and_gradient(equal)
        pull = float(np.abs(gradient).sum(dtype=np.float64)) / 2.0
        counts = np.ones(y.size) if weight is None else weight
        all_rows, positive = float(counts.sum()), float(counts[y == y.max()].sum())
        return min(positive, all_rows - positive) / pull if pull > 0.0 else 1.0

    def __getstate__(self) -> dict[str, Any]:
        # copies for cross-validation and other processes start without the labels
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._labels, self._scratch, self._one_at_a_time = None, Scratch(), Lock()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(self)["objective"] == vars(other)["objective"]

    def __hash__(self) -> int:
        return hash((type(self), self.objective))

    def __repr__(self) -> str:
        return f"objective({self.objective!r})"


def array_if_any(values: ArrayLike | None) -> NDArray[Any] | None:
    """Engines say "none" with None or with an array of no length."""
    array = None if values is None else np.asarray(values)
    return None if array is None or array.size == 0 else array


class TreeMetric:
    """A metric of :mod:`toprank.metrics` with its options, under the name that engines print."""

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        if name not in names():
            raise ValueError(f"name={name!r} is not a metric; choose one of {', '.join(names())}.")
        inspect.signature(METRICS[name]).bind([], [], **options)
        self.metric = name
        self.options = dict(options)
        self.maximize = name not in LOSSES
        shown = ", ".join(f"{key}={value}" for key, value in options.items())
        self.__name__ = f"{name}({shown})" if shown else name

    def measure(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        weight: ArrayLike | None,
        groups: ArrayLike | None,
    ) -> float:
        """The metric of these scores."""
        return METRICS[self.metric](
            y,
            scores,
            sample_weight=array_if_any(weight),
            groups=array_if_any(groups),
            **self.options,
        )

    def __repr__(self) -> str:
        return f"metric {self.__name__}"
