"""Fitted trees of other libraries as ours, read without importing the library."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.threads import Threads
from toprank.trees.binary import BinaryTrees

if TYPE_CHECKING:
    from toprank.trees.oblivious import ObliviousTrees

# Module and name of the reader, by the package that a model's class comes from.
READERS = {
    "sklearn": (__name__, "read_scikit_learn"),
    "lightgbm": ("toprank.trees.engines", "read_lightgbm"),
    "xgboost": ("toprank.trees.engines", "read_xgboost"),
    "catboost": ("toprank.trees.engines", "read_catboost"),
}


@dataclass(frozen=True, eq=False)
class ForeignModel:
    """What is read from a model.

    Attributes
    ----------
    trees : BinaryTrees or ObliviousTrees
    n_columns : int
    intercept : float
        What is added to the sum of the trees.
    classes : array of shape (2,) or None
        Labels, the positive one last; None where scores have no cut at 0.
    link : {"share", "logistic", "none"}
        How scores become probabilities: score + 1/2, 1/(1 + e^-score), not at all.
    names : list of str or None
        Names of the columns.
    """

    trees: BinaryTrees | ObliviousTrees
    n_columns: int
    intercept: float = 0.0
    classes: NDArray[Any] | None = None
    link: Literal["share", "logistic", "none"] = "none"
    names: list[str] | None = None


def read_model(model: Any) -> ForeignModel:
    """Read a fitted model of scikit-learn, LightGBM, XGBoost or CatBoost."""
    for kind in type(model).__mro__:
        package = kind.__module__.partition(".")[0]
        if package in READERS:
            module, name = READERS[package]
            found: ForeignModel = getattr(import_module(module), name)(model)
            return found
    raise refusal(model)


def exact_step(values: NDArray[Any], n_terms: int) -> float:
    """What values must be multiples of so that a sum of ``n_terms`` of them is exact in any order.

    Many rows of trees have equal scores, and rounding errors of a sum would part them. Multiples
    keep as many binary digits as leave room for the carry, and never the last ten, which say
    nothing: libraries compute equal leaves with different last digits.
    """
    _, power = np.frexp(np.abs(values).max(initial=0.0))
    return float(np.ldexp(1.0, int(power) - 52 + max(10, n_terms.bit_length())))


def refusal(model: Any, reason: str = "") -> TypeError:
    """Error that says why a model cannot be read."""
    reason = reason or (
        "only trees, forests and gradient boosting of scikit-learn and models of LightGBM, "
        "XGBoost and CatBoost can be read"
    )
    return TypeError(f"from_model cannot read this {type(model).__name__}: {reason}.")


def two_classes(model: Any, classes: Any) -> NDArray[Any]:
    """The two classes of a classifier; others are refused."""
    found = np.asarray(classes)
    if found.shape != (2,):
        raise refusal(
            model,
            f"it has {found.size} classes, and a ranking needs two; fit it to one class "
            "against the rest",
        )
    return found


def as_float32_thresholds(thresholds: NDArray[Any], *, equal_goes_left: bool) -> NDArray[Any]:
    """Thresholds for float64 values that answer as the given ones do for values cut to float32.

    A library that keeps values as float32 sends left those with float32(x) ≤ threshold, or with
    float32(x) < threshold where ``equal_goes_left`` is false. Of the values that go left the
    largest float64 one lies halfway between two float32 neighbours, or just below.
    """
    wide = np.asarray(thresholds, dtype=np.float64)
    with np.errstate(over="ignore"):
        narrow = wide.astype(np.float32)
        down = narrow > wide if equal_goes_left else narrow >= wide
        last = np.where(down, np.nextafter(narrow, np.float32(-np.inf)), narrow)
        above = np.nextafter(last, np.float32(np.inf)).astype(np.float64)
        # what rounds to infinity begins where one more float32 number would be
        middle = 0.5 * (last.astype(np.float64) + np.where(np.isinf(above), 2.0**128, above))
        goes_left = middle.astype(np.float32) <= last
    return np.where(goes_left, middle, np.nextafter(middle, -np.inf))


# Trees, forests and gradient boosting of scikit-learn ---------------------------------------------


_FORESTS = ("RandomForest", "ExtraTrees")
_TREES = ("DecisionTree", "ExtraTree")


def read_scikit_learn(model: Any) -> ForeignModel:
    """Read a model; what it predicts or would predict as a probability is the score.

    The score of a tree or a forest of classes is the mean probability of the positive class, less
    1/2: above 0 is predicted positive. That of gradient boosting is its ``decision_function``.
    """
    from sklearn.utils.validation import check_is_fitted  # noqa: PLC0415 (the model has it)

    check_is_fitted(model)
    for each in type(model).__mro__:
        kind = each.__name__.removesuffix("Classifier").removesuffix("Regressor")
        if kind in _FORESTS or kind in _TREES:
            members = model.estimators_ if kind in _FORESTS else [model]
            return _forest(model, [member.tree_ for member in members])
        if kind == "GradientBoosting":
            return _gradient_boosting(model)
        if kind == "HistGradientBoosting":
            return _histogram_boosting(model)
    raise refusal(model)


def _forest(model: Any, trees: Sequence[Any]) -> ForeignModel:
    if model.n_outputs_ != 1:
        raise refusal(
            model, f"it predicts {model.n_outputs_} numbers per row; fit one model for each"
        )
    values = np.concatenate([tree.value[:, 0, -1] for tree in trees])
    if not hasattr(model, "classes_"):
        found = _nodes(trees, _mean_parts(values, len(trees)))
        return ForeignModel(found, model.n_features_in_, names=_names(model))
    classes = two_classes(model, model.classes_)
    found = _nodes(trees, _mean_parts(values - 0.5, len(trees)))
    return ForeignModel(
        found, model.n_features_in_, classes=classes, link="share", names=_names(model)
    )


def _nodes(trees: Sequence[Any], values: NDArray[np.float64]) -> BinaryTrees:
    """All nodes of scikit-learn's trees, which compare float32 values with float64 thresholds."""

    def joined(field: str) -> NDArray[Any]:
        return np.concatenate([getattr(tree, field) for tree in trees])

    return BinaryTrees.of_parts(
        [tree.node_count for tree in trees],
        np.column_stack([joined("children_left"), joined("children_right")]),
        columns=joined("feature"),
        thresholds=as_float32_thresholds(joined("threshold"), equal_goes_left=True),
        missing_left=joined("missing_go_to_left").astype(bool),
        values=values,
        cover=joined("weighted_n_node_samples"),
    )


def _mean_parts(values: NDArray[np.float64], n_trees: int) -> NDArray[np.float64]:
    """Values whose sum over the trees is the mean, rounded so that no order changes the sum."""
    parts = values / n_trees
    step = exact_step(parts, n_trees)
    return np.asarray(np.rint(parts / step) * step)


def _gradient_boosting(model: Any) -> ForeignModel:
    if model.init not in (None, "zero"):
        raise refusal(
            model,
            "its first scores come from another model (init); only None and 'zero' are constants",
        )
    is_classifier = hasattr(model, "classes_")
    classes = two_classes(model, model.classes_) if is_classifier else None
    members = [member.tree_ for member in model.estimators_[:, 0]]
    values = np.concatenate([tree.value[:, 0, 0] for tree in members])
    trees = _nodes(members, model.learning_rate * values)
    row = np.zeros((1, model.n_features_in_))
    with warnings.catch_warnings():  # of a row without names of columns
        warnings.simplefilter("ignore", UserWarning)
        score = model.decision_function(row) if is_classifier else model.predict(row)
    return ForeignModel(
        trees,
        model.n_features_in_,
        float(score[0]) - float(trees.scores(row, Threads())[0]),
        classes,
        "logistic" if is_classifier and model.loss == "log_loss" else "none",
        _names(model),
    )


def _histogram_boosting(model: Any) -> ForeignModel:
    """Gradient boosting on histograms, whose trees scikit-learn keeps in a private attribute."""
    is_classifier = hasattr(model, "classes_")
    classes = two_classes(model, model.classes_) if is_classifier else None
    members = [predictors[0].nodes for predictors in model._predictors]  # noqa: SLF001
    nodes = np.concatenate(members)
    if nodes["is_categorical"].any() or getattr(model, "is_categorical_", None) is not None:
        raise refusal(model, "it splits by categories; encode them as numbers before the fit")
    children = np.column_stack([nodes["left"], nodes["right"]]).astype(np.int64)
    trees = BinaryTrees.of_parts(
        [mine.size for mine in members],
        np.where(nodes["is_leaf"].astype(bool)[:, None], -1, children),
        columns=nodes["feature_idx"],
        thresholds=nodes["num_threshold"],
        missing_left=nodes["missing_go_to_left"].astype(bool),
        values=nodes["value"],
        cover=nodes["count"].astype(np.float64),
    )
    return ForeignModel(
        trees,
        model.n_features_in_,
        float(np.ravel(model._baseline_prediction)[0]),  # noqa: SLF001
        classes,
        "logistic" if is_classifier else "none",
        _names(model),
    )


def _names(model: Any) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]
