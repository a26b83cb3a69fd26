"""XGBoost's trees as ours, out of the JSON that its models are saved as."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from toprank.trees.binary import BinaryTrees
from toprank.trees.foreign import ForeignModel, as_float32_thresholds, refusal, two_classes

__all__ = ["read"]

# Objectives whose first score is stored as a probability or as a mean.
LOGISTIC = ("binary:logistic", "binary:logitraw", "reg:logistic")
EXPONENTIAL = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")


def read(model: Any) -> ForeignModel:
    """Read a Booster or an estimator with ``get_booster``; the score is XGBoost's margin.

    XGBoost adds up in float32, we in float64: scores agree to six digits or so.
    """
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    facts, objective = learner["learner_model_param"], learner["objective"]["name"]
    if int(facts["num_class"]) > 1 or int(facts.get("num_target", 1)) > 1:
        raise refusal(model, "it has several scores per row; a ranking needs one")
    missing = getattr(model, "missing", None)
    if missing is not None and not np.isnan(missing):
        raise refusal(model, f"it takes {missing} for a missing value; use NaN")
    trees, scales = _trees_of(model, learner)
    classes = [0, 1] if objective.startswith("binary:") else None
    return ForeignModel(
        _joined(model, trees, scales),
        int(facts["num_feature"]),
        _margin(float(facts["base_score"].strip("[]")), objective),
        None if classes is None else two_classes(model, getattr(model, "classes_", classes)),
        "logistic" if objective in LOGISTIC else "none",
        learner["feature_names"] or None,
    )


def _trees_of(model: Any, learner: dict[str, Any]) -> tuple[list[dict[str, Any]], list[float]]:
    """All trees that the model predicts with, and a factor for each."""
    found = learner["gradient_booster"]
    if found["name"] == "gblinear":
        raise refusal(model, "it is linear (gblinear) and has no trees")
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
        raise refusal(model, "it splits by categories; encode them as numbers before the fit")
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
