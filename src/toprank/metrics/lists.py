"""What all metrics share: checked rows, the mean over the lists, and their documentation."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, ParamSpec, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_lists, as_scores, as_weights, check_choice
from toprank.metrics.ranked import AVERAGE, OPTIMISTIC, PESSIMISTIC, TOGETHER, ScoredRows
from toprank.truth import as_positives

if TYPE_CHECKING:
    from toprank.metrics.ranked import Floats

P = ParamSpec("P")
Undefined = Literal["skip", "error"] | float

# Choices for ties, the default first.
MEAN_FIRST = AVERAGE, PESSIMISTIC, OPTIMISTIC
WORST_FIRST = PESSIMISTIC, AVERAGE, OPTIMISTIC

# What a list must have for a metric to be defined.
ROW, POSITIVE, BOTH = "a row", "a positive", "a positive and a negative"


class PerRowOptions(TypedDict, total=False):
    """What functions of single rows take beside labels and scores."""

    ties: str
    sample_weight: ArrayLike | None
    groups: ArrayLike | None
    pos_label: Any


class Options(PerRowOptions, total=False):
    """What every metric takes beside labels and scores."""

    undefined: Undefined


class Rule(NamedTuple):
    """What a list must have for a metric to be defined, and its choices for ties."""

    needs: str
    ties: tuple[str, ...]


METRICS: dict[str, Callable[..., float]] = {}
RULES: dict[str, Rule] = {}

_TIES = {
    AVERAGE: "the mean over all orders of the tied rows",
    PESSIMISTIC: "the worst order, negatives first",
    OPTIMISTIC: "the best order, positives first",
    TOGETHER: "tied rows enter the list at once and all take the last place of their tie",
}

_SHARED = """\
ties : {{{choices}}}, default="{default}"
    {meanings}.
undefined : {{"skip", "error"}} or float, default="skip"
    What to do with a list without {needs}: leave it out (where no list
    is left the result is nan, with a warning), raise an error, or count it as this number.
sample_weight : array-like of shape (n_rows,), default=None
    A row of weight 2 counts as that row twice, a row of weight 0 as absent.
groups : array-like of shape (n_rows,), default=None
    The list of each row, in any order. The result is the mean over the lists, each alike.
pos_label : label, default=None
    The positive label; by default the larger of the two."""


_LABELS = "Two classes: booleans, {0, 1}, {-1, 1} or any two labels."
_GRADES = "Grades of at least 0, or two classes."

_ROWS = """\
y_true : array-like of shape (n_rows,)
    {labels}
scores : array-like of shape (n_rows,)
    Higher is better."""

_K = """\
k : int or float
    How long the shortlist is: a number of rows, or a fraction in (0, 1) of each list, rounded up
    to a whole row. With weights, k counts weight and the row at the cut counts in part (a
    fraction of weights that are not whole is not rounded). A list shorter than k is judged at its
    own length; k longer than every list is an error."""

_GAIN = """\
gain : {"exponential", "linear"}, default="exponential"
    Whether a grade y is worth 2^y − 1 or y."""

_WHOLE_LIST = "    By default the whole list counts."


def metric(
    *, needs: str, ties: tuple[str, ...] = MEAN_FIRST, returns: str = "Between 0 and 1."
) -> Callable[[Callable[P, float]], Callable[P, float]]:
    """Document what a metric shares with others, and list it for :func:`names` and scorers.

    The function itself stays as it is. Its docstring gives a summary, the metric's own parameters
    and examples; its signature names the :class:`Options` one by one.
    """

    def listed(measure: Callable[P, float]) -> Callable[P, float]:
        METRICS[measure.__name__] = measure
        rule = Rule(needs, ties)
        measure.__doc__ = _document(measure, rule, returns)
        _spell_out(measure, rule, Options.__optional_keys__)
        return measure

    return listed


def per_row(call: Callable[P, Floats]) -> Callable[P, Floats]:
    """Name the :class:`PerRowOptions` of a function of single rows in its signature."""
    _spell_out(call, Rule(ROW, WORST_FIRST), PerRowOptions.__optional_keys__)
    return call


def _spell_out(call: Callable[..., Any], rule: Rule, options: frozenset[str]) -> None:
    """Keep the rule of a function, and write its options into its signature one by one."""
    RULES[call.__name__] = rule
    signature, known = inspect.signature(call), inspect.signature(check_rows).parameters
    *own, _ = signature.parameters.values()
    shared = [each for name, each in known.items() if name in options]
    shared[0] = shared[0].replace(default=rule.ties[0], annotation="str")
    vars(call)["__signature__"] = signature.replace(parameters=[*own, *shared])


def _document(measure: Callable[..., float], rule: Rule, returns: str) -> str:
    """Docstring of a metric: its own, with the parameters that all share and what it returns."""
    shared = _SHARED.format(
        choices=", ".join(f'"{choice}"' for choice in rule.ties),
        default=rule.ties[0],
        meanings=";\n    ".join(f"{choice}: {_TIES[choice]}" for choice in rule.ties),
        needs=rule.needs.replace(" and ", " or "),
    )
    text, _, examples = inspect.cleandoc(measure.__doc__ or "").partition("\nExamples\n")
    text, _, own = text.partition("\nParameters\n----------\n")
    parameters = inspect.signature(measure).parameters
    is_graded, k = "gain" in parameters, parameters.get("k")
    rows = _ROWS.format(labels=_GRADES if is_graded else _LABELS)
    length = "" if k is None else _K if k.default is k.empty else f"{_K}\n{_WHOLE_LIST}"
    gain = _GAIN if is_graded else ""
    described = "\n".join(filter(None, (rows, length, own.strip(), gain, shared)))
    return (
        f"{text}\nParameters\n----------\n{described}\n\n"
        f"Returns\n-------\nfloat\n    {returns}\n\nExamples\n{examples}"
    )


def check_rows(
    name: str,
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    gain: str | Callable[[NDArray[np.bool_]], Floats] | None = None,
    keep_weightless: bool = False,
    ties: str | None = None,
    undefined: Undefined = "skip",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    **unknown: Any,
) -> ScoredRows:
    """Checked input of a metric: its rows of weight above 0, its ties and what its mean needs.

    ``gain`` says what grades are worth, or is a function of the mask of the positives. Rows of
    weight 0 are dropped unless kept.
    """
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument {min(unknown)!r}")
    needs, choices = RULES[name]
    ties = choices[0] if ties is None else ties
    check_choice("ties", ties, choices)
    given = y_true, scores, sample_weight, groups, pos_label
    rows = scored_rows(*given, gain=gain, keep_weightless=keep_weightless)
    return replace(rows, metric=name, ties=ties, needs=needs, undefined=undefined)


def scored_rows(
    y_true: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    *,
    gain: str | Callable[[NDArray[np.bool_]], Floats] | None = None,
    keep_weightless: bool = False,
) -> ScoredRows:
    """Checked rows of all lists; rows of weight 0 are dropped unless kept."""
    # float32 becomes float64 exactly, and sorts faster.
    checked = as_scores(scores).astype(np.float64, copy=False)
    worth: NDArray[Any]
    if isinstance(gain, str):
        worth = _gains(y_true, pos_label, checked.size, gain)
    else:
        worth = as_positives(y_true, pos_label=pos_label, n_rows=checked.size)
        worth = worth if gain is None else gain(worth)
    weights = as_weights(sample_weight, checked.size)
    _check_sums(worth, weights)
    ids = None if groups is None else np.asarray(groups)
    lists = as_lists(ids, checked.size)
    if weights is not None and not keep_weightless and not weights.all():
        keep = weights > 0
        lists = None if ids is None else as_lists(ids[keep], int(np.count_nonzero(keep)))
        checked, worth, weights = checked[keep], worth[keep], weights[keep]
    n_lists = min(checked.size, 1) if lists is None else lists.n_lists
    codes = np.empty(0, np.intp) if n_lists == 0 else None
    if lists is not None and n_lists > 1:
        codes = lists.codes
    names = None if lists is None else lists.names
    return ScoredRows(checked, worth, weights, codes, n_lists, names)


def _check_sums(worth: NDArray[Any], weights: Floats | None) -> None:
    """Raise where weights or gains are too large to be summed."""
    if weights is None and worth.dtype == np.bool_:
        return
    with np.errstate(over="ignore"):
        weight = 0.0 if weights is None else float(weights.sum())
        gain = float(worth.sum() if weights is None else worth @ weights)
    if np.isinf(weight):
        raise ValueError(
            f"sample_weight is too large to sum (its sum is {weight}); "
            "divide all weights by one number."
        )
    if np.isinf(gain):
        raise ValueError(
            f"y_true holds gains up to {worth.max():g}, which times their weights are too large to "
            "sum; use smaller grades, or gain='linear'."
        )


def _gains(y_true: ArrayLike, pos_label: Any, n_rows: int, gain: str) -> NDArray[Any]:
    """What each row is worth: 2^y − 1 or y for grades y ≥ 0, 1 and 0 for two classes."""
    check_choice("gain", gain, ("exponential", "linear"))
    grades = np.asarray(y_true)
    if pos_label is not None or grades.dtype.kind not in "iuf" or grades.ndim != 1:
        return as_positives(y_true, pos_label=pos_label, n_rows=n_rows)
    if grades.size != n_rows or not grades.size or grades.min() == -1:
        return as_positives(y_true, n_rows=n_rows)
    grades = grades.astype(np.float64, copy=False)
    if not grades.min() >= 0:
        raise ValueError(
            f"y_true holds the grade {grades.min()}; grades must be numbers of at least 0 "
            "(shift them, or name the positive class with pos_label)."
        )
    if grades.max() == 1 and np.array_equal(grades, grades > 0):
        return grades > 0
    if np.isinf(grades.max()):
        raise ValueError("y_true holds the grade inf; grades must be finite, so cap or rank them.")
    if gain == "linear":
        return grades
    if grades.max() > 1000:
        raise ValueError(
            f"y_true holds the grade {grades.max()}, whose gain 2^y − 1 is too large to sum; "
            "pass gain='linear'."
        )
    worth: Floats = np.exp2(grades) - 1.0
    return worth


def ratio(part: Floats, whole: Floats) -> Floats:
    """Ratio in each list, nan where the whole is 0: the metric is not defined there."""
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole != 0)


def over_lists(values: Floats, rows: ScoredRows) -> float:
    """Mean over the lists; those that lack what the metric needs follow the policy."""
    given: Any = rows.undefined
    stands_in = isinstance(given, Real) and not isinstance(given, bool)
    if not stands_in and given not in ("skip", "error"):
        raise ValueError(f"undefined={given!r} must be 'skip', 'error' or a number.")
    defined = np.ones(rows.n_lists, dtype=np.bool_)
    if rows.needs != ROW:
        defined = rows.positives > 0
    if rows.needs == BOTH:
        defined &= rows.negatives > 0
    if values.size and defined.all():
        return float(values.mean())
    lacking = _lacking(defined, rows.names)
    if given == "error":
        raise ValueError(
            f"{rows.metric} needs {rows.needs} in every list, but {lacking}; pass "
            "undefined='skip' or the number that should stand for such a list."
        )
    if stands_in:
        return float(np.where(defined, values, given).mean()) if values.size else float(given)
    if not defined.any():
        # scikit-learn takes a second to import, and only this path needs it.
        from sklearn.exceptions import UndefinedMetricWarning  # noqa: PLC0415

        message = f"{rows.metric} needs {rows.needs}, but {lacking}; the result is nan."
        warnings.warn(
            message, UndefinedMetricWarning, stacklevel=3
        )  # points at the metric's caller
        return float("nan")
    return float(values[defined].mean())


def _lacking(defined: NDArray[np.bool_], names: NDArray[Any] | None) -> str:
    if not defined.size:
        return "there are no rows"
    if names is None:
        return "the list has none"
    bad = np.flatnonzero(~defined)
    return f"{bad.size} of {defined.size} lists (first: {names[bad[0]]!r}) have none"
