"""Cross-fitting of candidates, weights from out-of-fold scores, and the blend of them."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from toprank.kernels.threads import joblib_threads
from toprank.rankers.base import BaseRanker
from toprank.selection.candidates import Candidate
from toprank.selection.judging import Fold, LabelledRows, ListOrder, RankerComparison
from toprank.solvers.cuts import matching_intercept

if TYPE_CHECKING:
    from toprank.blocks import Blocks
    from toprank.models.formula import Formula, Summand

Floats = NDArray[np.float64]
Choose = Callable[[Floats, LabelledRows], Floats]
Journal = MutableMapping[str, dict[str, Any]]
Watch = Callable[[int, int], object]

# Most fits take longer than in proportion to their rows.
_GROWTH = 1.5
# Most rows that the cut of a blend is computed from.
_ROWS_OF_CUT = 50_000
# A slope outside says that the folds are too small to measure it.
_FLATTEST, _STEEPEST = 0.05, 20.0
# Settled on half of the tables of the quality experiment; docs/experiments/quality.md has what
# else was tried.
STEPS = 20
BUDGETS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
OF_BUDGET = 0.1


class Member(NamedTuple):
    """A candidate that was fitted on every fold.

    ``scores`` are those of every row by models that did not see it, on the logit scale; ``scale``
    is what brings a model's own scores to that scale, but for a constant: that is ``level``, the
    mean of a model's own scores over rows that it did not see.
    """

    candidate: Candidate
    scores: Floats
    scale: float
    seconds: float
    level: float = 0.0

    def as_on_folds(self) -> Member:
        """The same with the settings that it had on the folds."""
        candidate = self.candidate._replace(estimator=self.candidate.on_folds)
        return self._replace(candidate=candidate)


@dataclass(frozen=True)
class CrossFit:
    """Members with their out-of-fold scores; ``problems`` says why others are not among them."""

    data: LabelledRows
    folds: list[Fold]
    members: list[Member]
    problems: dict[str, str]

    @property
    def scores(self) -> Floats:
        """One row per member."""
        return np.array([member.scores for member in self.members])

    def seconds(self, number: int, n_rows: int) -> float:
        """Estimated seconds of a fit of a member on ``n_rows`` rows."""
        member = self.members[number]
        effort = member.candidate.effort(n_rows, self.folds[0].train.size)
        return _GROWTH * member.seconds * effort / len(self.folds)

    def results(self, weights: Floats, allowed: Floats) -> dict[str, NDArray[Any]]:
        """One entry per member, as in scikit-learn's ``cv_results_``."""
        ranked = [ListOrder(member.scores, self.data) for member in self.members]
        params = np.empty(len(ranked), dtype=object)
        params[:] = [member.candidate.params for member in self.members]
        return {
            "candidate": np.array([member.candidate.name for member in self.members], dtype=object),
            "params": params,
            "weight": weights,
            "precision": np.array([each.precision(allowed) for each in ranked]),
            "average_precision": np.array([each.average_precision() for each in ranked]),
            "seconds": np.array([member.seconds for member in self.members]),
        }

    def rescaled(self, number: int, model: Any) -> tuple[CrossFit, Floats]:
        """Update the level of a member fitted on all rows; return the change of its scores.

        Models of folds learn from far fewer rows, so that their scores lie closer together or
        further apart.
        """
        member, masses = self.members[number], self.data.masses
        scores = np.asarray(model.decision_function(self.data.X), dtype=np.float64)
        level = float(np.average(scores, weights=masses))
        squares = (member.scale * (scores - level)) ** 2, member.scores**2
        new, old = (math.sqrt(np.average(each, weights=masses)) for each in squares)
        members = list(self.members)
        members[number] = member._replace(level=level)
        factor = new / old if old > 0 else 1.0
        return replace(self, members=members), (factor - 1.0) * member.scores

    def fits_within(
        self, seconds: float, weights: Floats, n_rows: int, n_jobs: int | None
    ) -> tuple[CrossFit, int]:
        """Members and a number of rows whose fits in memory should end within ``seconds``.

        All rows where they can be fitted in time; else members with the settings that they had on
        the folds; else fewer and fewer rows, but not fewer than a fold was fitted on.
        """

        def needed(cross: CrossFit, n_rows: int) -> float:
            efforts = np.array(
                [cross.seconds(at, n_rows) for at in np.flatnonzero(weights).tolist()]
            )
            return float(max(efforts.sum() / joblib_threads(n_jobs), efforts.max()))

        cross, least = self, self.folds[0].train.size
        if needed(cross, n_rows) > seconds:
            cross = replace(cross, members=[member.as_on_folds() for member in cross.members])
        while needed(cross, n_rows) > seconds and n_rows > least:
            n_rows = max(3 * n_rows // 4, least)
        return cross, n_rows

    def parts(self) -> list[NDArray[np.intp]]:
        """The judged rows of each fold of the first repeat: together every row once."""
        found: list[NDArray[np.intp]] = []
        for fold in self.folds:
            if sum(part.size for part in found) == self.data.n_rows:
                break
            found.append(fold.test)
        return found


class _Fitted(NamedTuple):
    scores: Floats
    seconds: float
    problem: str = ""


@contextmanager
def _mapping_fits(n_jobs: int | None) -> Iterator[Callable[..., Iterator[Any]]]:
    """``map`` for fits, ``n_jobs`` at a time, each of which has one thread for linear algebra."""
    n_threads = joblib_threads(n_jobs)
    with threadpool_limits(1):
        if n_threads == 1:  # in the caller's thread, which Ctrl-C ends at once
            yield map
            return
        pool = ThreadPoolExecutor(n_threads)
        try:
            yield pool.map
        finally:
            pool.shutdown(cancel_futures=True)


def cross_fit(
    data: LabelledRows,
    candidates: Sequence[Candidate],
    folds: list[Fold],
    *,
    n_jobs: int | None = None,
    deadline: float | None = None,
    journal: Journal | None = None,
    watch: Watch | None = None,
) -> CrossFit:
    """Fit every candidate on every fold, and score the rows that it did not see.

    With a deadline, candidates are taken in order, and one that would not finish is left out; the
    first is always fitted. Fits in the journal are not done again. ``watch`` is called after each
    with the number of those done and of all. Each has one thread, so that ``n_jobs`` changes no
    result.
    """
    members: list[Member] = []
    problems: dict[str, str] = {}
    total, done = len(candidates) * len(folds), 0
    fit = partial(_fit_fold, data, folds, journal)
    with warnings.catch_warnings(), _mapping_fits(n_jobs) as run:
        # A setting that does not converge is judged by its list, like any other.
        warnings.simplefilter("ignore")
        numbers = range(len(folds))
        if deadline is None:
            results = iter(run(fit, *zip(*product(candidates, numbers), strict=True)))
        for candidate in candidates:
            if deadline is not None:
                if members and not _fits_in_time(data, candidate, folds, deadline, n_jobs):
                    problems[candidate.label] = "no time left"
                    continue
                results = iter(run(fit, repeat(candidate), numbers))
            fitted = []
            for result in islice(results, len(folds)):
                fitted.append(result)
                done += 1
                if watch is not None:
                    watch(done, total)
            problem = next((each.problem for each in fitted if each.problem), "")
            if problem:
                problems[candidate.label] = problem
            else:
                members.append(_on_logit_scale(data, candidate, folds, fitted))
    if not members:
        raise ValueError(next(iter(problems.values())))
    return CrossFit(data, folds, members, problems)


def _fit_fold(
    data: LabelledRows,
    folds: list[Fold],
    journal: Journal | None,
    candidate: Candidate,
    number: int,
) -> _Fitted:
    """Fit one candidate on one fold, or take its scores from a journal."""
    key = f"{candidate.label}/{number}"
    if journal is not None and key in journal:
        known = journal[key]
        return _Fitted(np.array(known["scores"]), known["seconds"], known["problem"])
    started, seconds = time.perf_counter(), 0.0
    fold, problem = folds[number], ""
    known_rows = data.rows(fold.train)
    if fold.weights is not None:
        known_rows = replace(known_rows, weights=fold.weights)
    scores = np.zeros(fold.test.size)
    try:
        model = clone(candidate.on_folds)
        model.fit(known_rows.X, known_rows.positives, **known_rows.metadata())
        seconds = time.perf_counter() - started
        scores = np.asarray(model.decision_function(data.X[fold.test]), dtype=np.float64)
        if not np.isfinite(scores).all():
            problem = f"{candidate.label} gives scores that are not finite."
    except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
        problem = str(error)
    if journal is not None:
        journal[key] = {"scores": scores.tolist(), "seconds": seconds, "problem": problem}
    return _Fitted(scores, seconds, problem)


def _fits_in_time(
    data: LabelledRows,
    candidate: Candidate,
    folds: list[Fold],
    deadline: float,
    n_jobs: int | None,
) -> bool:
    """Whether all folds of a candidate would be done in time.

    Fits on a tenth and on a twentieth of a fold tell what a row adds, and what a fit takes that
    has hardly any.
    """
    n_rows = folds[0].train.size
    sizes, took = [], []
    for size in dict.fromkeys(max(100, n_rows // share) for share in (10, 20)):
        started = time.monotonic()
        if started >= deadline:
            return False
        share = min(1.0, size / n_rows)
        train, test = (
            part[data.rows(part).some(math.ceil(share * part.size), 0)[0]]
            for part in (folds[0].train, folds[0].test)
        )
        _fit_fold(data, [Fold(train, test)], None, candidate, 0)
        sizes.append(train.size)
        took.append(time.monotonic() - started)
    is_line = sizes[0] > sizes[-1]  # few lists, or a short fold, may give one size twice
    per_row = (took[0] - took[1]) / (sizes[0] - sizes[1]) if is_line else took[0] / sizes[0]
    needed = took[0] + _GROWTH * max(0.0, per_row) * (n_rows - sizes[0])
    rounds = math.ceil(len(folds) / joblib_threads(n_jobs))
    return bool(time.monotonic() + needed * rounds < deadline)


def _on_logit_scale(
    data: LabelledRows, candidate: Candidate, folds: list[Fold], fitted: list[_Fitted]
) -> Member:
    """Centre and scale each fold's scores, then all by the slope of log-odds on them.

    Pushes know no absolute level, so folds are brought to the same mean and spread before they
    are pooled; with lists, to the same spread within lists.
    """
    pooled, counts = np.zeros(data.n_rows), np.zeros(data.n_rows)
    scales, levels = np.zeros(len(folds)), np.zeros(len(folds))
    centre = np.zeros(data.n_rows)
    for number, (fold, done) in enumerate(zip(folds, fitted, strict=True)):
        masses, codes = data.masses[fold.test], data.codes[fold.test]
        totals = np.maximum(np.bincount(codes, masses), 1e-300)
        means = np.bincount(codes, masses * done.scores) / totals
        levels[number] = mean = np.average(done.scores, weights=masses)
        spread = np.sqrt(np.average((done.scores - means[codes]) ** 2, weights=masses))
        scales[number] = 1.0 / spread if spread > 1e-12 * (1.0 + abs(mean)) else 0.0
        pooled[fold.test] += scales[number] * (done.scores - mean)
        centre[fold.test] += scales[number] * (means[codes] - mean)
        counts[fold.test] += 1.0
    pooled /= np.maximum(counts, 1.0)
    within = pooled - (centre / np.maximum(counts, 1.0) if data.groups is not None else 0.0)
    line = LogisticRegression().fit(within[:, None], data.positives, sample_weight=data.weights)
    slope = float(np.clip(line.coef_[0, 0], _FLATTEST, _STEEPEST))
    seconds = float(sum(each.seconds for each in fitted))
    scale, level = slope * float(scales.mean()), float(levels.mean())
    return Member(candidate, slope * pooled, scale, seconds, level)


def quality(scores: Floats, data: LabelledRows, allowed: Floats) -> float:
    """Average precision, plus a tenth of the mean precision at half to four times the budget.

    Precision at the budget alone changes with single rows, and choices by it follow luck. Rounded,
    so that equals stay equal whichever way sums are rounded.
    """
    ranked = ListOrder(scores, data)
    totals = ranked.ties.total(ranked.ties.weight)
    found = [ranked.precision(np.clip(allowed * by, 0.0, totals)) for by in BUDGETS]
    return round(ranked.average_precision() + OF_BUDGET * float(np.mean(found)), 9)


def blend_weights(
    scores: Floats, data: LabelledRows, allowed: Floats, votes: Floats | None = None
) -> Floats:
    """Greedy forward selection with replacement (Caruana and others 2004).

    ``scores`` has one row per member. Step after step the member is added, possibly again, that
    makes the blend best. ``votes`` are counts to begin with, for members that are good on most
    tables: they hold back the luck of small ones. Returns weights that sum to 1.
    """
    counts = np.zeros(len(scores)) if votes is None else votes.copy()
    blend = counts @ scores
    for _ in range(STEPS):
        tried = [quality(blend + member, data, allowed) for member in scores]
        best = int(np.argmax(tried))
        counts[best] += 1.0
        blend = blend + scores[best]
    return np.asarray(counts / counts.sum())


def single_best(scores: Floats, data: LabelledRows, allowed: Floats) -> Floats:
    """All weight on the member of the best quality, the first of equals."""
    tried = [quality(member, data, allowed) for member in scores]
    return np.asarray(np.eye(len(scores))[int(np.argmax(tried))])


def unseen_scores(cross: CrossFit, choose: Choose) -> Floats:
    """Scores of rows by weights that were chosen without their fold, for estimating hits.

    No fit is repeated. The members' scores of a row come from models that did not see it, and the
    weights from rows of the other folds.
    """
    scores, found = cross.scores, np.empty(cross.data.n_rows)
    for part in cross.parts():
        others = np.setdiff1d(np.arange(cross.data.n_rows), part)
        weights = choose(scores[:, others], cross.data.rows(others))
        found[part] = weights @ scores[:, part]
    return found


class Blend(BaseRanker):
    """A weighted sum of rankers' scores.

    Parameters
    ----------
    rankers : sequence of rankers
        Fitted by :meth:`fit` on all rows, by :meth:`fit_blocks` on all or on some.
    weights : sequence of float
        What each ranker's score is multiplied with.
    n_jobs : int or None, default=None
        Rankers that are fitted at the same time in memory, in threads; None is 1.

    Attributes
    ----------
    classes_ : array of the two labels
    rankers_ : list of fitted rankers
    factors_ : array, what each one's score is multiplied with
    by_passes_ : list of the places of those that learned by passes, after :meth:`fit_blocks`
    intercept_ : array of one number: as many rows score above 0 as were positive, of all rows or
        of 50,000 at random
    """

    def __init__(self, rankers: Any = (), weights: Any = (), n_jobs: int | None = None) -> None:
        self.rankers = rankers
        self.weights = weights
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        if len(self.rankers) != len(self.weights):
            raise ValueError(
                f"weights has {len(self.weights)} numbers, but there are {len(self.rankers)} "
                "rankers; give one for each."
            )

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit every ranker on all rows."""
        self._check_parameters()
        given = {"sample_weight": sample_weight, "groups": groups}
        given = {name: value for name, value in given.items() if value is not None}
        fits = self._fitted(self.rankers, X, y, given)
        return self._store([model for model, _ in fits], X, y, given)

    def fit_blocks(
        self,
        blocks: Blocks,
        rows: LabelledRows,
        places: Sequence[int],
        in_time: Callable[[float], bool] | None = None,
    ) -> Self:
        """Fit rankers by passes over blocks of rows, or on some of the rows in memory.

        Parameters
        ----------
        blocks : Blocks
            All rows.
        rows : LabelledRows
            Some of them, from which the other rankers learn and on which the cut is measured.
        places : sequence of int
            Rankers that learn from all rows, by their ``fit_blocks``, one after another.
        in_time : function of seconds, optional
            Where given, these too are fitted on ``rows`` first, and on all rows only if this
            function of the seconds that took is true.
        """
        self._check_parameters()
        some, n_rankers = (rows.X, rows.positives, rows.metadata()), len(self.rankers)
        first = [at for at in range(n_rankers) if in_time is not None or at not in places]
        fits = self._fitted([self.rankers[at] for at in first], *some)
        fitted = dict(zip(first, fits, strict=True))
        self.by_passes_ = []
        for at in places:
            if in_time is None or in_time(fitted[at][1]):
                fitted[at] = clone(self.rankers[at]).fit_blocks(blocks), 0.0
                self.by_passes_.append(at)
        return self._store([fitted[at][0] for at in range(n_rankers)], *some)

    def _fitted(
        self, rankers: Sequence[Any], X: Any, y: Any, given: dict[str, Any]
    ) -> list[tuple[Any, float]]:
        """Fit rankers in threads; return each with the seconds that its fit took."""

        def fit(ranker: Any) -> tuple[Any, float]:
            started = time.perf_counter()
            return clone(ranker).fit(X, y, **given), time.perf_counter() - started

        with _mapping_fits(self.n_jobs) as run:
            return list(run(fit, rankers))

    def _store(self, models: list[Any], X: Any, y: Any, given: dict[str, Any]) -> Self:
        """Store the rankers and a cut that predicts as many positives as there are."""
        self.rankers_, self.factors_ = models, np.array(self.weights, dtype=np.float64)
        self.classes_, self.n_features_in_ = models[0].classes_, models[0].n_features_in_
        self.intercept_ = np.zeros(1)
        rows: Any = slice(None)
        if X.shape[0] > _ROWS_OF_CUT:
            rows = np.random.default_rng(0).permutation(X.shape[0])[:_ROWS_OF_CUT]
        labels = np.asarray(y)[rows] == self.classes_[1]
        weights = given.get("sample_weight")
        masses = None if weights is None else np.asarray(weights, np.float64)[rows]
        self.intercept_ += matching_intercept(self.decision_function(X[rows]), labels, masses)
        return self

    @classmethod
    def of(cls, cross: CrossFit, weights: Floats, n_jobs: int | None = None) -> Self:
        """The members with weight, not fitted yet; they are fitted again, on all rows."""
        chosen = [(m, w) for m, w in zip(cross.members, weights, strict=True) if w > 0]
        return cls(
            [member.candidate.estimator for member, _ in chosen],
            [w * member.scale for member, w in chosen],
            n_jobs,
        )

    def _model_formula(self) -> Formula:
        return replace(super()._model_formula(), intercept=float(self.intercept_[0]))

    def _summands(self) -> list[Summand]:
        pairs = zip(self.factors_.tolist(), self.rankers_, strict=True)
        return [
            replace(each, factor=factor * each.factor)
            for factor, ranker in pairs
            for each in ranker._summands()  # noqa: SLF001
        ]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score every row; higher is better, above 0 is predicted positive."""
        check_is_fitted(self, "rankers_")
        scores = np.full(X.shape[0], float(self.intercept_[0]))
        for weight, model in zip(self.factors_, self.rankers_, strict=True):
            scores += weight * np.asarray(model.decision_function(X), dtype=np.float64)
        return scores


def compare(
    rankers: Mapping[str, Any],
    X: Any,
    y: NDArray[np.bool_],
    *,
    budget: float,
    n_folds: int = 5,
    seed: int = 0,
    watch: Watch | None = None,
) -> RankerComparison:
    """Fit every ranker on the same folds, and compare them on held-out rows.

    Parameters
    ----------
    rankers : mapping of names to unfitted rankers
    X : array of numbers
    y : array of bool
    budget : int or float
        Rows of the whole list that count, or below 1 their share.
    n_folds, seed : int
    watch : function of the fits done and of all fits
        Called after each, for a progress bar.
    """
    rows = LabelledRows(np.asarray(X), np.asarray(y, dtype=bool))
    folds = rows.folds(n_folds, 1, seed)
    if not folds:
        raise ValueError("y has too few rows of one class to be divided into folds.")
    candidates = [Candidate(name, {}, ranker) for name, ranker in rankers.items()]
    cross = cross_fit(rows, candidates, folds, watch=watch)
    scores = {member.candidate.name: member.scores for member in cross.members}
    return RankerComparison(rows=rows, scores=scores, budget=budget, n_folds=len(folds))
