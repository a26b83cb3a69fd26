"""Lists that must not hold too many rows of one kind, or too few of another.

::

    max  Σ gain_j·x_j        x_j ∈ {0, 1}
    s.t. Σ x_j ≤ k
         Σ_{j in g} x_j ≤ cap           for every group g of every cap
         Σ_{j in s} x_j ≥ quota         for every quota

solved exactly by HiGHS. Within rows that are of the same groups everywhere the better ones come
first, so that the first k of each such kind are enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from toprank.inputs import as_lists, as_scores, check_number, rounded_up, rows_within_budget

Floats = NDArray[np.float64]


class Cap(NamedTuple):
    """At most ``most`` rows of each group: one group id per row."""

    groups: ArrayLike
    most: int


class Quota(NamedTuple):
    """At least ``least`` of the marked rows: a number, or below 1 a share of the list's length."""

    marked: ArrayLike
    least: float


class CappedList(NamedTuple):
    """The best list within caps and quotas.

    ``rows`` are best first; ``price`` is how much more the list without caps and quotas gains.
    """

    rows: NDArray[np.intp]
    gain: float
    price: float


def choose_rows(
    gains: ArrayLike,
    k: float,
    *,
    at_most: Sequence[Cap] = (),
    at_least: Sequence[Quota] = (),
) -> CappedList:
    """Choose at most ``k`` rows of the largest total gain under caps and quotas.

    With chances as gains the price is in expected hits. The solution is exact; with a single cap no
    program is solved, because taking rows in their order is optimal. Rows of equal gain keep the
    order of the table.

    Parameters
    ----------
    gains : array-like of shape (n_rows,)
        Gain of each row, such as its chance to be positive. Rows with a negative gain are chosen
        only if a quota needs them.
    k : int or float
        Rows, or below 1 a share of them.
    at_most : sequence of Cap
    at_least : sequence of Quota

    Examples
    --------
    >>> from toprank.shortlists import Cap, choose_rows
    >>> branch = ["north", "north", "north", "south"]
    >>> choose_rows([0.9, 0.8, 0.7, 0.3], 3, at_most=[Cap(branch, 2)])
    CappedList(rows=array([0, 1, 3]), gain=2.0, price=0.4)
    """
    worth = as_scores(gains, name="gains").astype(np.float64)
    length = rows_within_budget(k, worth.size, name="k")
    order = np.argsort(-worth, kind="stable")
    caps = [(np.asarray(cap.groups), cap.most) for cap in as_caps(at_most, worth.size)]
    quotas = [_counted(quota, length) for quota in as_quotas(at_least, worth.size)]
    head = order[:length][worth[order[:length]] > 0]
    keeps_caps = all(np.bincount(codes[head]).max(initial=0) <= most for codes, most in caps)
    if keeps_caps and all(np.count_nonzero(marked[head]) >= least for marked, least in quotas):
        rows = head
    elif not quotas and len(caps) == 1:
        rows = _in_turn(order[worth[order] > 0], *caps[0])[:length]
    else:
        rows = _solved(worth, order, length, caps, quotas)
    gain, free = float(worth[rows].sum()), float(worth[head].sum())
    # What rounding leaves of an equal gain is no price.
    price = free - gain if free - gain > 1e-9 * (1.0 + abs(free)) else 0.0
    return CappedList(rows, round(gain, 12), round(price, 12))


def as_caps(at_most: Sequence[Cap], n_rows: int) -> list[Cap]:
    """Caps, checked, with their groups as numbers from 0."""
    found = []
    for cap in _each(Cap, at_most, "at_most"):
        check_number("most", cap.most, 1, whole=True)
        lists = as_lists(cap.groups, n_rows, name="groups of a Cap")
        if lists is None:
            raise ValueError("groups of a Cap are None; pass one group id per row.")
        found.append(Cap(lists.codes, int(cap.most)))
    return found


def as_quotas(at_least: Sequence[Quota], n_rows: int) -> list[Quota]:
    """Quotas, checked, with their rows as an array of booleans."""
    found = []
    for quota in _each(Quota, at_least, "at_least"):
        marked = np.asarray(quota.marked)
        if marked.dtype != np.bool_ or marked.shape != (n_rows,):
            raise ValueError(
                f"marked of a Quota must be one boolean for each of the {n_rows} rows, got "
                f"{marked.dtype} of shape {marked.shape}."
            )
        check_number("least", quota.least, 0.0)
        found.append(Quota(marked, quota.least))
    return found


def _each(kind: type[Any], given: Any, name: str) -> Iterable[Any]:
    """The limits of a sequence; a single one is taken for a sequence of one."""
    found = [given] if isinstance(given, kind) else [*given]
    for each in found:
        if not isinstance(each, kind):
            raise TypeError(
                f"{name} must hold {kind.__name__}({', '.join(kind._fields)}), got "
                f"{type(each).__name__}."
            )
    return found


def _counted(quota: Quota, length: int) -> tuple[NDArray[np.bool_], int]:
    """Which rows are marked, and how many of them a list of this length must hold."""
    marked = np.asarray(quota.marked)
    least = int(rounded_up(quota.least * length if quota.least < 1 else quota.least))
    available = min(int(np.count_nonzero(marked)), length)
    if least > available:
        raise ValueError(
            f"a quota (at_least) asks for {least} rows, but only {available} marked rows fit into "
            f"a list of {length}; ask for fewer."
        )
    return marked, least


def _in_turn(order: NDArray[np.intp], codes: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Rows in their order, each group's first ``most``."""
    return order[_places_within(codes[order]) < most]


def _places_within(kinds: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many rows of the same kind come before each row."""
    by_kind = np.argsort(kinds, kind="stable")
    place = np.empty_like(by_kind)
    place[by_kind] = np.arange(kinds.size) - np.searchsorted(kinds[by_kind], kinds[by_kind])
    return place


def _solved(
    worth: Floats,
    order: NDArray[np.intp],
    length: int,
    caps: list[tuple[NDArray[np.intp], int]],
    quotas: list[tuple[NDArray[np.bool_], int]],
) -> NDArray[np.intp]:
    """Solve the program over the first rows of every kind."""
    columns = [*(codes for codes, _ in caps), *(marked for marked, _ in quotas)]
    table = np.column_stack([np.zeros(worth.size, np.intp), *columns])
    kinds = np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)
    kept = _in_turn(order, kinds, min([length, *(most for _, most in caps)]))
    # columns of the program that each constraint counts, and between what
    limits = [(np.arange(kept.size), 0.0, float(length))]
    for codes, most in caps:
        of_kept = codes[kept]
        by_group = np.argsort(of_kept, kind="stable")
        groups = np.split(by_group, np.flatnonzero(np.diff(of_kept[by_group])) + 1)
        limits += [(rows, 0.0, float(most)) for rows in groups if rows.size > most]
    limits += [(np.flatnonzero(marked[kept]), float(least), np.inf) for marked, least in quotas]
    at = np.concatenate([np.full(rows.size, place) for place, (rows, _, _) in enumerate(limits)])
    rows = np.concatenate([rows for rows, _, _ in limits])
    matrix = csr_array(
        # older solvers take 32-bit places alone
        (np.ones(at.size), (at.astype(np.int32), rows.astype(np.int32))),
        shape=(len(limits), kept.size),
    )
    low, high = (np.array([limit[side] for limit in limits]) for side in (1, 2))
    found = milp(
        -worth[kept],
        integrality=np.ones(kept.size, dtype=np.int8),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, low, high),
        options={"mip_rel_gap": 0.0},
    )
    if found.x is None:
        raise ValueError(
            "caps and quotas contradict each other: no list keeps to all; raise a cap (at_most) or "
            "lower a quota (at_least)."
        )
    chosen = kept[found.x > 0.5]
    # Of equal rows of one kind the solver may take any: the first ones are taken.
    counts = np.bincount(kinds[chosen], minlength=int(kinds.max()) + 1)
    return kept[_places_within(kinds[kept]) < counts[kinds[kept]]]


def thin_near_duplicates(
    scores: ArrayLike, points: ArrayLike, k: int, *, distance: float, metric: Any = "euclidean"
) -> NDArray[np.intp]:
    """Give the best ``k`` rows such that no two are closer than ``distance``.

    Greedy: rows are taken in the order of their scores, and a row close to one already taken is
    skipped. O(rows examined·k) distances.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
    points : array-like of shape (n_rows, n_features)
        Coordinates of the rows: columns of the table, fingerprints, embeddings.
    k : int
    distance : float
        Rows at this distance or more are both kept.
    metric : str or function, default="euclidean"
        As :func:`scipy.spatial.distance.cdist` takes it, such as "jaccard" for fingerprints.

    Examples
    --------
    >>> thin_near_duplicates([3, 2, 1], [[0.0], [0.1], [5.0]], 2, distance=1.0).tolist()
    [0, 2]
    """
    known = as_scores(scores)
    table = np.asarray(points)
    if table.ndim != 2 or table.shape[0] != known.size:
        raise ValueError(
            f"points have shape {table.shape}, but there are {known.size} rows; pass one row of "
            "numbers for each."
        )
    if table.dtype.kind not in "biuf" or not np.isfinite(table).all():
        raise ValueError(
            "points must be finite numbers, because distances are computed from them; encode texts "
            "and fill missing values first."
        )
    check_number("k", k, 1, whole=True)
    check_number("distance", distance, 0.0)
    taken: list[int] = []
    for row in np.argsort(-known, kind="stable").tolist():
        if len(taken) == k:
            break
        near = cdist(table[[row]], table[taken], metric) if taken else np.full((1, 1), np.inf)
        if float(near.min()) >= distance:
            taken.append(row)
    return np.array(taken, dtype=np.intp)
