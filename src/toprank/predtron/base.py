"""What all learners of the family share: parameters, streams, averages, certificates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from toprank.guarantees import PredtronCertificate
from toprank.inputs import check_choice, check_columns, check_number, is_sparse
from toprank.predtron.links import link_from
from toprank.predtron.models import KernelModel, LinearModel, Pace, StreamInputs, play_stream
from toprank.predtron.problem import Composed
from toprank.rankers.base import documented as filled

Floats = NDArray[np.float64]

# Scores are sums of products of two rows: 1e280 leaves room for 1e28 rounds.
LARGEST_ENTRY = 1e140

PASSES = """\
average : bool, default=True
    Predict with the average of the weights of all rounds, which varies less than the last weights.
max_iter : int, default=10
    Largest number of passes of ``fit``, which stops after a pass without a loss. Averages settle
    in about ten passes.
shuffle : bool, default=True
    Whether ``fit`` shuffles the rows before each pass; ``partial_fit`` keeps their order.
random_state : int, RandomState or None, default=None
    Seed of the shuffling."""

SHARED = """\
variant : {"standard", "loss_driven"}, default="{variant}"
    "standard" is Algorithm 1: it steps away from the loss-augmented prediction, by the same length
    for every loss. "loss_driven" steps away from the prediction itself, in proportion to the loss.
    {reason}
link : {"none", "l_r", "group", "schatten"}, default="none"
    Norm of the margin: Euclidean, or one that favours few weights, few features or low rank.
    The Euclidean norm is the fastest and the only one that works with kernels.
r : float, default=None
    Order of the link's norm, above 1 and at most 2; None takes q = max(2, ln n), as the paper.
kernel : str or callable, default=None
    None is linear; otherwise a name or function for scikit-learn's ``pairwise_kernels``.
kernel_params : dict, default=None
    Parameters of the kernel, e.g. ``{"gamma": 0.1}``.
eta : float or "auto", default="auto"
    Step size. "auto" is Theorem 1's c/(4R²), with c and R of the table (of the first batch, in a
    stream), and 1 for the loss-driven variant, whose predictions do not depend on it.
{intercept}{passes}

Attributes
----------
{classes}coef_, intercept_ : weights of shape (d, n_features) and constant terms of shape (d,)
    Averaged with ``average``; d is the dimension of the representation. Not with a kernel.
support_vectors_, dual_coef_ : with a kernel
certificate_ : :class:`toprank.guarantees.PredtronCertificate`
    Cumulative loss, rounds, mistakes and the constants of the bound, over all rounds so far.
losses_ : loss of every round of the last call
eta_ : step size
n_iter_ : passes of the last ``fit``
n_rounds_ : rounds so far"""

DEFAULTS = {
    "variant": "standard",
    "reason": "The default is that of the paper.",
    "intercept": """\
fit_intercept : bool, default=True
    Whether each score has a constant term, as a feature that is always 1.
""",
    "passes": PASSES,
    "classes": "",
}


def documented(**facts: str) -> Callable[[Any], Any]:
    """Fill the shared parameters and attributes, with what differs, into a learner's docstring."""
    shared = facts.pop("ranking", "") + SHARED
    for name, text in (DEFAULTS | facts).items():
        shared = shared.replace("{" + name + "}", text)
    return filled(shared=shared, passes=PASSES)


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineEstimator(BaseEstimator):  # type: ignore[misc]
    """Learning in passes or batch by batch; a call that fails leaves the estimator as it was.

    A subclass checks the labels and makes the problem; a round is a row of the table.
    """

    average: bool = True
    max_iter: int = 10
    shuffle: bool = True
    random_state: Any = None

    fit_intercept = False  # a parameter of learners whose scores have constant terms

    @abstractmethod
    def _check_labels(self, y: Any, table: Any) -> Any:
        """Return the labels as arrays; refuse those that make no sense."""

    @abstractmethod
    def _make_problem(self) -> tuple[Any, int]:
        """Return the problem of the parameters and classes, and how many scores it has."""

    def _set_classes(self, labels: Any, classes: Any) -> None:
        """Learn what classes there are, where a learner has some."""

    def _check_parameters(self) -> None:
        check_number("max_iter", self.max_iter, 1, whole=True)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from a table and its labels, in passes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Array, CSR matrix, pandas, polars or pyarrow table of numbers.
        y : array-like of shape (n_rows,) or (n_rows, n_labels)
            The labels of the rows, in the form that the class describes.
        """
        return self._learn(X, y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from one more batch of a stream, row by row in its order.

        Parameters
        ----------
        X, y : as in ``fit``
            Another number of features or labels than before, or an unknown class, is an error.
        classes : array-like of shape (n_classes,), optional
            All classes of the stream, at the first call; classifiers need them there.
        """
        return self._learn(X, y, batch=True, classes=classes)

    def _learn(self, X: Any, y: Any, *, batch: bool = False, classes: Any = None) -> Self:
        with self._unchanged_if_it_fails():
            self._check_parameters()
            first = not batch or not hasattr(self, "n_rounds_")
            table = self._table(X, reset=first)
            _check_scale(table)
            labels = self._check_labels(y, table)
            if first:
                self._start(labels, classes)
            self._play(*self._stream(table, labels), batch=batch)
        return self

    def _start(self, labels: Any, classes: Any) -> None:
        """Forget everything, and start at W = 0."""
        self._set_classes(labels, classes)
        self._problem, dimension = self._make_problem()
        self._model = self._make_model(dimension)
        self.n_rounds_ = 0

    def _make_model(self, dimension: int) -> LinearModel | KernelModel:
        return LinearModel((self.n_features_in_, dimension), None, average=bool(self.average))

    def _stream(self, table: Any, labels: Any) -> tuple[StreamInputs, Any]:
        """Return the inputs of the rounds and what rounds read of their labels."""
        inputs = StreamInputs(table, intercept=bool(self.fit_intercept))
        return inputs, self._problem.prepare(labels)

    def _pace(self) -> Pace:
        return Pace(1.0, loss_driven=False, clock=self.n_rounds_)

    def _play(self, inputs: StreamInputs, labels: Any, *, batch: bool) -> None:
        """Play a batch once, or a table until a pass without a loss, and keep the losses."""
        is_fixed = batch or not self.shuffle
        rng = None if is_fixed else check_random_state(self.random_state)
        losses: list[Floats] = []
        while not losses or (len(losses) < self.max_iter and losses[-1].any() and not batch):
            order = np.arange(len(inputs)) if rng is None else rng.permutation(len(inputs))
            played = self._model, self._problem, inputs, labels, order
            losses.append(play_stream(*played, self._pace()))
            self.n_rounds_ += len(inputs)
        self.n_iter_ = len(losses)
        self.losses_ = np.concatenate(losses)

    def _table(self, X: Any, *, reset: bool) -> Any:
        """The checked table as a float array or CSR matrix."""
        check_columns(X)
        table = validate_data(
            self, X, reset=reset, dtype=[np.float64, np.float32], accept_sparse="csr"
        )
        return table if is_sparse(table) else np.ascontiguousarray(table)

    @contextmanager
    def _unchanged_if_it_fails(self) -> Iterator[None]:
        """Restore the estimator if anything goes wrong."""
        before = dict(vars(self))
        # Input is checked before anything is learned, but functions of the user may still fail.
        if isinstance(before.get("_problem"), Composed) or callable(before.get("kernel")):
            before["_model"] = deepcopy(before.get("_model"))
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class BasePredtron(OnlineEstimator):
    """Streams, averages and certificates; a subclass says what the labels and predictions are."""

    variant: Literal["standard", "loss_driven"] = "standard"
    link: Literal["none", "l_r", "group", "schatten"] = "none"
    r: float | None = None
    kernel: Any = None
    kernel_params: dict[str, Any] | None = None
    eta: float | Literal["auto"] = "auto"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("variant", self.variant, ("standard", "loss_driven"))
        link = link_from(self.link, self.r)
        if link is not None and self.kernel is not None:
            raise ValueError(
                f"link={self.link!r} has no kernel form; pass kernel=None or link='none'."
            )
        if self.kernel is None and self.kernel_params is not None:
            raise ValueError("kernel_params belong to a kernel; pass kernel='rbf', say.")
        eta: Any = self.eta
        is_step = isinstance(eta, Real) and 0 < float(eta) < np.inf
        if not is_step and not (isinstance(eta, str) and eta == "auto"):
            raise ValueError(f"eta must be 'auto' or a number above 0, got {eta!r}.")

    def _table(self, X: Any, *, reset: bool) -> Any:
        table = super()._table(X, reset=reset)
        if self.kernel is not None and is_sparse(table):
            raise TypeError("X is sparse, but kernels need a dense table; pass X.toarray().")
        return table

    def _start(self, labels: Any, classes: Any) -> None:
        super()._start(labels, classes)
        self.eta_: float | None = None
        self.certificate_ = PredtronCertificate(
            loss_driven=self.variant == "loss_driven", growth=self._model.growth()
        )

    def _make_model(self, dimension: int) -> LinearModel | KernelModel:
        n_features, average = self.n_features_in_, bool(self.average)
        intercept = bool(self.fit_intercept)
        if self.kernel is None:
            link = link_from(self.link, self.r)
            return LinearModel((n_features + intercept, dimension), link, average=average)
        shape, kernel = (n_features, dimension), (self.kernel, self.kernel_params)
        return KernelModel(shape, *kernel, intercept=intercept, average=average)

    def _pace(self) -> Pace:
        eta = 1.0 if self.eta_ is None else self.eta_
        return Pace(eta, self.variant == "loss_driven", self.n_rounds_)

    def _play(self, inputs: StreamInputs, labels: Any, *, batch: bool) -> None:
        self._update_bound(inputs, labels)
        super()._play(inputs, labels, batch=batch)
        before = self.certificate_
        self.certificate_ = replace(
            before,
            cumulative_loss=before.cumulative_loss + float(self.losses_.sum()),
            n_rounds=self.n_rounds_,
            n_mistakes=before.n_mistakes + int(np.count_nonzero(self.losses_)),
        )
        self._model.forget_inputs()

    def _update_bound(self, inputs: Any, labels: Any) -> None:
        """Update the constants of the bound, and set the step once some loss can be above 0."""
        low, high = self._problem.loss_range(labels)
        run = self.certificate_
        run = replace(
            run,
            radius=max(run.radius, self._model.radius(inputs)),
            smallest_loss=min(run.smallest_loss, low),
            largest_loss=max(run.largest_loss, high),
        )
        if self.eta != "auto":
            self.eta_ = float(self.eta)
        elif run.loss_driven and run.start == 0:
            self.eta_ = 1.0
        elif np.isnan(low):
            raise ValueError(
                "eta='auto' needs the smallest loss, but the representation does not list its "
                "predictions; pass eta=1.0, say, or variant='loss_driven'."
            )
        elif self.eta_ is None and np.isfinite(run.smallest_loss) and run.radius > 0:
            self.eta_ = run.step
        self.certificate_ = replace(run, eta=self.eta_)

    def certify(self, X: Any, y: Any, coef: Any, intercept: Any = None) -> PredtronCertificate:
        """Compare the cumulative loss of the run with the bound for given reference weights.

        Parameters
        ----------
        X, y : the stream of the run
        coef, intercept : array-like like ``coef_`` and ``intercept_``
            The reference W; it is scaled to norm 1.
        """
        check_is_fitted(self, "n_rounds_")
        table = self._table(X, reset=False)
        inputs, labels = self._stream(table, self._check_labels(y, table))
        model = self._model
        if not isinstance(model, LinearModel):
            raise TypeError("a reference of weights needs a linear model; this one has a kernel.")
        weights = np.zeros(model.theta.shape)
        given = np.atleast_2d(np.asarray(coef, dtype=np.float64)).T
        if given.shape != (self.n_features_in_, weights.shape[1]):
            raise ValueError(
                f"coef has shape {given.T.shape}, but must have shape "
                f"{(weights.shape[1], self.n_features_in_)}, like coef_."
            )
        weights[: self.n_features_in_] = given
        if weights.shape[0] > self.n_features_in_ and intercept is not None:
            weights[self.n_features_in_] = np.asarray(intercept, dtype=np.float64)
        norm = model.norm(weights)
        if not norm > 0:
            raise ValueError("coef must not be 0 everywhere.")
        margins = np.array(
            [
                self._problem.margin(inputs.scores(number, weights), labels[number]) / norm
                for number in range(len(inputs))
            ]
        )
        return replace(self.certificate_, margin=float(margins.min()), margins=margins)

    def _scores(self, X: Any) -> Floats:
        """Scores of every row: n × d."""
        check_is_fitted(self, "n_rounds_")
        scores = self._model.all_scores(self._table(X, reset=False), self.n_rounds_)
        return np.asarray(scores, dtype=np.float64)

    def _fitted(self, kind: type[LinearModel | KernelModel]) -> Any:
        model = vars(self).get("_model")
        if not isinstance(model, kind):
            raise AttributeError(  # noqa: TRY004
                "coef_ and intercept_ exist after a fit without a kernel, support_vectors_ and "
                "dual_coef_ after a fit with one."
            )
        return model

    @property
    def coef_(self) -> Floats:
        """Weights, one row for each axis of the representation."""
        final: Floats = self._fitted(LinearModel).final(self.n_rounds_)
        return final[: self.n_features_in_].T

    @property
    def intercept_(self) -> Floats:
        """Constant term of each score."""
        final: Floats = self._fitted(LinearModel).final(self.n_rounds_)
        constant = final[self.n_features_in_ :]
        return constant[0] if constant.size else np.zeros(final.shape[1])

    @property
    def support_vectors_(self) -> Floats:
        """Rows that a kernel's scores are made of."""
        vectors: Floats = self._fitted(KernelModel).vectors
        return vectors

    @property
    def dual_coef_(self) -> Floats:
        """What each support vector adds to the scores: n_support × d."""
        final: Floats = self._fitted(KernelModel).final(self.n_rounds_)
        return final

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel is None
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class RowPredtron(BasePredtron):
    """A row has d scores: one for each axis of the representation.

    With an intercept the last feature of the weights is always 1.
    """

    fit_intercept: bool = True


def _check_scale(table: Any) -> None:
    """Refuse tables whose rows have lengths that no float can square and add up."""
    values = table.data if is_sparse(table) else table
    largest = float(max(values.max(initial=0.0), -values.min(initial=0.0)))
    if largest > LARGEST_ENTRY or 0 < largest < 1.0 / LARGEST_ENTRY:
        raise ValueError(
            f"the largest entry of X is {largest:g}; steps need its square, so it must lie between "
            f"{1.0 / LARGEST_ENTRY:g} and {LARGEST_ENTRY:g}. Scale the columns first."
        )
