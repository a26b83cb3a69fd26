"""CatBoost with the exponential push's twin and with our metrics."""

import catboost
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from toprank.integrations.catboost import metric, objective
from toprank.metrics import precision_at_k, roc_auc
from toprank.objectives import pnorm_push

SMALL = {
    "iterations": 40, "depth": 3, "learning_rate": 0.2, "thread_count": 1, "verbose": False,
    "allow_writing_files": False,
}  # fmt: skip


def twin(scores, y, weight, p, balance):
    """The printed sum."""
    up, down = weight * np.exp(-scores), weight * np.exp(p * scores)
    return up[y == 1].sum() + balance / p * down[y == 0].sum()


@pytest.mark.parametrize("p", [1, 2.5, 8])
@pytest.mark.parametrize("focus", ["top", "bottom"])
def test_derivatives_are_those_of_the_printed_sum(p, focus):
    rng = np.random.default_rng(0)
    s, weight = rng.normal(size=20), rng.random(20)
    y = (np.arange(20) % 3 == 0).astype(int)

    def value(scores):
        if focus == "top":
            return twin(scores, y, weight, p, 0.3)
        return twin(-scores, 1 - y, weight, p, 0.3)

    found = objective("pnorm_push", p=p, focus=focus, balance=0.3).calc_ders_range(s, y, weight)
    for row, (first, second) in enumerate(found):
        step = np.zeros(20)
        step[row] = 1e-4
        high, low, here = value(s + step), value(s - step), value(s)
        assert first == pytest.approx(-(high - low) / 2e-4, rel=1e-4, abs=1e-6 * here)
        assert second == pytest.approx(-(high - 2 * here + low) / 1e-8, rel=1e-3, abs=1e-6 * here)


@pytest.mark.parametrize("p", [1, 3])
def test_the_twin_is_the_push_up_to_a_shift(p):
    # min over c of PC(s + c) is a multiple of R_p^(1/(p + 1))
    rng = np.random.default_rng(1)
    y = (np.arange(30) % 4 == 0).astype(int)
    ratios = []
    for _ in range(5):
        s = rng.normal(size=30)
        best = minimize_scalar(lambda c, s=s: twin(s + c, y, np.ones(30), p, 1.0)).fun
        ratios.append(best / pnorm_push(p).risk(s, y) ** (1 / (p + 1)))
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-6)


def test_rounds_lower_the_push(rows):
    X, y, weight, _ = rows()
    share = y.mean()
    push = objective("pnorm_push", p=2, balance=share / (1 - share))
    model = catboost.CatBoost(SMALL | {"loss_function": push, "eval_metric": "AUC"})
    model.fit(X, y, sample_weight=weight)
    scores = model.predict(X)
    formula = pnorm_push(2)
    start = formula.value(np.zeros(y.size), y, sample_weight=weight)
    assert formula.value(scores, y, sample_weight=weight) < start
    assert roc_auc(y, scores) > 0.85


def test_early_stopping_listens_to_our_metric(rows):
    X, y, _, _ = rows(1200)
    model = catboost.CatBoost(
        SMALL
        | {"loss_function": "Logloss", "eval_metric": metric("precision_at_k", k=30)}
        | {"iterations": 200, "early_stopping_rounds": 10}
    )
    model.fit(X[:800], y[:800], eval_set=(X[800:], y[800:]))
    (name,) = (key for key in model.get_evals_result()["validation"] if "Logloss" not in key)
    curve = model.get_evals_result()["validation"][name]
    assert model.get_best_iteration() == int(np.argmax(curve))
    best = precision_at_k(y[800:], model.predict(X[800:]), k=30)
    assert best == pytest.approx(max(curve))


def test_a_loss_among_the_metrics_is_minimised():
    assert metric("roc_auc").is_max_optimal()
    assert not metric("r_max").is_max_optimal()
    assert metric("r_max").get_final_error(3.0, 1.0) == 3.0


def test_what_is_impossible_says_why():
    for name, options in (
        ("ir_push", {}),
        ("precision_at_k", {"k": 10}),
        ("soft_top", {}),
        ("pnorm_push", {"loss": "hinge"}),
        ("pnorm_push", {"price": "log1p"}),
        ("pnorm_push", {"focus": "both"}),
        ("pnorm_push", {"p": np.inf}),
    ):
        with pytest.raises(ValueError, match="at most 1,000 rows at a time"):
            objective(name, **options)
    with pytest.raises(ValueError, match="objective='push' is not known"):
        objective("push")
    with pytest.raises(ValueError, match="balance must be above 0"):
        objective("pnorm_push", balance=0)


def test_far_scores_stay_finite():
    found = objective("pnorm_push", p=8).calc_ders_range([1e3, -1e3], [0, 1], None)
    assert np.isfinite(found).all()
