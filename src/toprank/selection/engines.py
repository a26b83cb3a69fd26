"""Models of other libraries as rankers: scikit-learn's logistic regression and forests, engines."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted, validate_data

from toprank.inputs import check_choice, check_number, is_mapped
from toprank.kernels.memory import ScratchFile, check_room
from toprank.rankers.base import BaseRanker
from toprank.rankers.supervised import SpoolingRanker
from toprank.rankers.tree import TreeRanker
from toprank.trees.foreign import as_float32_thresholds, exact_step
from toprank.truth import binary_labels
from toprank.weak_rankers.features import StandardFeatures

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from toprank.models.formula import Summand
    from toprank.truth import Truth

# Module, class, and settings that only silence it, fix its seed and its threads.
ENGINES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "lightgbm": ("lightgbm", "LGBMClassifier", {"verbose": -1, "random_state": 0, "n_jobs": 1}),
    "xgboost": ("xgboost", "XGBClassifier", {"verbosity": 0, "random_state": 0, "n_jobs": 1}),
    "catboost": (
        "catboost",
        "CatBoostClassifier",
        {"verbose": False, "random_seed": 0, "thread_count": 1, "allow_writing_files": False},
    ),
}


class LogisticRanker(SpoolingRanker):
    """scikit-learn's LogisticRegression on standardised features, as a ranker.

    It models probabilities, not an order, and does not use lists (``groups``). It is included
    because it is a strong baseline.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty, as in scikit-learn.
    max_iter : int, default=1000
        Most iterations of L-BFGS; enough for standardised features.

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one
    coef_, intercept_ : of shapes (1, n_features) and (1,), in the units of the table
    n_iter_ : iterations done

    Examples
    --------
    >>> from toprank.selection import LogisticRanker
    >>> model = LogisticRanker().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.rank([[1.0], [3.0], [2.0]])
    array([3, 1, 2])
    """

    def __init__(self, C: float = 1.0, *, max_iter: int = 1000) -> None:
        self.C = C
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        check_number("C", self.C, 0.0)
        check_number("max_iter", self.max_iter, 1, whole=True)

    def _family(self) -> StandardFeatures:
        return StandardFeatures()

    def _fit(
        self,
        table: Any,
        truth: Truth,
        given: dict[str, Any],  # noqa: ARG002
        scratch: Any = None,
        **_: Any,
    ) -> Self:
        family = self._family().fit(table, truth.weights)
        if not isinstance(table, np.ndarray):  # a sparse table stays sparse, so it is not scaled
            family.low_, family.span_ = np.zeros_like(family.low_), np.ones_like(family.span_)
        model = LogisticRegression(C=self.C, max_iter=self.max_iter)
        with _scaled_copy(table, family.low_, family.span_, scratch) as scaled:
            model.fit(scaled, truth.positives, sample_weight=truth.weights)
        weights, cut = model.coef_[0].astype(np.float64), float(model.intercept_[0])
        dtype = np.dtype(np.float64)
        self.__dict__.update(self._attributes(family, weights, cut, truth.classes, dtype))
        self.n_iter_ = int(model.n_iter_[0])
        return self

    @property
    def _slope(self) -> float:
        return 1.0

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Give the probability of each class."""
        return self._probabilities(X)


def installed_engines() -> list[str]:
    """Names of those that can be imported here."""
    return [name for name, (module, *_) in ENGINES.items() if importlib.util.find_spec(module)]


# Rows that are copied at a time.
_CHUNK = 1 << 14


@contextlib.contextmanager
def _scaled_copy(
    X: Any,
    low: NDArray[np.float64],
    span: NDArray[np.float64],
    scratch: str | os.PathLike[str] | None,
) -> Iterator[Any]:
    """(X - low) / span, of a mapped table in a file in the folder ``scratch``; sparse ones stay."""
    if not is_mapped(X):
        if isinstance(X, np.ndarray):
            X = X - low
            X /= span
        yield X
        return
    with contextlib.closing(ScratchFile(scratch, X.nbytes)) as file:
        for start in range(0, len(X), _CHUNK):
            rows = (X[start : start + _CHUNK] - low) / span
            file.write(np.ascontiguousarray(rows, X.dtype), start * X[:1].nbytes)
        yield file.mapped(X.shape, X.dtype)


class ForeignTrees(BaseRanker):
    """Trees grown by another library and kept as plain arrays; ``groups`` are not used.

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one
    ranker_ : TreeRanker, the same trees
    """

    @abstractmethod
    def _make(self, n_rows: int) -> Any:
        """Make the other library's classifier for a table of ``n_rows`` rows."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise where a parameter makes no sense."""

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,  # noqa: ARG002
    ) -> Self:
        """Learn from a table of numbers and its labels; ``groups`` are not used."""
        self._check_parameters()
        check_room(X, type(self).__name__)
        table = validate_data(self, X, dtype=np.float32, order="C")
        self.classes_, positives = binary_labels(y)
        model = self._make(positives.size)
        model.fit(table, positives.astype(int), sample_weight=sample_weight)
        self.ranker_ = _with_exact_sums(TreeRanker.from_model(model).set_params(n_jobs=1))
        return self

    def _summands(self) -> list[Summand]:
        (own,) = self.ranker_._summands()  # noqa: SLF001
        return [replace(own, term=for_float32(own.term))]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score every row: the share of a forest's votes less one half, or an engine's log-odds."""
        check_is_fitted(self, "ranker_")
        table = validate_data(self, X, reset=False, dtype=np.float32, order="C")
        return np.asarray(self.ranker_.decision_function(table))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def for_float32(trees: Any) -> Any:
    """Trees that answer for float64 numbers as the given ones do for the same cut to float32."""
    return replace(trees, thresholds=as_float32_thresholds(trees.thresholds, equal_goes_left=True))


def _with_exact_sums(ranker: TreeRanker) -> TreeRanker:
    """Round values and intercept, so that scores do not depend on the order of the trees."""
    step = exact_step(ranker.trees_.values, ranker.trees_.n_trees + 1)
    ranker.trees_.values = np.rint(ranker.trees_.values / step) * step
    ranker.intercept_ = np.rint(ranker.intercept_ / step) * step
    return ranker


@dataclass(eq=False, repr=False)
class ForestRanker(ForeignTrees):
    """scikit-learn's forests as rankers, kept as plain arrays; the score is the share of votes.

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
        Fewest rows of a leaf.
    random_state : int, default=0

    Examples
    --------
    >>> from toprank.selection import ForestRanker
    >>> model = ForestRanker(n_trees=20).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.rank([[0.0], [3.0]])
    array([2, 1])
    """

    # Most rows that a tree is fitted on: more make it slower, not better.
    most_rows: ClassVar[int] = 50_000

    kind: str = "random"
    _: KW_ONLY
    n_trees: int = 200
    max_features: float | None = None
    min_samples_leaf: int = 1
    random_state: int = 0

    def _check_parameters(self) -> None:
        check_number("n_trees", self.n_trees, 1, whole=True)
        check_number("min_samples_leaf", self.min_samples_leaf, 1, whole=True)
        check_number("max_features", self.max_features, 0.0, 1.0, optional=True)
        check_choice("kind", self.kind, ("random", "extra"))

    def _make(self, n_rows: int) -> Any:
        from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier  # noqa: PLC0415

        is_large = n_rows > self.most_rows
        maker = RandomForestClassifier if self.kind == "random" else ExtraTreesClassifier
        return maker(
            self.n_trees,
            max_features=self.max_features or "sqrt",
            min_samples_leaf=self.min_samples_leaf,
            bootstrap=self.kind == "random" or is_large,
            max_samples=self.most_rows if is_large else None,
            random_state=self.random_state,
        )


class EngineRanker(ForeignTrees):
    """Boosted trees of another library with its defaults.

    Parameters
    ----------
    engine : {"lightgbm", "xgboost", "catboost"}, default="lightgbm"
    """

    def __init__(self, engine: str = "lightgbm") -> None:
        self.engine = engine

    def _check_parameters(self) -> None:
        check_choice("engine", self.engine, tuple(ENGINES))

    def _make(self, n_rows: int) -> Any:  # noqa: ARG002
        module, kind, settings = ENGINES[self.engine]
        return getattr(importlib.import_module(module), kind)(**settings)
