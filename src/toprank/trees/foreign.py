"""Fitted trees of other libraries as ours, read without importing the library."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.trees.binary import BinaryTrees
    from toprank.trees.oblivious import ObliviousTrees

__all__ = [
    "ForeignModel",
    "as_float32_thresholds",
    "exact_step",
    "read_model",
    "refusal",
    "two_classes",
]

# Module and name of the reader, by the package that a model's class comes from.
READERS = {
    "sklearn": ("toprank.trees.scikit_learn", "read"),
    "lightgbm": ("toprank.trees.saved_models", "read_lightgbm"),
    "xgboost": ("toprank.trees.saved_models", "read_xgboost"),
    "catboost": ("toprank.trees.saved_models", "read_catboost"),
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
