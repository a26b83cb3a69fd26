"""What happens to a list as the push grows harder."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import cross_validate

from toprank.metrics import scorer
from toprank.plots.style import COLOURS, GREY, axes_row, dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MEASURES: dict[str, dict[str, Any]] = {
    "precision_at_k": {"k": 0.05},
    "positives_at_top": {},
    "roc_auc": {},
}


def fit_push_path(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    p: Iterable[float] = (1, 2, 4, 8, 16, 64),
    measures: Mapping[str, Mapping[str, Any]] | None = None,
    cv: Any = 5,
) -> dict[float, dict[str, NDArray[np.float64]]]:
    """Fit an estimator at each power p, on each split, and measure the rows that it did not see.

    Parameters
    ----------
    estimator : ranker with a parameter ``p``
        Only ``p`` is changed, on a clone.
    X, y : table and its labels
    p : iterable of float, default=(1, 2, 4, 8, 16, 64)
        Powers; the default is the paper's.
    measures : mapping of metric names to their options, default=None
        Metrics of :mod:`toprank.metrics`; by default precision in the first 5 % of the list,
        positives at the top, and the area under the ROC curve, which must pay for the others.
    cv : int or splitter, default=5
        As in scikit-learn.

    Returns
    -------
    dict
        For each power the values of each measure, one per split: what :func:`push_path` draws.

    Examples
    --------
    >>> from toprank import PNormPush
    >>> from toprank.datasets import load_digits_eights
    >>> X, y = load_digits_eights(return_X_y=True)
    >>> path = fit_push_path(PNormPush(alpha=0.1), X, y, p=[1, 8], cv=2)
    >>> path[8]["precision_at_k"].shape
    (2,)
    """
    if "p" not in getattr(estimator, "get_params", dict)():
        raise ValueError(
            f"{type(estimator).__name__} has no parameter p; pass an estimator such as PNormPush()."
        )
    chosen = _MEASURES if measures is None else measures
    scoring = {name: scorer(name, **options) for name, options in chosen.items()}
    path: dict[float, dict[str, NDArray[np.float64]]] = {}
    for power in p:
        model = clone(estimator).set_params(p=power)
        values = cross_validate(model, X, y, scoring=scoring, cv=cv, error_score="raise")
        path[power] = {name: values[f"test_{name}"] for name in scoring}
    return path


def push_path(
    path: Mapping[float, Mapping[str, ArrayLike]],
    *,
    ax: Axes | Sequence[Axes] | None = None,
) -> Axes | NDArray[Any]:
    """Draw measures of a list against the power p, one panel per measure.

    The thick line joins the means; thin lines are single splits, which show whether they agree on
    the trend. The axis of p is logarithmic, with ∞ at its right end.

    Parameters
    ----------
    path : mapping of p to mapping of measure to value or values
        What :func:`fit_push_path` returns, or numbers of your own. Several values are splits, in
        the same order at each p.
    ax : Axes, as many Axes as there are measures, or None
        Where to draw.

    Returns
    -------
    Axes or array of Axes
        One Axes for one measure.

    Examples
    --------
    >>> from toprank.plots import push_path
    >>> ax = push_path({1: {"precision": 0.7}, 8: {"precision": [0.8, 0.9]}})
    Traceback (most recent call last):
    ...
    ValueError: path['precision'] has 1 values at p = 1 but 2 at p = 8; give as many at each p.
    >>> ax = push_path({1: {"precision": 0.7}, 8: {"precision": 0.8}})
    >>> ax.get_ylabel()
    'Precision'
    """
    powers, measures = _checked(path)
    panels = axes_row(ax, len(measures))
    places = _places(powers)
    for panel, (name, values) in zip(panels, measures.items(), strict=True):
        if values.shape[1] > 1:
            panel.plot(places, values, color=GREY, alpha=0.45, linewidth=0.7)
        panel.plot(places, values.mean(axis=1), color=COLOURS[0], linewidth=2, marker="o")
        dress(panel, x="How hard the push is (p)", y=_words(name))
        panel.xaxis.set_major_locator(FixedLocator(places))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.set_xticklabels(["∞" if math.isinf(each) else f"{each:g}" for each in powers])
    return panels[0] if panels.size == 1 else panels


def _checked(
    path: Mapping[float, Mapping[str, ArrayLike]],
) -> tuple[list[float], dict[str, NDArray[np.float64]]]:
    if not isinstance(path, Mapping) or not path:  # type: ignore[redundant-expr]
        raise ValueError("path must map powers p to measures; see fit_push_path.")
    given: list[Any] = list(path)
    for power in given:
        if isinstance(power, bool) or not isinstance(power, Real) or not float(power) >= 1:
            raise ValueError(f"path has the power {power!r}; p is a number from 1 to inf.")
    powers = sorted(path)
    names = list(path[powers[0]])
    for power in powers:
        if list(path[power]) != names or not names:
            raise ValueError(
                f"path has the measures {names} at p = {powers[0]:g} but {list(path[power])} at "
                f"p = {power:g}; give the same at each p."
            )
    measures = {}
    for name in names:
        rows = [np.atleast_1d(np.asarray(path[power][name], dtype=np.float64)) for power in powers]
        for power, row in zip(powers, rows, strict=True):
            if row.shape != rows[0].shape:
                raise ValueError(
                    f"path[{name!r}] has {rows[0].size} values at p = {powers[0]:g} but {row.size} "
                    f"at p = {power:g}; give as many at each p."
                )
        measures[name] = np.stack(rows)
    return powers, measures


def _places(powers: list[float]) -> list[float]:
    """Where each p stands: its logarithm, and infinity one step after the largest."""
    finite = [math.log2(power) for power in powers if math.isfinite(power)]
    return finite + [max(finite, default=0.0) + 2.0] * (len(powers) - len(finite))


def _words(name: str) -> str:
    known = {
        "precision_at_k": "Positives in the shortlist (share)",
        "positives_at_top": "Positives above all negatives (share)",
        "roc_auc": "Area under the ROC curve",
    }
    return known.get(name, name.replace("_", " ").capitalize())
