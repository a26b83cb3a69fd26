"""How all pictures look: colours, dashes, grid, and where Axes come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

# Okabe and Ito's palette, which people with any kind of colour vision can tell apart, without its
# yellow (too pale for a line on white).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#767676"

_DASHES: tuple[Any, ...] = (
    "solid",
    (0, (5, 1.5)),
    (0, (1.5, 1.2)),
    (0, (7, 1.5, 1.5, 1.5)),
    (0, (3, 3)),
    (0, (5, 1.2, 1.2, 1.2, 1.2, 1.2)),
)


class Series(NamedTuple):
    """What tells one line from the next: colour and dash, so that no colour is needed."""

    colour: str
    dash: Any

    @property
    def line(self) -> dict[str, Any]:
        """Keywords of ``Axes.plot``."""
        return {"color": self.colour, "linestyle": self.dash, "linewidth": 1.8}


def series(number: int) -> Series:
    """Look of the line with this number; after 36 the looks repeat."""
    shift = number // len(COLOURS)
    return Series(COLOURS[number % len(COLOURS)], _DASHES[(number + shift) % len(_DASHES)])


def one_axes(ax: Axes | None) -> Axes:
    """The Axes given, or the only one of a new figure."""
    if ax is None:
        return plt.subplots(figsize=(6.0, 4.2), layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes or None, got {type(ax).__name__}.")
    return ax


def axes_row(ax: Sequence[Axes] | NDArray[Any] | Axes | None, n_panels: int) -> NDArray[Any]:
    """As many Axes as there are panels: those given, or a row of a new figure."""
    if ax is None:
        size = (0.6 + 3.7 * n_panels, 3.8)
        figure, row = plt.subplots(1, n_panels, figsize=size, squeeze=False, layout="constrained")
        figure.get_layout_engine().set(wspace=0.06)  # type: ignore[union-attr, call-arg]
        return np.asarray(row[0])
    row = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if row.size != n_panels or not all(isinstance(each, Axes) for each in row):
        raise ValueError(
            f"ax must be None or {n_panels} Axes, one per panel, got {row.size} of type "
            f"{type(row[0]).__name__ if row.size else 'nothing'}."
        )
    return row


def dress(ax: Axes, *, x: str, y: str, title: str | None = None) -> None:
    """Labels in words, a quiet grid, and no box around the data."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if title:
        ax.set_title(title, loc="left", fontsize="medium")
    ax.grid(visible=True, color=GREY, alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def percent(share: float, _place: int | None = None) -> str:
    """A share as a tick label, with no more digits than it needs.

    Examples
    --------
    >>> percent(0.875), percent(1.0)
    ('87.5 %', '100 %')
    """
    return f"{100.0 * share:.4g} %"
