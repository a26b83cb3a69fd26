"""What a scoring function is built from: weak rankers h with values in [0, 1]."""

from toprank.weak_rankers.base import Design, WeakRankers
from toprank.weak_rankers.custom import CustomWeakRankers, WeakLearner, is_learner
from toprank.weak_rankers.features import Features
from toprank.weak_rankers.stumps import Stumps

__all__ = [
    "CustomWeakRankers",
    "Design",
    "Features",
    "Stumps",
    "WeakLearner",
    "WeakRankers",
    "weak_rankers_from",
]


def weak_rankers_from(choice: object, n_rounds: int = 100) -> WeakRankers:
    """Turn the ``weak_rankers`` argument of a ranker into a family that can be fitted.

    A learner is fitted in each of ``n_rounds`` rounds.
    """
    if isinstance(choice, WeakLearner):
        return WeakLearner(choice.estimator, n_rounds)
    if isinstance(choice, WeakRankers):
        return choice.copy()
    if choice == "features":
        return Features()
    if choice == "stumps":
        return Stumps()
    return WeakLearner(choice, n_rounds) if is_learner(choice) else CustomWeakRankers(choice)
