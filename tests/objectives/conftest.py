"""The one list of all objectives: every test that asks for a ``case`` runs on each of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.objectives.naive import Truth, largest_height, push_risk, reverse_height_risk
from toprank.objectives import Price, Push, ir_push, pnorm_push

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

LOSSES = {
    "exponential": lambda z: np.exp(-z),
    "logistic": lambda z: np.logaddexp(0.0, -z),
    "hinge": lambda z: np.maximum(0.0, 1.0 - z),
    "squared_hinge": lambda z: np.maximum(0.0, 1.0 - z) ** 2,
}
PRICES = {"identity": lambda u: u, "exponential": np.exp, "log1p": np.log1p}
COSH = Price(np.cosh, np.sinh, np.cosh)


@dataclass(frozen=True)
class Case:
    """An objective and what is known of it."""

    objective: Any
    loss: str
    price: float | str | Price
    focus: str = "top"
    bottom_weight: float = 1.0

    def __str__(self) -> str:
        price = "cosh" if isinstance(self.price, Price) else self.price
        return f"{type(self.objective).__name__}-{self.loss}-{price}-{self.focus}"

    @property
    def has_kinks(self) -> bool:
        return "hinge" in self.loss

    @property
    def is_power(self) -> bool:
        return isinstance(self.price, float) or self.price == "identity"

    @property
    def is_largest(self) -> bool:
        return isinstance(self.price, float) and math.isinf(self.price)

    @property
    def reach(self) -> float:
        """How far scores may spread before the number R itself overflows."""
        if self.price == "exponential" or isinstance(self.price, Price):
            return 0.5
        return 40.0 if self.loss == "exponential" else 200.0

    def price_of(self) -> Callable[[Any], Any]:
        if isinstance(self.price, Price):
            return self.price.value
        if isinstance(self.price, str):
            return PRICES[self.price]
        return lambda u: u**self.price

    def naive_risk(self, scores: Any, truth: Truth) -> float:
        loss = LOSSES[self.loss]
        tops = [priced for priced in ("worse", "better") if self._prices(priced)]
        if self.is_largest:
            return max(largest_height(scores, truth, loss=loss, priced=p) for p in tops)
        total = 0.0
        if "worse" in tops:
            total += push_risk(scores, truth, loss=loss, price=self.price_of())
        if "better" in tops:
            constant = self.bottom_weight if self.focus == "both" else 1.0
            total += constant * reverse_height_risk(scores, truth, loss=loss, price=self.price_of())
        return total

    def value_of(self, risk: float, truth: Truth) -> float:
        """Value that belongs to a risk, as the docstring of Push has it."""
        if self.is_power:
            p = 1.0 if self.price == "identity" or self.is_largest else self.price
            if self.loss == "exponential":
                return math.log(risk) / p
            return risk ** (1.0 / p)
        if self.price == "exponential":
            return math.log(risk)
        ones = Case(self.objective, "hinge", 1.0, self.focus, self.bottom_weight)
        return risk / _priced_weight(ones, truth)

    def _prices(self, priced: str) -> bool:
        return self.focus == "both" or (self.focus == "top") == (priced == "worse")


def _priced_weight(case: Case, truth: Truth) -> float:
    """Σ w over the priced rows: a price of 1 whatever the height."""
    counting = Case(
        case.objective, "hinge", Price(np.ones_like, np.zeros_like), case.focus, case.bottom_weight
    )
    return counting.naive_risk(np.zeros(truth.grades.size), truth)


def _general(loss: str, price: Any, focus: str = "top", bottom_weight: float = 1.0) -> Case:
    objective = Push(loss=loss, price=price, focus=focus, bottom_weight=bottom_weight)
    return Case(objective, loss, price, focus, bottom_weight)


CASES = [
    *[
        Case(pnorm_push(p, focus=focus, bottom_weight=c), "exponential", p, focus, c)
        for p, focus, c in [
            (1.0, "top", 1.0),
            (2.5, "top", 1.0),
            (8.0, "bottom", 1.0),
            (3.0, "both", 0.3),
            (math.inf, "top", 1.0),
            (math.inf, "both", 2.0),
        ]
    ],
    Case(ir_push(), "exponential", "log1p", "bottom"),
    *[_general(loss, "identity") for loss in LOSSES],
    *[_general(loss, 1.5, "both", 0.3) for loss in LOSSES],
    *[_general(loss, 4.0) for loss in LOSSES],
    *[_general(loss, 8.0, "bottom") for loss in LOSSES],
    *[_general(loss, math.inf) for loss in LOSSES],
    *[_general(loss, "exponential", "both", 2.0) for loss in LOSSES],
    *[_general(loss, "log1p", "bottom") for loss in LOSSES],
    *[_general(loss, COSH) for loss in LOSSES],
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", CASES, ids=str)
