"""LightGBM's trees as ours, out of the text that its models are saved as."""

from __future__ import annotations

from typing import Any

import numpy as np

from toprank.trees.binary import BinaryTrees
from toprank.trees.foreign import ForeignModel, refusal, two_classes

__all__ = ["read"]

# Bits of a node's decision_type.
CATEGORICAL, DEFAULT_LEFT, ZERO_IS_MISSING, NAN_IS_MISSING = 1, 2, 4, 8


def read(model: Any) -> ForeignModel:
    """Read a Booster or an estimator with ``booster_``; the score is LightGBM's raw score.

    That of a random forest (``boosting_type="rf"``) is the mean of its trees, as in predictions.
    """
    booster = getattr(model, "booster_", model)
    text = booster.model_to_string()
    head, *parts = text.partition("\nend of trees")[0].split("\nTree=")
    facts = _fields(head)
    if facts["num_tree_per_iteration"] != "1":
        raise refusal(model, "it has several trees per round, one per class; ranking needs one")
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
        classes=None if classes is None else two_classes(model, classes),
        link="logistic" if is_binary and "sigmoid:1" in objective else "none",
        names=None if names == [f"Column_{place}" for place in range(len(names))] else names,
    )


def _fields(lines: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in lines.splitlines() if "=" in line)


def _tree(model: Any, fields: dict[str, str]) -> dict[str, Any]:
    """Nodes of a tree: its questions, then its leaves, whose numbers LightGBM writes as ~leaf."""
    if fields.get("is_linear", "0") != "0":
        raise refusal(model, "its leaves hold linear models; fit it with linear_tree=False")

    def numbers(name: str, dtype: Any) -> Any:
        return np.array(fields.get(name, "").split(), dtype=dtype)

    values = numbers("leaf_value", np.float64)
    cover = numbers("leaf_count", np.float64)
    n_asking, n_leaves = values.size - 1, values.size
    kinds = numbers("decision_type", np.int64)
    if (kinds & CATEGORICAL).any():
        raise refusal(model, "it splits by categories; encode them as numbers before the fit")
    if (kinds & ZERO_IS_MISSING).any():
        raise refusal(model, "it takes zeros for missing values (zero_as_missing)")
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
