"""CatBoost's trees as ours, out of the JSON that its models are saved as."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from toprank.trees.binary import BinaryTrees
from toprank.trees.foreign import ForeignModel, as_float32_thresholds, refusal, two_classes
from toprank.trees.oblivious import ObliviousTrees

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read"]

MOST_THRESHOLDS = 254  # per column, for one byte per cell
LOGISTIC = ("Logloss", "CrossEntropy")


def read(model: Any) -> ForeignModel:
    """Read a model of CatBoost; the score is its raw value (RawFormulaVal)."""
    found = _saved(model)
    features = found["features_info"]
    others = [kind for kind in features if kind != "float_features" and features[kind]]
    if others:
        words = "it uses categories, texts or embeddings; encode them as numbers before the fit"
        raise refusal(model, words)
    scale, bias = found["scale_and_bias"]
    if len(np.atleast_1d(bias)) != 1:
        raise refusal(model, "it has several scores per row; a ranking needs one")
    columns = {each["feature_index"]: each for each in features["float_features"]}
    trees: ObliviousTrees | BinaryTrees
    if "oblivious_trees" in found:
        trees, constant = _symmetric(found["oblivious_trees"], columns, float(scale))
        if any(
            mine.size > MOST_THRESHOLDS for mine in trees.bins(len(model.feature_names_)).thresholds
        ):
            words = f"it has more than {MOST_THRESHOLDS} thresholds in a column (border_count)"
            raise refusal(model, words)
    else:
        trees, constant = _of_any_shape(found["trees"], columns, float(scale)), 0.0
    names, classes = list(model.feature_names_), np.asarray(getattr(model, "classes_", []))
    loss = found["model_info"]["params"]["loss_function"]["type"]
    return ForeignModel(
        trees,
        len(names),
        float(np.atleast_1d(bias)[0]) + constant,
        two_classes(model, classes) if classes.size else None,
        "logistic" if loss in LOGISTIC else "none",
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
            _thresholds(questions[..., 1]),
            questions[..., 2] != 0,
            scale * values,
            cover,
        ),
        constant,
    )


def _thresholds(borders: NDArray[np.float64]) -> NDArray[np.float64]:
    return as_float32_thresholds(borders.astype(np.float32), equal_goes_left=True)


def _of_any_shape(
    trees: list[dict[str, Any]], columns: dict[int, Any], scale: float
) -> BinaryTrees:
    nodes: list[tuple[Any, ...]] = []
    sizes = []
    for tree in trees:
        before, waiting = len(nodes), [tree]
        for node in waiting:  # which grows: children are put after their parents
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
        thresholds=_thresholds(fields[1]),
        missing_left=fields[2],
        values=scale * fields[5],
        cover=fields[6],
    )
