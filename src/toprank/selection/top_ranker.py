"""A blend of rankers for a budget, cross-fitted, with the hits to expect."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from toprank.inputs import (
    as_frame,
    as_lists,
    as_weights,
    check_budget,
    check_choice,
    check_length,
    check_number,
)
from toprank.kernels.memory import check_room
from toprank.models.formula import formula_of
from toprank.rankers.base import BaseRanker, keep_columns
from toprank.selection.blending import (
    Blend,
    CrossFit,
    blend_weights,
    cross_fit,
    single_best,
    unseen_scores,
)
from toprank.selection.candidates import DEFAULT, LINEAR, RANKERS, Candidate, family
from toprank.selection.judging import LabelledRows, RankerComparison
from toprank.selection.sampling import MemberBlocks, named_columns, sample_rows
from toprank.shortlists.calibration import Calibration, Interval, Promise
from toprank.tables import Table, as_table
from toprank.tables.encoder import learned_encoding, needs_encoding
from toprank.tables.encoding import Encoding
from toprank.truth import binary_labels

if TYPE_CHECKING:
    from toprank.blocks import Blocks
    from toprank.models.formula import Formula
    from toprank.selection.blending import Journal, Watch

Floats = NDArray[np.float64]

BLEND, SINGLE = "blend", "single best"
# Few rows are divided again and again: each repeat is another view of the same rows, and cheap.
_ROWS_OF_REPEATS, _MOST_REPEATS = 1_000, 2
# Multiples of max_rows. All judged rows are scored, and more of them make the interval narrower.
_JUDGED = 10
# A sample of rows in blocks is held in memory, for members that learn there.
_SAMPLED = 40
# A model of more rows than this multiple of those behind hits_ may find more hits.
_MANY_MORE = 10
# Cells of a sparse table up to which it is made dense.
_DENSE_CELLS = 1 << 24
_FLOATS = [np.float64, np.float32]
# A fit on a stream takes some passes to read it, and its iterations longer than in memory.
_PASSES, _ON_DISK = 10, 2.0
# Rows that whole weights may stand for when they are counted one by one.
_MOST_COPIES = 1_000_000
_LIGHTEST, _HEAVIEST = 1e-100, 1e100


class RowStream(NamedTuple):
    """Rows in blocks, how many they are, and the seconds of one pass over them."""

    blocks: Blocks
    n_rows: int
    seconds: float


@dataclass(eq=False, repr=False)
class TopRanker(BaseRanker):
    """A blend of rankers, chosen for a budget.

    Logistic regression, pushes on features and on thresholds, boosting, forests and boosted
    trees are fitted on the same folds. Starting from the boosted trees, a greedy search adds up
    out-of-fold scores to maximise average precision and the precision around the budget. The
    members of the blend are then fitted again on all rows. The expected hits (``hits_``) are
    estimated on folds that were used neither to fit the members nor to choose their weights.

    Frames with text, dates, booleans or missing values, and arrays with missing values, are
    encoded by a :class:`toprank.tables.TableEncoder`, which does not use the labels. Identical
    rows are merged into one row with the sum of their weights, so that copies are never split
    between folds, and a weight of 2 means the row twice. With ``groups``, lists are never split,
    and scores are centred and scaled within lists before they are blended.

    Parameters
    ----------
    budget : int or float, default=100
        Number of rows at the top of the list that count, or below 1 a share of the rows; with
        ``groups``, of each list.
    list_size : int or None, default=None
        Number of rows of the list that the budget is for; None means as many as there are
        training rows. Not used with ``groups``.
    candidates : sequence of str or None, default=None
        Names from :data:`toprank.selection.candidates.RANKERS`; None is a selection of them.
    compared : sequence of str, default=()
        Further names that are evaluated on the same folds but are not part of the blend.
    blend : bool, default=True
        False selects the single best setting instead, and fits it on all rows.
    prefer : {"best", "simple"}, default="best"
        "simple" selects the simplest ranker whose expected hits are at most ``max_loss`` below
        those of the best; ``verdict()`` says how many hits that costs.
    max_loss : float, default=0.05
        Share of the expected hits that ``prefer="simple"`` may give up.
    n_folds : int, default=4
        Number of cross-validation folds; below 1,000 rows they are drawn twice.
    max_rows : int, default=20000
        Rows on which the blend is chosen; its members are then fitted on all rows. ``hits_`` is
        estimated on ten times as many.
    time_limit : float or None, default=None
        Seconds. Candidates that would not finish on the folds are skipped, except the first, and
        the selected ones are fitted on fewer rows where all would take too long. The result then
        depends on the machine.
    n_jobs : int or None, default=None
        Number of fits that run at the same time, in threads. The result does not depend on it.
    random_state : int, default=0
        Seed of the folds and of the rankers.

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one
    best_estimator_ : the fitted blend, or the single ranker
    best_candidate_ : str, "blend" or the name of the ranker
    weights_ : dict of settings in words to their weights in the blend
    fitted_rows_ : dict of the same settings to the rows that each was fitted on; rows that are
        alike count once in memory
    sampled_rows_ : int or None, rows of the sample that :meth:`fit_blocks` has taken; None where
        all rows were in memory
    hits_ : Interval(mean, low, high) of the hits within the budget of one new list, 95 %; None
        where there were too few rows to divide. Estimated with models fitted on
        ``learned_rows_`` rows: a blend that is fitted on many more may find more than ``high``
    learned_rows_ : int or None, most rows that a model behind ``hits_`` was fitted on
    precision_ : Interval, the same as shares of the budget
    promise_ : Promise of the hits for a list and a shortlist of any length, or None
    comparison_ : RankerComparison of the blend and of each ranker's best setting, or None
    cv_results_ : dict of arrays, one entry per setting: ``candidate``, ``params``, ``weight``,
        ``precision`` and ``average_precision`` out of fold, ``seconds``
    encoder_ : Encoding or None, for tables whose columns are not all numbers
    calibration_ : Calibration, the out-of-fold scores that :meth:`shortlist` uses; not set with
        ``groups``, and where there were too few rows to divide

    Examples
    --------
    >>> from toprank import TopRanker
    >>> from toprank.datasets import load_digits_eights
    >>> X, y = load_digits_eights(return_X_y=True)
    >>> model = TopRanker(50, candidates=["logistic", "ir-push"]).fit(X[:1000], y[:1000])
    >>> bool(y[1000:][model.top(X[1000:], 40)].mean() > 0.9)
    True
    """

    budget: float = 100
    _: KW_ONLY
    list_size: int | None = None
    candidates: Sequence[str] | None = None
    compared: Sequence[str] = ()
    blend: bool = True
    prefer: str = "best"
    max_loss: float = 0.05
    n_folds: int = 4
    max_rows: int = 20_000
    time_limit: float | None = None
    n_jobs: int | None = None
    random_state: int = 0

    def _begin(self) -> None:
        """Check the parameters and drop all fitted attributes, since the fit may fail."""
        self._check_parameters()
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self.encoder_: Encoding | None = None
        self.sampled_rows_: int | None = None
        self.learned_rows_: int | None = None
        self.comparison_: RankerComparison | None = None
        self.hits_: Interval | None = None
        self.precision_: Interval | None = None
        self.promise_: Promise | None = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the candidates on folds and blend them.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array of numbers, sparse matrix, or pandas, polars or pyarrow frame of any columns. On
            a sparse matrix with more than 17 million cells, only linear rankers are blended.
        y : array-like of shape (n_rows,)
            Two classes; ``classes_[1]``, the larger label, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, used in the fits and in the evaluation.
        groups : array-like of shape (n_rows,), optional
            List ids: rows compete within their list, and lists are never split.
        """
        return self._fit_table(X, y, sample_weight, groups)

    def _fit_table(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **choosing: Any,
    ) -> Self:
        """Fit; ``choosing`` goes through to :meth:`_fit_rows`."""
        started = time.monotonic()
        self._begin()
        data = self._labelled(X, y, sample_weight, groups)
        return self._fit_rows(data, data.size, started, **choosing)

    def fit_blocks(self, blocks: Blocks) -> Self:
        """Choose the blend on a random sample, then fit on all rows what can be fitted in passes.

        The sample has forty times ``max_rows`` rows, fewer where rows have more than about 80
        columns or memory is short (48 bytes per cell); where there are no more rows, the model is
        that of :meth:`fit`. The blend is chosen and ``hits_`` estimated on this sample, for a list
        as long as all blocks. Members that learn in passes over blocks (pushes on features,
        RankBoost and boosted trees) are then fitted on all rows. The others, and with a
        ``time_limit`` also those that would take too long, are fitted on the sample;
        ``fitted_rows_`` says which.
        The encoding of missing values is learned on the sample.

        Parameters
        ----------
        blocks : Blocks
            Such as ``toprank.tables.ParquetBlocks`` (a file larger than memory) or
            ``toprank.integrations.dask.DaskBlocks`` (a cluster); two labels.

        Examples
        --------
        >>> from toprank import TopRanker
        >>> from toprank.blocks import ArrayBlocks
        >>> from toprank.datasets import load_digits_eights
        >>> X, y = load_digits_eights(return_X_y=True)
        >>> rows = ArrayBlocks.cut(X, y, size=300)
        >>> model = TopRanker(50, candidates=["ir-push"], max_rows=30).fit_blocks(rows)
        >>> model.sampled_rows_ < 1300
        True
        >>> model.fitted_rows_
        {'ir-push alpha=0.01': 1797}
        """
        return self._fit_blocks(blocks)

    def _fit_blocks(self, blocks: Blocks, **choosing: Any) -> Self:
        """Fit on blocks; ``choosing`` goes through to :meth:`_fit_rows`."""
        started = time.monotonic()
        self._begin()
        taken = sample_rows(blocks, _SAMPLED * self.max_rows, int(self.random_state))
        per_pass = (time.monotonic() - started) / 2
        names = blocks.feature_names or [f"x{at}" for at in range(taken.seen.low.size)]
        # members that learn by passes see the missing values of rows of weight 0 too
        lacking = taken.seen.missing if taken.is_whole else taken.seen.unfit
        table = named_columns(taken.X, names) if lacking.any() else taken.X
        data = self._labelled(table, taken.y, taken.weights, None)
        keep_columns(self, len(names), blocks.feature_names)
        stream = None
        if not taken.is_whole:
            self.sampled_rows_ = int(taken.y.size)
            members = MemberBlocks(blocks, self.classes_[1], self.encoder_, names)
            stream = RowStream(members, taken.seen.n_rows, per_pass)
        return self._fit_rows(data, taken.size, started, stream, **choosing)

    def _fit_rows(
        self,
        data: LabelledRows,
        size: float,
        started: float,
        stream: RowStream | None = None,
        *,
        candidates: Sequence[Candidate] | None = None,
        watch: Watch | None = None,
        journal: Journal | None = None,
    ) -> Self:
        """Choose on rows in memory, which stand for ``size``, and fit on them or on a stream.

        ``candidates`` take the place of those that the parameters name; ``watch`` is called after
        each fit on a fold. With a ``journal``, which keeps these fits, the candidates are compared
        and no model is fitted.
        """
        self._size = float(self.list_size or size)
        tried = self._candidates(data) if candidates is None else list(candidates)
        cross = self._cross_fit(data, tried, started, watch=watch, journal=journal)
        if cross is None:
            self._keep_simplest(data, tried[0])
            return self
        own = np.array([member.candidate.name not in self.compared for member in cross.members])
        if not own.any():
            raise ValueError(next(iter(cross.problems.values())))
        choices = self._choices(cross, own)
        names = [name for name in choices if name not in self.compared]
        self.comparison_ = RankerComparison(
            rows=cross.data,
            scores={n: unseen_scores(cross, c) for n, c in choices.items()},
            budget=self.budget,
            list_size=self._size,
            n_folds=len(cross.parts()),
        )
        # the choice by its name in comparison_, where a single best has no name of its own
        self._judged_as = self._preferred(self.comparison_, names)
        weights = choices[self._judged_as](cross.scores, cross.data)
        self._store_choice(self.comparison_, cross, weights)
        if journal is None:
            self._fit_choice(cross, weights, data, started, stream)
        return self

    def _labelled(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> LabelledRows:
        """The rows of weight above 0, encoded as numbers without using the labels."""
        checked = self._checked(X)
        self.classes_, positives = binary_labels(y)
        n_rows = checked.n_rows if isinstance(checked, Table) else checked.shape[0]
        check_length("y", positives.size, n_rows)
        weights = as_weights(sample_weight, n_rows)
        _check_countable(weights)
        as_lists(groups, n_rows)
        lists = None if groups is None else np.asarray(groups).reshape(-1)
        numbers = np.arange(n_rows)
        if weights is not None and not weights.all():
            numbers = np.flatnonzero(weights)
            checked = checked.rows(numbers) if isinstance(checked, Table) else checked[numbers]
            positives, weights = positives[numbers], weights[numbers]
            lists = None if lists is None else lists[numbers]
            if positives.all() or not positives.any():
                raise ValueError("y has one class only in the rows of weight above 0.")
        if isinstance(checked, np.ndarray) and np.isnan(checked).any():
            checked = self._with_names(checked)
        if isinstance(checked, Table):
            self.encoder_ = learned_encoding(checked, weights)
            if not isinstance(X, Table):  # whoever has a table tells of it
                _warn(checked.schema.notes)
            checked = self.encoder_.transform(checked)
        return LabelledRows(checked, positives, weights, lists, numbers).merged()

    def _checked(self, X: Any) -> Any:
        """Array, CSR matrix, or a table of columns that an encoder turns into numbers."""
        if issparse(X):
            return self._checked_csr(X, reset=True)
        self._is_sparse = False
        frame = None if isinstance(X, Table) else as_frame(X)
        if frame is not None or isinstance(X, Table):
            table = as_table(X)
            if frame is None or needs_encoding(table):
                if not table.is_held_sparse:
                    is_named = frame is None or table.names == frame.columns
                    keep_columns(self, len(table.names), table.names if is_named else None)
                return table
        check_room(X, type(self).__name__)
        numbers = validate_data(self, X, dtype=_FLOATS, ensure_all_finite="allow-nan")
        return np.asarray(numbers)

    def _with_names(self, numbers: NDArray[Any]) -> Table:
        """An array as a table, with the names of the columns in training."""
        return named_columns(numbers, self._column_names)

    def _encoded(self, X: Any) -> Any:
        """New rows as the numbers that the rankers take."""
        if issparse(X):
            return self._checked_csr(X, reset=False)
        encoder = self.encoder_
        if encoder is None:
            return np.asarray(validate_data(self, X, reset=False, dtype=_FLOATS))
        if isinstance(X, Table):
            return encoder.transform(X)
        if as_frame(X) is None:
            given: dict[str, Any] = {"dtype": _FLOATS, "ensure_all_finite": "allow-nan"}
            numbers = np.asarray(validate_data(self, X, reset=False, **given))
            return encoder.transform(self._with_names(numbers))
        table = as_table(X).read_by(encoder.schema)
        numbers = encoder.transform(table)
        _warn(encoder.misfits(table))
        return numbers

    def _checked_csr(self, X: Any, *, reset: bool) -> Any:
        """A sparse table checked; as a dense one where it is small, so that trees can take part."""
        checked = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=_FLOATS)
        if reset:
            self._is_sparse = math.prod(checked.shape) > _DENSE_CELLS
        if not self._is_sparse:
            return checked.toarray()
        checked = checked.copy()
        checked.sum_duplicates()
        return checked

    def _candidates(self, data: LabelledRows) -> list[Candidate]:
        positives = float(data.masses[data.positives].sum())
        rows = float(data.allowed(self.budget, self._size).sum())
        named = None if self.candidates is None else list(self.candidates)
        if named is None and not isinstance(data.X, np.ndarray):  # sparse rows
            named = [name for name in DEFAULT if name in LINEAR]
        given: dict[str, Any] = {
            "share_of_positives": rows / positives,
            "n_features": data.X.shape[1],
            "random_state": int(self.random_state),
        }
        found = family(named, **given)
        beside = list(self.compared)
        if beside:
            if {each.name for each in found} <= set(beside):
                raise ValueError(
                    f"compared={beside} names every candidate, so none is left to choose; take "
                    "one of them out of compared."
                )
            found += family(beside, **given)
        return found

    @property
    def _name_of_choice(self) -> str:
        """Name of the choice among all candidates in comparisons."""
        return BLEND if self.blend else SINGLE

    def _cross_fit(
        self, data: LabelledRows, candidates: list[Candidate], started: float, **calls: Any
    ) -> CrossFit | None:
        """Fit all candidates on the folds; None where the rows are too few to divide."""
        pool = data.sample(_JUDGED * self.max_rows, self.random_state)
        repeats = min(_MOST_REPEATS, math.ceil(_ROWS_OF_REPEATS / pool.n_rows))
        folds = pool.folds(self.n_folds, repeats, self.random_state)
        if not folds:
            return None
        if pool.n_rows > self.max_rows:
            learned = self.max_rows - self.max_rows // self.n_folds
            folds = [pool.thinned(fold, learned, self.random_state) for fold in folds]
        self.learned_rows_ = max(fold.train.size for fold in folds)
        deadline = None
        if self.time_limit is not None:
            # the rest is for the fits on all rows
            share = 0.7 if data.n_rows <= self.max_rows else 0.5
            deadline = started + share * self.time_limit
        return cross_fit(pool, candidates, folds, n_jobs=self.n_jobs, deadline=deadline, **calls)

    def _choices(self, cross: CrossFit, own: NDArray[np.bool_]) -> dict[str, Any]:
        """Functions that choose weights, for the blend (or the single best) and for each ranker."""
        names = np.array([member.candidate.name for member in cross.members])
        votes = np.array([RANKERS[name].votes for name in names[own]])
        choose = partial(blend_weights, votes=votes) if self.blend else single_best
        found = {self._name_of_choice: partial(self._weights, own, choose)}
        for name in dict.fromkeys(names.tolist()):
            found[name] = partial(self._weights, names == name, single_best)
        return found

    def _weights(
        self,
        members: NDArray[np.bool_],
        choose: Callable[[Floats, LabelledRows, Floats], Floats],
        scores: Floats,
        data: LabelledRows,
    ) -> Floats:
        few, data = data.some(self.max_rows, self.random_state)
        weights, scores = np.zeros(members.size), scores[members][:, few]
        weights[members] = choose(scores, data, data.allowed(self.budget, self._size))
        return weights

    def _preferred(self, found: RankerComparison, names: list[str]) -> str:
        """The blend, or the simplest ranker that loses no more hits than allowed."""
        shares = {name: found.hits[name].share for name in names}
        floor = (1.0 - self.max_loss) * max(shares.values()) - 1e-9
        if self.prefer == "simple":
            return next((n for n in RANKERS if shares.get(n, -1.0) >= floor), self._name_of_choice)
        return self._name_of_choice

    def _store_choice(self, found: RankerComparison, cross: CrossFit, weights: Floats) -> None:
        """Store what was chosen and the hits to expect of it."""
        self.best_candidate_ = BLEND
        if self._judged_as != BLEND:
            self.best_candidate_ = cross.members[int(np.argmax(weights))].candidate.name
        self.weights_ = {
            member.candidate.label: float(weight)
            for member, weight in zip(cross.members, weights, strict=True)
            if weight > 0
        }
        self.cv_results_ = cross.results(weights, cross.data.allowed(self.budget, self._size))
        self.promise_ = found.promise(self._judged_as)
        hits = found.hits[self._judged_as]
        self.hits_ = hits.promise()
        self.precision_ = Interval(*(each / hits.budget for each in self.hits_))

    def _fit_choice(
        self,
        cross: CrossFit,
        weights: Floats,
        data: LabelledRows,
        started: float,
        stream: RowStream | None,
    ) -> None:
        """Fit the chosen members and store the model."""
        if self.time_limit is not None:
            seconds = self._seconds_left(started)
            cross, n_rows = cross.fits_within(seconds, weights, data.n_rows, self.n_jobs)
            data = data.sample(n_rows, self.random_state)
        blend = Blend.of(cross, weights, self.n_jobs)
        rows = dict.fromkeys(range(len(self.weights_)), data.n_rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as in the fits on folds
            if stream is None:
                blend.fit(data.X, data.positives, **data.metadata())
            else:
                self._fit_on_stream(blend, stream, data, started)
                rows |= dict.fromkeys(blend.by_passes_, stream.n_rows)
        self.best_estimator_ = blend if self.best_candidate_ == BLEND else blend.rankers_[0]
        self.fitted_rows_ = dict(zip(self.weights_, rows.values(), strict=True))
        unseen = self.comparison_.scores[self._judged_as]  # type: ignore[union-attr]
        if stream is not None:
            for place in blend.by_passes_:
                at = int(np.flatnonzero(weights)[place])
                cross, change = cross.rescaled(at, blend.rankers_[place])
                unseen = unseen + weights[at] * change
        self._calibrate(cross, weights, unseen)

    def _fit_on_stream(
        self, blend: Blend, stream: RowStream, data: LabelledRows, started: float
    ) -> None:
        """Fit members that learn in passes on the stream, and the others on the rows in memory.

        With a time limit, all are fitted on the rows in memory first; what that took tells which of
        them can be fitted on all rows in the time that is left, those of the largest weights first.
        """
        labels = list(self.weights_)
        places = [
            labels.index(label)
            for label in sorted(labels, key=lambda label: -self.weights_[label])
            if RANKERS[label.split()[0]].is_streamed
        ]

        def in_time(seconds: float) -> bool:
            growth = stream.n_rows / data.n_rows
            needed = _PASSES * stream.seconds + _ON_DISK * growth * seconds
            return needed <= self._seconds_left(started)

        blend.fit_blocks(stream.blocks, data, places, None if self.time_limit is None else in_time)

    def _calibrate(self, cross: CrossFit, weights: Floats, unseen: Floats) -> None:
        """Store the out-of-fold scores of one list, on the scale of the fitted model."""
        if cross.data.groups is not None:
            return
        factors = weights * np.array([member.scale for member in cross.members])
        levels = np.array([member.level for member in cross.members])
        if isinstance(self.best_estimator_, Blend):
            scores = unseen + factors @ levels + float(self.best_estimator_.intercept_[0])
        else:
            (at,) = np.flatnonzero(weights)
            scores = unseen / (factors[at] or 1.0) + levels[at]
        positives, weights_of_rows = cross.data.positives, cross.data.weights
        masses = cross.data.masses
        if np.array_equal(masses, np.rint(masses)) and masses.sum() <= _MOST_COPIES:
            # A weight of 2 is the row twice, and rows without weights can be counted.
            copies = np.repeat(np.arange(masses.size), masses.astype(np.intp))
            scores, positives, weights_of_rows = scores[copies], positives[copies], None
        self.calibration_ = Calibration.of(
            scores, positives, sample_weight=weights_of_rows, is_exact=False
        )

    def _seconds_left(self, started: float) -> float:
        limit = math.inf if self.time_limit is None else float(self.time_limit)
        return limit - (time.monotonic() - started)

    def _keep_simplest(self, data: LabelledRows, first: Candidate) -> None:
        """Fit the first candidate where there are too few rows to choose."""
        self.best_candidate_, self.weights_ = first.name, {first.label: 1.0}
        self.cv_results_ = {}
        self.best_estimator_ = clone(first.estimator)
        self.best_estimator_.fit(data.X, data.positives, **data.metadata())
        self.fitted_rows_ = {first.label: data.n_rows}

    def _model_formula(self) -> Formula:
        check_is_fitted(self, "best_estimator_")
        plain = Encoding.of_numbers(self._column_names)
        return formula_of(self.best_estimator_, self.encoder_ or plain)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every row; higher is better."""
        check_is_fitted(self, "best_estimator_")
        parts, score = [X], self.best_estimator_.decision_function
        is_sparse = issparse(X)
        if is_sparse and not self._is_sparse:  # made dense, some rows at a time
            rows, step = X.tocsr(), max(1, _DENSE_CELLS // max(1, X.shape[1]))
            parts = [rows[at : at + step] for at in range(0, max(1, X.shape[0]), step)]
        return np.concatenate([score(self._encoded(part)) for part in parts])

    def verdict(self) -> str:
        """Describe the choice, its expected hits, and those of the alternative in one sentence."""
        check_is_fitted(self, "best_candidate_")
        found, chosen = self.comparison_, self.best_candidate_
        if found is None or self.hits_ is None:
            return f"Use {chosen}: there are too few rows to compare it with others."
        lists = "" if found.rows.groups is None else " of each list"
        mean, low, high = self.hits_
        words = (
            f"Use {'the blend' if chosen == BLEND else chosen}: expect {mean:.0f} of your "
            f"{found.in_list:,.0f}{lists} ({low:.0f} to {high:.0f})"
        )
        others = [name for name in RANKERS if name in found.scores and name != chosen]
        other = found.names[0] if self.prefer == "simple" else next(iter(others), chosen)
        if other in (chosen, SINGLE):
            return f"{words}.{self._caveat()}"
        which = "the best" if self.prefer == "simple" else "the simplest choice"
        is_close = found.rows_gained(self._judged_as, other).includes_zero
        doubt = ", too close to call on these rows" if is_close else ""
        words += f"; {which}, {other}, would find {found.expected(other).mean:.0f}{doubt}"
        return f"{words}.{self._caveat()}"

    def _caveat(self) -> str:
        """A note where the model was fitted on many more rows than those behind ``hits_``."""
        judged = self.learned_rows_ or 0
        fitted = max(getattr(self, "fitted_rows_", {}).values(), default=0)
        if fitted <= _MANY_MORE * judged:
            return ""
        return (
            f" This was measured on models of {judged:,} rows; the one fitted on {fitted:,} may "
            "find more."
        )

    def summary(self) -> dict[str, Any]:
        """The choice, its expected hits and those of the other rankers, as plain values."""
        check_is_fitted(self, "best_candidate_")
        found: dict[str, Any] = {"chosen": self.best_candidate_, "weights": dict(self.weights_)}
        found["verdict"] = self.verdict()
        if self.sampled_rows_ is not None:
            found["sampled_rows"] = self.sampled_rows_
            found["fitted_rows"] = dict(self.fitted_rows_)
        if self.comparison_ is None:
            return found
        found["hits"] = [float(value) for value in self.hits_ or ()]
        found["precision"] = [float(value) for value in self.precision_ or ()]
        found["list_size"] = self._size
        found["standings"] = [
            {"ranker": name, "hits": [float(value) for value in self.comparison_.expected(name)]}
            for name in self.comparison_.names
        ]
        return found

    def _check_parameters(self) -> None:
        check_budget("budget", self.budget)
        check_choice("prefer", self.prefer, ("best", "simple"))
        check_number("n_folds", self.n_folds, 2, whole=True)
        check_number("max_rows", self.max_rows, 30, whole=True)
        check_number("max_loss", self.max_loss, 0.0, 1.0)
        check_number("random_state", self.random_state, 0, whole=True)
        check_number("list_size", self.list_size, 1, whole=True, optional=True)
        check_number("time_limit", self.time_limit, 0.0, optional=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def _warn(notes: Iterable[str]) -> None:
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=3)


def _check_countable(weights: Floats | None) -> None:
    """Refuse weights that hits cannot be counted by: squares of their sum overflow or vanish."""
    if weights is None:
        return
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not _LIGHTEST <= total <= _HEAVIEST:
        raise ValueError(
            f"sample_weight adds up to {total:g}, but hits are counted by weight, which needs "
            f"{_LIGHTEST:g} to {_HEAVIEST:g}; multiply all weights by one number."
        )
