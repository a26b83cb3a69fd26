"""Boosted oblivious trees as a scikit-learn estimator."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from toprank.blocks import classes_of_one_list, survey
from toprank.inputs import check_choice, check_number
from toprank.kernels.threads import threads_for
from toprank.models.formula import Formula, Summand
from toprank.models.terms import as_sum
from toprank.objectives import LogLoss, Push, objective_named
from toprank.rankers.base import keep_columns
from toprank.rankers.boosting import BoostedListsMixin
from toprank.rankers.callbacks import Watch, with_callbacks
from toprank.rankers.held_out import HeldOut, hold_out
from toprank.rankers.supervised import SupervisedRanker, check_table
from toprank.solvers.base import Progress
from toprank.solvers.tree_boosting import (
    Boosting,
    block_objective,
    problem_in_blocks,
    problem_in_memory,
)
from toprank.trees import ObliviousTrees
from toprank.trees.categories import Categories, column_directions
from toprank.trees.foreign import read_model

if TYPE_CHECKING:
    from toprank.blocks import Blocks
    from toprank.kernels.threads import Threads
    from toprank.objectives import Objective
    from toprank.solvers.tree_boosting import GrownTree, TreeProblem
    from toprank.truth import Truth

Floats = NDArray[np.float64]

DEEPEST = 12  # 2^12 leaves; their numbers have 16 bits, their histograms fill the memory first


def _probability_slope(ranker: TreeRanker) -> float:
    """Factor by which scores become log-odds; an AttributeError where no theory gives one."""
    objective = ranker._objective()  # noqa: SLF001
    if isinstance(objective, LogLoss):
        return 1.0
    if isinstance(objective, Push) and objective.one_end_power is not None:
        return 1.0 + objective.one_end_power
    raise AttributeError(
        "predict_proba is known for the log loss and for exponential pushes of finite p at one end "
        f"of the list, not for {objective!r}; use sklearn.calibration.CalibratedClassifierCV."
    )


def _has_probabilities(ranker: TreeRanker) -> bool:
    if hasattr(ranker, "link_"):
        return bool(ranker.link_ != "none")
    return _probability_slope(ranker) > 0.0


@dataclass(eq=False, repr=False)
class TreeRanker(BoostedListsMixin, SupervisedRanker):
    """Ranks by boosted oblivious trees, fitted for the top of the list.

    Each tree asks one question per level, the same for all nodes of the level, and adds a value per
    leaf to the scores, so that columns can interact. Trees are fitted to the gradients of the
    objective with respect to the scores: pushes, log loss, precision at k; with labels, grades or
    pairs. Missing values go to the side with the better value of the objective. Columns need no
    scaling. A tree costs O(rows·columns·depth) at most, independent of the number of pairs.

    Parameters
    ----------
    objective : str or Objective, default="pnorm_push"
        "pnorm_push", "log_loss", "ir_push", "precision_at_k", "soft_top", or an object of
        :mod:`toprank.objectives` with settings of its own.
    p : float, default=1
        How hard "pnorm_push" pushes, see :class:`PNormPush`. Small steps and noise already guard
        the top; on some tables 2 finds more there.
    n_trees : int, default=1000
    depth : int, default=6
        Questions per tree (1 to 12); a tree has 2^depth leaves.
    learning_rate : float or "auto", default="auto"
        Factor of the values of the leaves. "auto" is smaller for fewer rows and for more trees;
        ``learning_rate_`` is the value used.
    reg_lambda : float or "auto", default="auto"
        Shrinks the values of leaves to 0, as if each had that many more rows with gradient 0.
        "auto" is 20, for the log loss 3: its rows curve by 1/4 at most, those of a push by 1 or
        more.
    random_strength : float, default=1
        Noise that is added to the scores of splits, in standard deviations of the gradients. It
        fades as trees are added. With ``bootstrap`` it makes the trees differ, which helps the top
        of the list more than the choice of the objective does.
    bootstrap : {"bayesian", None}, default="bayesian"
        "bayesian" counts each row a random number of times in each tree, 1 on average.
    max_bins : int, default=255
        Maximum number of bins per column (2 to 255).
    categories : "auto", list of columns or None, default="auto"
        Columns of categories: texts or numbers without an order. "auto" takes those of categorical
        dtype (pandas, polars); a list has names of columns, or numbers where columns have no names.
        Few values become one column each, many the mean target of the rows before, in a random
        order (see :mod:`toprank.trees.categories`). A value that was not in training has the mean
        of all rows; a missing one goes to the better side if training had missing values, else it
        counts as unknown.
    monotone : array-like of shape (n_features,), dict or None, default=None
        Columns with which scores must not fall (1) or must not rise (-1), else 0; one number per
        column, or a dict by names of columns. Missing values are not constrained.
    early_stopping : bool, default=False
        Hold out a share of the rows (of the lists, with ``groups``), and keep the number of trees
        that ranks them best. Off by default, because small tables need every row.
    scoring : str, scorer or None, default=None
        Metric for the held-out rows: a name of ``toprank.metrics.names()``, a scorer such as
        ``toprank.metrics.scorer("precision_at_k", k=100)``, or "objective"; None is the ROC AUC or,
        for grades, NDCG.
    validation_fraction : float, default=0.1
        Share to hold out, as in scikit-learn.
    n_iter_no_change : int, default=50
        Trees without a better score after which to stop.
    warm_start : bool, default=False
        Keep the trees of the last fit and add to them up to ``n_trees``.
    n_jobs : int or None, default=None
        Threads; None is as many as BLAS may use. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the noise, the bootstrap and the rows held out.
    verbose : int, default=0
        1 prints every tenth tree, 2 every tree.

    Attributes
    ----------
    trees_ : ObliviousTrees or BinaryTrees
        The trees as plain arrays; those of :meth:`from_model` may have any shape.
    intercept_ : array of shape (1,)
        What is added to the sum of the trees.
    categories_ : Categories
        Which columns hold categories, and how each becomes numbers.
    learning_rate_ : float
    feature_importances_ : array of shape (n_features,)
        How much the score varies with the questions about each column; adds up to 1.
    validation_path_ : array
        Score of the held-out rows before the first new tree and after each, where some were.
    classes_ : array of shape (2,)
        The labels, the positive one last; not after :meth:`fit_grades` and :meth:`fit_pairs`.

    Examples
    --------
    Rows with both columns above 0 are positive, an interaction of two columns:

    >>> import numpy as np
    >>> from toprank import TreeRanker
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = (X > 0).all(axis=1)
    >>> model = TreeRanker(n_trees=50, random_state=0).fit(X, y)
    >>> model.top([[1.0, -1.0], [1.0, 1.0], [-1.0, -1.0]], 1)
    array([1])
    """

    accepts_sparse = True
    accepts_missing = True
    categories_ = Categories(0, [], [])
    _layout = categories_.layout

    objective: str | Objective = "pnorm_push"
    _: KW_ONLY
    p: float = 1.0
    n_trees: int = 1000
    depth: int = 6
    learning_rate: float | Literal["auto"] = "auto"
    reg_lambda: float | Literal["auto"] = "auto"
    random_strength: float = 1.0
    bootstrap: Literal["bayesian"] | None = "bayesian"
    max_bins: int = 255
    categories: Any = "auto"
    monotone: Any = None
    early_stopping: bool = False
    scoring: Any = None
    validation_fraction: float = 0.1
    n_iter_no_change: int = 50
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    # learning -----------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        self._objective()
        check_number("n_trees", self.n_trees, 1, whole=True)
        check_number("depth", self.depth, 1, DEEPEST, whole=True)
        if self.reg_lambda != "auto":
            check_number("reg_lambda", self.reg_lambda, 0)
        check_number("random_strength", self.random_strength, 0)
        check_number("max_bins", self.max_bins, 2, 255, whole=True)
        check_number("n_iter_no_change", self.n_iter_no_change, 1, whole=True)
        check_number("validation_fraction", self.validation_fraction, 0.0, 1.0)
        if self.learning_rate != "auto":
            check_number("learning_rate", self.learning_rate, 0)
        check_choice("bootstrap", self.bootstrap, ("bayesian", None))

    def _objective(self) -> Objective:
        options = {"p": self.p} if self.objective == "pnorm_push" else {}
        return objective_named(self.objective, options)

    def _check_table(self, X: Any) -> Any:
        self._check_parameters()
        self.categories_ = Categories.of_table(X, self.categories)
        return check_table(self, self.categories_.coded(X), self, reset=True)

    def _check_new_table(self, X: Any) -> Any:
        """Check rows of another table; categories are codes."""
        return check_table(self, self.categories_.coded(X), self, reset=False)

    def _numbers(self, X: Any) -> Any:
        """Check rows of another table, and turn them into the numbers that trees ask about."""
        return self.categories_.encoded(self._check_new_table(X))

    def _fit(self, table: Any, truth: Truth, given: dict[str, Any], **options: Any) -> Self:
        objective = self._objective()
        validation = options.get("validation")
        table, truth, held = hold_out(self, table, truth, given["y"], validation)
        seed = self._seed()
        self.categories_, table = self.categories_.fitted(table, truth, seed)
        with threads_for(self.n_jobs) as threads:
            problem = problem_in_memory(
                table,
                truth,
                objective,
                max_bins=self.max_bins,
                directions=self._directions(table.shape[1]),
                kept=self._trees_to_keep(table.shape[1]),
                threads=threads,
            )
            rules = self._rules(truth.n_rows, seed)
            if held is None:
                self._boost(problem, truth.classes, rules, threads, given)
                return self
            X = self.categories_.encoded(held.X)
            codes, begin = problem.bins.by_row(X, threads), problem.kept_scores(X, threads)
            held_out = HeldOut(self, held, truth.classes, objective=objective, start=begin)

            def is_over(tree: GrownTree) -> bool:
                return held_out.after(tree.scores(codes))

            self._boost(problem, truth.classes, rules, threads, given, is_over)
            if problem.truncate(held_out.best, self.depth, table, threads):
                self._store(self._learned(problem, truth.classes))
            self.validation_path_ = np.array(held_out.path)
        return self

    @with_callbacks
    def fit_blocks(self, blocks: Blocks) -> Self:
        """Fit on labelled rows in blocks, in one list: the same trees as those of :meth:`fit`.

        Two passes find thresholds, one computes the bins, and each tree takes ``depth`` + 3 passes
        over the bins (``depth`` + 9 with "ir_push"). The objective must be a sum over rows:
        "pnorm_push" of finite p at one end of the list, "ir_push" (both with the exponential loss)
        or "log_loss".

        Parameters
        ----------
        blocks : Blocks
            As in :meth:`PNormPush.fit_blocks`, which has an example; in one list.
        """
        self._check_parameters()
        objective = self._objective()
        block_objective(objective, 1.0, 2.0)  # refused before the rows are looked at
        if self.early_stopping:
            raise ValueError(
                "early_stopping=True needs rows in memory; choose n_trees on a part of the rows."
            )
        if not (self.categories is None or isinstance(self.categories, str)):
            raise ValueError(
                f"categories={self.categories!r} needs rows in memory; encode these columns in the "
                "blocks, or learn from a part of the rows."
            )
        self.categories_ = Categories(0, [], [])
        seen = survey(blocks, accepts_missing=True)
        classes = classes_of_one_list(seen)
        n_columns = seen.low.size
        keep_columns(self, n_columns, blocks.feature_names)
        with threads_for(self.n_jobs) as threads:
            problem = problem_in_blocks(
                blocks,
                seen,
                objective,
                positive=classes[1],
                max_bins=self.max_bins,
                directions=self._directions(n_columns),
                kept=self._trees_to_keep(n_columns),
                threads=threads,
            )
            with closing(problem.rows):
                rules = self._rules(problem.rows.n_rows, self._seed())
                self._boost(problem, classes, rules, threads, {})
        return self

    def _boost(
        self,
        problem: TreeProblem,
        classes: NDArray[Any] | None,
        rules: Boosting,
        threads: Threads,
        given: dict[str, Any],
        is_over: Callable[[GrownTree], bool] | None = None,
    ) -> None:
        """Grow trees, until ``is_over`` of one says that it is enough, and store them."""

        def learned(_: Any) -> dict[str, Any]:  # the trees are in the problem
            return self._learned(problem, classes)

        watch = Watch(self, self.n_trees, self.verbose, learned, given)

        def monitor(tree: GrownTree) -> bool:
            value = problem.value() if self.verbose else math.nan
            stop = is_over is not None and is_over(tree)
            return watch(Progress(problem.n_trees, value, np.empty(0))) or stop

        with closing(watch):
            problem.minimize(rules, threads, monitor)
        self.learning_rate_ = rules.learning_rate
        self._store(self._learned(problem, classes))

    def _trees_to_keep(self, n_columns: int) -> tuple[ObliviousTrees, float] | None:
        """Trees of the last fit and their start, if ``warm_start`` asks for them and they fit."""
        kept = getattr(self, "trees_", None) if self.warm_start else None
        if not isinstance(kept, ObliviousTrees):
            return None
        if kept.depth != self.depth or kept.columns.max(initial=0) >= n_columns:
            return None
        if self._layout != self.categories_.layout:
            return None
        return kept.part(0, self.n_trees), self._start

    def _directions(self, n_columns: int) -> NDArray[np.int64]:
        names = getattr(self, "feature_names_in_", None)
        directions = column_directions(self.monotone, self.n_features_in_, names)
        if directions[self.categories_.columns].any():
            raise ValueError(
                "monotone names a column of categories, which has no order; leave it out, or make "
                "it numbers."
            )
        return np.append(directions, np.zeros(n_columns - directions.size, dtype=np.int64))

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _rules(self, n_rows: int, seed: int) -> Boosting:
        rate, penalty = self.learning_rate, self.reg_lambda
        if rate == "auto":
            rate = automatic_rate(n_rows, self.n_trees)
        if penalty == "auto":
            penalty = 3.0 if isinstance(self._objective(), LogLoss) else 20.0
        return Boosting(
            n_trees=self.n_trees,
            depth=self.depth,
            learning_rate=float(rate),
            penalty=float(penalty),
            noise=float(self.random_strength),
            is_bootstrapped=self.bootstrap is not None,
            seed=seed,
        )

    def _learned(self, problem: TreeProblem, classes: NDArray[Any] | None) -> dict[str, Any]:
        """Fitted attributes."""
        attributes = {
            "trees_": problem.trees(self.depth),
            "_start": problem.start,
            "_layout": self.categories_.layout,
        }
        if classes is None:
            return attributes | {"intercept_": np.array([problem.start])}
        cut = problem.cut()
        return attributes | {"intercept_": np.array([problem.start + cut]), "classes_": classes}

    def _store(self, attributes: dict[str, Any]) -> None:
        for name in ("classes_", "link_", "validation_path_"):
            self.__dict__.pop(name, None)
        self.__dict__.update(attributes)
        if not self.trees_.n_trees:
            warnings.warn(
                f"{type(self).__name__}: every row gets the same score, since the columns of X are "
                "constant or no tree ranked held-out rows better; check how X was made.",
                UserWarning,
                stacklevel=6,
            )

    @classmethod
    def from_model(cls, model: Any) -> Self:
        """Convert a fitted tree model of another library to a ranker.

        The trees are converted to plain arrays, so the other library is not needed to score,
        explain or store them. Scores are the same as in the library: for forests the mean
        probability of the positive class minus 1/2, for boosted trees the raw score. XGBoost adds
        up in float32, so its scores agree to six digits, the others to about twelve.

        Parameters
        ----------
        model : fitted model
            Trees, forests and gradient boosting of scikit-learn; models of LightGBM, XGBoost and
            CatBoost. They must have one score per row and split only on numbers: categories, target
            statistics and linear models in the leaves are refused.

        Examples
        --------
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> from toprank import TreeRanker
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
        >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
        >>> model = TreeRanker.from_model(forest)
        >>> model.predict([[0.5], [2.5]])
        array(['no', 'yes'], dtype='<U3')
        """
        found = read_model(model)
        made = cls(n_trees=max(1, found.trees.n_trees))
        keep_columns(made, found.n_columns, found.names)
        made.trees_, made.link_, made._start = found.trees, found.link, found.intercept
        made.intercept_ = np.array([found.intercept])
        if found.classes is not None:
            made.classes_ = found.classes
        return made

    # using --------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score every row of a table; higher is better, above 0 is predicted positive."""
        check_is_fitted(self, "trees_")
        table = self._numbers(X)
        with threads_for(self.n_jobs) as threads:
            scores: Floats = self.trees_.scores(table, threads, float(self.intercept_[0]))
        return scores

    def staged_decision_function(self, X: Any, step: int = 1) -> Iterator[Floats]:
        """Scores after every ``step`` trees, the last ones those of :meth:`decision_function`.

        The intercept is that of all trees.
        """
        check_is_fitted(self, "trees_")
        check_number("step", step, 1, whole=True)
        table = self._numbers(X)
        with closing(threads_for(self.n_jobs)) as threads:  # BLAS stays free between the stages
            scores: Floats = np.full(table.shape[0], float(self.intercept_[0]))
            for first in range(0, self.trees_.n_trees, step):
                scores = self.trees_.part(first, first + step).scores(table, threads, scores)
                yield scores

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Give the probability of each class.

        P(y=1|x) = 1/(1 + e^{-c·decision_function(x)}) with c = 1 for the log loss and 1 + p for
        exponential pushes. Trees fit their training rows closely, so probabilities tend to be too
        sure: wrap the ranker in CalibratedClassifierCV where their size matters.
        """
        check_is_fitted(self)
        self._check_has_cut()
        scores, link = self.decision_function(X), getattr(self, "link_", None)
        slope = _probability_slope(self) if link is None else 1.0
        positive = scores + 0.5 if link == "share" else expit(slope * scores)
        return np.column_stack([1.0 - positive, positive])

    def explain(self, X: Any) -> NDArray[np.float64]:
        """Give the contribution of each column to each row's score.

        These are the exact path-dependent Shapley values: the change of the expected score when a
        column's value becomes known, averaged over all orders of the columns. At questions about
        unknown columns, both sides are averaged, weighted by the training rows that went there. The
        contributions of a row and ``expected_score_`` add up to its ``decision_function``. A column
        of categories has the sum of its encoded columns.

        Returns
        -------
        array of shape (n_rows, n_features)

        Examples
        --------
        >>> import numpy as np
        >>> from toprank import TreeRanker
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> model = TreeRanker(n_trees=50, random_state=0).fit(X, X[:, 1] > 0.5)
        >>> parts = model.explain(X)
        >>> int(abs(parts[0]).argmax())
        1
        >>> sums = parts.sum(axis=1) + model.expected_score_
        >>> bool(np.allclose(sums, model.decision_function(X)))
        True
        """
        check_is_fitted(self, "trees_")
        table = self._numbers(X)
        with threads_for(self.n_jobs) as threads:
            parts: Floats = self.trees_.contributions(table, threads)
        return self._by_given_columns(parts)

    def _model_formula(self) -> Formula:
        found = super()._model_formula()
        if not self.has_categories:
            return found
        return found.of_cells(self.categories_.encoding(list(found.encoding.schema)))

    def _summands(self) -> list[Summand]:
        return [Summand(1.0, float(self.intercept_[0]), as_sum(self.trees_))]

    @property
    def _slope(self) -> float | None:
        if hasattr(self, "link_"):
            return None if self.link_ in ("none", "share") else 1.0
        return _probability_slope(self) if hasattr(self, "predict_proba") else None

    @property
    def has_categories(self) -> bool:
        """Whether some columns were categories, whose values trees ask about as numbers."""
        return bool(self.categories_.columns)

    def _by_given_columns(self, parts: Floats) -> Floats:
        """Add up what belongs to one column of categories."""
        if not self.has_categories:
            return parts
        given = parts[..., : self.n_features_in_].copy()
        more = self.categories_.owners[self.n_features_in_ :]
        for owner, part in zip(more, np.moveaxis(parts, -1, 0)[self.n_features_in_ :], strict=True):
            given[..., owner] += part
        return given

    @property
    def expected_score_(self) -> float:
        """Mean score of the training rows: what a row scores of which nothing is known."""
        check_is_fitted(self, "trees_")
        return float(self.intercept_[0]) + float(self.trees_.expected)

    @property
    def feature_importances_(self) -> Floats:
        """How much the score varies with the questions about each column; adds up to 1."""
        check_is_fitted(self, "trees_")
        n_numbers = max(self.n_features_in_, self.categories_.owners.size)
        return self._by_given_columns(self.trees_.importances(n_numbers))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def automatic_rate(n_rows: int, n_trees: int) -> float:
    """Learning rate for a table of that many rows: smaller for fewer rows and for more trees."""
    return float(min(0.5, 0.0079 * (n_rows / 200.0) ** 0.25 * (n_trees / 1000.0) ** -0.92))
