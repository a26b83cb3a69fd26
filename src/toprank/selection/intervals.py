"""Intervals of means over repeated splits, which share their rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from scipy.stats import t as student

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Interval", "split_error", "split_interval"]


class Interval(NamedTuple):
    """A mean and the interval around it."""

    mean: float
    low: float
    high: float

    @property
    def includes_zero(self) -> bool:
        """Whether the data leave open which way the difference goes."""
        return self.low <= 0.0 <= self.high


def split_error(values: NDArray[np.float64], *, n_train: int, n_test: int) -> float:
    """Standard error of a mean over random splits, widened because splits share rows.

    ::

        sqrt((1/n + n_test/n_train)·s²)        instead of sqrt(s²/n)

    (Nadeau and Bengio 2003): the values of two splits are not independent, and more splits of
    the same rows do not make more data. Infinite for one split.
    """
    if values.size < 2:
        return math.inf
    return math.sqrt((1.0 / values.size + n_test / n_train) * float(values.var(ddof=1)))


def split_interval(
    values: NDArray[np.float64], *, n_train: int, n_test: int, level: float = 0.95
) -> Interval:
    """Student's interval of a mean over random splits, with :func:`split_error`.

    Examples
    --------
    >>> import numpy as np
    >>> split_interval(np.array([1.0, 2.0, 3.0]), n_train=50, n_test=50)
    Interval(mean=2.0, low=-2.968..., high=6.968...)
    """
    mean = float(values.mean())
    error = split_error(values, n_train=n_train, n_test=n_test)
    if math.isinf(error):
        return Interval(mean, -math.inf, math.inf)
    reach = float(student.ppf(0.5 + level / 2.0, values.size - 1)) * error
    return Interval(mean, mean - reach, mean + reach)
