"""How predictions stand in the space of scores: one unit vector each.

Scores are turned into the prediction whose vector is most similar to them,
pred(t) = argmax_σ ⟨rep(σ), t⟩ (equation 1 of the paper), the decoding of a representation.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import permutations, product
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.kernels.rounds import best_first
from toprank.predtron.losses import discounts


class Representation(ABC):
    """Unit vectors for predictions, and the way back from scores to a prediction.

    A subclass gives ``dimension``, :meth:`vector` and either :meth:`predictions` (few enough to
    be tried one by one) or :meth:`decode` and a search of its own.
    """

    dimension: int

    @abstractmethod
    def vector(self, prediction: Any) -> NDArray[np.float64]:
        """Return the unit vector of a prediction."""

    def predictions(self) -> Iterable[Any]:
        """Return all predictions, one after the other."""
        raise NotImplementedError(
            f"{type(self).__name__} does not list its predictions; give it a method predictions(), "
            "or a method decode(scores) and pass search= to Predtron."
        )

    def decode(self, scores: NDArray[np.float64]) -> Any:
        """Return the prediction most similar to the scores; ties go to the first."""
        return max(self.predictions(), key=lambda one: float(self.vector(one) @ scores))


class Vectors(Representation):
    """Named predictions, each with a vector, for problems of your own.

    Parameters
    ----------
    predictions : sequence of k predictions
        Any values; ``predict`` gives them back.
    vectors : array-like of shape (k, d)
        One vector per prediction; they are scaled to length 1, and no two may be the same.

    Examples
    --------
    >>> from toprank.predtron import Vectors
    >>> compass = Vectors(["N", "E", "S", "W"], [[0, 1], [1, 0], [0, -1], [-1, 0]])
    >>> compass.decode([0.2, -3.0])
    'S'
    """

    def __init__(self, predictions: Sequence[Any], vectors: ArrayLike) -> None:
        table = np.array(vectors, dtype=np.float64)
        names = list(predictions)
        if table.ndim != 2 or table.shape[0] != len(names) or not names:
            raise ValueError(
                f"vectors has shape {table.shape}, but there are {len(names)} predictions; "
                "pass one vector per prediction."
            )
        lengths = np.linalg.norm(table, axis=1)
        if not np.isfinite(table).all() or not lengths.all():
            raise ValueError("vectors must be finite and none of them zero.")
        self.table = table / lengths[:, None]
        if np.unique(self.table.round(12), axis=0).shape[0] < len(names):
            raise ValueError(
                "vectors must differ in direction, or some predictions could never be told apart."
            )
        self.names = names
        self.dimension = table.shape[1]

    def predictions(self) -> Iterable[Any]:
        return self.names

    def vector(self, prediction: Any) -> NDArray[np.float64]:
        row: NDArray[np.float64] = self.table[self.names.index(prediction)]
        return row

    def decode(self, scores: ArrayLike) -> Any:
        return self.names[int(np.argmax(self.table @ np.asarray(scores)))]


class Signs(Vectors):
    """Two classes as −1 and +1: the binary perceptron, pred(t) = sign(t).

    A score of 0 is the first class.

    Examples
    --------
    >>> from toprank.predtron import Signs
    >>> Signs(["no", "yes"]).decode([0.3])
    'yes'
    """

    def __init__(self, classes: Iterable[Any]) -> None:
        super().__init__(list(classes), [[-1.0], [1.0]])


class Basis(Vectors):
    """m classes as the axes of ℝ^m, pred(t) = argmax t; with a reject option if one is named.

    Parameters
    ----------
    classes : sequence of m classes
        Class j is represented by e_j.
    reject : object, optional
        A further prediction, represented by (e_1 + ... + e_m)/√m.

    Examples
    --------
    >>> from toprank.predtron import Basis
    >>> animals = Basis(["cat", "dog"], reject="unsure")
    >>> animals.decode([3.0, 0.1]), animals.decode([1.1, 1.0])
    ('cat', 'unsure')
    """

    def __init__(self, classes: Iterable[Any], reject: Any = None) -> None:
        names = list(classes)
        vectors = np.eye(len(names))
        if reject is not None:
            vectors = np.vstack([vectors, np.ones(len(names))])
            names.append(reject)
        super().__init__(names, vectors)


class Indicators(Representation):
    """Subsets of m labels as ±1/√m, pred(t) = sign(t) label by label.

    A label with a score of 0 is not predicted. All 2^m subsets can be listed, but no search of
    the library does.

    Examples
    --------
    >>> from toprank.predtron import Indicators
    >>> Indicators(3).decode([0.5, -1.0, 2.0])
    array([ True, False,  True])
    """

    def __init__(self, n_labels: int) -> None:
        self.dimension = int(n_labels)

    def predictions(self) -> Iterable[NDArray[np.bool_]]:
        return (np.array(mask) for mask in product([False, True], repeat=self.dimension))

    def vector(self, prediction: ArrayLike) -> NDArray[np.float64]:
        signs = np.where(np.asarray(prediction, dtype=bool), 1.0, -1.0)
        return signs / math.sqrt(self.dimension)

    def decode(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return np.asarray(scores) > 0


class Positions(Representation):
    """Rankings of m items as f(position)/Z, pred(t) = the items sorted by falling score.

    A ranking holds the position of every item, 1 for the best. Equal scores keep the order of
    the items. All m! rankings can be listed, but no search of the library does.

    Parameters
    ----------
    profile : {"discount", "reciprocal"}, number or callable, default="discount"
        f(i) = 1/log₂(1 + i), 1/i, −i^α for a number α > 0, or any strictly decreasing function
        of an array of positions. NDCG's own discount makes the loss-augmented search one sort.
    n_items : int, optional
        m; only needed to list all rankings.

    Examples
    --------
    >>> from toprank.predtron import Positions
    >>> Positions(2).vector([1, 2])
    array([-0.24253563, -0.9701425 ])
    >>> Positions("reciprocal").decode([0.1, 0.9, 0.5])
    array([3, 1, 2])
    """

    def __init__(self, profile: Any = "discount", n_items: int | None = None) -> None:
        self.profile = profile
        self.heights(2)  # refuses profiles that make no sense
        self.n_items = n_items
        if n_items is not None:
            self.dimension = int(n_items)

    def heights(self, n_items: int) -> NDArray[np.float64]:
        """f(1)/Z, ..., f(m)/Z with Z = √Σf²."""
        profile, places = self.profile, np.arange(1.0, n_items + 1.0)
        if isinstance(profile, str) and profile in ("discount", "reciprocal"):
            values = discounts(n_items) if profile == "discount" else 1.0 / places
        elif isinstance(profile, Real) and float(profile) > 0:
            values = -(places ** float(profile))
        elif callable(profile):
            values = np.asarray(profile(places), dtype=np.float64)
            if values.shape != places.shape or not np.isfinite(values).all():
                raise ValueError(
                    "representation must give one finite number per position, but for "
                    f"{n_items} positions it gave shape {values.shape}."
                )
            if not (np.diff(values) < 0).all():
                raise ValueError("representation must be strictly decreasing along the positions.")
        else:
            raise ValueError(
                "representation must be 'discount', 'reciprocal', a number α > 0 for −i^α, or a "
                f"strictly decreasing function of the positions, got {profile!r}."
            )
        length = np.linalg.norm(values)
        if not length > 0:
            raise ValueError("representation must not be 0 at every position.")
        return values / length

    def predictions(self) -> Iterable[NDArray[np.intp]]:
        if self.n_items is None:
            raise ValueError("n_items=None: say how many items there are to list all rankings.")
        return (np.array(one) for one in permutations(range(1, self.n_items + 1)))

    def vector(self, prediction: ArrayLike) -> NDArray[np.float64]:
        places = np.asarray(prediction, dtype=np.intp)
        return self.heights(places.size)[places - 1]

    def decode(self, scores: ArrayLike) -> NDArray[np.intp]:
        order = best_first(np.asarray(scores, dtype=np.float64))
        places = np.empty(order.size, dtype=np.intp)
        places[order] = np.arange(1, order.size + 1)
        return places
