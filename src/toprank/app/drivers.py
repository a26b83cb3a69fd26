"""What drives a score: the parts of a weighted sum, gathered by the columns they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from toprank.app.model import Model

__all__ = ["Driver", "Part", "contributions", "drivers_of", "gathered", "mean_and_spread"]


class Part(NamedTuple):
    """One term of the sum in words, such as ``age`` or ``age > 41.5``, and its weight."""

    name: str
    weight: float


class Driver(NamedTuple):
    """A column of the table: how far it moves scores, and through which terms.

    ``reach`` is the standard deviation of its contribution over the training rows, ``share`` its
    part in the sum of all reaches.
    """

    column: str
    reach: float
    share: float
    parts: tuple[Part, ...]

    def in_words(self, most: int) -> str:
        """The heaviest terms, without repeating the column's name: ``> 41.5: +0.3; ...``."""
        found = []
        for name, weight in self.parts[:most]:
            term = name.removeprefix(self.column).removeprefix(" = ").strip()
            found.append(f"{term}: {weight:+.3g}" if term else f"{weight:+.3g}")
        return "; ".join(found)


def contributions(ranker: Any, encoded: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each column adds to each row's score: of shape (n_rows, n_columns).

    The sum over columns is the score without its intercept (for rankers on scaled features, up
    to a constant that a baseline takes away).
    """
    if hasattr(ranker, "coef_"):
        return np.asarray(encoded * np.asarray(ranker.coef_, dtype=np.float64)[0])
    parts = np.zeros(encoded.shape)
    if not _has_stumps(ranker):  # a kernel's score is no sum over columns
        return parts
    family, weights = ranker.weak_rankers_, np.asarray(ranker.weights_, dtype=np.float64)
    owners = _owners_of_stumps(family)
    for column in np.unique(owners[weights != 0]):
        parts[:, column] = family.scores(encoded, np.where(owners == column, weights, 0.0))
    return parts


def mean_and_spread(
    parts: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each column, whose sums and squares stay finite.

    Columns are scaled by powers of two, which changes no digit.

    Examples
    --------
    >>> mean_and_spread(np.array([[1e308], [1.5e308]]))
    (array([1.25e+308]), array([2.5e+307]))
    """
    _, powers = np.frexp(np.abs(parts).max(axis=0, initial=0.0))
    scaled = np.ldexp(parts, -powers)
    return np.ldexp(scaled.mean(axis=0), powers), np.ldexp(scaled.std(axis=0), powers)


def _has_stumps(ranker: Any) -> bool:
    return hasattr(getattr(ranker, "weak_rankers_", None), "doubled")


def _owners_of_stumps(family: Any) -> NDArray[np.intp]:
    """Of which encoded column each weak ranker is a threshold."""
    sizes = np.asarray(family.sizes())
    return np.repeat(np.arange(sizes.size), sizes * (1 + family.doubled()))


def gathered(owners: list[str], values: NDArray[np.float64]) -> tuple[list[str], NDArray[Any]]:
    """Sum values of encoded columns (last axis) over the table's columns they come from."""
    names = list(dict.fromkeys(owners))
    index = np.array([names.index(owner) for owner in owners])
    sums = np.zeros((*values.shape[:-1], len(names)))
    for place in range(len(names)):
        sums[..., place] = values[..., index == place].sum(axis=-1)
    return names, sums


def drivers_of(model: Model) -> list[Driver]:
    """The columns of a model, the one that moves scores most first."""
    owners = model.encoder.owners_
    names = list(dict.fromkeys(owners))
    # Encoded columns of one table column exclude each other or nearly so; adding variances is
    # close enough to order columns by.
    reach = np.array(
        [float(np.sqrt((model.spread[[o == name for o in owners]] ** 2).sum())) for name in names]
    )
    total = float(reach.sum()) or 1.0
    parts = _parts(model)
    order = np.argsort(-reach, kind="stable")
    return [
        Driver(names[at], float(reach[at]), float(reach[at]) / total, tuple(parts[names[at]]))
        for at in order
    ]


def _parts(model: Model) -> dict[str, list[Part]]:
    found: dict[str, list[Part]] = {name: [] for name in dict.fromkeys(model.encoder.owners_)}
    features = model.encoder.get_feature_names_out()
    ranker = model.ranker
    if hasattr(ranker, "coef_"):
        coef = np.asarray(ranker.coef_, dtype=np.float64)[0]
        for owner, name, weight in zip(model.encoder.owners_, features, coef, strict=True):
            found[owner].append(Part(str(name), float(weight)))
    elif _has_stumps(ranker):
        family, weights = ranker.weak_rankers_, ranker.weights_
        owners, names = _owners_of_stumps(family), family.names(features)
        for index in np.flatnonzero(weights):
            owner = model.encoder.owners_[owners[index]]
            found[owner].append(Part(names[index], float(weights[index])))
    return {
        name: sorted(parts, key=lambda part: -abs(part.weight)) for name, parts in found.items()
    }
