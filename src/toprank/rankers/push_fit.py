"""Fitting a weighted sum of weak rankers to a push: what PNormPush and IRPush share."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from toprank.guarantees import push_certificate
from toprank.inputs import check_number
from toprank.kernels.threads import threads_for
from toprank.rankers.base import keep_columns
from toprank.rankers.callbacks import Watch, with_callbacks
from toprank.rankers.linear import LinearRanker
from toprank.rankers.push_problem import BlockProblem, TableProblem
from toprank.rankers.supervised import GradesMixin, PairsMixin
from toprank.rankers.survey import survey
from toprank.solvers import Penalty, minimize_by_continuation
from toprank.weak_rankers import Features, Stumps, weak_rankers_from

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from toprank.blocks import Blocks
    from toprank.guarantees import PushCertificate
    from toprank.objectives.exponential import PushFormula
    from toprank.solvers import Solution
    from toprank.truth import Truth
    from toprank.weak_rankers import WeakRankers

    Floats = NDArray[np.float64]

__all__ = ["PushRanker"]

# Beyond this many rows the sort behind a certificate would cost more than a step of the fit.
CERTIFIED_ROWS = 100_000


class PushRanker(GradesMixin, PairsMixin, LinearRanker):
    """A weighted sum of weak rankers that minimises a push."""

    @abstractmethod
    def _objective(self) -> Any:
        """Give the objective."""

    @abstractmethod
    def _priced_end(self) -> tuple[Any, Literal["top", "bottom", "both"]]:
        """Give the price and the end of the list that it is put on."""

    @abstractmethod
    def _formula(self) -> PushFormula | None:
        """How tilted masses make up the exponential push; None is the IR push."""

    def _probability_formula(self) -> PushFormula | None:
        """Give the formula where theory turns its scores into probabilities."""
        return None

    def _family(self) -> WeakRankers:
        return weak_rankers_from(self.weak_rankers)

    def _fit(self, table: Any, truth: Truth, given: dict[str, Any], **_: Any) -> Self:
        with threads_for(self.n_jobs) as threads:
            family = self._family().fit(table, threads=threads)
            names = getattr(self, "feature_names_in_", None)
            problem = TableProblem(
                family, table, truth, self._objective(), self._solver_name(), threads, names
            )
            self._solve(problem, given)
            self._warn_of_ties(problem)
            if truth.is_labels and truth.n_rows <= CERTIFIED_ROWS:
                codes = None if truth.lists is None else truth.lists.codes
                scores = problem.design.scores(self.weights_)
                self._training_list = truth.positives, scores, truth.weights, codes
        return self

    @with_callbacks
    def fit_blocks(self, blocks: Blocks) -> Self:
        """Learn from labelled rows in blocks, in one list: the same model as :meth:`fit` finds.

        One pass finds the ranges of the features; each iteration, a Newton step where there are
        up to 512 features, takes one more pass (two with :class:`IRPush`). Memory does not grow
        with the rows. Needs ``loss="exponential"`` and ``weak_rankers="features"``.

        Parameters
        ----------
        blocks : Blocks
            Such as ``toprank.tables.ParquetBlocks`` (a file larger than memory) or
            ``toprank.integrations.dask.DaskBlocks`` (a cluster).

        Examples
        --------
        >>> import numpy as np
        >>> from toprank import PNormPush
        >>> from toprank.blocks import ArrayBlocks
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
        >>> model = PNormPush().fit_blocks(ArrayBlocks.cut(X, y, size=2))
        >>> model.rank([[0.0], [3.0]])
        array([2, 1])
        """
        self._check_parameters()
        family = self._family_for_blocks()
        seen, classes = survey(blocks, accepts_missing=False)
        keep_columns(self, seen.low.size, blocks.feature_names)
        problem = BlockProblem(family, blocks, seen, classes, self._formula())
        self._solve(problem, {})
        return self

    def _family_for_blocks(self) -> Features:
        family = self._family()
        if not isinstance(family, Features):
            raise ValueError(  # noqa: TRY004  (a value of weak_rankers)
                f"rows in blocks need weak_rankers='features', got {self.weak_rankers!r}; "
                "for stumps use RankBoost."
            )
        if self.solver == "coordinate":
            raise ValueError("rows in blocks need solver='auto' or 'lbfgs', got 'coordinate'.")
        if self.loss != "exponential" or getattr(self, "price", None) is not None:
            raise ValueError(
                "rows in blocks need loss='exponential' and price=None: other pushes compare "
                f"sorted scores, which no pass over the rows can give; got loss={self.loss!r}, "
                f"price={getattr(self, 'price', None)!r}."
            )
        return family

    def _solve(self, problem: TableProblem | BlockProblem, given: dict[str, Any]) -> None:
        """Find the weights, by growing powers where the power is infinite, and store the model."""
        learned = partial(self._learned, problem)
        watch = Watch(
            self, max_iter=self._rounds(), verbose=self.verbose, learned=learned, data=given
        )
        options: dict[str, Any] = {
            "weights": self._start_weights(problem.n_weak),
            "max_iter": self._rounds(),
            "tol": self.tol,
            "monitor": watch,
        }
        penalty = Penalty(float(self.alpha), float(self.l1_ratio))
        with closing(watch):
            if self._priced_end()[0] == math.inf:
                solution = minimize_by_continuation(problem, penalty, **options)
            else:
                solution = problem.minimize(None, penalty, **options)
        self._store_solution(solution, learned(solution.weights))
        self._warn_of(solution)

    def _learned(self, problem: TableProblem | BlockProblem, weights: Floats) -> dict[str, Any]:
        """Fitted attributes that belong to some weights."""
        cut = 0.0
        if problem.classes is not None:
            formula = self._probability_formula()
            cut = (
                problem.matching_cut(weights)
                if formula is None
                else (problem.probability_cut(weights, formula))
            )
        return self._attributes(problem.family, weights, cut, problem.classes, problem.dtype)

    def _warn_of(self, solution: Solution) -> None:
        # rounds of boosting are a budget, kept as asked for
        if not (solution.status == "max_iter" and self._solver_name() == "coordinate"):
            super()._warn_of(solution)

    def _warn_of_ties(self, problem: TableProblem) -> None:
        if not self.weights_.any() and problem.is_constant():
            warnings.warn(
                f"{type(self).__name__}: every row gets the same score, since the columns of X are "
                "constant; check how X was made.",
                UserWarning,
                stacklevel=5,
            )

    def _solver_name(self) -> Literal["lbfgs", "coordinate"]:
        if self.solver != "auto":
            return self.solver  # type: ignore[no-any-return]
        return "coordinate" if isinstance(self._family(), Stumps) else "lbfgs"

    def _rounds(self) -> int:
        if self.max_iter is not None:
            return int(self.max_iter)
        return {"lbfgs": 1000, "coordinate": 100}[self._solver_name()]

    @property
    def certificate_(self) -> PushCertificate:
        """What was measured on the training list beside what the objective promises.

        It costs a sort, so it is made when it is first asked for; the list is kept until then.
        """
        if "_training_list" in self.__dict__:
            self._certified = self._certificate(*self.__dict__.pop("_training_list"))
        if "_certified" not in self.__dict__:
            raise AttributeError(
                f"this {type(self).__name__} has no certificate_: it learned from labels of more "
                f"than {CERTIFIED_ROWS} rows, from blocks, grades or pairs, or not at all; certify "
                "makes one for any labelled list."
            )
        return self._certified

    def __getstate__(self) -> Any:
        if "_training_list" in self.__dict__:
            self.certificate_  # noqa: B018  (the list does not go along)
        return super().__getstate__()

    def certify(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> PushCertificate:
        """Compare the measured ranking quality of a list with what the objective promises there.

        On the training rows this is ``certificate_``, which :meth:`fit` leaves behind for lists of
        up to 100,000 rows; it costs a sort, which a fit of a longer list does not need.
        """
        scores = self.decision_function(X)
        self._check_has_cut()
        positives = np.asarray(y) == self.classes_[1]
        return self._certificate(positives, scores, sample_weight, groups)

    def _certificate(
        self, positives: NDArray[np.bool_], scores: NDArray[Any], weights: Any, lists: Any
    ) -> PushCertificate:
        price, focus = self._priced_end()
        return push_certificate(
            positives,
            scores,
            price,
            loss=self.loss,
            focus=focus,
            sample_weight=weights,
            groups=lists,
        )

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, 0)
        check_number("l1_ratio", self.l1_ratio, 0, 1)
        if self.max_iter is not None:
            check_number("max_iter", self.max_iter, 0)
        if self.tol is not None:
            check_number("tol", self.tol, 0)
        if self.solver not in ("auto", "lbfgs", "coordinate"):
            raise ValueError(
                f"solver must be 'auto', 'lbfgs' or 'coordinate', got {self.solver!r}."
            )
        self._objective()
