"""What a score is a sum of: weights of cells, steps of cells, and trees, as plain arrays.

A term adds up in one order, cell by cell or tree by tree, so that a row's score depends on this row
alone. Few rows are scored in NumPy, with the bits of the compiled loops, because numba takes longer
to load. A file is checked once, when its arrays become a term.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from toprank.kernels import numpy_scores

if TYPE_CHECKING:
    from toprank.kernels.threads import Threads

Floats = NDArray[np.float64]

# Rows times trees up to which NumPy scores rows before numba is loaded.
FEW_ANSWERS = 2_000_000
# Rows times leaves (in trees of any shape, nodes) up to which NumPy explains rows before that.
FEW_LEAVES = 150_000
# Up to this many rows trees work in one thread: asking BLAS how many are allowed takes longer.
FEW_ROWS = 5000
_MOST_THRESHOLDS = 254  # one byte per cell
_DEEPEST_TREE = 16
_LONGEST_PATH = 400  # explaining a row takes its cube


class ArraySpec:
    """An array: its shape in numbers and names, and which values it may have.

    A name takes the size that it meets first, so that arrays must agree. ``kinds`` are NumPy's
    letters of the types: finite floats (f), integers (i), booleans (b). None is less than
    ``least``; integers with a name ``below`` are at least 0 and below that size.
    """

    def __init__(
        self, *shape: int | str, kinds: str = "f", below: str = "", least: float = -np.inf
    ) -> None:
        self.shape, self.kinds, self.below = shape, kinds, below
        self.least = 0 if below else least

    def check(self, name: str, array: Any, sizes: dict[str, int]) -> None:
        """Raise unless an array is like this; sizes of new names are added to ``sizes``."""
        if not isinstance(array, np.ndarray) or array.ndim != len(self.shape):
            raise ValueError(f"its {name} is not an array of {len(self.shape)} dimensions.")
        expected = tuple(
            size if isinstance(size, int) else sizes.setdefault(size, found)
            for size, found in zip(self.shape, array.shape, strict=True)
        )
        if array.shape != expected:
            raise ValueError(f"its {name} has the shape {array.shape} instead of {expected}.")
        is_right = array.dtype.kind in self.kinds and bool(np.isfinite(array).all())
        if is_right and array.size:
            most = sizes[self.below] if self.below else np.inf
            is_right = bool(array.min() >= self.least and array.max() < most)
        if not is_right:
            raise ValueError(f"its {name} holds values that it must not hold.")


class Part(NamedTuple):
    """A piece of a term in words, such as ``age`` or ``age > 41.5``, its cell and its weight."""

    name: str
    cell: int
    weight: float


@dataclass(frozen=True, eq=False)
class Term(ABC):
    """A function of the cells of a row; the fields are its arrays, as a file keeps them."""

    kind: ClassVar[str]  # what files call it
    arrays: ClassVar[dict[str, ArraySpec]]
    is_additive: ClassVar[bool] = True  # whether it is a sum of functions of single cells

    @abstractmethod
    def scores(self, X: Any, start: float) -> Floats:
        """The term of each row, and ``start``."""

    @abstractmethod
    def contributions(self, X: Any) -> Any:
        """What each cell adds to each row's term: with :attr:`base` these add up to it."""

    @property
    @abstractmethod
    def used(self) -> list[int]:
        """The cells that it looks at, ascending."""

    @property
    def base(self) -> float:
        """The part that no cell adds."""
        return 0.0

    def parts(self, names: list[str]) -> list[Part]:  # noqa: ARG002
        """Its pieces in words; trees have none."""
        return []

    def as_values(self) -> dict[str, Any]:
        """Its arrays by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def of_values(cls, values: Any, n_cells: int) -> Self:
        """A term of the arrays of a file, for so many cells; raises where they do not fit."""
        if not isinstance(values, dict) or values.keys() != cls.arrays.keys():
            raise ValueError(f"it does not hold {', '.join(cls.arrays)}.")
        sizes = {"cells": n_cells}
        for name, spec in cls.arrays.items():
            spec.check(name, values[name], sizes)
        made = cls(**values)
        made._check(sizes)
        return made

    def _check(self, sizes: dict[str, int]) -> None:  # noqa: B027 (most need no more)
        """Raise where arrays of the right sizes contradict each other."""


@dataclass(frozen=True, eq=False)
class Weights(Term):
    """Σ w_j·x_j, in the order of the cells."""

    kind = "weights"
    arrays: ClassVar = {"weights": ArraySpec("cells")}

    weights: Floats

    def scores(self, X: Any, start: float) -> Floats:
        return numpy_scores.linear_scores(X, self.weights, start)

    def scores_by_column(self, columns: Iterator[Floats], n_rows: int, start: float) -> Floats:
        """The same scores of rows whose cells come one column after the other."""
        total, product = np.zeros(n_rows), np.empty(n_rows)
        for weight, numbers in zip(self.weights.tolist(), columns, strict=True):
            if weight:
                np.multiply(numbers, weight, out=product)
                total += product
        total += start
        return total

    def contributions(self, X: Any) -> Any:
        return X * self.weights if isinstance(X, np.ndarray) else X.multiply(self.weights).tocsr()

    @property
    def used(self) -> list[int]:
        return np.flatnonzero(self.weights).tolist()

    def parts(self, names: list[str]) -> list[Part]:
        return [Part(names[cell], cell, float(self.weights[cell])) for cell in self.used]


class Step(NamedTuple):
    """A step function of one cell.

    ``levels[i]`` where the number exceeds the first i thresholds; ``missing`` without a number.
    """

    cell: int
    thresholds: Floats
    levels: Floats
    missing: float


@dataclass(frozen=True, eq=False)
class Steps(Term):
    """Σ of step functions, one per cell.

    Attributes
    ----------
    cells, sizes, missing : arrays of shape (n_steps,)
        The cell of each step function, its thresholds, and its value without a number.
    thresholds, levels : arrays
        Those of all step functions, one after the other; each has one level more than thresholds.
    """

    kind = "steps"
    arrays: ClassVar = {
        "cells": ArraySpec("steps", kinds="i", below="cells"),
        "sizes": ArraySpec("steps", kinds="i", least=0),
        "thresholds": ArraySpec("thresholds"),
        "levels": ArraySpec("levels"),
        "missing": ArraySpec("steps"),
    }

    cells: NDArray[np.int64]
    sizes: NDArray[np.int64]
    thresholds: Floats
    levels: Floats
    missing: Floats

    @classmethod
    def of(cls, steps: list[Step]) -> Steps:
        """Put step functions into arrays."""
        nothing = [np.zeros(0)]
        return cls(
            np.array([step.cell for step in steps], dtype=np.int64),
            np.array([len(step.thresholds) for step in steps], dtype=np.int64),
            np.concatenate([step.thresholds for step in steps] or nothing),
            np.concatenate([step.levels for step in steps] or nothing),
            np.array([step.missing for step in steps], dtype=np.float64),
        )

    @classmethod
    def of_stumps(
        cls, thresholds: list[Floats], is_doubled: NDArray[np.bool_], weights: Floats
    ) -> Steps:
        """The sums of weighted :class:`toprank.weak_rankers.Stumps`, column by column."""
        steps, start = [], 0
        for cell, (mine, twice) in enumerate(zip(thresholds, is_doubled.tolist(), strict=True)):
            own = weights[start : start + mine.size * (1 + twice)]
            start += own.size
            if own.any():
                levels, missing = numpy_scores.stump_levels(own, mine.size, is_doubled=twice)
                kept = np.flatnonzero(np.diff(levels))  # at other thresholds nothing changes
                steps.append(Step(cell, mine[kept], levels[[0, *kept + 1]], missing))
        return cls.of(steps)

    @cached_property
    def steps(self) -> list[Step]:
        """The step functions one by one."""
        ends = np.cumsum(self.sizes)[:-1]
        thresholds = np.split(self.thresholds, ends)
        levels = np.split(self.levels, ends + np.arange(1, ends.size + 1))
        parts = zip(self.cells.tolist(), thresholds, levels, self.missing.tolist(), strict=False)
        return [Step(*part) for part in parts]

    def _check(self, sizes: dict[str, int]) -> None:
        is_whole = int(self.sizes.sum()) == sizes["thresholds"]
        if not is_whole or sizes["levels"] != sizes["thresholds"] + sizes["steps"]:
            raise ValueError("its steps do not have one level more than thresholds.")
        if self.sizes.max(initial=0) > _MOST_THRESHOLDS or (np.diff(self.cells) <= 0).any():
            raise ValueError("its steps have too many thresholds, or are not in the cells' order.")
        if any((np.diff(step.thresholds) <= 0).any() for step in self.steps):
            raise ValueError("its thresholds do not ascend.")

    def scores(self, X: Any, start: float) -> Floats:
        total = np.zeros(X.shape[0])
        for step in self.steps:
            total += self._values(step, X)
        return total + start

    def contributions(self, X: Any) -> Floats:
        found = np.zeros(X.shape)
        for step in self.steps:
            found[:, step.cell] = self._values(step, X)
        return found

    @staticmethod
    def _values(step: Step, X: Any) -> Floats:
        numbers = X[:, step.cell]
        places = np.minimum(np.searchsorted(step.thresholds, numbers), step.thresholds.size)
        return np.where(np.isnan(numbers), step.missing, step.levels[places])

    @property
    def used(self) -> list[int]:
        return list(map(int, self.cells))

    def parts(self, names: list[str]) -> list[Part]:
        return [
            Part(f"{names[step.cell]} > {threshold:.6g}", step.cell, float(change))
            for step in self.steps
            for threshold, change in zip(step.thresholds, np.diff(step.levels), strict=True)
        ]


class Trees(Term):
    """Σ of trees; their arrays are those of the classes in :mod:`toprank.trees`."""

    is_additive = False
    values: Floats

    @property
    @abstractmethod
    def n_trees(self) -> int:
        """How many trees there are."""

    @cached_property
    @abstractmethod
    def trees(self) -> Any:
        """The same as an object of :mod:`toprank.trees`, whose loops are compiled."""

    @abstractmethod
    def _paths(self) -> numpy_scores.LeafPaths:
        """The paths to its leaves, for few rows to be explained in NumPy."""

    @abstractmethod
    def _add_few(self, X: Any, scores: Floats) -> None:
        """Add the trees' values to the scores of few rows, in NumPy."""

    @property
    def base(self) -> float:
        return float(self.trees.expected)

    def scores(self, X: Any, start: float) -> Floats:
        if X.shape[0] * self.n_trees <= FEW_ANSWERS:
            scores = np.full(X.shape[0], start)
            self._add_few(X, scores)
            return scores
        with closing(_threads(X.shape[0])) as threads:
            return np.asarray(self.trees.scores(X, threads, start))

    def contributions(self, X: Any) -> Floats:
        found = np.zeros(X.shape)
        if not self.used:  # no tree asks anything
            return found
        if X.shape[0] * self.values.size <= FEW_LEAVES:
            numpy_scores.add_shapley_values(X, self._paths(), found)
            return found
        with closing(_threads(X.shape[0])) as threads:
            return np.asarray(self.trees.contributions(X, threads))


def _threads(n_rows: int) -> Threads:
    """Threads for trees: one for few rows, which saves asking BLAS how many are allowed."""
    from toprank.kernels.threads import Threads, allowed_threads  # noqa: PLC0415 (slow to load)

    return Threads(allowed_threads(None) if n_rows > FEW_ROWS else 1)


@dataclass(frozen=True, eq=False)
class ObliviousSum(Trees):
    """Σ of trees that ask one question per level: :class:`toprank.trees.ObliviousTrees`."""

    kind = "oblivious"
    arrays: ClassVar = {
        "columns": ArraySpec("trees", "depth", kinds="i", below="cells"),
        "thresholds": ArraySpec("trees", "depth"),
        "missing_left": ArraySpec("trees", "depth", kinds="b"),
        "values": ArraySpec("trees", "leaves"),
        "cover": ArraySpec("trees", "leaves", least=0),
    }

    columns: NDArray[np.int32]
    thresholds: Floats
    missing_left: NDArray[np.bool_]
    values: Floats
    cover: Floats

    def _check(self, sizes: dict[str, int]) -> None:
        depth, n_leaves = sizes["depth"], sizes["leaves"]
        if depth > _DEEPEST_TREE or n_leaves != 1 << depth:
            raise ValueError(f"its trees ask {depth} questions and have {n_leaves} leaves.")

    @property
    def n_trees(self) -> int:
        return len(self.values)

    @cached_property
    def trees(self) -> Any:
        from toprank.trees import ObliviousTrees  # noqa: PLC0415 (loads numba)

        return ObliviousTrees(**self.as_values())

    def _add_few(self, X: Any, scores: Floats) -> None:
        if self.columns.size:
            numpy_scores.add_oblivious_trees(X, self, scores)

    def _paths(self) -> numpy_scores.LeafPaths:
        return numpy_scores.paths_of_oblivious_trees(self)

    @property
    def used(self) -> list[int]:
        return list(map(int, np.unique(self.columns)))


@dataclass(frozen=True, eq=False)
class BinarySum(Trees):
    """Σ of trees of any shape: :class:`toprank.trees.BinaryTrees`."""

    kind = "binary"
    arrays: ClassVar = {
        "columns": ArraySpec("nodes", kinds="i", below="cells"),
        "thresholds": ArraySpec("nodes"),
        "missing_left": ArraySpec("nodes", kinds="b"),
        "values": ArraySpec("nodes"),
        "cover": ArraySpec("nodes", least=0),
        "children": ArraySpec("nodes", 2, kinds="i"),
        "roots": ArraySpec("trees", kinds="i", below="nodes"),
    }

    columns: NDArray[np.int32]
    thresholds: Floats
    missing_left: NDArray[np.bool_]
    values: Floats
    cover: Floats
    children: NDArray[np.int32]
    roots: NDArray[np.int32]

    def _check(self, sizes: dict[str, int]) -> None:
        """Every node is reached once, from the tree that it lies in, by a path that is not long."""
        children, roots, n_nodes = self.children, self.roots, sizes["nodes"]
        asking = np.flatnonzero(children[:, 0] >= 0)
        after = (children[asking] > asking[:, None]) & (children[asking] < n_nodes)
        reached = np.concatenate([roots, children[asking].ravel()])
        tree = np.searchsorted(roots, np.arange(n_nodes), side="right")
        if (
            not after.all()
            or not np.array_equal(np.sort(reached), np.arange(n_nodes))
            or (np.diff(roots) <= 0).any()
            or (tree[children[asking]] != tree[asking, None]).any()
        ):
            raise ValueError("its nodes are not in one tree each, children after their parents.")
        level = roots
        for _ in range(_LONGEST_PATH):
            level = children[level[children[level, 0] >= 0]].ravel()
        if (children[level, 0] >= 0).any():
            raise ValueError(f"its trees ask more than {_LONGEST_PATH} questions on a path.")

    @property
    def n_trees(self) -> int:
        return int(self.roots.size)

    @cached_property
    def trees(self) -> Any:
        from toprank.trees import BinaryTrees  # noqa: PLC0415 (loads numba)

        return BinaryTrees(**self.as_values())

    def _add_few(self, X: Any, scores: Floats) -> None:
        numpy_scores.add_binary_trees(X, self, scores)

    def _paths(self) -> numpy_scores.LeafPaths:
        return numpy_scores.paths_of_binary_trees(self)

    @property
    def used(self) -> list[int]:
        return list(map(int, np.unique(self.columns[self.children[:, 0] >= 0])))


def as_sum(trees: Any) -> Trees:
    """The trees of a ranker as a term."""
    kind = BinarySum if hasattr(trees, "roots") else ObliviousSum
    return kind(**{each.name: getattr(trees, each.name) for each in fields(kind)})


TERMS: dict[str, type[Term]] = {
    each.kind: each for each in (Weights, Steps, ObliviousSum, BinarySum)
}
