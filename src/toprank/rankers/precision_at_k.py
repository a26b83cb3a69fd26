"""Precision at k as a scikit-learn estimator (Kar, Narasimhan and Jain 2015)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from toprank.guarantees.certificates import GapCertificate
from toprank.guarantees.precision import StreamCertificate, certify_mistakes, reach_of
from toprank.objectives.precision import PrecisionAtK, PrecisionCriterion, are_whole, as_top
from toprank.rankers.base import BaseRanker
from toprank.rankers.callbacks import CallbackSupportMixin, Watch, with_callbacks
from toprank.rankers.cuts import matching_intercept
from toprank.rankers.precision_inputs import (
    Learning,
    check_parameters,
    chunk_rows,
    hold_out,
    learning_rows,
)
from toprank.rankers.tables import check_table
from toprank.solvers.cutting_plane import minimize_by_cutting_planes
from toprank.solvers.mini_batch import MiniBatches, Patience, Stream
from toprank.solvers.perceptron import perceptron_aim
from toprank.solvers.sgd import sgd_aim
from toprank.weak_rankers.standard import StandardFeatures

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from toprank.kernels.mini_batches import Aim
    from toprank.objectives.precision import Surrogate
    from toprank.solvers import Solution

__all__ = ["PrecisionAtKRanker"]

# The paper's 25 passes; a cutting plane is a pass too, but hundreds are usual.
PASSES, PLANES = 25, 1000


def _is_stochastic(ranker: Any) -> bool:
    if ranker.solver == "cutting_plane":
        raise AttributeError(
            "partial_fit needs solver='sgd' or 'perceptron'; cutting planes need the whole table."
        )
    return True


class PrecisionAtKRanker(CallbackSupportMixin, BaseRanker):  # type: ignore[misc]
    """Ranks so that the k best rows hold as few negatives as possible.

    Minimises a surrogate of precision at k, divided by k, of a linear scorer, plus
    (alpha/2)·‖w‖². Stochastic solvers look at mini-batches, each with its own top k = ⌈κ·n₊⌉ for
    the n₊ positives in it; a pass costs O(rows·features), and :meth:`partial_fit` learns from
    streams of any length. Features are centred and divided by their standard deviation,
    implicitly: the table is not copied.

    A mini-batch without a positive, or without a negative, has nothing to rank and is passed over
    (its surrogate is 0), which keeps all mistake bounds; choose ``batch_size`` so that most
    batches hold a few positives.

    Parameters
    ----------
    k : int or float, default=0.25
        Length of the top: the paper's κ, a share in (0, 1] of the positives, rounded up (0.25 is
        the paper's), or an int, a number of rows of the table given to ``fit``. With ``groups``
        it is a number of rows of each list, in ``partial_fit`` of each mini-batch; elsewhere an
        int is turned into the share k/n₊, so that a mini-batch has its part of the top.
    surrogate : {"avg", "max", "ramp", "struct"}, default="avg"
        See :class:`toprank.objectives.PrecisionAtK`. "avg" is the tightest convex upper bound;
        "ramp" is tighter and not convex; "struct" is SVMPerf's, with "sgd" it is 1PMB.
    solver : {"sgd", "perceptron", "cutting_plane"}, default="sgd"
        Algorithm 3; Algorithms 1 ("avg") and 2 ("max"); or cutting planes with a duality gap
        ("avg", "max" and "struct", which are convex).
    batch_size : int, default=500
        Rows of a mini-batch, the paper's; with ``groups`` every list is a batch instead.
    max_iter : int or None, default=None
        Most passes over the table. None is 25 for the stochastic solvers, the paper's, and 1000
        for cutting planes, which stop by their gap.
    tol : float or None, default=1e-3
        "cutting_plane" stops at this relative duality gap. The others stop when the mean
        surrogate of a pass (with ``early_stopping`` the validation loss) has not fallen by this,
        relatively, for ``n_iter_no_change`` passes. None never stops before ``max_iter``.
    alpha : float, default=1e-4
        Weight of the penalty, for "sgd" and "cutting_plane" (above 0 there). Small beside a
        surrogate that is 1 at w = 0, yet enough to give separable data an optimum.
    step : float, default=1
        Scale of the steps of "sgd", η_t = step/√(Σ‖g_τ‖²). The first step has this length; on
        standardised features solutions have norms of 1 to 10, and 1 did well for all surrogates.
    radius : float or None, default=None
        "sgd" keeps ‖w‖ within it. None is √(2/alpha), which holds the optimum of avg and max.
    average : bool, default=True
        Give the average of the models after each batch (Algorithm 3), not the last one (which
        Algorithms 1 and 2 return; there the average is much steadier on rows that no model
        separates). "cutting_plane" has no use for it.
    early_stopping : bool, default=False
        Keep ``validation_fraction`` of the rows (with ``groups``: of the lists) aside, stop by
        prec@k on them, and keep the pass that did best there. Off, so that all rows are used.
    validation_fraction : float, default=0.1
        Share kept aside by ``early_stopping``.
    n_iter_no_change : int, default=5
        Passes without a gain before a stochastic solver stops, enough to outlast the noise.
    keep_ensemble : bool, default=False
        Let ``fit`` keep the coefficients after every batch in ``ensemble_`` (8 bytes a feature
        and batch).
    warm_start : bool, default=False
        Go on from the last fit: its model, its step lengths and its scaling of the features.
    random_state : int, RandomState or None, default=None
        Shuffles the rows before every pass (and chooses the rows kept aside).
    verbose : int, default=0
        1 prints every tenth pass, 2 every one.

    Attributes
    ----------
    classes_ : array of the two labels; ``classes_[1]`` is the positive one
    coef_, intercept_ : of shapes (1, n_features) and (1,), in the units of the table
    weak_rankers_, weights_ : the fitted scaling of the features and their weights w
    n_iter_, converged_, objective_path_ : how the fit went. For stochastic solvers the path has
        one entry a pass, the mean over its batches, each judged before the model learned from it
    certificate_ : :class:`~toprank.guarantees.StreamCertificate` ("sgd"),
        :class:`~toprank.guarantees.MistakeCertificate` ("perceptron", Theorems 7 and 9 on this
        run; in ``partial_fit`` the rows are gone, so there it has no bound), or
        :class:`~toprank.guarantees.GapCertificate` ("cutting_plane")
    ensemble_ : of shape (n_batches, n_features), the models w¹ … w^T of Theorem 13, in the units
        of the table, where ``keep_ensemble`` asked for them

    Examples
    --------
    >>> from toprank import PrecisionAtKRanker
    >>> from toprank.datasets import load_digits_eights
    >>> X, y = load_digits_eights(return_X_y=True)
    >>> model = PrecisionAtKRanker(k=40, random_state=0).fit(X[:1000], y[:1000])
    >>> int(y[1000:][model.top(X[1000:], 40)].sum())
    39
    """

    certificate_: StreamCertificate | GapCertificate
    _stream: Stream

    def __init__(
        self,
        k: float = 0.25,
        *,
        surrogate: Surrogate = "avg",
        solver: Literal["sgd", "perceptron", "cutting_plane"] = "sgd",
        batch_size: int = 500,
        max_iter: int | None = None,
        tol: float | None = 1e-3,
        alpha: float = 1e-4,
        step: float = 1.0,
        radius: float | None = None,
        average: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        keep_ensemble: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.surrogate = surrogate
        self.solver = solver
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.alpha = alpha
        self.step = step
        self.radius = radius
        self.average = average
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.keep_ensemble = keep_ensemble
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from a table and its labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, CSR matrix, pandas, polars or pyarrow table of numbers.
        y : array-like of shape (n_rows,)
            Two classes; ``classes_[1]``, the larger label, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            Weight 2 is the row twice, weight 0 no row.
        groups : array-like of shape (n_rows,), optional
            List ids: every list has its own top k, and is one mini-batch.
        """
        check_parameters(self)
        table = check_table(self, X, StandardFeatures(), reset=True)
        self.classes_, learning = learning_rows(table, y, sample_weight, groups, self.k)
        is_warm = self.warm_start and getattr(self, "weights_", np.empty(0)).size == table.shape[1]
        if not is_warm:
            self.weak_rankers_ = self._scaling(learning)
        watch = Watch(
            self,
            max_iter=self._passes(),
            verbose=self.verbose,
            learned=lambda weights: self._attributes(weights, learning),
            data={"X": X, "y": y, "metadata": learning.metadata},
        )
        try:
            if self.solver == "cutting_plane":
                self._fit_by_planes(learning, watch, is_warm)
            else:
                self._fit_by_batches(learning, watch, is_warm)
        finally:
            watch.close()
        return self

    def _scaling(self, learning: Learning) -> StandardFeatures:
        names = getattr(self, "feature_names_in_", None)
        return StandardFeatures().fit(learning.rows.X, learning.rows.weights, names=names)

    def _passes(self) -> int:
        if self.max_iter is not None:
            return self.max_iter
        return PLANES if self.solver == "cutting_plane" else PASSES

    def _fit_by_planes(self, learning: Learning, watch: Watch, is_warm: bool) -> None:
        rows = learning.rows
        criterion = PrecisionAtK(self.k, self.surrogate).on(
            rows.positives, sample_weight=rows.weights, groups=learning.groups
        )
        solution = minimize_by_cutting_planes(
            self.weak_rankers_.design(rows.X),
            criterion,
            float(self.alpha),
            weights=self.weights_ if is_warm else None,
            max_iter=self._passes(),
            tol=self.tol,
            monitor=watch,
        )
        self._keep(self._attributes(solution.weights, learning), solution)
        self.__dict__.pop("_stream", None)  # a stream that goes on from here begins with this model
        self.certificate_ = GapCertificate(solution.lower, solution.upper)
        complaint = solution.complaint()
        if complaint is None and not solution.weights.any():
            complaint = (
                f"the surrogate {self.surrogate!r} is lowest at w = 0, where every row has the "
                "same score: its margin condition is too far from these rows. Use surrogate="
                "'ramp', another k, or a stochastic solver, whose path to 0 still ranks."
            )
        if complaint is not None and self.tol is not None:
            warnings.warn(f"{type(self).__name__}: {complaint}", ConvergenceWarning, stacklevel=4)

    def _fit_by_batches(self, learning: Learning, watch: Watch, is_warm: bool) -> None:
        rng = check_random_state(self.random_state)
        k, kept, judge = self._share(learning), learning, None
        if self.early_stopping:
            kept, aside = hold_out(learning, self.validation_fraction, rng)
            judge = self._judge(k, aside)
        batches = MiniBatches(kept.rows, self.batch_size, int(rng.randint(2**31 - 1)))
        ensemble: list[NDArray[np.float64]] | None = [] if self.keep_ensemble else None
        stream = self._stream_on(k, kept, is_warm)
        solution = stream.fit(
            kept.rows,
            batches,
            max_iter=self._passes(),
            patience=Patience(self.tol, self.n_iter_no_change, judge),
            monitor=watch,
            ensemble=ensemble,
        )
        if not stream.tally.n_batches:
            raise ValueError(
                f"none of the {stream.tally.n_skipped} mini-batches holds a positive and a "
                f"negative row; raise batch_size (now {self.batch_size}) or check groups."
            )
        self._keep(self._attributes(solution.weights, learning), solution)
        if ensemble is not None:
            self.ensemble_ = np.concatenate(ensemble)
        self._certify(kept, batches, solution.n_iter, is_warm)

    def _judge(self, k: float, aside: Learning) -> Callable[[NDArray[np.float64]], float]:
        """Share of negatives in the top k of the rows kept aside, as a function of the weights."""
        rows = aside.rows
        criterion = PrecisionCriterion(k, self.surrogate, rows.positives, rows.weights, rows.lists)
        design = self.weak_rankers_.design(rows.X)
        return lambda weights: criterion.loss(design.scores(weights))

    def _share(self, learning: Learning) -> float:
        """What a batch of these rows has as its top: k itself, or its share of the positives."""
        amount, is_share = as_top(self.k)
        rows = learning.rows
        if is_share or rows.lists is not None:
            return self.k
        counts = rows.positives if rows.weights is None else rows.weights[rows.positives]
        most = float(counts.sum())
        if amount > most:
            raise ValueError(
                f"k={self.k} is more than the positives: there are {most:g}; pass a smaller k, "
                "or a share of the positives in (0, 1]."
            )
        return amount / most

    def _aim(self, k: float, learning: Learning) -> Aim:
        whole = are_whole(learning.rows.weights)
        if self.solver == "perceptron":
            return perceptron_aim(k, self.surrogate, whole=whole, average=self.average)
        return sgd_aim(
            k,
            self.surrogate,
            whole=whole,
            alpha=self.alpha,
            radius=self.radius,
            step=self.step,
            average=self.average,
        )

    def _stream_on(self, k: float, learning: Learning, is_warm: bool) -> Stream:
        """Go on with the stream of the last fit, or begin one."""
        aim = self._aim(k, learning)
        if is_warm and hasattr(self, "_stream"):
            self._stream.aim = aim
        else:
            weights = getattr(self, "weights_", None) if is_warm else None
            self._stream = Stream(aim, self.weak_rankers_.low_, self.weak_rankers_.span_, weights)
        return self._stream

    def _certify(
        self, learning: Learning, batches: MiniBatches, n_passes: int, is_warm: bool
    ) -> None:
        """Say what the run has shown; a run that went on from another has its batches no more."""
        stream = self._stream
        self.certificate_ = StreamCertificate.of(stream.tally)
        if self.solver == "perceptron" and not is_warm:
            family, X = self.weak_rankers_, learning.rows.X
            self.certificate_ = certify_mistakes(
                stream.aim,
                stream.tally,
                learning.rows,
                batches,
                n_passes,
                scores=family.design(X).scores(self.weights_),
                norm=float(np.linalg.norm(self.weights_)),
                reach=reach_of(X, family.low_, family.span_),
            )

    @available_if(_is_stochastic)
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from the next rows of a stream, in their order and once.

        The rows are cut into mini-batches as in :meth:`fit`, without shuffling; an int ``k``
        counts rows of each mini-batch. Means and deviations of the features are those of the
        first call (or fit), so give it a few hundred rows. The cut of :meth:`predict` is that of
        the last call with both classes. Memory does not grow with the length of the stream.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            The next rows.
        y : array-like of shape (n_rows,)
            Their labels; one class alone is fine.
        classes : array-like of shape (2,), optional
            Both labels, the positive one last when sorted; needed in the first call where its
            rows hold one class only.
        sample_weight, groups : array-like of shape (n_rows,), optional
            As in :meth:`fit`.
        """
        check_parameters(self)
        is_first = not hasattr(self, "weights_")
        table = check_table(self, X, StandardFeatures(), reset=is_first)
        known = None if is_first else self.classes_
        self.classes_, learning = chunk_rows(
            table, y, known, classes, sample_weight, groups, self.k
        )
        if is_first:
            self.weak_rankers_ = self._scaling(learning)
        stream = self._stream_on(self.k, learning, is_warm=True)
        if learning.rows.positives.size:
            batches = MiniBatches(learning.rows, self.batch_size, seed=None)
            stream.learn(learning.rows, next(batches.passes()), batches.longest)
        self._set(self._attributes(stream.weights, learning))
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        self.certificate_ = StreamCertificate.of(stream.tally)
        return self

    def _attributes(self, weights: NDArray[np.float64], learning: Learning) -> dict[str, Any]:
        """What a fit leaves behind, in the units of the table."""
        rows, family = learning.rows, self.weak_rankers_
        coef, offset = family.linear(weights)
        cut = getattr(self, "_cut", 0.0)
        if rows.positives.any() and not rows.positives.all():
            cut = matching_intercept(family.design(rows.X).scores(weights), *rows[1:3])
        return {
            "weights_": weights,
            "coef_": coef.astype(rows.X.dtype)[None, :],
            "intercept_": np.array([cut + offset]),
            "_cut": cut,
        }

    def _set(self, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    def _keep(self, attributes: dict[str, Any], solution: Solution) -> None:
        self._set(attributes)
        self.n_iter_ = solution.n_iter
        self.objective_path_ = np.array(solution.path)
        self.converged_ = solution.converged

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every row of a table; higher is better, above 0 is predicted positive."""
        check_is_fitted(self, "weights_")
        table = check_table(self, X, self.weak_rankers_, reset=False)
        scores = table @ self.coef_[0].astype(table.dtype) + table.dtype.type(self.intercept_[0])
        return np.asarray(scores)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
