"""What a fit says while it goes on: scikit-learn's callbacks, and progress on the terminal.

Callbacks are served where the installed version of scikit-learn has them (1.9 and later).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toprank.solvers import Progress

try:
    from sklearn import callback
except ImportError:

    class CallbackSupportMixin:
        """Stands in where scikit-learn has no callbacks; there is nothing to set."""

    def with_callbacks(method: Any) -> Any:
        """Stand in for the decorator."""
        return method
else:
    CallbackSupportMixin = callback.CallbackSupportMixin  # type: ignore[misc]
    with_callbacks = callback.with_callbacks


@dataclass(eq=False)
class Watch:
    """Tells callbacks and the terminal how a fit goes on, and asks whether to stop.

    ``learned(weights)`` gives the fitted attributes that belong to the weights of an iteration,
    so that a callback can look at the model as if the fit had ended there.
    """

    estimator: Any
    max_iter: int
    verbose: int
    learned: Callable[[Any], dict[str, Any]]
    data: dict[str, Any]

    def __post_init__(self) -> None:
        self._context: Any = None
        estimator, data = self.estimator, self.data
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=self.max_iter)  # noqa: SLF001
            self._context.call_on_fit_task_begin(estimator=estimator, **data)
            self._begin()

    def _begin(self) -> None:
        self._task = self._context.subcontext(task_name="iteration")
        self._task.call_on_fit_task_begin(estimator=self.estimator, **self.data)

    def __call__(self, progress: Progress) -> bool:
        """Report an iteration; true asks the solver to stop with what it has."""
        n_iter = progress.n_iter
        if self.verbose and (self.verbose > 1 or n_iter % 10 == 0):
            print(f"iteration {n_iter:>5}   objective {progress.value:.10g}")  # noqa: T201
        if self._context is None:
            return False
        stop = self._task.call_on_fit_task_end(
            estimator=self.estimator,
            reconstruction_attributes=lambda: self.learned(progress.weights),
            **self.data,
        )
        if not stop and n_iter < self.max_iter:
            self._begin()
        else:
            self._task = None
        return bool(stop)

    def close(self) -> None:
        """End the task that never ran, and the fit."""
        if self._context is None:
            return
        if self._task is not None:
            self._task.call_on_fit_task_end(estimator=self.estimator)
        self._context.call_on_fit_task_end(estimator=self.estimator, **self.data)
