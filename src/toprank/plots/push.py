"""Pictures of the push itself: a list as p grows, and the pairs that make the objective."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.model_selection import cross_validate

from toprank.inputs import as_scores
from toprank.metrics import scorer
from toprank.objectives import pnorm_push
from toprank.plots.style import COLOURS, GREY, axes_row, dress, percent
from toprank.truth import as_positives

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What is measured by default, and how each is called on its axis.
_MEASURES: dict[str, dict[str, Any]] = {
    "precision_at_k": {"k": 0.05},
    "positives_at_top": {},
    "roc_auc": {},
}
_WORDS = {
    "precision_at_k": "Positives in the shortlist (share)",
    "positives_at_top": "Positives above all negatives (share)",
    "roc_auc": "Area under the ROC curve",
}
# More squares than this cannot be told apart in a picture.
_MOST_PAIRS = 250_000


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
        dress(
            panel,
            x="How hard the push is (p)",
            y=_WORDS.get(name, name.replace("_", " ").capitalize()),
        )
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
        if not _is_power(power):
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


def _is_power(given: Any) -> bool:
    return not isinstance(given, bool) and isinstance(given, Real) and bool(float(given) >= 1)


def pair_contributions(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    p: float | str | Sequence[float | str] = (1, 4, 16),
    pos_label: Any = None,
    ax: Axes | Sequence[Axes] | None = None,
) -> Axes | NDArray[Any]:
    """Draw the share of each positive-negative pair in the exponential push, as a heat map.

    Positives from bottom (best) to top (worst), negatives from left (best placed, hence worst) to
    right, lighter for more, as in Figures 1 and 4 of Rudin (2009). A pair's part is that of its
    negative in the sum, divided among the positives in proportion to their losses::

        P-Norm Push   (Σ_i e^(s_k − s_i))^p · e^(s_k − s_i) / Σ_i e^(s_k − s_i)
        IR Push       ln(1 + Σ_k e^(s_k − s_i)) · e^(s_k − s_i) / Σ_k e^(s_k − s_i)

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes.
    scores : array-like of shape (n_rows,)
        Higher is better.
    p : float, "ir", or a sequence of these, default=(1, 4, 16)
        Powers from 1 to inf; "ir" is the IR Push. One panel each.
    pos_label : label, default=None
        The positive label; by default the larger of the two.
    ax : Axes, as many Axes as there are panels, or None
        Where to draw.

    Returns
    -------
    Axes or array of Axes
        An array where ``p`` is a sequence.

    Examples
    --------
    >>> from toprank.plots import pair_contributions
    >>> ax = pair_contributions([1, 0, 1, 0], [4, 3, 2, 1], p=1)
    >>> ax.get_title(loc="left")
    'p = 1'
    """
    values = as_scores(scores).astype(np.float64)
    positives = as_positives(y_true, pos_label=pos_label, n_rows=values.size)
    high = np.sort(values[positives])[::-1]
    low = np.sort(values[~positives])[::-1]
    if not high.size or not low.size:
        raise ValueError("y_true must hold positives and negatives: a pair is one of each.")
    if high.size * low.size > _MOST_PAIRS:
        raise ValueError(
            f"{high.size} positives and {low.size} negatives make too many pairs for one picture "
            f"(at most {_MOST_PAIRS:,}); pass a sample of the rows, or the top of the list."
        )
    is_one = isinstance(p, str) or not isinstance(p, Sequence)
    powers: list[Any] = [p] if is_one else list(p)  # type: ignore[arg-type]
    if not powers:
        raise ValueError("p is empty; name at least one power.")
    panels, titles = axes_row(ax, len(powers)), {"ir": "IR Push", np.inf: "p = ∞"}
    for panel, power in zip(panels, powers, strict=True):
        parts = shares(high, low, power)
        _draw(panel, parts, titles.get(power) or f"p = {power:g}")
    panels[0].set_ylabel("Positives, best at the bottom")
    return panels[0] if is_one else panels


def shares(high: NDArray[np.float64], low: NDArray[np.float64], power: Any) -> NDArray[np.float64]:
    """Share of each pair in the objective: one row per positive, one column per negative."""
    if power == "ir":
        losses = logsumexp(low[None, :] - high[:, None], axis=1)
        parts = np.logaddexp(0.0, losses)[:, None] * softmax(low)[None, :]
        return np.asarray(parts / parts.sum())
    if not _is_power(power):
        raise ValueError(f"p={power!r} must be a power from 1 to inf, or 'ir'.")
    labels = np.arange(high.size + low.size) < high.size
    _, slopes = pnorm_push(float(power)).value_and_gradient(np.append(high, low), labels)
    return np.outer(-slopes[labels], slopes[~labels])  # what each class is pushed with adds up to 1


def _draw(panel: Axes, parts: NDArray[np.float64], title: str) -> None:
    n_positives, n_negatives = parts.shape
    picture = panel.imshow(
        parts,
        cmap="cividis",
        origin="lower",
        extent=(0.5, n_negatives + 0.5, 0.5, n_positives + 0.5),
        aspect="auto",
        vmin=0.0,
    )
    panel.set_title(title, loc="left", fontsize="medium")
    panel.set_xlabel("Negatives, highest on the left")
    for axis, size in ((panel.xaxis, n_negatives), (panel.yaxis, n_positives)):
        few = FixedLocator(list(range(1, size + 1)))
        axis.set_major_locator(few if size <= 12 else MaxNLocator(8, integer=True))
    bar = panel.figure.colorbar(picture, ax=panel, format=FuncFormatter(percent), shrink=0.85)
    bar.outline.set_visible(False)
