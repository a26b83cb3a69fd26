"""What all metrics share: checked input, lists, ties, undefined lists, and their documentation."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_lists, as_scores, as_weights, check_choice, check_finite
from toprank.labels import as_positives
from toprank.metrics.ranked import ScoredRows, rank_rows

if TYPE_CHECKING:
    from toprank.metrics.ranked import Floats, Reach

    Worth = Callable[[NDArray[np.bool_]], Floats]

Undefined = Literal["skip", "error"] | float

AVERAGE, PESSIMISTIC, OPTIMISTIC, TOGETHER = "average", "pessimistic", "optimistic", "together"
# Choices for ties, the default first.
MEAN_FIRST = AVERAGE, PESSIMISTIC, OPTIMISTIC
WORST_FIRST = PESSIMISTIC, AVERAGE, OPTIMISTIC
# The share of the tied positives that count as below a negative.
SHARE_BELOW = {PESSIMISTIC: 1.0, AVERAGE: 0.5, OPTIMISTIC: 0.0}

_NEEDS = {
    "rows": "a row",
    "positives": "a positive",
    "negatives": "a negative",
    "both": "a positive and a negative",
}

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


class Metric(Protocol):
    """How every metric is called; its own options are keywords too."""

    __name__: str
    __doc__: str | None

    def __call__(
        self,
        y_true: ArrayLike,
        scores: ArrayLike,
        *,
        ties: str = ...,
        undefined: Undefined = "skip",
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        pos_label: Any = None,
        **options: Any,
    ) -> float:
        """The metric of these scores."""
        ...


METRICS: dict[str, Metric] = {}


class Declaration(NamedTuple):
    """What a metric was declared with."""

    judge: Callable[..., Floats]
    needs: str
    ties: tuple[str, ...]
    graded: bool
    reach: Callable[..., Reach] | None
    prepare: Callable[..., ScoredRows] | None
    worth: Callable[..., Worth | None] | None = None
    shortcut: Callable[..., Floats | None] | None = None


def metric(
    *,
    needs: str,
    ties: tuple[str, ...] = MEAN_FIRST,
    returns: str = "Between 0 and 1.",
    graded: bool = False,
    reach: Callable[..., Reach] | None = None,
    prepare: Callable[..., ScoredRows] | None = None,
    worth: Callable[..., Worth | None] | None = None,
    shortcut: Callable[..., Floats | None] | None = None,
) -> Callable[[Callable[..., Floats]], Metric]:
    """Make a metric of a function that judges ranked lists, one value per list.

    ``ties`` are the choices it offers, the default first; ``returns`` documents the value. The
    docstring gives a summary, the metric's own parameters and examples. ``reach(positives,
    negatives, **options)`` may give how far down one list without weights the metric reads;
    ``prepare(rows, ties=..., **options)`` may change the rows first. ``graded`` metrics take an
    option ``gain`` and see each row's gain instead of a mask. ``worth(n_rows, **options)`` may give
    a function of the mask of positives that says what each row is worth, where options have one
    entry per row. ``shortcut(rows, ties=..., **options)`` may give the value of one list without
    weights before it is ranked, if its scores are finite, or None.
    """

    def decorate(judge: Callable[..., Floats]) -> Metric:
        name = judge.__name__
        signature = _signature(judge, ties[0])
        declared = Declaration(judge, needs, ties, graded, reach, prepare, worth, shortcut)

        @functools.wraps(judge)
        def measured(*arguments: Any, **keywords: Any) -> float:
            given, options = read_call(signature, arguments, keywords)
            chosen, undefined = given.pop("ties"), given.pop("undefined")
            check_choice("ties", chosen, ties)
            gain: str | Worth | None = options.get("gain")
            if worth is not None:
                gain = worth(np.asarray(given["scores"]).size, **options)
            # the search for the head of one list, or a shortcut, reads all scores anyway
            is_plain = given["sample_weight"] is None and given["groups"] is None
            later = is_plain and (reach is not None or shortcut is not None)
            rows, names = check_rows(**given, gain=gain, finite=not later)
            if rows.scores.size == 0:
                return settle(name, needs, np.empty(0), np.empty(0, np.bool_), names, undefined)
            values, defined = _judge_lists(declared, rows, chosen, options)
            return settle(name, needs, values, defined, names, undefined)

        vars(measured)["__signature__"] = signature
        measured.__doc__ = _document(judge, declared, returns)
        METRICS[name] = cast("Metric", measured)
        return METRICS[name]

    return decorate


# What all metrics share: the parameters of Metric.__call__ but self and **options.
_SHARED_PARAMETERS = list(inspect.signature(Metric.__call__).parameters.values())[1:-1]


def shared_parameters(ties: str) -> list[inspect.Parameter]:
    """Parameters that all metrics share, with this default for ties."""
    return [p.replace(default=ties) if p.name == "ties" else p for p in _SHARED_PARAMETERS]


def read_call(
    signature: inspect.Signature, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What every metric is given, and the options of this one."""
    call = signature.bind(*arguments, **keywords)
    call.apply_defaults()
    options = dict(call.arguments)
    shared = [p.name for p in _SHARED_PARAMETERS if p.name in options]
    return {name: options.pop(name) for name in shared}, options


def _judge_lists(
    declared: Declaration, rows: ScoredRows, ties: str, options: dict[str, Any]
) -> tuple[Floats, NDArray[np.bool_]]:
    """One value per list of checked rows, and whether the metric is defined there."""
    if declared.prepare is not None:
        rows = declared.prepare(rows, ties=ties, **options)
    totals = rows.totals()
    defined = _defined_lists(declared.needs, *totals)
    head, is_plain = rows, rows.weights is None and rows.codes is None and defined.all()
    if declared.shortcut and is_plain:
        found = declared.shortcut(rows, ties=ties, **options)
        if found is not None:
            return found, defined
    if declared.reach and is_plain:
        head = declared.reach(*totals, **options).head(rows)
    elif not rows.are_finite:
        check_finite(rows.scores)
    is_worth = declared.worth is not None and rows.gain.dtype != np.bool_
    ranked = rank_rows(head, *totals, gain_order=_order_in_ties(declared, ties, is_worth=is_worth))
    # Lists that are not defined divide by zero; settle() overrides their values.
    with np.errstate(divide="ignore", invalid="ignore"):
        return declared.judge(ranked._replace(source=rows), ties=ties, **options), defined


def _order_in_ties(declared: Declaration, ties: str, *, is_worth: bool) -> str | None:
    """How rows of one score are sorted by their gain, where that matters."""
    orders = {PESSIMISTIC: "ascending", OPTIMISTIC: "descending"}
    return orders.get(ties) if declared.graded or is_worth else None


def check_rows(
    y_true: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    *,
    gain: str | Worth | None = None,
    keep_weightless: bool = False,
    finite: bool = True,
) -> tuple[ScoredRows, NDArray[Any] | None]:
    """Checked rows and the names of their lists; rows of weight 0 are dropped unless kept.

    Without ``finite`` the caller has to check that scores are finite.
    """
    # float32 becomes float64 exactly, and sorts faster.
    checked = as_scores(scores, finite=finite).astype(np.float64, copy=False)
    worth: NDArray[Any]
    if not isinstance(gain, str):
        worth = as_positives(y_true, pos_label=pos_label, n_rows=checked.size)
        worth = worth if gain is None else gain(worth)
    else:
        worth = _gains(y_true, pos_label, checked.size, gain)
    weights = as_weights(sample_weight, checked.size)
    check_sums(worth, weights)
    ids = None if groups is None else np.asarray(groups)
    lists = as_lists(ids, checked.size)
    codes = None if lists is None else lists.codes
    if weights is not None and not keep_weightless and not weights.all():
        keep = weights > 0
        lists = None if ids is None else as_lists(ids[keep], int(np.count_nonzero(keep)))
        checked, worth, weights = checked[keep], worth[keep], weights[keep]
        codes = None if lists is None else lists.codes
    if lists is None or lists.n_lists == 1:
        rows = ScoredRows(checked, worth, weights, None, 1, finite)
        return rows, None if lists is None else lists.names
    return ScoredRows(checked, worth, weights, codes, lists.n_lists), lists.names


def check_sums(worth: NDArray[Any], weights: Floats | None) -> None:
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
    whole = np.asarray(y_true)
    worth: NDArray[Any]
    if whole.dtype.kind in "iu":  # few different grades: a table of their gains
        worth = (np.exp2(np.arange(int(grades.max()) + 1)) - 1.0)[whole]
    else:
        worth = np.exp2(grades) - 1.0
    return worth


def _defined_lists(needs: str, positives: Floats, negatives: Floats) -> NDArray[np.bool_]:
    """Whether lists of these totals have what a metric needs."""
    defined = np.ones(positives.size, dtype=np.bool_)
    if needs in ("positives", "both"):
        defined &= positives > 0
    if needs in ("negatives", "both"):
        defined &= negatives > 0
    return defined


def settle(
    name: str,
    needs: str,
    values: Floats,
    defined: NDArray[np.bool_],
    names: NDArray[Any] | None,
    undefined: Undefined,
) -> float:
    """Mean over the lists, those that are not defined handled by the policy."""
    given: Any = undefined
    stands_in = isinstance(given, Real) and not isinstance(given, bool)
    if not stands_in and undefined not in ("skip", "error"):
        raise ValueError(f"undefined={undefined!r} must be 'skip', 'error' or a number.")
    if values.size and defined.all():
        return float(values.mean())
    lacking = "there are no rows" if not values.size else _lacking(defined, names)
    if undefined == "error":
        raise ValueError(
            f"{name} needs {_NEEDS[needs]} in every list, but {lacking}; pass undefined='skip' "
            "or the number that should stand for such a list."
        )
    if stands_in:
        filled = np.where(defined, values, float(undefined)) if values.size else [float(undefined)]
        return float(np.mean(filled))
    if not defined.any():
        _warn_undefined(f"{name} needs {_NEEDS[needs]}, but {lacking}; the result is nan.")
        return float("nan")
    return float(values[defined].mean())


def _lacking(defined: NDArray[np.bool_], names: NDArray[Any] | None) -> str:
    if names is None:
        return "the list has none"
    bad = np.flatnonzero(~defined)
    return f"{bad.size} of {defined.size} lists (first: {names[bad[0]]!r}) have none"


def _warn_undefined(message: str) -> None:
    # scikit-learn takes a second to import, and only this path needs it.
    from sklearn.exceptions import UndefinedMetricWarning  # noqa: PLC0415

    # frames: this function, settle, measured, the caller
    warnings.warn(message, UndefinedMetricWarning, stacklevel=4)


def _signature(judge: Callable[..., Any], ties: str) -> inspect.Signature:
    """Options of the judge first, then what all metrics share."""
    own = [
        p for p in inspect.signature(judge).parameters.values() if p.name not in ("ranked", "ties")
    ]
    shared = shared_parameters(ties)
    return inspect.Signature([*shared[:2], *own, *shared[2:]], return_annotation="float")


def _document(judge: Callable[..., Any], declared: Declaration, returns: str) -> str:
    """Docstring of a metric: its own, with the parameters that all share and what it returns."""
    shared = _SHARED.format(
        choices=", ".join(f'"{choice}"' for choice in declared.ties),
        default=declared.ties[0],
        meanings=";\n    ".join(f"{choice}: {_TIES[choice]}" for choice in declared.ties),
        needs=_NEEDS[declared.needs].replace(" and ", " or "),
    )
    text, _, examples = inspect.cleandoc(judge.__doc__ or "").partition("\nExamples\n")
    text, _, own = text.partition("\nParameters\n----------\n")
    rows = _ROWS.format(labels=_GRADES if declared.graded else _LABELS)
    k = inspect.signature(judge).parameters.get("k")
    length = "" if k is None else _K if k.default is k.empty else f"{_K}\n{_WHOLE_LIST}"
    gain = _GAIN if declared.graded else ""
    parameters = "\n".join(filter(None, (rows, length, own.strip(), gain, shared)))
    return (
        f"{text}\nParameters\n----------\n{parameters}\n\n"
        f"Returns\n-------\nfloat\n    {returns}\n\nExamples\n{examples}"
    )
