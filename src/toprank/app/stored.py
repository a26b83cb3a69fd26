"""What a model file may hold: the classes by name, and their arrays by dtype and shape.

**To store a new ranker**, add its class to :data:`CLASSES`, with its module and the attributes that
it needs to score, and the arrays that are new to :data:`ARRAYS`. The rest follows:

- Parameters (names without a trailing underscore) are plain values and go through the constructor
  and ``_check_parameters`` again.
- Fitted attributes (names with one) may be numbers, texts, arrays, lists and dictionaries of these,
  and objects of these classes, also in lists: weak rankers, or the members of a blend.
- An attribute that :data:`ARRAYS` names is checked wherever it occurs; other arrays are kept, and
  scores must not depend on them. Private attributes are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from toprank.kernels import numpy_scores


@dataclass(frozen=True)
class Stored:
    """An object as a file has it: the name of its class, and its attributes."""

    class_name: str
    attributes: dict[str, Any]


class ArraySpec:
    """An array: its shape in numbers and letters, and which values it may have.

    The letter "n" stands for the encoded columns, "w" for the weak rankers (as many, unless they
    say otherwise); any other takes the size that it meets first in the object, so that arrays must
    agree. ``kinds`` are numpy's letters of the types: finite floats, integers (iu), booleans (b).
    ArraySpec of ``is_scale`` are divided by: positive, and infinite where a column is constant.
    Integers with a letter ``below`` are at least 0 and below that size.
    """

    def __init__(
        self, *shape: int | str, kinds: str = "f", is_scale: bool = False, below: str = ""
    ) -> None:
        self.shape, self.kinds, self.is_scale, self.below = shape, kinds, is_scale, below

    def check(self, name: str, array: Any, sizes: dict[str, int]) -> None:
        """Raise unless an array is like this; sizes of new letters are added to ``sizes``."""
        if not isinstance(array, np.ndarray) or array.ndim != len(self.shape):
            raise ValueError(f"its {name} is not an array of {len(self.shape)} dimensions.")
        expected = tuple(
            letter if isinstance(letter, int) else sizes.setdefault(letter, size)
            for letter, size in zip(self.shape, array.shape, strict=True)
        )
        if array.shape != expected:
            raise ValueError(f"its {name} has the shape {array.shape} instead of {expected}.")
        if self.below:
            are_right = (array >= 0) & (array < sizes[self.below])
        else:
            are_right = array > 0 if self.is_scale else np.isfinite(array)
        if array.dtype.kind not in self.kinds or not are_right.all():
            raise ValueError(f"its {name} holds values that it must not hold.")


ARRAYS = {
    "intercept_": ArraySpec(1),
    "classes_": ArraySpec(2, kinds="biuf"),
    # linear rankers
    "low_": ArraySpec("n"),
    "span_": ArraySpec("n", is_scale=True),
    "weights_": ArraySpec("w"),
    "coef_": ArraySpec(1, "n"),
    # thresholds, and the rounds that chose them; beyond the last is the constant weak ranker
    "has_missing_": ArraySpec("n", kinds="b"),
    "selected_": ArraySpec("rounds", kinds="iu", below="w + 1"),
    "steps_": ArraySpec("rounds"),
    "intercepts_": ArraySpec("rounds"),
    # kernels
    "support_": ArraySpec("support", kinds="iu"),
    "support_vectors_": ArraySpec("support", "n"),
    "dual_coef_": ArraySpec(1, "support"),
    # blends
    "factors_": ArraySpec("members"),
}


class StorableClass(NamedTuple):
    """A class that may be stored.

    ``needed`` are its fitted attributes without which it cannot score; where there are several
    tuples, one of them is needed. ``sizes`` gives further letters for shapes, and raises where the
    attributes contradict each other.
    """

    module: str
    needed: tuple[tuple[str, ...], ...]
    sizes: Callable[[dict[str, Any]], dict[str, int]] | None = None

    @property
    def is_ranker(self) -> bool:
        """Whether it ranks rows by itself."""
        return "n_features_in_" in self.needed[0]


def _sizes_of_stumps(attributes: dict[str, Any]) -> dict[str, int]:
    thresholds, has_missing = attributes["thresholds_"], attributes["has_missing_"]
    if not isinstance(thresholds, list) or len(thresholds) != has_missing.size:
        raise ValueError("its thresholds_ are not one array for each column.")
    for mine in thresholds:
        ArraySpec("any").check("thresholds_", mine, {})
        if mine.size > _MOST_THRESHOLDS or (np.diff(mine) <= 0).any():
            raise ValueError("its thresholds_ are too many or do not ascend.")
    twice = has_missing & (attributes.get("missing") == "learned")
    n_weak = sum(mine.size * (1 + int(both)) for mine, both in zip(thresholds, twice, strict=True))
    return {"w": n_weak, "w + 1": n_weak + 1}


def _sizes_of_oblivious_trees(attributes: dict[str, Any]) -> dict[str, int]:
    shapes = {
        "columns": ArraySpec("trees", "depth", kinds="i"),
        "thresholds": ArraySpec("trees", "depth"),
        "missing_left": ArraySpec("trees", "depth", kinds="b"),
        "values": ArraySpec("trees", "leaves"),
        "cover": ArraySpec("trees", "leaves"),
    }
    sizes = _checked_shapes(attributes, shapes)
    if sizes["depth"] > _DEEPEST_TREE or sizes["leaves"] != 1 << sizes["depth"]:
        raise ValueError(
            f"its trees ask {sizes['depth']} questions and have {sizes['leaves']} leaves."
        )
    return _columns_of_trees(attributes["columns"], attributes["cover"])


def _sizes_of_binary_trees(attributes: dict[str, Any]) -> dict[str, int]:
    shapes = {
        "columns": ArraySpec("nodes", kinds="i"),
        "thresholds": ArraySpec("nodes"),
        "missing_left": ArraySpec("nodes", kinds="b"),
        "values": ArraySpec("nodes"),
        "cover": ArraySpec("nodes"),
        "children": ArraySpec("nodes", 2, kinds="i"),
        "roots": ArraySpec("trees", kinds="i", below="nodes"),
    }
    sizes = _checked_shapes(attributes, shapes)
    children = attributes["children"]
    asking = np.flatnonzero(children[:, 0] >= 0)
    after = (children[asking] > asking[:, None]) & (children[asking] < sizes["nodes"])
    reached = np.concatenate([attributes["roots"], children[asking].ravel()])
    tree = np.searchsorted(attributes["roots"], np.arange(sizes["nodes"]), side="right")
    if (
        not after.all()
        or not np.array_equal(np.sort(reached), np.arange(sizes["nodes"]))
        or (np.diff(attributes["roots"]) <= 0).any()
        or (tree[children[asking]] != tree[asking, None]).any()
    ):
        raise ValueError("its nodes are not in one tree each, children after their parents.")
    level = attributes["roots"]
    for _ in range(_LONGEST_PATH):
        level = children[level[children[level, 0] >= 0]].ravel()
    if (children[level, 0] >= 0).any():
        raise ValueError(f"its trees ask more than {_LONGEST_PATH} questions on a path.")
    return _columns_of_trees(attributes["columns"], attributes["cover"])


def _checked_shapes(attributes: dict[str, Any], shapes: dict[str, ArraySpec]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for name, numbers in shapes.items():
        numbers.check(name, attributes[name], sizes)
    return sizes


def _columns_of_trees(columns: Any, cover: Any) -> dict[str, int]:
    if columns.size and columns.min() < 0:
        raise ValueError("its trees ask about a column below 0.")
    if (cover < 0).any():
        raise ValueError("its trees have leaves with negative cover.")
    return {"columns of trees": int(columns.max(initial=-1)) + 1}


def _sizes_of_categories(attributes: dict[str, Any]) -> dict[str, int]:
    """Check how columns of categories become numbers; gives the width of an encoded row."""
    columns, values = attributes["columns"], attributes["values"]
    means, has_missing = attributes["means"], attributes["has_missing"]
    n_columns, per_column = attributes["n_columns"], (columns, values, means, has_missing)
    if type(n_columns) is not int or any(not isinstance(each, list) for each in per_column):
        raise ValueError("its categories are not described as lists.")
    is_right = (
        len({*map(len, per_column)}) == 1
        and all(type(column) is int and 0 <= column < n_columns for column in columns)
        and columns == sorted(set(columns))
        and all(type(flag) is bool for flag in has_missing)
    )
    if not is_right:
        raise ValueError("its columns of categories do not fit together.")
    width = n_columns
    for known, mine in zip(values, means, strict=True):
        plain = isinstance(known, list) and all(type(each) in _PLAIN for each in known)
        if not plain or len(set(known)) < len(known):
            raise ValueError("its categories are not distinct texts or numbers.")
        if mine is not None:
            ArraySpec(len(known) + 1).check("means", mine, {})
        elif len(known) > 2:  # of two values one is enough
            width += min(len(known), _MOST_INDICATORS) - 1
    return {"n": n_columns, "numbers": width}


def _sizes_of_blend(attributes: dict[str, Any]) -> dict[str, int]:
    if len(attributes["rankers_"]) != attributes["factors_"].size:
        raise ValueError("its rankers_ are not one for each factor.")
    return {}


_PLAIN = (str, int, float, bool)
_MOST_INDICATORS = 255
_MOST_THRESHOLDS = 254  # one byte per cell
_DEEPEST_TREE = 16
_LONGEST_PATH = 400  # explaining a row takes its cube
# Rows times trees up to which numpy is done sooner than numba is loaded.
_FEW = 2_000_000
_SCORED = ("n_features_in_", "classes_", "intercept_", "weak_rankers_", "weights_")
_BOOSTED = ((*_SCORED, "selected_", "steps_", "intercepts_"),)
_LINEAR = ((*_SCORED, "coef_"),)
_KERNEL = (*_SCORED[:-1], "support_", "support_vectors_", "dual_coef_")
_RANGES = (("low_", "span_"),)
_FOREIGN = (("n_features_in_", "classes_", "ranker_"),)
_NODES = ("columns", "thresholds", "missing_left", "values", "cover")
_STUMPS = (("thresholds_", "has_missing_"),)

CLASSES = {
    "Features": StorableClass("toprank.weak_rankers.features", _RANGES),
    "StandardFeatures": StorableClass("toprank.weak_rankers.features", _RANGES),
    "SymmetricFeatures": StorableClass("toprank.weak_rankers.features", _RANGES),
    "Stumps": StorableClass("toprank.weak_rankers.stumps", _STUMPS, _sizes_of_stumps),
    "ObliviousTrees": StorableClass(
        "toprank.trees.oblivious", (_NODES,), _sizes_of_oblivious_trees
    ),
    "BinaryTrees": StorableClass(
        "toprank.trees.binary", ((*_NODES, "roots", "children"),), _sizes_of_binary_trees
    ),
    "Categories": StorableClass(
        "toprank.trees.categories",
        (("n_columns", "columns", "values", "means", "has_missing"),),
        _sizes_of_categories,
    ),
    "LogisticRanker": StorableClass("toprank.selection.engines", _LINEAR),
    "PNormPush": StorableClass("toprank.rankers.push", (_SCORED,)),
    "IRPush": StorableClass("toprank.rankers.push", (_SCORED,)),
    "LinearRankSVM": StorableClass("toprank.rankers.linear_rank_svm", _LINEAR),
    "RankSVM": StorableClass("toprank.rankers.rank_svm", (*_LINEAR, _KERNEL)),
    "PrecisionAtKRanker": StorableClass("toprank.rankers.precision_at_k", _LINEAR),
    "RankBoost": StorableClass("toprank.rankers.rankboost", _BOOSTED),
    "SmoothMarginRanker": StorableClass("toprank.rankers.rankboost", _BOOSTED),
    "AdaBoostRanker": StorableClass("toprank.rankers.rankboost", _BOOSTED),
    "SoftRankBoost": StorableClass("toprank.rankers.rankboost", _BOOSTED),
    "TreeRanker": StorableClass("toprank.rankers.tree", ((*_SCORED[:3], "trees_"),)),
    "ForestRanker": StorableClass("toprank.selection.engines", _FOREIGN),
    "EngineRanker": StorableClass("toprank.selection.engines", _FOREIGN),
    "Blend": StorableClass(
        "toprank.selection.blending",
        (("n_features_in_", "classes_", "intercept_", "rankers_", "factors_"),),
        _sizes_of_blend,
    ),
}

# What neither scores nor explains: certificates are kept in words, columns by the encoder,
# calibration rows by the model, and a blend's rankers as they were fitted.
_LEFT_OUT = (
    "calibration_",
    "certificate_",
    "ensemble_",
    "feature_names_in_",
    "rankers",
    "weights",
)


def stored_ranker(ranker: Any) -> Any:
    """A fitted ranker in the form that a file holds; other values are returned as they are."""
    return ranker._stored if isinstance(ranker, StoredRanker) else _stored(ranker)  # noqa: SLF001


def _stored(value: Any) -> Any:
    name = type(value).__name__
    if name in CLASSES and CLASSES[name].module == type(value).__module__:
        kept = {
            name: _stored(each)
            for name, each in vars(value).items()
            if not name.startswith("_") and name not in _LEFT_OUT
        }
        if name == "TreeRanker" and not value.has_categories:
            kept.pop("categories_", None)
        return Stored(name, kept)
    if isinstance(value, (list, tuple)):
        return [_stored(each) for each in value]
    return value


def check_stored(found: Any, n_columns: int) -> None:
    """Raise unless this is a ranker of ours for so many columns, whose arrays fit together."""
    if isinstance(found, Stored):
        _check(found, n_columns)
    if not isinstance(found, Stored) or not CLASSES[found.class_name].is_ranker:
        raise ValueError("it holds no ranker.")


def _check(found: Stored, n_columns: int) -> dict[str, int]:
    """Check an object and those in it; gives the sizes by letter."""
    kind = CLASSES.get(found.class_name)
    if kind is None:
        raise ValueError(f"it holds a {found.class_name}, a class that is not allowed.")
    attributes = found.attributes
    sizes = {"n": n_columns, "w": n_columns, "w + 1": n_columns + 1}
    n_numbers = _n_numbers(attributes, n_columns)
    for name, value in attributes.items():
        if name.startswith("_") or not name.isidentifier():
            raise ValueError(f"its {found.class_name} has an attribute {name!r}.")
        for each in _objects_in(value):
            inner = _check(each, n_columns)
            if inner.get("columns of trees", 0) > n_numbers:
                raise ValueError("its trees ask about columns that it does not have.")
            if name == "weak_rankers_":
                sizes.update(inner)
    _check_needed(found, kind, n_columns)
    for name, numbers in ARRAYS.items():
        if name in attributes:
            numbers.check(name, attributes[name], sizes)
    return sizes | (kind.sizes(attributes) if kind.sizes else {})


def _n_numbers(attributes: dict[str, Any], n_columns: int) -> int:
    """Columns that trees may ask about: categories become one number or more."""
    categories = attributes.get("categories_")
    if categories is None:
        return n_columns
    if not isinstance(categories, Stored) or categories.class_name != "Categories":
        raise ValueError("its categories_ are not described.")
    sizes = _check(categories, n_columns)
    if sizes["n"] != n_columns:
        raise ValueError(f"its categories are not those of {n_columns} columns.")
    return sizes["numbers"]


def _check_needed(found: Stored, kind: StorableClass, n_columns: int) -> None:
    known = found.attributes
    if not any(known.keys() >= set(needed) for needed in kind.needed):
        raise ValueError(f"its {found.class_name} lacks one of {', '.join(kind.needed[0])}.")
    if known.get("n_features_in_", n_columns) != n_columns:
        raise ValueError(f"its {found.class_name} is not for {n_columns} columns.")
    for name, words in (("weak_rankers_", "weak rankers"), ("trees_", "trees")):
        if name in known and not isinstance(known[name], Stored):
            raise ValueError(f"its {found.class_name} has no {words}.")


def _objects_in(value: Any) -> Iterator[Stored]:
    if isinstance(value, Stored):
        yield value
    for each in value if isinstance(value, list) else ():
        yield from _objects_in(each)


def _restored(value: Any) -> Any:
    """Make the object again: its class is imported here, and checks its own parameters."""
    if isinstance(value, list):
        return [_restored(each) for each in value]
    if not isinstance(value, Stored):
        return value
    name, found = value.class_name, value.attributes
    kind = CLASSES[name]
    try:
        parameters = {key: each for key, each in found.items() if not key.endswith("_")}
        made = getattr(import_module(kind.module), name)(**parameters)
        if kind.is_ranker:
            made._check_parameters()  # noqa: SLF001
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"the model file has a {name} with parameters that this version does not take "
            f"({error}); fit again."
        ) from error
    vars(made).update({key: _restored(each) for key, each in found.items() if key.endswith("_")})
    return made


class StoredRanker:
    """A ranker out of a file: what it has learned and, once they are asked for, its methods.

    To score rows the arrays are enough: importing the class, and scikit-learn with it, takes longer
    than that. So rankers in it stay as they are stored, and so do its trees and stumps.
    """

    def __init__(self, stored: Stored, *, has_own_terms: bool = False) -> None:
        self._stored = stored
        self._has_own_terms = has_own_terms
        for name, value in stored.attributes.items():
            if name.endswith("_") and not isinstance(value, (Stored, list)):
                setattr(self, name, value)

    @cached_property
    def restored(self) -> Any:
        """The ranker itself, an object of its own class."""
        return _restored(self._stored)

    def with_own_terms(self) -> StoredRanker:
        """The same with trees and stumps of their own classes."""
        return StoredRanker(self._stored, has_own_terms=True)

    @property
    def has_categories(self) -> bool:
        """Whether its trees encode columns of categories themselves."""
        return "categories_" in self._stored.attributes

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if not name.endswith("_"):
            return getattr(self.restored, name)
        if name not in self._stored.attributes:
            raise AttributeError(name)
        setattr(self, name, self._acting(self._stored.attributes[name]))
        return vars(self)[name]

    def _acting(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._acting(each) for each in value]
        if isinstance(value, Stored) and CLASSES[value.class_name].is_ranker:
            return StoredRanker(value, has_own_terms=self._has_own_terms)
        is_term = isinstance(value, Stored) and value.class_name in _PLAIN_SCORES
        return StoredTerm(value) if is_term and not self._has_own_terms else _restored(value)


class StoredTerm:
    """Trees or stumps out of a file: numpy scores the first few rows, their class does all else."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self._n_scored = 0

    @cached_property
    def _restored(self) -> Any:
        return _restored(self._stored)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._restored, name)

    def scores(self, X: Any, *arguments: Any) -> Any:
        """Scores of encoded rows, to the last bit those of the class."""
        known = self._stored.attributes
        self._n_scored += len(X)
        if self._n_scored * len(known.get("roots", known.get("values", ()))) > _FEW:
            return self._restored.scores(X, *arguments)
        return _PLAIN_SCORES[self._stored.class_name](known, X, *arguments)


def _tree_scores(known: dict[str, Any], X: Any, _threads: Any, start: float) -> Any:
    scores = np.full(len(X), start)
    columns, *others = (known[name] for name in ("columns", "thresholds", "missing_left"))
    if "roots" in known:
        questions = (known["roots"], columns, *others, known["children"])
        numpy_scores.add_binary_trees(X, questions, known["values"], scores)
    elif columns.size:
        numpy_scores.add_oblivious_trees(X, (columns, *others), known["values"], scores)
    return scores


def _stump_scores(known: dict[str, Any], X: Any, weights: Any) -> Any:
    scores = np.zeros(len(X))
    twice = known["has_missing_"] & (known.get("missing") == "learned")
    numpy_scores.add_stumps(X, known["thresholds_"], twice, weights, scores)
    return scores


_PLAIN_SCORES: dict[str, Callable[..., Any]] = {
    "ObliviousTrees": _tree_scores,
    "BinaryTrees": _tree_scores,
    "Stumps": _stump_scores,
}
