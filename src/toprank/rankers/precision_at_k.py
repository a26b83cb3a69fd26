"""Precision at k as a scikit-learn estimator (Kar, Narasimhan and Jain 2015)."""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from toprank.guarantees.precision import StreamCertificate, certify_mistakes, reach_of
from toprank.guarantees.ranking_margins import GapCertificate
from toprank.inputs import (
    check_choice,
    check_length,
    check_number,
    class_codes,
    class_labels,
    classes_of_stream,
    is_sparse,
)
from toprank.objectives.base import are_ordinary
from toprank.objectives.precision import PrecisionAtK, are_whole, as_top
from toprank.rankers.base import forget_calibration
from toprank.rankers.callbacks import Watch
from toprank.rankers.held_out import split_rows
from toprank.rankers.supervised import SpoolingRanker, check_table
from toprank.solvers.cuts import matching_intercept
from toprank.solvers.cutting_plane import minimize_by_cutting_planes
from toprank.solvers.mini_batch import (
    MiniBatches,
    Patience,
    Stream,
    ball_of_optimum,
    perceptron_aim,
    projection_on,
    sgd_aim,
    steps_of,
)
from toprank.truth import Truth, binary_labels
from toprank.weak_rankers.features import StandardFeatures

if TYPE_CHECKING:
    from toprank.kernels.mini_batches import Aim
    from toprank.objectives.precision import Surrogate

Floats = NDArray[np.float64]
Given = ArrayLike | None

# The paper's 25 passes; a cutting plane is a pass too, but hundreds are usual.
PASSES, PLANES = 25, 1000


def _is_stochastic(ranker: Any) -> bool:
    if ranker.solver == "cutting_plane":
        raise AttributeError(
            "partial_fit needs solver='sgd' or 'perceptron'; cutting planes need the whole table."
        )
    return True


@dataclass(eq=False, repr=False)
class PrecisionAtKRanker(SpoolingRanker):
    """Ranks so that the k best rows contain as few negatives as possible.

    Minimises a surrogate of precision at k, divided by k, of a linear scorer, plus
    (alpha/2)·‖w‖². Stochastic solvers use mini-batches, each with its own top k = ⌈κ·n₊⌉ for the n₊
    positives in it; a pass costs O(rows·features), and :meth:`partial_fit` learns from streams of
    any length. Features are centred and divided by their standard deviation, implicitly: the table
    is not copied.

    A mini-batch without a positive or without a negative is skipped (its surrogate is 0), which
    keeps all mistake bounds; choose ``batch_size`` so that most batches have a few positives.

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
    step : float, list of floats or callable, default=1
        A number is the scale of the steps of "sgd", η_t = step/√(Σ‖g_τ‖²). The first step has this
        length; on standardised features solutions have norms of 1 to 10, and 1 did well for all
        surrogates. A list holds the lengths η_1, η_2, … themselves, the last of which stays, and
        a function gives η_t for t = 1, 2, …, for example ``lambda t: 0.1 / t**0.5``; skipped
        batches do not count. Perceptrons have steps of length 1 for any number, and take lists and
        functions too, but then without a mistake bound.
    feasible_set : {"ball", "box", "nonnegative", "simplex"} or callable, default="ball"
        The set W of Algorithm 3 in which "sgd" keeps the weights w of the scaled features: ‖w‖ ≤
        radius; every weight from -radius to radius; w ≥ 0 and ‖w‖ ≤ radius; w ≥ 0 and Σw =
        radius. A function gets an array of weights and returns the nearest point of a convex set
        of your own. All but "ball" cost a pass over the weights per batch.
    radius : float or None, default=None
        Size of the set. None is √(2/alpha), which holds the optimum of avg and max, and 1 for the
        simplex.
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
        Let ``fit`` keep the coefficients after every batch in ``ensemble_`` (8 bytes per feature
        and batch).
    warm_start : bool, default=False
        Continue from the last fit: its model, its step lengths and its scaling of the features.
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
        one entry per pass, the mean over its batches, each judged before the model learned from it
    certificate_ : :class:`~toprank.guarantees.StreamCertificate` ("sgd"),
        :class:`~toprank.guarantees.MistakeCertificate` ("perceptron", Theorems 7 and 9 on this
        run; in ``partial_fit``, where the rows are gone, and with steps of your own it has no
        bound), or
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

    k: float = 0.25
    _: KW_ONLY
    surrogate: Surrogate = "avg"
    solver: Literal["sgd", "perceptron", "cutting_plane"] = "sgd"
    batch_size: int = 500
    max_iter: int | None = None
    tol: float | None = 1e-3
    alpha: float = 1e-4
    step: Any = 1.0
    feasible_set: Any = "ball"
    radius: float | None = None
    average: bool = True
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    keep_ensemble: bool = False
    warm_start: bool = False
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        PrecisionAtK(self.k, self.surrogate)
        check_choice("solver", self.solver, ("sgd", "perceptron", "cutting_plane"))
        if self.solver == "cutting_plane" and self.surrogate == "ramp":
            raise ValueError(
                "solver='cutting_plane' needs a convex surrogate, and 'ramp' is not; choose "
                "surrogate='avg' or solver='sgd'."
            )
        if self.solver == "cutting_plane" and not self.alpha > 0:
            raise ValueError(f"solver='cutting_plane' needs alpha above 0, got {self.alpha!r}.")
        check_number("batch_size", self.batch_size, 1, whole=True)
        check_number("n_iter_no_change", self.n_iter_no_change, 1, whole=True)
        check_number("max_iter", self.max_iter, 1, whole=True, optional=True)
        check_number("alpha", self.alpha, 0.0)
        self._check_steps_and_set()
        check_number("validation_fraction", self.validation_fraction, 0.0, 1.0)
        check_number("tol", self.tol, 0.0, optional=True)
        check_number("radius", self.radius, 0.0, optional=True)

    def _check_steps_and_set(self) -> None:
        steps_of(self.step)
        projection_on(self.feasible_set, 1.0)
        if self.solver != "sgd" and self.feasible_set != "ball":
            raise ValueError(
                f"feasible_set={self.feasible_set!r} needs solver='sgd', got "
                f"solver={self.solver!r}; leave it 'ball'."
            )
        if callable(self.feasible_set) and self.radius is not None:
            raise ValueError(
                f"radius={self.radius!r} is the size of a named feasible_set, but a function was "
                "given; leave radius None."
            )

    def _not_in_order(self) -> str:
        if self.solver == "cutting_plane":
            return ""
        return (
            f"solver={self.solver!r} shuffles them; use partial_fit, which takes them in order, or "
            "solver='cutting_plane'"
        )

    def _family(self) -> StandardFeatures:
        return StandardFeatures()

    def _fit(self, table: Any, truth: Truth, given: dict[str, Any], **_: Any) -> Self:
        table, truth = in_row_order(table), with_ordinary_weights(truth, self.k)
        self.classes_: Any = truth.classes
        start = self._start_weights(table.shape[1])
        if start is None:
            self.weak_rankers_ = self._scaling(table, truth)
        learned = partial(self._learned, table, truth)
        watch = Watch(self, self._passes(), self.verbose, learned, given)
        with closing(watch):
            if self.solver == "cutting_plane":
                self._fit_by_planes(table, truth, watch, start)
            else:
                self._fit_by_batches(table, truth, watch, start)
        return self

    def _scaling(self, table: Any, truth: Truth) -> StandardFeatures:
        names = getattr(self, "feature_names_in_", None)
        return self._family().fit(table, truth.weights, names=names)

    def _passes(self) -> int:
        return self.max_iter or (PLANES if self.solver == "cutting_plane" else PASSES)

    def _fit_by_planes(self, table: Any, truth: Truth, watch: Watch, start: Floats | None) -> None:
        criterion = PrecisionAtK(self.k, self.surrogate).criterion(truth)
        solution = minimize_by_cutting_planes(
            self.weak_rankers_.design(table),
            criterion,
            float(self.alpha),
            weights=start,
            max_iter=self._passes(),
            tol=self.tol,
            monitor=watch,
        )
        self._store_solution(solution, self._learned(table, truth, solution.weights))
        self.__dict__.pop("_stream", None)  # a stream that goes on from here begins with this model
        self.certificate_: StreamCertificate | GapCertificate = GapCertificate(
            solution.lower, solution.upper
        )
        self._warn_of(solution)
        if solution.complaint() is None and not solution.weights.any() and self.tol is not None:
            warnings.warn(
                f"{type(self).__name__}: the surrogate {self.surrogate!r} is lowest at w = 0, "
                "where every row has the same score: its margin condition is too far from these "
                "rows. Use surrogate='ramp', another k, or a stochastic solver, whose path to 0 "
                "still ranks.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _fit_by_batches(self, table: Any, truth: Truth, watch: Watch, start: Floats | None) -> None:
        rng = check_random_state(self.random_state)
        k, kept, judge = self._share(truth), (table, truth), None
        if self.early_stopping:
            inside, outside = split_rows(truth, self.validation_fraction, rng)
            kept = in_row_order(table[inside]), truth.part(inside)
            aside: Any = PrecisionAtK(k, self.surrogate).criterion(truth.part(outside))
            design = self.weak_rankers_.design(table[outside])
            judge = lambda weights: aside.loss(design.scores(weights))  # noqa: E731
        batches = MiniBatches(kept[1], self.batch_size, int(rng.randint(2**31 - 1)))
        ensemble: list[NDArray[np.float64]] | None = [] if self.keep_ensemble else None
        stream = self._stream_on(k, kept[1], start)
        solution = stream.fit(
            *kept,
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
        self._store_solution(solution, self._learned(table, truth, solution.weights))
        if ensemble is not None:
            self.ensemble_ = np.concatenate(ensemble)
        self._certify(*kept, batches, solution.n_iter, is_new=start is None)

    def _share(self, truth: Truth) -> float:
        """What a batch of these rows has as its top: k itself, or its share of the positives."""
        amount, is_share = as_top(self.k)
        if is_share or truth.lists is not None:
            return self.k
        PrecisionAtK(self.k).criterion(truth)  # refuses more rows than there are positives
        counts = truth.positives if truth.weights is None else truth.weights[truth.positives]
        return amount / float(counts.sum())

    def _aim(self, k: float, truth: Truth) -> Aim:
        whole = are_whole(truth.weights)
        if self.solver == "perceptron":
            return perceptron_aim(k, self.surrogate, whole=whole, average=self.average)
        return sgd_aim(
            k,
            self.surrogate,
            whole=whole,
            alpha=self.alpha,
            radius=self._radius() if self.feasible_set == "ball" else np.inf,
            step=float(self.step) if isinstance(self.step, Real) else None,
            average=self.average,
        )

    def _radius(self) -> float:
        if self.radius is not None:
            return self.radius
        return 1.0 if self.feasible_set == "simplex" else ball_of_optimum(self.alpha)

    def _stream_on(self, k: float, truth: Truth, start: Floats | None) -> Stream:
        """Go on with the stream of the last fit, or begin one."""
        if start is None or not hasattr(self, "_stream"):
            family = self.weak_rankers_
            self._stream: Stream = Stream(self._aim(k, truth), family.low_, family.span_, start)
        stream = self._stream
        stream.aim, stream.steps, stream.project = self._aim(k, truth), steps_of(self.step), None
        if self.feasible_set != "ball":
            stream.project = projection_on(self.feasible_set, self._radius())
        return stream

    def _certify(
        self, table: Any, truth: Truth, batches: MiniBatches, n_passes: int, *, is_new: bool
    ) -> None:
        """Store the certificate; the batches of a run that continued another are not kept."""
        stream = self._stream
        self.certificate_ = StreamCertificate.of(stream.tally)
        if self.solver == "perceptron" and is_new and stream.steps is None:
            family = self.weak_rankers_
            self.certificate_ = certify_mistakes(
                stream.aim,
                stream.tally,
                truth,
                batches,
                n_passes,
                scores=self.weak_rankers_.design(table).scores(self.weights_),
                norm=float(np.linalg.norm(self.weights_)),
                reach=reach_of(table, family.low_, family.span_),
            )

    @available_if(_is_stochastic)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Given = None,
        sample_weight: Given = None,
        groups: Given = None,
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
        self._check_parameters()
        is_first = not hasattr(self, "weights_")
        forget_calibration(self)
        table = check_table(self, X, self._family(), reset=is_first)
        known = None if is_first else self.classes_
        self.classes_, positives = labels_of_stream(y, known, classes)
        check_length("y", positives.size, table.shape[0])
        truth = Truth.of_labels(positives, sample_weight=sample_weight, groups=groups, is_part=True)
        truth = with_ordinary_weights(truth, self.k)
        table = in_row_order(truth.rows_of(table))
        if is_first:
            self.weak_rankers_ = self._scaling(table, truth)
        start = getattr(self, "weights_", np.zeros(table.shape[1]))
        stream = self._stream_on(self.k, truth, start)
        if truth.n_rows:
            batches = MiniBatches(truth, self.batch_size, seed=None)
            stream.learn(table, truth, next(batches.passes()))
        for name, value in self._learned(table, truth, stream.weights).items():
            setattr(self, name, value)
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        self.certificate_ = StreamCertificate.of(stream.tally)
        return self

    def _learned(self, table: Any, truth: Truth, weights: Floats) -> dict[str, Any]:
        """Fitted attributes that belong to some weights."""
        cut = getattr(self, "_cut", 0.0)
        if truth.positives.any() and not truth.positives.all():
            scores = self.weak_rankers_.design(table).scores(weights)
            cut = matching_intercept(scores, truth.positives, truth.weights)
        attributes = self._attributes(self.weak_rankers_, weights, cut, self.classes_, table.dtype)
        return attributes | {"_cut": cut}


def labels_of_stream(
    y: ArrayLike, known: NDArray[Any] | None, classes: ArrayLike | None
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Classes of a stream, and which rows of its next part are positive: perhaps all or none."""
    found = classes_of_stream(known, classes)
    if found is None:
        found = binary_labels(y)[0]
    if found.size != 2:
        raise ValueError(f"classes must name two labels, got {found.tolist()}.")
    return found, class_codes(class_labels(y), found) == 1


def in_row_order(table: Any) -> Any:
    """A table as batches are read from it: row by row."""
    return table if is_sparse(table) else np.ascontiguousarray(table)


def with_ordinary_weights(truth: Truth, k: float) -> Truth:
    """Divide weights by the largest where sums of them would overflow."""
    weights = truth.weights
    if weights is None or not weights.size or are_ordinary(float(weights.max())):
        return truth
    if not as_top(k)[1]:
        raise ValueError(
            f"sample_weight reaches {weights.max():g}, and k={k} counts weight; divide the weights "
            "by one number, so that they are near 1, or pass k as a share of the positives."
        )
    return truth.normalized()
