"""Which rows belong above which: labels, grades or pairs, with weights and lists, as one value.

A :class:`Truth` is made and checked once, without the rows of weight 0: every ranker, objective
and solver receives the truth about the rows that count, and a table of just these rows.

::

    labels   y       1 0 1 0        grades  1 0 0        (row 2 has weight 0)
             weight  1 2 0 1        weights 1 2 1        kept    0 1 3
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import (
    as_lists,
    as_weights,
    check_none_missing,
    class_labels,
    log_scale,
    scaled_weights,
)

if TYPE_CHECKING:
    from toprank.inputs import Lists


NO_PAIRS = (
    "groups puts no positive row in one list with a negative row, so there is no pair to learn "
    "from; check that groups names the list of each row."
)


@dataclass(frozen=True, eq=False)
class Truth:
    """Which rows belong above which, among the rows that count.

    Of two rows in one list the one of higher grade belongs above; labels are the grades 0 and 1.
    Where pairs are given there are no grades, and every row counts.

    Attributes
    ----------
    n_rows : int
        How many rows count.
    grades : array of shape (n_rows,) or None
        Grade of each row, numbered 0, 1, … from the lowest; None where pairs are given. Labels
        take one byte per row.
    is_labels : bool
        Whether the grades are two classes, so that there is something to predict.
    weights : array of shape (n_rows,) or None
        Row weights, all above 0; None where every row counts once.
    lists : Lists or None
        The lists; None where there is one.
    pairs : array of shape (n_pairs, 2) or None
        Row numbers (better, worse).
    pair_weights : array of shape (n_pairs,) or None
        What each pair counts, always above 0; None where every pair counts once.
    kept : array of shape (n_rows,) or None
        Number of each row in the table that was given; None where all rows count.
    n_given : int
        How many rows were given, those of weight 0 among them.
    classes : array of shape (2,) or None
        The labels as they were given, the positive one last, where a ranker needs to give them
        back.

    Examples
    --------
    >>> from toprank.truth import Truth
    >>> truth = Truth.of_labels([1, 0, 1, 0], sample_weight=[1, 2, 0, 1])
    >>> truth.positives, truth.weights, truth.kept
    (array([ True, False, False]), array([1., 2., 1.]), array([0, 1, 3]))
    """

    n_rows: int
    n_given: int
    grades: NDArray[np.integer] | None = None
    is_labels: bool = False
    weights: NDArray[np.float64] | None = None
    lists: Lists | None = None
    pairs: NDArray[np.intp] | None = None
    pair_weights: NDArray[np.float64] | None = None
    kept: NDArray[np.intp] | None = None
    classes: NDArray[Any] | None = None

    @classmethod
    def of_labels(
        cls,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        classes: NDArray[Any] | None = None,
        is_part: bool = False,
    ) -> Truth:
        """Positive rows belong above negative ones of their list.

        Part of a stream (``is_part``) may hold one class only.
        """
        positives = as_positives(y, name="y")
        truth = cls._of_rows(positives.astype(np.int8), sample_weight, groups, is_labels=True)
        if not is_part:
            truth.check_pairs()
        return truth if classes is None else replace(truth, classes=classes)

    @classmethod
    def of_grades(
        cls,
        grades: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Truth:
        """Rows of a higher grade belong above the others of their list."""
        truth = cls._of_rows(as_grades(grades), sample_weight, groups, is_labels=False)
        truth.check_pairs()
        return truth

    @classmethod
    def of_pairs(
        cls,
        pairs: ArrayLike,
        n_rows: int,
        *,
        pair_weight: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Truth:
        """Row ``pairs[j, 0]`` belongs above row ``pairs[j, 1]``; circles are allowed.

        Pairs that do not count are left out: those of weight 0 and those with a row of weight 0.
        """
        checked, pair_weights = as_pairs(pairs, n_rows, pair_weight)
        weights = as_weights(sample_weight, n_rows)
        counts = np.ones(len(checked), dtype=bool)
        if pair_weights is not None:
            counts &= pair_weights > 0
        if weights is not None:
            counts &= (weights[checked] > 0).all(axis=1)
        if not counts.any():
            raise ValueError(
                "every pair has weight 0 or holds a row of weight 0; at least one pair must count."
            )
        if not counts.all():
            checked = checked[counts]
            pair_weights = None if pair_weights is None else pair_weights[counts]
        return cls(n_rows, n_rows, weights=weights, pairs=checked, pair_weights=pair_weights)

    @classmethod
    def _of_rows(
        cls,
        grades: NDArray[np.integer],
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        *,
        is_labels: bool,
    ) -> Truth:
        weights = as_weights(sample_weight, grades.size)
        lists = as_lists(groups, grades.size)
        truth = cls(
            grades.size, grades.size, grades, is_labels=is_labels, weights=weights, lists=lists
        )
        if weights is None or (weights > 0).all():
            return truth
        return truth.part(np.flatnonzero(weights))

    def check_pairs(self) -> None:
        """Refuse labels or grades that leave no pair to compare."""
        n_positives = int(np.count_nonzero(self.positives)) if self.is_labels else 0
        n_negatives = self.n_rows - n_positives
        if self.is_labels and not (n_positives and n_negatives):
            missing = "positive" if not n_positives else "negative"
            raise ValueError(
                f"y has {n_positives} positive and {n_negatives} negative rows of weight above 0; "
                f"ranking needs both classes, so add {missing} rows."
            )
        if not self.has_pairs():
            raise ValueError(
                NO_PAIRS
                if self.is_labels
                else "grades has no two rows of weight above 0 in one list that differ in grade, "
                "so there is no pair to learn from; add rows of another grade or check groups."
            )

    def has_pairs(self) -> bool:
        """Whether some list holds rows of two grades; not for pairs."""
        grades, lists = self.grades, self.lists
        assert grades is not None  # noqa: S101  (asked of labels and grades only)
        if not grades.size:
            return False
        if lists is None:
            return bool(grades.min() < grades.max())
        sorted_grades = grades[lists.order]
        highest = np.maximum.reduceat(sorted_grades, lists.starts[:-1])
        lowest = np.minimum.reduceat(sorted_grades, lists.starts[:-1])
        return bool((highest > lowest).any())

    @cached_property
    def positives(self) -> NDArray[np.bool_]:
        """Mask of the positive rows; labels only."""
        if not self.is_labels:
            raise ValueError(
                "this needs two classes, but grades and pairs have no positive rows; call fit with "
                "labels, or use a push, which takes all three."
            )
        assert self.grades is not None  # noqa: S101  (labels have grades)
        return self.grades.view(np.bool_)  # of one byte each

    @property
    def is_one_list(self) -> bool:
        """Whether every row is compared with every row of another grade."""
        return self.lists is None and self.pairs is None

    @cached_property
    def total_weight(self) -> float:
        """Number of rows, by weight."""
        return float(self.n_rows if self.weights is None else self.weights.sum())

    def rows_of(self, table: Any) -> Any:
        """Rows of a given table that count."""
        return table if self.kept is None else table[self.kept]

    def scaled(self) -> tuple[Truth, float]:
        """Truth with its :func:`~toprank.inputs.scaled_weights`, and ln of what divided them."""
        given = self.weights if self.pairs is None else self.pair_weights
        if given is None:
            return self, 0.0
        weights = scaled_weights(given)
        if self.pairs is None:
            return replace(self, weights=weights), log_scale(given, weights)
        return replace(self, pair_weights=weights), log_scale(given, weights)

    def normalized(self) -> Truth:
        """Truth whose largest weight is 1, for objectives that do not depend on their size."""
        scaled, _ = self.scaled()
        weights = scaled.weights
        return scaled if weights is None else replace(scaled, weights=weights / weights.max())

    def part(self, rows: NDArray[np.intp]) -> Truth:
        """Truth about some of the rows, numbered as they are here; not for pairs."""
        if self.grades is None:
            raise ValueError("pairs cannot be cut to some of their rows; make pairs of those rows.")
        lists = None
        if self.lists is not None:
            lists = as_lists(self.lists.names[self.lists.codes[rows]], rows.size)
        return replace(
            self,
            n_rows=rows.size,
            grades=self.grades[rows],
            weights=None if self.weights is None else self.weights[rows],
            lists=lists,
            kept=rows if self.kept is None else self.kept[rows],
        )


# Labels, grades and pairs as users pass them ---------------------------------------------------

# Labels whose meaning is known: the positive one, and its opposite.
_MEANINGS = (
    "1/0 1/-1 yes/no y/n true/false t/f positive/negative pos/neg +/- on/off ja/nein ja/nee j/n "
    "oui/non o/n vrai/faux si/no sí/no s/n sim/não sim/nao verdadero/falso vero/falso wahr/falsch "
    "tak/nie ano/ne evet/hayır да/нет はい/いいえ 是/否"
)
_OPPOSITES = frozenset(_MEANINGS.split())


def as_positives(
    y: ArrayLike, *, pos_label: Any = None, n_rows: int | None = None, name: str = "y_true"
) -> NDArray[np.bool_]:
    """Mask of the positive rows.

    Labels may be booleans, {0, 1}, {-1, 1} or any two values (the larger one is the positive,
    as in scikit-learn's ``classes_[1]``); ``pos_label`` names the positive one instead.
    """
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must hold one label per row, got shape {array.shape}.")
    if n_rows is not None and array.shape[0] != n_rows:
        raise ValueError(
            f"{name} has {array.shape[0]} rows, but the scores have {n_rows}; "
            "they must belong to the same list."
        )
    if pos_label is not None:
        return _equal_to(array, pos_label, name)
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind in "iuf":
        positives = _ones_among_zeros(array)
        if positives is not None:
            return positives
    return _larger_of_two(array, name)


def positive_of(first: str, second: str) -> str | None:
    """The positive one of two labels, if their meaning is known: 1 beside 0 or -1, yes beside no.

    Examples
    --------
    >>> positive_of("ja", "nein"), positive_of("No", "Yes"), positive_of("-1", "+1")
    ('ja', 'Yes', '+1')
    >>> positive_of("fraud", "legit"), positive_of("1", "2")
    (None, None)
    """
    words = {plain_label(label): label for label in (first, second)}
    pairs = permutations(words, 2)
    return next((words[one] for one, other in pairs if f"{one}/{other}" in _OPPOSITES), None)


def plain_label(label: str) -> str:
    """A label without case and blanks, and whole numbers alike.

    Examples
    --------
    >>> plain_label(" Yes"), plain_label("+1"), plain_label("2.0")
    ('yes', '1', '2')
    """
    word = label.strip().casefold()
    try:
        number = float(word)
    except ValueError:
        return word
    return f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else word


def warn_if_doubtful(classes: NDArray[Any], name: str = "y") -> None:
    """Warn where the larger of two texts is the positive class and nothing says that it is."""
    labels = classes.tolist()
    if not all(isinstance(label, str) for label in labels):
        return
    first, second = labels
    if positive_of(first, second) != second:
        warnings.warn(
            f"{name} holds {first!r} and {second!r}; {second!r}, the last by the alphabet, is "
            f"taken as the positive class. If {first!r} is the positive one, pass {name} == "
            f"{first!r}; if not, {name} == {second!r}.",
            UserWarning,
            stacklevel=4,
        )


def _equal_to(array: NDArray[Any], pos_label: Any, name: str) -> NDArray[np.bool_]:
    check_none_missing(array, name, "drop the rows without a label")
    positives = np.asarray(array == pos_label)
    if positives.shape != array.shape:
        raise ValueError(
            f"pos_label={pos_label!r} cannot be compared with {name}; pass one of its labels."
        )
    if not positives.any():
        # A list of one class may lack its positives; of two classes one must be positive.
        labels = np.unique(array)
        if labels.size > 1:
            shown = ", ".join(repr(label) for label in labels[:4].tolist())
            raise ValueError(
                f"pos_label={pos_label!r} does not occur in {name}, which holds {shown}"
                f"{', ...' if labels.size > 4 else ''}; pass one of its labels."
            )
    return positives.astype(np.bool_, copy=False)


def _ones_among_zeros(array: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Where the ones are, if labels are {0, 1} or {-1, 1}; without a sort."""
    is_one = array == 1
    for other in (0, -1):
        if (is_one | (array == other)).all():
            return np.asarray(is_one)
    return None


def _larger_of_two(array: NDArray[Any], name: str) -> NDArray[np.bool_]:
    check_none_missing(array, name, "drop the rows without a label")
    try:
        values = np.unique(array)
    except TypeError as error:
        raise TypeError(f"{name} mixes types that cannot be compared: {error}.") from None
    if values.size > 2:
        shown = ", ".join(repr(v) for v in values[:4].tolist())
        raise ValueError(
            f"{name} must have two classes, got {values.size} values ({shown}, ...); "
            f"say which is positive with pos_label, or pass a comparison such as y >= 1."
        )
    if values.size == 1 and array.dtype.kind not in "iuf":
        raise ValueError(
            f"{name} holds only {values[0]!r}, so the positive class is unknown; pass pos_label."
        )
    if values.size == 1:
        return np.asarray(array > 0)
    warn_if_doubtful(values, name)
    positives: NDArray[np.bool_] = array == values[-1]
    return positives


def binary_labels(y: ArrayLike | None) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Classes, and a mask of the rows of ``classes[1]``, the positive one."""
    from sklearn.utils.multiclass import type_of_target  # noqa: PLC0415

    labels = class_labels(y)
    kind = type_of_target(labels, input_name="y")
    if kind != "binary":
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}. "
            "For one class against the rest pass y == that class; grades are learned by "
            "fit_grades of PNormPush, RankBoost or LinearRankSVM."
        )
    classes = np.unique(labels)
    if classes.size < 2:
        raise ValueError(
            f"y has one class only ({classes.tolist()[0]!r}); ranking needs positive and negative "
            "rows."
        )
    warn_if_doubtful(classes)
    return classes, labels == classes[1]


def as_grades(grades: ArrayLike) -> NDArray[np.intp]:
    """One grade per row, numbered 0, 1, … from the lowest to the highest."""
    array = np.asarray(grades)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"grades must hold one grade per row, got shape {array.shape}.")
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"grades must be numbers (higher is better), got dtype {array.dtype}; "
            "number them in their order."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(
            f"grades must be finite, but grades[{bad}] is {array[bad]}; drop rows without a grade."
        )
    return np.unique(array, return_inverse=True)[1].astype(np.intp, copy=False)


def as_pairs(
    pairs: ArrayLike, n_rows: int, pair_weight: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
    """Row numbers (better, worse) of every pair, and what each pair counts."""
    array = np.asarray(pairs)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"pairs must have two columns (better row, worse row), got shape {array.shape}."
        )
    if not len(array):
        raise ValueError("pairs is empty; ranking needs at least one pair.")
    if array.dtype.kind not in "iu":
        raise TypeError(f"pairs must be integer row numbers, got dtype {array.dtype}.")
    _check_row_numbers(array, n_rows)
    weights = as_weights(pair_weight, len(array), name="pair_weight")
    return array.astype(np.intp, copy=False), weights


def _check_row_numbers(pairs: NDArray[Any], n_rows: int) -> None:
    outside = (pairs < 0) | (pairs >= n_rows)
    if outside.any():
        bad = int(np.flatnonzero(outside.any(axis=1))[0])
        raise ValueError(
            f"pairs[{bad}] is {pairs[bad].tolist()}, but there are {n_rows} rows, numbered "
            f"0 to {n_rows - 1}."
        )
    same = pairs[:, 0] == pairs[:, 1]
    if same.any():
        bad = int(np.flatnonzero(same)[0])
        raise ValueError(
            f"pairs[{bad}] compares row {pairs[bad, 0]} with itself; remove such pairs."
        )
