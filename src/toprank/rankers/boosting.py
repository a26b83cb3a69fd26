"""What boosted rankers have in common: parameters, held-out rows, stages, the scorecard."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from toprank.inputs import check_choice, check_number
from toprank.kernels.threads import Threads, joblib_threads
from toprank.rankers.base import documented
from toprank.rankers.callbacks import Watch, with_callbacks
from toprank.rankers.held_out import HeldOut, HeldOutRows, hold_out
from toprank.rankers.supervised import LinearRanker, check_stopping, check_table
from toprank.solvers.base import Progress
from toprank.solvers.boosting import boost, state_on
from toprank.weak_rankers import Stumps, weak_rankers_from

if TYPE_CHECKING:
    from toprank.rankers.base import Estimator
    from toprank.solvers.boosting import Boosted, BoostMonitor
    from toprank.truth import Truth
    from toprank.weak_rankers import WeakRankers

WEAK_RANKERS = """
weak_rankers : {"stumps", "features"}, transformer, learner, functions or Stumps, default="stumps"
    What f is built from: thresholds on single features, which need no scaling and accept missing
    values (on the side that ranks better); features scaled to [0, 1]; the output columns of a
    transformer; a list of functions of the table; a classifier or regressor, fitted in every round
    to the current weights. ``Stumps(n_bins=64, missing="abstain")`` sets bins and missing values.
directions : {"both", "increasing"}, default="both"
    "increasing" allows positive weights only: a larger value never lowers the score.
"""

MAX_STEP = """
max_step : float or None, default=None
    Maximum step of a round. None takes the step of the paper; if no pair is in the wrong order,
    this step is infinite and is replaced by 15. A limit of 2 often ranks new rows better, because
    longer steps are based on very few pairs.
"""

EARLY_STOPPING = """
early_stopping : bool, default=False
    Hold out a share of the rows (of the lists, with ``groups``), and keep the round that ranks them
    best. Off by default, because small tables need every row.
scoring : str, scorer or None, default=None
    Metric for the held-out rows: a name of ``toprank.metrics.names()``, a scorer such as
    ``toprank.metrics.scorer("precision_at_k", k=100)``; None is the ROC AUC or, for grades, NDCG.
validation_fraction : float, default=0.1
    Share to hold out, as in scikit-learn.
n_iter_no_change : int, default=PATIENCE
    Rounds without a better score after which to stop; a fifth of the default rounds.
n_jobs : int or None, default=None
    Threads for stumps, as in scikit-learn (None is 1, -1 all). The model does not depend on it.
random_state : int, RandomState or None, default=None
    Seed of the rows held out.
verbose : int, default=0
    1 prints every tenth round, 2 every one.
"""


def shared_docs(patience: int) -> Callable[[Estimator], Estimator]:
    """Fill the parameters that boosted rankers share into a docstring."""
    stopping = EARLY_STOPPING.replace("PATIENCE", str(patience))
    return documented(weak_rankers=WEAK_RANKERS, max_step=MAX_STEP, early_stopping=stopping)


class BoostedPairsMixin:
    """``fit_pairs`` with a held-out list."""

    @with_callbacks
    def fit_pairs(
        self: Any, X: Any, pairs: ArrayLike, pair_weight: Any = None, validation: Any = None
    ) -> Any:
        """Fit on pairs of rows: row ``pairs[j, 0]`` should be above row ``pairs[j, 1]``.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            The rows that pairs refer to.
        pairs : array-like of shape (n_pairs, 2)
            Row numbers (better, worse), non-transitive ones included; a pair given twice counts
            twice. Memory grows with the pairs.
        pair_weight : array-like of shape (n_pairs,), optional
            Weight of each pair.
        validation : tuple (X, y) or (X, y, groups), optional
            A held-out list with labels or grades for early stopping.
        """
        return self._fit_pairs(X, pairs, pair_weight, validation=validation)


class BoostedListsMixin(BoostedPairsMixin):
    """``fit``, ``fit_grades`` and ``fit_pairs`` with a held-out list."""

    @with_callbacks
    def fit(
        self: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        validation: Any = None,
    ) -> Any:
        """Fit on a table and its labels.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in :meth:`PNormPush.fit`: table, labels of two classes, and optionally row weights
            and list ids. Stumps and trees take missing values.
        validation : tuple (X, y) or (X, y, groups), optional
            A held-out list; stops early as ``early_stopping`` does, with these rows.
        """
        return self._fit_labels(X, y, sample_weight, groups, validation=validation)

    @with_callbacks
    def fit_grades(
        self: Any,
        X: Any,
        grades: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        validation: Any = None,
    ) -> Any:
        """Learn from grades: of two rows of one list the one with the higher grade belongs above.

        The other arguments are those of :meth:`fit`. Memory is O(rows); no pair is formed. Grades
        name no classes, so there is no ``predict`` afterwards.
        """
        return self._fit_grades(X, grades, sample_weight, groups, validation=validation)


class OneListMixin:
    """``fit`` with a held-out list, for what knows no lists."""

    @with_callbacks
    def fit(
        self: Any,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        validation: Any = None,
    ) -> Any:
        """Learn from a table and its labels, in one list.

        The arguments are those of :meth:`RankBoost.fit`.
        """
        return self._fit_labels(X, y, sample_weight, None, validation=validation)


@dataclass(kw_only=True, eq=False, repr=False)
class BoostedRanker(LinearRanker):
    """A weighted sum of weak rankers, one per round.

    A subclass says what is different: :meth:`_state`, where it starts, :meth:`_rules` and
    :meth:`_boost`, how it goes on. Scores are f(x) = Σ weights_·h(x) + intercept_. The intercept of
    a round is that of Corollary 13, ½·ln(F₊/F₋).
    """

    weak_rankers: Any = "stumps"
    directions: Literal["both", "increasing"] = "both"
    max_iter: int = 100
    tol: float | None = 1e-8
    early_stopping: bool = False
    scoring: Any = None
    validation_fraction: float = 0.1
    n_iter_no_change: int = 20
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    _coefficient = 1.0  # what a step of 1 adds to the score of a row with h = 1

    # learning -----------------------------------------------------------------------------

    def _fit(self, table: Any, truth: Truth, given: dict[str, Any], **options: Any) -> Self:
        validation = options.get("validation")
        table, truth, held_out = hold_out(self, table, truth, given["y"], validation)
        with Threads(joblib_threads(self.n_jobs)) as threads:
            family = self._fitted_family(table, threads)
            with closing(RoundMonitor(self, family, held_out, truth.classes, given)) as monitor:
                run = self._boost(self._state(family, table, truth, threads), monitor)
        if monitor.held_out is not None:
            run.truncate(monitor.held_out.best)
        self._store_run(family, truth.classes, run)
        if monitor.held_out is not None:
            self.validation_path_ = np.array(monitor.held_out.path)
        warn_if_equal(self, stacklevel=6)
        return self

    def _state(self, family: WeakRankers, table: Any, truth: Truth, threads: Threads) -> Any:
        """The state to start from."""
        return state_on(family, table, truth, threads=threads)

    def _boost(self, state: Any, monitor: BoostMonitor) -> Boosted:
        """Take the rounds, and give each its intercept."""
        run = boost(state, monitor=monitor, **self._rules())
        run.intercepts = [
            0.5 * (positives - negatives) for positives, negatives in run.class_losses
        ]
        return run

    def _rules(self) -> dict[str, Any]:
        """Arguments of :func:`toprank.solvers.boosting.boost` that the parameters give."""
        return {
            "both": self.directions == "both",
            "max_iter": self.max_iter,
            "tol": self.tol,
        }

    def _check_new_table(self, X: Any) -> Any:
        return check_table(self, X, self._family(), reset=False)

    def _store_run(self, family: WeakRankers, classes: NDArray[Any] | None, run: Boosted) -> None:
        """Store what the rounds gave."""
        for name in ("classes_", "validation_path_"):
            self.__dict__.pop(name, None)
        if classes is not None:
            self.classes_ = classes
        self.weak_rankers_ = family
        self.weights_ = self._weights(run, family)
        self.selected_ = np.array(run.indices, dtype=np.intp)
        self.steps_ = self._coefficient * np.array(run.steps)
        self.intercepts_ = np.array(run.intercepts)
        self.intercept_ = self.intercepts_[-1:] if run.n_iter else np.zeros(1)
        self.n_iter_ = run.n_iter
        self.objective_path_ = np.array(run.path)
        self.converged_ = run.status in ("converged", "separated")

    def _weights(self, run: Boosted, family: WeakRankers) -> NDArray[np.float64]:
        """Weights of the weak rankers after some rounds; a constant classifier is none of them."""
        n_weak = family.n_weak_
        return self._coefficient * run.weights(n_weak + 1)[:n_weak]

    # using --------------------------------------------------------------------------------

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Scores after each round, the last ones those of :meth:`decision_function`.

        Examples
        --------
        >>> from toprank import RankBoost
        >>> model = RankBoost(max_iter=3).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> [scores.round(2).tolist() for scores in model.staged_decision_function([[0.0], [3.0]])]
        [...]
        """
        check_is_fitted(self, "weights_")
        table = check_table(self, X, self.weak_rankers_, reset=False)
        design = self.weak_rankers_.design(table)
        scores = np.zeros(table.shape[0])
        for index, step, intercept in zip(
            self.selected_, self.steps_, self.intercepts_, strict=True
        ):
            if index < design.n_weak:
                scores += step * design.column(int(index))
            yield scores + intercept

    def to_frame(self) -> Any:
        """Scorecard: one line per weak ranker, sorted by weight.

        Stumps have a ``threshold`` and ``missing`` (the share of the weight for a missing value: 0,
        1/2 or 1). A row's score is the sum of the weights of all lines that are true for it. The
        last line is the intercept. Needs pandas.
        """
        check_is_fitted(self, "weights_")
        pandas = _pandas()
        features = _check_feature_names_in(self, None)
        names = self.weak_rankers_.names(features)
        chosen = np.flatnonzero(self.weights_)
        chosen = chosen[np.argsort(-np.abs(self.weights_[chosen]), kind="stable")]
        table: dict[str, list[Any]] = {
            "weak_ranker": [*(names[index] for index in chosen), "(intercept)"]
        }
        if isinstance(self.weak_rankers_, Stumps):
            stumps = [self.weak_rankers_.stump(int(index)) for index in chosen]
            table["feature"] = [*(str(features[stump.column]) for stump in stumps), ""]
            table["threshold"] = [*(stump.threshold for stump in stumps), np.nan]
            table["missing"] = [*(stump.missing for stump in stumps), np.nan]
        rounds = np.bincount(self.selected_, minlength=self.weights_.size)
        table["weight"] = [*self.weights_[chosen].tolist(), float(self.intercept_[0])]
        table["rounds"] = [*rounds[chosen].tolist(), 0]
        return pandas.DataFrame(table)

    # parameters ---------------------------------------------------------------------------

    def _family(self) -> WeakRankers:
        """Stumps learn the side of missing values."""
        if isinstance(self.weak_rankers, str) and self.weak_rankers == "stumps":
            return Stumps(missing="learned")
        return weak_rankers_from(self.weak_rankers, self.max_iter)

    def _check_parameters(self) -> None:
        check_stopping(self.tol, self.max_iter)
        check_number("n_iter_no_change", self.n_iter_no_change, 1, whole=True)
        check_number("validation_fraction", self.validation_fraction, 0.0, 1.0)
        check_choice("directions", self.directions, ("both", "increasing"))


@dataclass(kw_only=True, eq=False, repr=False)
class ExponentialRanker(BoostedRanker):
    """Minimises an exponential loss, which may have no finite minimum and gives probabilities."""

    max_step: float | None = None

    def _rules(self) -> dict[str, Any]:
        return {"max_step": self.max_step, **super()._rules()}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("max_step", self.max_step, 0.0, inside=True, optional=True)

    @property
    def _slope(self) -> float:
        return 2.0

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Give the probability of each class: P(y=1|x) = 1/(1 + e^{-2·decision_function(x)}).

        Exact for a saturated model (Corollary 13); wrap the ranker in CalibratedClassifierCV
        where the weak rankers are few or the rounds many.
        """
        return self._probabilities(X)


class RoundMonitor:
    """Called after each round: scores held-out rows, tells callbacks, and asks whether to stop."""

    def __init__(
        self,
        model: BoostedRanker,
        family: WeakRankers,
        held_out: HeldOutRows | None,
        classes: NDArray[Any] | None,
        given: dict[str, Any],
    ) -> None:
        self._model = model
        self._family = family
        self.held_out = None
        if held_out is not None:
            self._held_design = family.design(held_out.X)
            self.held_out = HeldOut(model, held_out, classes)
        self._watch = Watch(model, model.max_iter, model.verbose, self._attributes, given)
        self._is_watched = bool(model.verbose or getattr(model, "_skl_callbacks", None))

    def _attributes(self, weights: NDArray[np.float64]) -> dict[str, Any]:
        return {"weak_rankers_": self._family, "weights_": weights, "intercept_": np.zeros(1)}

    def __call__(self, run: Boosted) -> bool:
        stop = self.held_out is not None and self.held_out.after(self._change(run))
        if self._is_watched:
            weights = self._model._weights(run, self._family)  # noqa: SLF001
            stop = self._watch(Progress(run.n_iter, run.path[-1], weights)) or stop
        return stop

    def _change(self, run: Boosted) -> Any:
        """What the last round adds to the scores of the held-out rows."""
        index = run.indices[-1]
        if index >= self._held_design.n_weak:
            return 0.0
        step = self._model._coefficient * run.steps[-1]  # noqa: SLF001
        return step * self._held_design.column(index)

    def close(self) -> None:
        """Tell callbacks that the fit has ended."""
        self._watch.close()


def warn_if_equal(model: Any, stacklevel: int) -> None:
    """Warn where a model of weak rankers tells no two rows apart."""
    if not np.any(model.weights_):
        warnings.warn(
            f"{type(model).__name__}: no weak ranker improved the ranking, so all rows get the "
            "same score; check that X has columns that are not constant and go along with y.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def _pandas() -> Any:
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError(
            "to_frame needs pandas, which is not installed; install it (pip install pandas) or "
            "read weak_rankers_, weights_ and intercept_."
        ) from error
