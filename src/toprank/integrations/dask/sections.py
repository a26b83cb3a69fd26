"""Judging a list of which every machine holds a section, by the formulas of one machine.

A judge (the formula of a metric) sees the list through four questions: the sum over all ties,
the sum over the ties above each one and over those below it, the largest value. A section answers
from its own ties and what the others hold. The judge runs on the client, over the first tie alone;
each time it asks, it is run over every section as far as the same question, and their answers are
put together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from dask import compute, delayed

from toprank.metrics.driver import DECLARATIONS
from toprank.metrics.ranked import Ranked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from toprank.integrations.dask.chunks import Totals
    from toprank.metrics.ranked import Floats

__all__ = ["judge_sections"]


class _Question(Exception):  # noqa: N818
    """A question that the other sections have not answered yet, and this section's part of it."""

    def __init__(self, kind: str, part: float) -> None:
        super().__init__(kind, part)
        self.kind, self.part = kind, part


class _Section(Ranked):
    """A section of a list that knows what the others answered so far."""

    def knowing(self, answers: Iterable[float], totals: Totals) -> _Section:
        self.answers, self.totals = iter(answers), totals
        return self

    def _ask(self, kind: str, part: float) -> float:
        for answer in self.answers:
            return answer
        raise _Question(kind, part)

    def above(self, values: Floats) -> Floats:
        return self._ask("above", values.sum()) + super().above(values)

    def below(self, values: Floats) -> Floats:
        return self._ask("below", values.sum()) + super().below(values)

    def scaled(self) -> _Section:
        return _Section(*super().scaled()).knowing(self.answers, self.totals)

    def total(self, values: Floats) -> Floats:
        return np.array([self._ask("total", values.sum())])

    def total_of(self, values: Floats, live: NDArray[np.intp]) -> Floats:  # noqa: ARG002
        return self.total(values)

    def largest(self, values: Floats) -> Floats:
        return np.array([self._ask("largest", values.max())])

    def best(self) -> Ranked:
        """The best order, which every section can compute from the totals alone."""
        falling = np.flatnonzero(self.totals.weights)[::-1]
        weight = self.totals.weights[falling]
        return Ranked(*self)._replace(gain=self.totals.worths[falling] * weight, weight=weight)


_TOGETHER: dict[str, Callable[[Floats], Floats]] = {
    "above": lambda parts: np.append(0.0, np.cumsum(parts))[:-1],
    "below": lambda parts: np.append(0.0, np.cumsum(parts[::-1]))[-2::-1],
    "total": lambda parts: np.full(parts.size, parts.sum()),
    "largest": lambda parts: np.full(parts.size, parts.max()),
}


def judge_sections(
    name: str, ranges: Sequence[Any], totals: Totals, options: dict[str, Any]
) -> Floats:
    """The metric of the list whose ranked ranges these are, from the top."""
    judge = DECLARATIONS[name].judge
    [first] = compute(delayed(_first_tie)(ranges[0]))
    answers: list[Floats] = []
    while True:
        section = _Section(*first).knowing([given[0] for given in answers], totals)
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                return judge(section, **options)
        except _Question as question:
            parts = compute(
                *(
                    delayed(_part)(name, ranked, [given[at] for given in answers], totals, options)
                    for at, ranked in enumerate(ranges)
                )
            )
            answers.append(_TOGETHER[question.kind](np.array(parts)))


def _first_tie(ranked: Ranked) -> Ranked:
    others = None if ranked.others is None else ranked.others[:1]
    return ranked._replace(gain=ranked.gain[:1], weight=ranked.weight[:1], others=others)


def _part(
    name: str, ranked: Ranked, answers: list[float], totals: Totals, options: dict[str, Any]
) -> float:
    """What a range adds to the first question that nobody has answered."""
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            DECLARATIONS[name].judge(_Section(*ranked).knowing(answers, totals), **options)
    except _Question as question:
        return question.part
    raise AssertionError(f"{name} asked more of the first tie than of its range.")
