"""Fitted trees of other libraries as ours, read without importing the library."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from toprank.kernels.threads import Threads
from toprank.trees.binary import BinaryTrees
from toprank.trees.oblivious import ObliviousTrees

ENCODED = "encode them as numbers before the fit"


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


def exact_step(values: NDArray[Any], n_terms: int) -> float:
    """What values must be multiples of so that a sum of ``n_terms`` of them is exact in any order.

    Many rows of trees have equal scores, and rounding errors of a sum would part them. Multiples
    keep as many binary digits as leave room for the carry, and never the last ten, which say
    nothing: libraries compute equal leaves with different last digits.
    """
    _, power = np.frexp(np.abs(values).max(initial=0.0))
    return float(np.ldexp(1.0, int(power) - 52 + max(10, n_terms.bit_length())))


def _refusal(model: Any, reason: str = "") -> TypeError:
    """Error that says why a model cannot be read."""
    reason = reason or (
        "only trees, forests and gradient boosting of scikit-learn and models of LightGBM, "
        "XGBoost and CatBoost can be read"
    )
    return TypeError(f"from_model cannot read this {type(model).__name__}: {reason}.")


def _two_classes(model: Any, classes: Any) -> NDArray[Any]:
    """The two classes of a classifier; others are refused."""
    found = np.asarray(classes)
    if found.shape != (2,):
        raise _refusal(
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
    raise _refusal(model)


def _forest(model: Any, trees: Sequence[Any]) -> ForeignModel:
    if model.n_outputs_ != 1:
        raise _refusal(
            model, f"it predicts {model.n_outputs_} numbers per row; fit one model for each"
        )
    values, classes = np.concatenate([tree.value[:, 0, -1] for tree in trees]), _classes(model)
    if classes is not None:
        values -= 0.5
    return ForeignModel(
        _nodes(trees, _mean_parts(values, len(trees))),
        model.n_features_in_,
        classes=classes,
        link="none" if classes is None else "share",
        names=_names(model),
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
        raise _refusal(
            model,
            "its first scores come from another model (init); only None and 'zero' are constants",
        )
    classes = _classes(model)
    members = [member.tree_ for member in model.estimators_[:, 0]]
    values = np.concatenate([tree.value[:, 0, 0] for tree in members])
    trees = _nodes(members, model.learning_rate * values)
    row = np.zeros((1, model.n_features_in_))
    with warnings.catch_warnings():  # of a row without names of columns
        warnings.simplefilter("ignore", UserWarning)
        score = model.predict(row) if classes is None else model.decision_function(row)
    return ForeignModel(
        trees,
        model.n_features_in_,
        float(score[0]) - float(trees.scores(row, Threads())[0]),
        classes,
        "none" if classes is None or model.loss != "log_loss" else "logistic",
        _names(model),
    )


def _histogram_boosting(model: Any) -> ForeignModel:
    """Gradient boosting on histograms, whose trees scikit-learn keeps in a private attribute."""
    classes = _classes(model)
    members = [predictors[0].nodes for predictors in model._predictors]  # noqa: SLF001
    nodes = np.concatenate(members)
    if nodes["is_categorical"].any() or getattr(model, "is_categorical_", None) is not None:
        raise _refusal(model, f"it splits by categories; {ENCODED}")
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
        "none" if classes is None else "logistic",
        _names(model),
    )


def _classes(model: Any) -> NDArray[Any] | None:
    """The classes of a model of scikit-learn; None for a regressor."""
    return _two_classes(model, model.classes_) if hasattr(model, "classes_") else None


def _names(model: Any) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


# LightGBM -----------------------------------------------------------------------------------------


# Bits of a node's decision_type.
CATEGORICAL, DEFAULT_LEFT, ZERO_IS_MISSING, NAN_IS_MISSING = 1, 2, 4, 8


def read_lightgbm(model: Any) -> ForeignModel:
    """Read a Booster or an estimator with ``booster_``; the score is LightGBM's raw score.

    That of a random forest (``boosting_type="rf"``) is the mean of its trees, as in predictions.
    """
    booster = getattr(model, "booster_", model)
    text = booster.model_to_string()
    head, *parts = text.partition("\nend of trees")[0].split("\nTree=")
    facts = _fields(head)
    if facts["num_tree_per_iteration"] != "1":
        raise _refusal(model, "it has several trees per round, one per class; ranking needs one")
    trees = [_tree(model, _fields(part)) for part in parts]
    joined = {name: np.concatenate([tree[name] for tree in trees]) for name in trees[0]}
    if "average_output" in head.splitlines():
        joined["values"] /= len(trees)
    objective = facts.get("objective", "").split()
    is_binary = objective[:1] == ["binary"]
    classes = getattr(model, "classes_", [0, 1] if is_binary else None)
    names = facts["feature_names"].split(" ")
    return ForeignModel(
        BinaryTrees.of_parts([len(tree["values"]) for tree in trees], **joined),
        len(names),
        classes=None if classes is None else _two_classes(model, classes),
        link="logistic" if is_binary and "sigmoid:1" in objective else "none",
        names=None if names == [f"Column_{place}" for place in range(len(names))] else names,
    )


def _fields(lines: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in lines.splitlines() if "=" in line)


def _tree(model: Any, fields: dict[str, str]) -> dict[str, Any]:
    """Nodes of a tree: its questions, then its leaves, whose numbers LightGBM writes as ~leaf."""
    if fields.get("is_linear", "0") != "0":
        raise _refusal(model, "its leaves hold linear models; fit it with linear_tree=False")

    def numbers(name: str, dtype: Any) -> Any:
        return np.array(fields.get(name, "").split(), dtype=dtype)

    values = numbers("leaf_value", np.float64)
    cover = numbers("leaf_count", np.float64)
    n_asking, n_leaves = values.size - 1, values.size
    kinds = numbers("decision_type", np.int64)
    if (kinds & CATEGORICAL).any():
        raise _refusal(model, f"it splits by categories; {ENCODED}")
    if (kinds & ZERO_IS_MISSING).any():
        raise _refusal(model, "it takes zeros for missing values (zero_as_missing)")
    thresholds = numbers("threshold", np.float64)
    children = np.column_stack([numbers("left_child", int), numbers("right_child", int)])
    children = np.where(children < 0, n_asking + ~children, children).reshape(n_asking, 2)
    # where no value was missing in training, a missing one counts as 0
    to_left = np.where(kinds & NAN_IS_MISSING, kinds & DEFAULT_LEFT, thresholds >= 0).astype(bool)
    empty = np.zeros(n_leaves)
    return {
        "columns": np.concatenate([numbers("split_feature", np.int64), empty.astype(int)]),
        "thresholds": np.concatenate([thresholds, empty]),
        "missing_left": np.concatenate([to_left, empty == 0]),
        "children": np.concatenate([children, np.full((n_leaves, 2), -1)]),
        "values": np.concatenate([np.zeros(n_asking), values]),
        "cover": np.concatenate([np.zeros(n_asking), cover if cover.size else empty + 1.0]),
    }


# XGBoost ------------------------------------------------------------------------------------------


# Objectives whose first score is stored as a probability or as a mean.
LOGISTIC = ("binary:logistic", "binary:logitraw", "reg:logistic")
EXPONENTIAL = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")


def read_xgboost(model: Any) -> ForeignModel:
    """Read a Booster or an estimator with ``get_booster``; the score is XGBoost's margin.

    XGBoost adds up in float32, we in float64: scores agree to six digits or so.
    """
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    facts, objective = learner["learner_model_param"], learner["objective"]["name"]
    if int(facts["num_class"]) > 1 or int(facts.get("num_target", 1)) > 1:
        raise _refusal(model, "it has several scores per row; a ranking needs one")
    missing = getattr(model, "missing", None)
    if missing is not None and not np.isnan(missing):
        raise _refusal(model, f"it takes {missing} for a missing value; use NaN")
    trees, scales = _trees_of(model, learner)
    classes = [0, 1] if objective.startswith("binary:") else None
    return ForeignModel(
        _joined(model, trees, scales),
        int(facts["num_feature"]),
        _margin(float(facts["base_score"].strip("[]")), objective),
        None if classes is None else _two_classes(model, getattr(model, "classes_", classes)),
        "logistic" if objective in LOGISTIC else "none",
        learner["feature_names"] or None,
    )


def _trees_of(model: Any, learner: dict[str, Any]) -> tuple[list[dict[str, Any]], list[float]]:
    """All trees that the model predicts with, and a factor for each."""
    found = learner["gradient_booster"]
    if found["name"] == "gblinear":
        raise _refusal(model, "it is linear (gblinear) and has no trees")
    scales = found.get("weight_drop")
    found = found["gbtree"]["model"] if scales is not None else found["model"]
    trees = found["trees"]
    best = learner["attributes"].get("best_iteration")
    if best is not None and hasattr(model, "get_booster"):
        trees = trees[: found["iteration_indptr"][int(best) + 1]]
    return trees, [1.0] * len(trees) if scales is None else scales[: len(trees)]


def _margin(first: float, objective: str) -> float:
    if objective in LOGISTIC:
        return math.log(first / (1.0 - first))
    return math.log(first) if objective in EXPONENTIAL else first


def _joined(model: Any, trees: list[dict[str, Any]], scales: list[float]) -> BinaryTrees:
    """All nodes: float32 values below the float32 threshold go left."""
    kept = [_reachable(tree) for tree in trees]

    def joined(field: str, dtype: Any) -> Any:
        return np.concatenate(
            [np.array(tree[field], dtype)[mine] for tree, mine in zip(trees, kept, strict=True)]
        )

    if joined("split_type", np.int64).any():
        raise _refusal(model, f"it splits by categories; {ENCODED}")
    conditions = joined("split_conditions", np.float32)
    children = [
        np.searchsorted(mine, np.array([tree["left_children"], tree["right_children"]]).T[mine])
        for tree, mine in zip(trees, kept, strict=True)
    ]
    is_leaf = joined("left_children", np.int64) < 0
    sizes = [mine.size for mine in kept]
    return BinaryTrees.of_parts(
        sizes,
        np.where(is_leaf[:, None], -1, np.concatenate(children)),
        columns=joined("split_indices", np.int64),
        thresholds=as_float32_thresholds(conditions, equal_goes_left=False),
        missing_left=joined("default_left", bool),
        values=conditions.astype(np.float64) * np.repeat(np.array(scales, dtype=np.float32), sizes),
        cover=joined("sum_hessian", np.float64),
    )


def _reachable(tree: dict[str, Any]) -> Any:
    """Nodes below the root; those cut off by pruning stay in the file."""
    left, right = tree["left_children"], tree["right_children"]
    if tree["tree_param"].get("num_deleted", "0") == "0":
        return np.arange(len(left))
    found = [0]
    for node in found:
        if left[node] >= 0:
            found += [left[node], right[node]]
    return np.sort(found)


# CatBoost -----------------------------------------------------------------------------------------


MOST_THRESHOLDS = 254  # per column, for one byte per cell
CATBOOST_LOGISTIC = ("Logloss", "CrossEntropy")


def read_catboost(model: Any) -> ForeignModel:
    """Read a model of CatBoost; the score is its raw value (RawFormulaVal)."""
    found = _saved(model)
    features = found["features_info"]
    others = [kind for kind in features if kind != "float_features" and features[kind]]
    if others:
        raise _refusal(model, f"it uses categories, texts or embeddings; {ENCODED}")
    scale, bias = found["scale_and_bias"]
    if len(np.atleast_1d(bias)) != 1:
        raise _refusal(model, "it has several scores per row; a ranking needs one")
    columns = {each["feature_index"]: each for each in features["float_features"]}
    trees: ObliviousTrees | BinaryTrees
    if "oblivious_trees" in found:
        trees, constant = _symmetric(found["oblivious_trees"], columns, float(scale))
        asked = np.unique(np.stack([trees.columns, trees.thresholds]).reshape(2, -1), axis=1)[0]
        if np.bincount(asked.astype(np.intp)).max(initial=0) > MOST_THRESHOLDS:
            words = f"it has more than {MOST_THRESHOLDS} thresholds in a column (border_count)"
            raise _refusal(model, words)
    else:
        trees, constant = _of_any_shape(found["trees"], columns, float(scale)), 0.0
    names, classes = list(model.feature_names_), np.asarray(getattr(model, "classes_", []))
    loss = found["model_info"]["params"]["loss_function"]["type"]
    return ForeignModel(
        trees,
        len(names),
        float(np.atleast_1d(bias)[0]) + constant,
        _two_classes(model, classes) if classes.size else None,
        "logistic" if loss in CATBOOST_LOGISTIC else "none",
        None if names == [str(place) for place in range(len(names))] else names,
    )


def _saved(model: Any) -> dict[str, Any]:
    """The model as JSON, which CatBoost writes to files alone."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found


def _question(split: dict[str, Any], columns: dict[int, Any]) -> tuple[int, float, bool]:
    """Column, float32 border, and whether missing values go left."""
    column = columns[split["float_feature_index"]]
    return column["flat_feature_index"], split["border"], column["nan_value_treatment"] != "AsTrue"


def _symmetric(
    trees: list[dict[str, Any]], columns: dict[int, Any], scale: float
) -> tuple[ObliviousTrees, float]:
    """Oblivious trees, and what trees without a question add to every score.

    CatBoost has the first question in the lowest bit of a leaf's number, we have it in the highest.
    A shorter tree repeats its last question up front: of the leaves only those are ever reached
    that give it the same answer.
    """
    asking = [tree for tree in trees if tree.get("splits")]
    constant = sum(scale * tree["leaf_values"][0] for tree in trees if not tree.get("splits"))
    depth = max((len(tree["splits"]) for tree in asking), default=1)
    questions = np.zeros((len(asking), depth, 3))
    values, cover = np.zeros((2, len(asking), 1 << depth))
    for place, tree in enumerate(asking):
        mine = [_question(split, columns) for split in reversed(tree["splits"])]
        extra = depth - len(mine)
        questions[place] = [mine[0]] * extra + mine
        size = 1 << len(mine)
        for side in range(2):
            # leaves whose last question is answered so: half of CatBoost's, one block of ours
            first = (((1 << extra) - 1) << len(mine)) * side + side * size // 2
            block, theirs = slice(first, first + size // 2), slice(side * size // 2, None)
            values[place, block] = tree["leaf_values"][theirs][: size // 2]
            cover[place, block] = tree["leaf_weights"][theirs][: size // 2]
    return (
        ObliviousTrees(
            questions[..., 0].astype(np.int32),
            _catboost_thresholds(questions[..., 1]),
            questions[..., 2] != 0,
            scale * values,
            cover,
        ),
        constant,
    )


def _catboost_thresholds(borders: NDArray[np.float64]) -> NDArray[np.float64]:
    return as_float32_thresholds(borders.astype(np.float32), equal_goes_left=True)


def _of_any_shape(
    trees: list[dict[str, Any]], columns: dict[int, Any], scale: float
) -> BinaryTrees:
    nodes: list[tuple[Any, ...]] = []
    sizes = []
    for tree in trees:
        before, waiting = len(nodes), [tree]
        for node in waiting:  # which grows: children come after their parents
            if "split" in node:
                children = len(waiting), len(waiting) + 1
                nodes.append((*_question(node["split"], columns), *children, 0.0, 0.0))
                waiting += [node["left"], node["right"]]
            else:
                nodes.append((0, 0.0, True, -1, -1, node["value"], node["weight"]))
        sizes.append(len(nodes) - before)
    fields = [np.array(field) for field in zip(*nodes, strict=True)]
    return BinaryTrees.of_parts(
        sizes,
        np.column_stack(fields[3:5]),
        columns=fields[0],
        thresholds=_catboost_thresholds(fields[1]),
        missing_left=fields[2],
        values=scale * fields[5],
        cover=fields[6],
    )


# Any of them --------------------------------------------------------------------------------------


# Readers by the package that a model's class comes from.
READERS = {
    "sklearn": read_scikit_learn,
    "lightgbm": read_lightgbm,
    "xgboost": read_xgboost,
    "catboost": read_catboost,
}


def read_model(model: Any) -> ForeignModel:
    """Read a fitted model of scikit-learn, LightGBM, XGBoost or CatBoost."""
    for kind in type(model).__mro__:
        package = kind.__module__.partition(".")[0]
        if package in READERS:
            return READERS[package](model)
    raise _refusal(model)
