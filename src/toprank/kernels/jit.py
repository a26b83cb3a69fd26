"""The one way in which this library compiles a loop."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

Function = TypeVar("Function", bound="Callable[..., Any]")

# False where the user has switched compilation off; loops over many rows take ages then.
IS_COMPILED = not getattr(numba.config, "DISABLE_JIT", False)


def compiled(function: Function, *, fastmath: frozenset[str] = frozenset()) -> Function:
    """Compile at the first call, without the interpreter lock, and keep the result on disk.

    Never ``parallel=True``: it aborts under Python threads and dies in forked children; threads
    come from a pool over columns or row chunks. Where neither the install nor the home can be
    written, numba finds no place for its cache and refuses at once; then we go without one.
    ``fastmath`` names liberties that the compiler may take with floats, of which the caller says
    why they do no harm.

    Compiled loops overflow without a warning, so they are as silent where compilation is off.
    """
    if not IS_COMPILED:
        return cast("Function", _without_warnings(function))
    options: dict[str, Any] = {"nogil": True, "fastmath": set(fastmath)}
    try:
        return cast("Function", numba.njit(cache=True, **options)(function))
    except RuntimeError:
        return cast("Function", numba.njit(**options)(function))


def _without_warnings(function: Function) -> Callable[..., Any]:
    @functools.wraps(function)
    def loop(*arguments: Any, **keywords: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments, **keywords)

    return loop


# Sums over rows may be taken in several places side by side, which fill vector registers, and a
# product and a sum may be rounded once: neither makes an error larger.
side_by_side = functools.partial(compiled, fastmath=frozenset({"reassoc", "contract"}))
