"""Results that stay on the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask
from distributed import futures_of, wait

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["keep"]


def keep(tasks: Iterable[Any]) -> tuple[Any, ...]:
    """Compute the tasks and leave their results where they are.

    They are done when this returns: a cluster cancels tasks whose inputs are let go too early.
    """
    results: tuple[Any, ...] = dask.persist(*tasks)
    futures = futures_of(results)
    if futures:  # there is a cluster to wait for
        wait(futures)
    return results
