"""Successive halving: many settings on few rows, few settings on many."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from toprank.selection.splits import split_error, split_interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from toprank.selection.candidates import Candidate
    from toprank.selection.splits import Fold, LabelledTable

__all__ = ["Choice", "Halving", "Trial"]

# A third of the settings goes on to three times the rows. Fewer rows or positives than these
# would compare luck.
_FACTOR = 3
_LEAST_ROWS, _LEAST_POSITIVES = 600, 60
_FINALISTS = 6
_EARLY_SPLITS = 2


class Trial(NamedTuple):
    """One setting on the splits of one rung."""

    candidate: Candidate
    rung: int
    n_rows: int
    n_train: int
    n_test: int
    precision: NDArray[np.float64]
    average: NDArray[np.float64]
    seconds: float
    problem: str = ""

    @property
    def merit(self) -> tuple[float, float]:
        """What trials are ordered by: mean precision at the budget, then average precision."""
        # Rounded, so that equal means stay equal whichever way sums are rounded.
        return round(float(self.precision.mean()), 9), round(float(self.average.mean()), 9)


class Choice(NamedTuple):
    """The chosen setting and all trials that led to it."""

    candidate: Candidate
    trials: list[Trial]


@dataclass(frozen=True)
class Halving:
    """How a choice is made: splits of the last rung, share of test rows, most rows, seed, jobs."""

    n_splits: int = 10
    test_size: float = 1 / 3
    max_rows: int = 10_000
    seed: int = 0
    n_jobs: int | None = None

    def choose(
        self, data: LabelledTable, candidates: list[Candidate], tick: Callable[[], object]
    ) -> Choice:
        """Try all, keep a third of them for three times the rows, and so on; then choose.

        On the last rung the one-standard-error rule decides: of all whose mean precision is
        within one standard error of the best (of the differences, split by split), the simplest.
        """
        pool = data.sample(self.max_rows, self.seed)
        rungs = self.rungs(pool, len(candidates))
        alive, trials = list(candidates), []
        latest: list[Trial] = []
        for number, (n_rows, n_kept) in enumerate(rungs):
            part = pool.sample(n_rows, self.seed + number)
            is_last = number == len(rungs) - 1
            n_splits = self.n_splits if is_last else min(_EARLY_SPLITS, self.n_splits)
            splits = part.splits(n_splits, self.test_size, self.seed + 1)
            # Every rung draws its own rows, so the shares are of the whole list.
            folds = [part.fold(train, test, data.size) for train, test in splits]
            latest = self._tried(alive, folds, number, part.n_rows, tick)
            trials += latest
            _raise_if_all_failed(latest)
            ranked = sorted(latest, key=lambda trial: trial.merit, reverse=True)
            alive = [trial.candidate for trial in ranked[:n_kept]]
        return Choice(simplest_of_the_best(latest).candidate, trials)

    def rungs(self, data: LabelledTable, n_candidates: int) -> list[tuple[int, int]]:
        """Rows of each rung, and how many settings leave it."""
        share = max(float(data.positives.mean()), 1e-9)
        least = max(_LEAST_ROWS, math.ceil(_LEAST_POSITIVES / share))
        found: list[tuple[int, int]] = []
        rows, alive = data.n_rows, n_candidates
        steps = 0
        while alive > _FINALISTS and rows // _FACTOR ** (steps + 1) >= least:
            alive = max(_FINALISTS, math.ceil(alive / _FACTOR))
            steps += 1
        alive = n_candidates
        for step in range(steps, 0, -1):
            alive = max(_FINALISTS, math.ceil(alive / _FACTOR))
            found.append((rows // _FACTOR**step, alive))
        if alive > _FINALISTS:  # too few rows to divide: the splits are what is few
            found.append((rows, _FINALISTS))
        return [*found, (rows, 1)]

    def n_fits(self, data: LabelledTable, n_candidates: int) -> int:
        """How many fits :meth:`choose` will do, for a progress bar."""
        pool_rows = min(self.max_rows, data.n_rows)
        pool = data if pool_rows == data.n_rows else data.sample(pool_rows, self.seed)
        alive, total = n_candidates, 0
        rungs = self.rungs(pool, n_candidates)
        for number, (_, n_kept) in enumerate(rungs):
            is_last = number == len(rungs) - 1
            total += alive * (self.n_splits if is_last else min(_EARLY_SPLITS, self.n_splits))
            alive = n_kept
        return total

    def _tried(
        self,
        candidates: list[Candidate],
        folds: list[Fold],
        rung: int,
        n_rows: int,
        tick: Callable[[], object],
    ) -> list[Trial]:
        tasks = [(candidate, fold) for candidate in candidates for fold in folds]
        if self.n_jobs in (None, 1):
            results = []
            for candidate, fold in tasks:
                results.append(fit_and_judge(candidate.estimator, fold))
                tick()
        else:
            stream = Parallel(n_jobs=self.n_jobs, return_as="generator")(
                delayed(fit_and_judge)(candidate.estimator, fold) for candidate, fold in tasks
            )
            results = []
            for result in stream:
                results.append(result)
                tick()
        trials = []
        for place, candidate in enumerate(candidates):
            mine = results[place * len(folds) : (place + 1) * len(folds)]
            problems = [each[3] for each in mine if each[3]]
            trials.append(
                Trial(
                    candidate,
                    rung,
                    n_rows,
                    folds[0].y_train.size,
                    folds[0].y_test.size,
                    np.array([each[0] for each in mine]),
                    np.array([each[1] for each in mine]),
                    float(np.mean([each[2] for each in mine])),
                    problems[0] if problems else "",
                )
            )
        return trials


def fit_and_judge(estimator: Any, fold: Fold) -> tuple[float, float, float, str]:
    """Precision and average precision on the fold's test rows, seconds, and what went wrong."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        # A setting that does not converge is judged by its list, like any other.
        warnings.simplefilter("ignore")
        try:
            model = clone(estimator).fit(fold.X_train, fold.y_train, **fold.given)
            at_budget, average = fold.judge(model.decision_function(fold.X_test))
        except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
            return -math.inf, -math.inf, time.perf_counter() - started, str(error)
    return at_budget, average, time.perf_counter() - started, ""


def _raise_if_all_failed(trials: list[Trial]) -> None:
    if all(trial.problem for trial in trials):
        raise ValueError(trials[0].problem)


def simplest_of_the_best(trials: list[Trial]) -> Trial:
    """The one-standard-error rule, on differences taken split by split."""
    sound = [trial for trial in trials if not trial.problem]
    best = max(sound, key=lambda trial: trial.merit)

    def is_close(trial: Trial) -> bool:
        gaps = best.precision - trial.precision
        error = split_error(gaps, n_train=best.n_train, n_test=best.n_test)
        # Rounding must not decide between two that are equal.
        return bool(gaps.mean() <= (error if math.isfinite(error) else 0.0) + 1e-9)

    return min(filter(is_close, sound), key=lambda trial: trial.candidate.simplicity)


def as_results(trials: list[Trial]) -> dict[str, NDArray[Any]]:
    """Trials as columns, in the manner of scikit-learn's ``cv_results_``."""
    spans = [
        split_interval(trial.precision, n_train=trial.n_train, n_test=trial.n_test)
        if not trial.problem
        else (-math.inf,) * 3
        for trial in trials
    ]
    columns: dict[str, list[Any]] = {
        "candidate": [trial.candidate.name for trial in trials],
        "params": [trial.candidate.params for trial in trials],
        "rung": [trial.rung for trial in trials],
        "n_rows": [trial.n_rows for trial in trials],
        "n_splits": [trial.precision.size for trial in trials],
        "mean_test_score": [span[0] for span in spans],
        "low_test_score": [span[1] for span in spans],
        "high_test_score": [span[2] for span in spans],
        "mean_average_precision": [float(trial.average.mean()) for trial in trials],
        "mean_fit_time": [trial.seconds for trial in trials],
        "problem": [trial.problem for trial in trials],
        "split_test_scores": [trial.precision for trial in trials],
    }
    found: dict[str, NDArray[Any]] = {}
    for name, values in columns.items():
        array = np.empty(len(values), dtype=object)
        array[:] = values
        is_plain = name not in ("params", "split_test_scores", "candidate", "problem")
        found[name] = np.array(values) if is_plain else array
    return found
