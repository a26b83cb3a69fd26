"""AdaBoost.MH and AdaBoost.MR: which labels a row has, and which of them first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from toprank.inputs import as_weights, check_choice, check_number, log_scale, scaled_weights
from toprank.kernels.threads import Threads, joblib_threads
from toprank.metrics.ranked import places_in_rows
from toprank.rankers.base import LabelSets, documented
from toprank.rankers.boosting import warn_if_equal
from toprank.rankers.supervised import check_stopping, check_table
from toprank.solvers.boosting import boost
from toprank.solvers.cuts import matching_intercept
from toprank.solvers.label_boosting import LabelState
from toprank.weak_rankers import Stumps

if TYPE_CHECKING:
    from toprank.solvers.boosting import Boosted
    from toprank.solvers.label_boosting import Form

PARAMETERS = """
max_iter : int, default=1000
    Maximum number of rounds; each improves one label only, so there are more than in RankBoost.
n_bins : int, default=255
    Maximum number of bins per feature (2 to 255).
tol : float or None, default=1e-8
    Stop when no stump has a larger rate, or when all is right and the loss is below e^-30 of its
    start; None stops at ``max_iter`` only.
max_step : float or None, default=None
    Longest step of a round, as in :class:`RankBoost`.
n_jobs : int or None, default=None
    Threads. The model does not depend on it.
verbose : int, default=0
    1 prints every tenth round, 2 every one.
"""


@dataclass(kw_only=True, eq=False, repr=False)
class LabelBooster(LabelSets, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Boosted stumps on (row, label); a subclass names the loss."""

    max_iter: int = 1000
    n_bins: int = 255
    tol: float | None = 1e-8
    max_step: float | None = None
    n_jobs: int | None = None
    verbose: int = 0

    @property
    def _form(self) -> Form:
        """The loss: AdaBoost.MR's form, or AdaBoost.MH."""
        form: Form = getattr(self, "form", "mh")
        return form

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit on a table and its labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, pandas, polars or pyarrow table of numbers; missing values are allowed.
        y : array-like of shape (n_rows, n_labels) or (n_rows,)
            Indicators of the labels of each row, or one class per row.
        sample_weight : array-like of shape (n_rows,), optional
            A row of weight 2 counts as two rows, a row of weight 0 is ignored.
        """
        self._check_parameters()
        family = Stumps(self.n_bins, missing="learned")
        table = check_table(self, X, family, reset=True)
        labels = self._check_labels(y, table)
        self._set_classes(labels)
        if labels.ndim == 1:
            labels = np.equal.outer(labels, self.classes_)
        relevant = np.ascontiguousarray(labels.T)
        given = as_weights(sample_weight, table.shape[0])
        weights = None if given is None else scaled_weights(given)
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            table, relevant, weights = table[kept], relevant[:, kept], weights[kept]
        if relevant.all() or not relevant.any():
            raise ValueError(
                "y gives every row all labels or none, or one class only; there is nothing to rank."
            )
        if self._form == "within" and not (relevant.any(axis=0) & ~relevant.all(axis=0)).any():
            raise ValueError(
                "y gives every row all labels or none, so no row has two labels to compare; "
                "use form='global' or check y."
            )
        with Threads(joblib_threads(self.n_jobs)) as threads:
            design = family.fit(table, threads).design(table, threads=threads)
            state = LabelState(design, relevant, weights, self._form)
            if given is not None and weights is not None:
                power = 2 if self._form == "global" else 1  # pair weights are products
                state.log_unit = power * log_scale(given, weights)
            run = boost(
                state,
                max_iter=self.max_iter,
                tol=self.tol,
                max_step=self.max_step,
                monitor=self._say_progress,
            )
        self.weak_rankers_ = family
        self._store_run(run, relevant.shape[0], design.n_weak)
        self.cut_ = self._cut(state, relevant, weights)
        if not design.n_weak:
            warn_if_equal(self, stacklevel=3)
        return self

    def _cut(self, state: LabelState, relevant: NDArray[np.bool_], weights: Any) -> float:
        """The score above which a label is predicted."""
        if self._form == "mh":
            return 0.0
        if self._form == "global":
            positives, negatives = state.class_losses()
            return -0.5 * (positives - negatives)
        repeated = None if weights is None else np.tile(weights, relevant.shape[0])
        return -matching_intercept(state.scores.ravel(), relevant.ravel(), repeated)

    def _say_progress(self, run: Boosted) -> bool:
        if self.verbose and (self.verbose > 1 or run.n_iter % 10 == 0):
            print(f"iteration {run.n_iter:>5}   objective {run.path[-1]:.10g}")  # noqa: T201
        return False

    def _store_run(self, run: Boosted, n_labels: int, n_weak: int) -> None:
        factor = 2.0 if self._form == "mh" else 1.0
        self.weights_ = np.zeros((n_labels, n_weak))
        self.intercepts_ = np.zeros(n_labels)
        for index, step in zip(run.indices, run.steps, strict=True):
            label, stump = divmod(index, n_weak + 1)
            if stump == n_weak:
                self.intercepts_[label] += step
                continue
            self.weights_[label, stump] += factor * step
            self.intercepts_[label] += (1.0 - factor) * step
        self.n_iter_ = run.n_iter
        self.converged_ = run.status in ("converged", "separated")
        self.objective_path_ = np.array(run.path)

    def label_scores(self, X: Any) -> NDArray[np.float64]:
        """Score every label of every row, shape (n_rows, n_labels); higher is more relevant."""
        check_is_fitted(self, "weights_")
        table = check_table(self, X, self.weak_rankers_, reset=False)
        design = self.weak_rankers_.design(table)
        scores = [design.scores(weights) for weights in self.weights_]
        return np.column_stack(scores) + self.intercepts_

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of the labels; with two classes, how much higher the second one is."""
        return self._decisions(self.label_scores(X))

    def rank_labels(self, X: Any) -> NDArray[np.intp]:
        """Rank of every label in its row: 1 is the most relevant; ties in the order of labels."""
        return places_in_rows(self.label_scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Indicators of the labels with a score above ``cut_``, or the best class of each row."""
        scores = self.label_scores(X)
        if self._one_class_per_row:
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        return (scores > self.cut_).astype(int)

    def _check_parameters(self) -> None:
        check_stopping(self.tol, self.max_iter)
        check_number("max_step", self.max_step, 0.0, inside=True, optional=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.allow_nan = True
        return tags


@documented(parameters=PARAMETERS)
@dataclass(kw_only=True, eq=False, repr=False)
class AdaBoostMH(LabelBooster):
    """Multilabel boosting that classifies every pair (row, label) as relevant or not.

    Minimises F = Σ_il e^{-y_il·f(x_i, l)} with stumps and constants on single labels: a round
    takes the label and stump that lower it most (Schapire and Singer 1999). Its F-skew vanishes,
    so it also minimises the global form of :class:`AdaBoostMR`. A round costs O(rows·features)
    to update one label and O(labels·stumps) to choose.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : the classes, or the numbers of the labels
    weak_rankers_ : the fitted stumps
    weights_, intercepts_ : of shapes (n_labels, n_stumps) and (n_labels,)
    cut_ : labels with a score above it are predicted
    n_iter_, converged_, objective_path_ : how the fit went

    Examples
    --------
    >>> from toprank import AdaBoostMH
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[1, 0], [1, 0], [1, 1], [0, 1]]
    >>> AdaBoostMH(max_iter=10).fit(X, Y).rank_labels([[0.0], [3.0]])
    array([[1, 2],
           [2, 1]])
    """


@documented(parameters=PARAMETERS)
@dataclass(eq=False, repr=False)
class AdaBoostMR(LabelBooster):
    """Multilabel boosting that ranks relevant labels above irrelevant ones.

    Minimises Σ e^{-(f(x_i, l) - f(x_k, l'))} over relevant (i, l) and irrelevant (k, l'), for pairs
    of one row or of all rows, with stumps and constants on single labels.

    Parameters
    ----------
    form : {"within", "global"}, default="within"
        "within" compares the labels of one row, as Schapire and Singer do; this is label ranking.
        "global" compares relevant labels of any row with irrelevant ones of any row, the form to
        which the equivalence with :class:`AdaBoostMH` applies (Rudin and Schapire 2009,
        section 5.1). A round costs O(rows·features) for "global" and that times the number of
        labels for "within".
    {parameters}

    Attributes
    ----------
    classes_, weak_rankers_, weights_, intercepts_, n_iter_, converged_, objective_path_ : as in \
:class:`AdaBoostMH`
    cut_ : labels with a score above it are predicted: Corollary 13's for "global"; for "within", \
where theory gives none, the one that predicts as many labels as there were

    Examples
    --------
    >>> from toprank import AdaBoostMR
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[1, 0], [1, 0], [1, 1], [0, 1]]
    >>> AdaBoostMR(max_iter=10).fit(X, Y).rank_labels([[0.0], [3.0]])
    array([[1, 2],
           [2, 1]])
    """

    form: Literal["within", "global"] = "within"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("form", self.form, ("within", "global"))
