"""Labels as users pass them: classes, which of two is the positive one, sets of labels.

Scikit-learn, whose checks of classes and whose words for what is wrong estimators share, is
imported where it is needed: metrics read labels without it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_dense, check_none_missing, is_sparse

# Labels whose meaning is known: what is positive, and what its opposites are.
_OPPOSITES = {
    "1": ("0", "-1"),
    "yes": ("no",),
    "y": ("n",),
    "true": ("false",),
    "t": ("f",),
    "positive": ("negative",),
    "pos": ("neg",),
    "+": ("-",),
    "on": ("off",),
    "ja": ("nein", "nee"),
    "j": ("n",),
    "oui": ("non",),
    "o": ("n",),
    "vrai": ("faux",),
    "si": ("no",),
    "sí": ("no",),
    "s": ("n",),
    "sim": ("não", "nao"),
    "verdadero": ("falso",),
    "vero": ("falso",),
    "wahr": ("falsch",),
    "tak": ("nie",),
    "ano": ("ne",),
    "evet": ("hayır",),
    "да": ("нет",),
    "はい": ("いいえ",),
    "是": ("否",),
}


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
    for word, other in (tuple(words), tuple(words)[::-1]) if len(words) == 2 else ():
        if other in _OPPOSITES.get(word, ()):
            return words[word]
    return None


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


def class_labels(y: ArrayLike | None) -> NDArray[Any]:
    """One class per row."""
    from sklearn.utils.multiclass import check_classification_targets  # noqa: PLC0415
    from sklearn.utils.validation import column_or_1d  # noqa: PLC0415

    check_given(y)
    labels = column_or_1d(y, warn=True)
    check_known(labels)
    check_classification_targets(labels)
    return np.asarray(labels)


def class_codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Number of each label among the sorted classes; a label that is not one of them is refused."""
    try:
        codes = np.searchsorted(classes, labels)
    except TypeError:  # texts where the classes are numbers, which have no common order
        codes = np.zeros(labels.shape, dtype=np.intp)
    codes[codes == classes.size] = 0
    strange = classes[codes] != labels
    if strange.any():
        raise ValueError(
            f"y holds the label {labels[strange][:1].tolist()[0]!r}, which is none of the classes "
            f"{classes.tolist()}; name all classes at the first partial_fit (classes=...), "
            "or fit again."
        )
    return codes.astype(np.intp, copy=False)


def classes_of_stream(known: NDArray[Any] | None, named: ArrayLike | None) -> Any:
    """Classes of a stream: those that it has, or those named in its first call, or None."""
    from sklearn.utils.validation import column_or_1d  # noqa: PLC0415

    if named is None:
        return known
    found = np.unique(column_or_1d(named))
    if known is not None and not np.array_equal(found, known):
        raise ValueError(
            f"classes={found.tolist()} is not the same as on the last call to partial_fit, was: "
            f"{known.tolist()}; leave it out, or begin anew for other classes."
        )
    return found


class LabelSets:
    """Rows with any number of labels: a matrix of indicators.

    A vector of classes is one label per row; then predictions are classes, too.
    """

    classes_: NDArray[Any]
    _one_class_per_row: bool

    def _check_labels(self, y: Any, table: Any) -> NDArray[Any]:
        """A mask with one column for each label, or a vector of classes."""
        check_given(y)
        matrix = np.asarray(as_dense(y))
        is_matrix = is_sparse(y) or (matrix.ndim == 2 and matrix.shape[1] != 1)
        labels = matrix if is_matrix else class_labels(y)
        check_length("y", len(labels), table.shape[0])
        if is_matrix and not np.isin(matrix, (0, 1)).all():
            raise ValueError(
                "y must be an indicator matrix of 0 and 1 with one column for each label, or a "
                f"vector of classes; got shape {matrix.shape} and dtype {matrix.dtype}."
            )
        return labels.astype(np.bool_) if is_matrix else labels

    def _set_classes(self, labels: NDArray[Any], classes: Any = None) -> None:
        """Learn what labels there are, from the first ones or from ``classes``."""
        self._one_class_per_row = labels.ndim == 1
        if not self._one_class_per_row:
            self.classes_ = np.arange(labels.shape[1])
            return
        self.classes_ = np.unique(labels if classes is None else np.asarray(classes))
        if self.classes_.size < 2:
            raise ValueError(
                f"y has one class only ({self.classes_.tolist()}); pass two or more, "
                "or a matrix with one column for each label."
            )

    def _decisions(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of the labels; with two classes, how much higher the second one is."""
        if self._one_class_per_row and scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores


def check_given(y: Any) -> None:
    """Refuse a fit without labels."""
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None; pass one label per row."
        )


def check_known(labels: NDArray[Any]) -> None:
    """Refuse labels of which some are missing."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y contains NaN or infinity; drop the rows without a label.")


def check_length(name: str, n_given: int, n_rows: int) -> None:
    """Refuse labels of another number of rows than the table has."""
    if n_given != n_rows:
        raise ValueError(f"{name} has {n_given} rows, but X has {n_rows}; they must match.")
