"""A stream with a daily budget: which rows to open at once, so that the day's budget is spent.

Of the rows that the rest of the day will bring, as many should be opened as the budget has left::

    share = budget left / rows still to come         cutoff = that quantile of recent scores

The share is taken anew for every row or batch. As the day ends it grows to 1, so that the budget
is spent; once it is spent, nothing is opened. Of a batch, that share is opened in any case, rounded
down: today's rows may all be worse than those of the days before.
"""

from __future__ import annotations

import errno
import json
import math
import os
import time
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.inputs import as_scores, check_number

# Scores that the cutoff is taken from: enough for a share of 1 %, few enough to follow a drift.
RECENT = 2_000
# How much the last day counts in what the next one is expected to bring.
NEWEST = 0.3
# Days whose number of batches is remembered: after as many as on any of them, the day is over.
DAYS = 7
# Seconds that a run waits for another that has the state; it needs milliseconds.
PATIENCE = 10.0
# What earlier days are worth against this one, in days, where the time of day is known.
PRIOR = 0.2
# What is counted in the course of a day.
COUNTS = ("n_seen", "n_opened", "n_batches")


class DailyBudget:
    """Selects rows of a stream to open: nearly as many per day as the budget, and never more.

    Parameters
    ----------
    budget : int
        Rows that can be opened in a day.
    rows_per_day : float or None, default=None
        Expected rows per day; afterwards this number is learned. None opens the first rows of the
        first day, unless :meth:`open_rows` gets the share of the day that has passed.

    Examples
    --------
    >>> from toprank.shortlists import DailyBudget
    >>> stream = DailyBudget(2, rows_per_day=6)
    >>> opened = [stream.open_rows([score], day="Monday")[0] for score in (5, 1, 4, 2, 3, 6)]
    >>> sum(map(int, opened))
    2
    """

    def __init__(self, budget: int, *, rows_per_day: float | None = None) -> None:
        check_number("budget", budget, 1, whole=True)
        if rows_per_day is not None:
            check_number("rows_per_day", rows_per_day, 1)
        self.budget = int(budget)
        self.rows_per_day = rows_per_day
        self.deviation = 0.0
        self.day: str | None = None
        self.n_seen = self.n_opened = self.n_batches = 0
        self.batches: list[int] = []
        self._recent: deque[float] = deque()
        self._sorted: list[float] = []

    @property
    def left(self) -> int:
        """What is left of the day's budget."""
        return max(self.budget - self.n_opened, 0)

    def open_rows(
        self, scores: ArrayLike, *, day: object, elapsed: float | None = None
    ) -> NDArray[np.bool_]:
        """Decide which rows of a batch (of one or more rows) to open.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
        day : str, date or number
            A new day has a new budget; a past day cannot be used again.
        elapsed : float or None, default=None
            Share of the day that has passed, if rows come evenly over the day. It predicts the
            number of rows still to come much better than the counts of earlier days.

        Returns
        -------
        array of bool, true for rows to open
        """
        if elapsed is not None:
            check_number("elapsed", elapsed, 0.0, 1.0)
        new = as_scores(scores).astype(np.float64)
        if str(day) != self.day:
            self._begin(str(day))
        self._remember(new)
        self.n_batches += new.size > 0
        to_come = self._to_come(new.size, elapsed)
        self.n_seen += new.size
        opened = np.zeros(new.size, dtype=bool)
        if not self.left or not new.size:
            return opened
        # Whole rows are opened, so that the share is rounded to a count of recent rows.
        place = math.ceil(self.left / to_come * len(self._sorted) - 1e-9)
        cutoff = self._sorted[-min(place, len(self._sorted))]
        best = np.argsort(-new, kind="stable")[: self.left]
        own_share = math.floor(self.left / to_come * new.size + 1e-9)
        opened[best[(new[best] >= cutoff) | (np.arange(best.size) < own_share)]] = True
        self.n_opened += int(np.count_nonzero(opened))
        return opened

    def _begin(self, day: str) -> None:
        """Learn from the day that is over what a day brings, and begin another."""
        if self.day is not None and self.n_seen:
            if self.rows_per_day is None:
                self.rows_per_day = float(self.n_seen)
            error = abs(self.n_seen - self.rows_per_day)
            self.deviation += NEWEST * (error - self.deviation)
            self.rows_per_day += NEWEST * (self.n_seen - self.rows_per_day)
            self.batches = [*self.batches, self.n_batches][-DAYS:]
        self.day, self.n_seen, self.n_opened, self.n_batches = day, 0, 0, 0

    def _to_come(self, n_new: int, elapsed: float | None) -> float:
        """Rows of the rest of the day, these among them; rather too few than too many."""
        if elapsed is not None:
            known = self.n_seen + n_new
            rate = known / max(elapsed, 1e-9)
            if self.rows_per_day is not None:
                rate = (PRIOR * self.rows_per_day + known) / (PRIOR + elapsed)
            later = rate * (1.0 - elapsed)
            later -= math.sqrt(later)
        elif self.rows_per_day is not None and self.n_batches < max(self.batches, default=np.inf):
            later = self.rows_per_day - self.deviation - self.n_seen - n_new
        else:
            later = 0.0
        return n_new + max(later, 0.0)

    def _remember(self, scores: NDArray[np.float64]) -> None:
        for score in scores[-RECENT:].tolist():
            self._recent.append(score)
            insort(self._sorted, score)
            if len(self._recent) > RECENT:
                del self._sorted[bisect_left(self._sorted, self._recent.popleft())]

    def state(self) -> dict[str, Any]:
        """The whole state, as plain values."""
        kept = ("budget", "rows_per_day", "deviation", "day", *COUNTS, "batches")
        state: dict[str, Any] = {name: getattr(self, name) for name in kept}
        return {"toprank_daily_budget": 1, **state, "recent": list(self._recent)}

    @classmethod
    @contextmanager
    def kept(cls, path: str | os.PathLike[str], budget: int) -> Iterator[DailyBudget]:
        """Load the state, or begin one, and save it at the end; other runs wait meanwhile.

        Two runs that read the same state would both spend what is left. If the block raises, the
        old state stays.

        >>> import tempfile
        >>> from toprank.shortlists import DailyBudget
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for _ in range(2):
        ...         with DailyBudget.kept(f"{folder}/state.json", budget=2) as stream:
        ...             print(stream.open_rows([3, 1, 2], day="Monday").tolist())
        [True, False, True]
        [False, False, False]
        """
        lock = Path(f"{os.fspath(path)}.lock")
        _claim(lock)
        try:
            stream = cls.load(path) if Path(path).exists() else cls(budget)
            check_number("budget", budget, 1, whole=True)
            stream.budget = int(budget)
            yield stream
            stream.save(path)
        finally:
            lock.unlink(missing_ok=True)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state as JSON; an interrupted write leaves the old file unchanged."""
        file = Path(path)
        beside = file.with_name(f"{file.name}.new")
        beside.write_text(json.dumps(self.state()), encoding="utf-8")
        beside.replace(file)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DailyBudget:
        """Read a state that :meth:`save` has written, and go on where it was taken."""
        try:
            state = json.loads(Path(path).read_text(encoding="utf-8"))
            check_number("toprank_daily_budget", state["toprank_daily_budget"], 1, 1, whole=True)
            made = cls(state["budget"], rows_per_day=state["rows_per_day"])
            check_number("deviation", state["deviation"], 0.0)
            for name in COUNTS:
                check_number(name, state[name], 0, whole=True)
                setattr(made, name, state[name])
            for number in state["batches"]:
                check_number("batches", number, 0, whole=True)
            made.day = None if state["day"] is None else str(state["day"])
            recent = as_scores(np.array(state["recent"], dtype=np.float64), name="recent")
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"this is not the state of a daily budget ({error}); delete the file to begin anew."
            ) from None
        made.deviation, made.batches = float(state["deviation"]), [*state["batches"]][-DAYS:]
        made._remember(recent.astype(np.float64))
        return made


def _claim(lock: Path) -> None:
    """Make the file, which only one run can; wait for a run that has it."""
    if not lock.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(lock.parent))
    until = time.monotonic() + PATIENCE
    while True:
        try:
            lock.touch(exist_ok=False)
        except FileExistsError:
            if time.monotonic() < until:
                time.sleep(0.02)
                continue
            raise ValueError(
                f"another run is using the state of the daily budget; if there is none, delete "
                f"{str(lock)!r}."
            ) from None
        return
