"""Forests of scikit-learn as rankers, kept as plain arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from toprank.inputs import check_number
from toprank.rankers.base import BaseRanker
from toprank.rankers.supervised import binary_labels
from toprank.rankers.tree import TreeRanker

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ForestRanker"]

# Rows that a tree sees at the most: more make it slow, not better.
_MOST_ROWS = 50_000


class ForestRanker(BaseRanker):
    """scikit-learn's forests as rankers: the share of their votes, plain arrays inside.

    Lists (``groups``) mean nothing to it.

    Parameters
    ----------
    kind : {"random", "extra"}, default="random"
        Random forest, or extremely randomised trees.
    n_trees : int, default=200
        More trees rank more finely; beyond some hundred little changes. A tree sees at most
        50,000 rows.
    max_features : float or None, default=None
        Share of the columns that a split looks at; None is the square root of their number.
    min_samples_leaf : int, default=1
        Rows that a leaf has at the least.
    random_state : int, default=0

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one
    ranker_ : TreeRanker, the same trees as plain arrays

    Examples
    --------
    >>> from toprank.selection import ForestRanker
    >>> model = ForestRanker(n_trees=20).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.rank([[0.0], [3.0]])
    array([2, 1])
    """

    def __init__(
        self,
        kind: str = "random",
        *,
        n_trees: int = 200,
        max_features: float | None = None,
        min_samples_leaf: int = 1,
        random_state: int = 0,
    ) -> None:
        self.kind = kind
        self.n_trees = n_trees
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("n_trees", self.n_trees, 1, whole=True)
        check_number("min_samples_leaf", self.min_samples_leaf, 1, whole=True)
        if self.max_features is not None:
            check_number("max_features", self.max_features, 0.0, 1.0)
        if self.kind not in ("random", "extra"):
            raise ValueError(f"kind must be 'random' or 'extra', got {self.kind!r}.")

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,  # noqa: ARG002
    ) -> Self:
        """Learn from a table of numbers and its labels; ``groups`` is taken and not used."""
        from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier  # noqa: PLC0415

        self._check_parameters()
        table = validate_data(self, X, dtype=np.float32)
        self.classes_, positives = binary_labels(y)
        is_large = positives.size > _MOST_ROWS
        maker = RandomForestClassifier if self.kind == "random" else ExtraTreesClassifier
        forest = maker(
            self.n_trees,
            max_features=self.max_features or "sqrt",
            min_samples_leaf=self.min_samples_leaf,
            bootstrap=self.kind == "random" or is_large,
            max_samples=_MOST_ROWS if is_large else None,
            random_state=self.random_state,
        )
        forest.fit(table, positives, sample_weight=sample_weight)
        self.ranker_ = TreeRanker.from_model(forest)
        self.ranker_.n_jobs = 1
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give the share of votes for the positive class, less one half."""
        check_is_fitted(self, "ranker_")
        table = validate_data(self, X, reset=False, dtype=np.float32)
        return np.asarray(self.ranker_.decision_function(table))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
