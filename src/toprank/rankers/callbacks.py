"""scikit-learn's callbacks, where the installed version has them (1.9 and later)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from toprank.solvers import Progress

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks; there is nothing to set."""

    def with_callbacks(method: Any) -> Any:
        """Stand in for the decorator."""
        return method


__all__ = ["CallbackSupportMixin", "Watch", "with_callbacks"]


class Watch:
    """Tells callbacks and the terminal how a fit goes on, and asks whether to stop.

    ``learned(weights)`` gives the fitted attributes that belong to the weights of an iteration,
    so that a callback can look at the model as if the fit had ended there.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        max_iter: int,
        verbose: int,
        learned: Callable[[Any], dict[str, Any]],
        data: dict[str, Any],
    ) -> None:
        self._estimator = estimator
        self._max_iter = max_iter
        self._verbose = verbose
        self._learned = learned
        self._data = data
        self._context: Any = None
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=max_iter)  # noqa: SLF001
            self._context.call_on_fit_task_begin(estimator=estimator, **data)
            self._begin()

    def _begin(self) -> None:
        self._task = self._context.subcontext(task_name="iteration")
        self._task.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def __call__(self, progress: Progress) -> bool:
        """Report an iteration; true asks the solver to stop with what it has."""
        n_iter = progress.n_iter
        if self._verbose and (self._verbose > 1 or n_iter % 10 == 0):
            print(f"iteration {n_iter:>5}   objective {progress.value:.10g}")  # noqa: T201
        if self._context is None:
            return False
        stop = self._task.call_on_fit_task_end(
            estimator=self._estimator,
            reconstruction_attributes=lambda: self._learned(progress.weights),
            **self._data,
        )
        if not stop and n_iter < self._max_iter:
            self._begin()
        else:
            self._task = None
        return bool(stop)

    def close(self) -> None:
        """End the task that never ran, and the fit."""
        if self._context is None:
            return
        if self._task is not None:
            self._task.call_on_fit_task_end(estimator=self._estimator)
        self._context.call_on_fit_task_end(estimator=self._estimator, **self._data)
