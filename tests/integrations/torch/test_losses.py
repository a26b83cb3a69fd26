"""The PyTorch losses are the objectives of toprank, with gradients that gradcheck believes."""

import itertools
import locale
import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toprank.integrations.torch import (
    IRPushLoss,
    NDCGHingeLoss,
    PairLoss,
    PrecisionAtKLoss,
    PushLoss,
)
from toprank.metrics import ndcg
from toprank.objectives import PrecisionAtK, Push, ir_push, pnorm_push

LOSSES = ("exponential", "logistic", "hinge", "squared_hinge")
SURROGATES = ("avg", "max", "ramp", "struct")
PUSHES = [
    (
        PushLoss(p, loss=loss, focus=focus, bottom_weight=0.5),
        pnorm_push(p, loss=loss, focus=focus, bottom_weight=0.5),
    )
    for loss, (p, focus) in itertools.product(
        LOSSES, [(1.0, "top"), (2.0, "bottom"), (3.5, "both"), (math.inf, "top")]
    )
] + [(IRPushLoss(loss=loss), ir_push(loss=loss)) for loss in LOSSES]
EVERY = [
    PushLoss(4),
    PushLoss(2.5, focus="both"),
    *(PushLoss(2, loss=loss) for loss in LOSSES[1:]),
    *(IRPushLoss(loss=loss) for loss in LOSSES),
    *(PairLoss(loss) for loss in LOSSES[1:]),
    *(PrecisionAtKLoss(5, surrogate=s) for s in ("avg", "max", "ramp")),
    NDCGHingeLoss(),
]


@st.composite
def problems(draw, largest=12):
    """Scores with ties, at the kink and far apart; labels, weights and lists."""
    n = draw(st.integers(2, largest))
    scores = draw(
        st.one_of(
            st.lists(st.integers(-6, 6).map(lambda i: i / 4), min_size=n, max_size=n),
            st.lists(st.integers(-999, 999).map(lambda i: i / 512), min_size=n, max_size=n),
            st.lists(st.integers(-999, 999).map(lambda i: i / 5), min_size=n, max_size=n),
        )
    )
    y = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    weight = st.sampled_from([0.0, 0.25, 1.0, 2.0])
    weights = draw(st.none() | st.lists(weight, min_size=n, max_size=n))
    groups = draw(st.none() | st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return (
        np.array(scores),
        y,
        None if weights is None else np.array(weights),
        None if groups is None else np.array(groups),
    )


def table(n=80, seed=0, spread=2.0, dtype=torch.float64):
    random = torch.Generator().manual_seed(seed)
    scores = spread * torch.randn(n, generator=random, dtype=torch.float64)
    y = (torch.rand(n, generator=random) < 0.3).long()
    weight = torch.randint(0, 4, (n,), generator=random).double() / 2 + 0.5
    groups = torch.randint(0, 4, (n,), generator=random)
    return scores.to(dtype).requires_grad_(), y, weight, groups


def judged(loss, scores, y, weights=None, groups=None):
    given_scores = torch.tensor(scores, requires_grad=True)
    rest = (None if column is None else torch.tensor(column) for column in (weights, groups))
    value = loss(given_scores, torch.tensor(y), *rest)
    (gradient,) = torch.autograd.grad(value, given_scores)
    return value.item(), gradient.numpy()


def compiled(objective, scores, y, weights, groups):
    """What the compiled twin says; None where it refuses labels that leave no pair."""
    try:
        return objective.value_and_gradient(scores, y, sample_weight=weights, groups=groups)
    except ValueError:
        return None


# The objectives of toprank --------------------------------------------------------------------


@pytest.mark.parametrize(("loss", "objective"), PUSHES, ids=lambda x: repr(x)[:50])
@given(problem=problems())
@settings(max_examples=30, deadline=None)
def test_pushes_equal_their_compiled_twins(loss, objective, problem):
    value, gradient = judged(loss, *problem)
    expected = compiled(objective, *problem)
    if expected is None:
        assert value == 0.0
        assert not gradient.any()
        return
    assert value == pytest.approx(expected[0], rel=1e-10, abs=1e-10)
    scale = max(1e-3, np.abs(expected[1]).max())
    np.testing.assert_allclose(gradient, expected[1], atol=1e-9 * scale)


@pytest.mark.parametrize("loss", LOSSES[1:])
@given(problem=problems())
@settings(max_examples=30, deadline=None)
def test_pairs_are_means_of_the_compiled_risk(loss, problem):
    _, y, weights, groups = problem
    expected = compiled(Push(loss, price=1), *problem)
    assume(expected is not None)
    w = np.ones(y.size) if weights is None else weights
    g = np.zeros(y.size) if groups is None else groups
    pairs = sum(w[(g == one) & y].sum() * w[(g == one) & ~y].sum() for one in np.unique(g))
    value, gradient = judged(PairLoss(loss), *problem)
    assert value == pytest.approx(expected[0] / pairs, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(gradient, expected[1] / pairs, atol=1e-9)


@pytest.mark.parametrize("surrogate", SURROGATES)
@given(problem=problems(), k=st.sampled_from([1, 2, 0.25, 1.0]))
@settings(max_examples=60, deadline=None)
def test_values_of_precision_at_k_equal_their_compiled_twins(surrogate, problem, k):
    scores, y, _, groups = problem
    expected = compiled(PrecisionAtK(k, surrogate), scores, y, None, groups)
    assume(expected is not None)
    value, gradient = judged(PrecisionAtKLoss(k, surrogate=surrogate), scores, y, None, groups)
    assert value == pytest.approx(expected[0], rel=1e-10, abs=1e-10)
    assert gradient.shape == scores.shape


@pytest.mark.parametrize("k", [3, 0.25, 1.0])
@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("lists", [False, True])
def test_gradients_of_precision_at_k_equal_their_compiled_twins(surrogate, k, lists):
    rng = np.random.default_rng(7)
    for _ in range(4):  # scores without ties: then one j attains the maximum
        scores, y = rng.normal(size=60), rng.random(60) < 0.4
        groups = rng.integers(0, 3, 60) if lists else None
        value, gradient = judged(PrecisionAtKLoss(k, surrogate=surrogate), scores, y, None, groups)
        expected = compiled(PrecisionAtK(k, surrogate), scores, y, None, groups)
        assert value == pytest.approx(expected[0], rel=1e-12)
        np.testing.assert_allclose(gradient, expected[1], atol=1e-12)


def test_a_share_that_is_a_whole_number_is_not_rounded_up():
    scores = torch.linspace(3, -3, 300, dtype=torch.float64)
    y = torch.arange(300) % 3 == 0
    share, count = PrecisionAtKLoss(0.07), PrecisionAtKLoss(7)
    assert share(scores, y) == count(scores, y)


def test_rows_tied_at_a_cut_share_the_gradient():
    scores, y = np.array([1.0, 1.0, 1.0, 0.0]), np.array([False, False, True, True])
    _, gradient = judged(PrecisionAtKLoss(1, surrogate="avg"), scores, y)
    assert gradient[0] == gradient[1] == 0.5


def test_the_kink_of_the_hinge_has_the_sub_gradient_0():
    scores, y = np.array([1.0, 0.0, 0.25]), np.array([True, False, False])
    value, gradient = judged(PairLoss("hinge"), scores, y)
    assert value == 0.125
    np.testing.assert_array_equal(gradient, [-0.5, 0.0, 0.5])


@pytest.mark.parametrize("loss", LOSSES[1:])
@pytest.mark.parametrize("spread", [1e-6, 1.0, 300.0, 1e4])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_long_lists_equal_their_compiled_twins(loss, spread, offset):
    rng = np.random.default_rng(3)
    scores, y = offset + spread * rng.normal(size=800), rng.random(800) < 0.2
    value, gradient = judged(PushLoss(2.0, loss=loss), scores, y)
    expected = pnorm_push(2.0, loss=loss).value_and_gradient(scores, y)
    assert value == pytest.approx(expected[0], rel=1e-9)
    np.testing.assert_allclose(gradient, expected[1], atol=1e-8 * np.abs(expected[1]).max())


def test_the_ndcg_hinge_is_the_maximum_over_all_rankings():
    rng = np.random.default_rng(0)
    for gain in ("exponential", "linear"):
        s, y = rng.normal(size=6), rng.integers(0, 3, size=6)
        y[0] = 2
        discounts, gains = 1 / np.log2(np.arange(2, 8)), y if gain == "linear" else 2.0**y - 1
        best = np.lexsort((-s, -gains))
        ideal = discounts @ gains[best]
        highest = max(
            1 - discounts @ gains[list(order)] / ideal + discounts @ s[list(order)]
            for order in itertools.permutations(range(6))
        )
        value, _ = judged(NDCGHingeLoss(gain), s, y)
        assert value == pytest.approx(highest - discounts @ s[best])
        assert value >= 1 - ndcg(y, s, gain=gain) - 1e-12


def test_the_ndcg_hinge_of_lists_is_their_mean_over_those_with_a_gain():
    rng = np.random.default_rng(1)
    s, y, groups = rng.normal(size=30), rng.integers(0, 3, 30), np.arange(30) % 3
    y[groups == 2] = 0
    value, gradient = judged(NDCGHingeLoss(), s, y, None, groups)
    parts = [judged(NDCGHingeLoss(), s[groups == g], y[groups == g]) for g in (0, 1)]
    assert value == pytest.approx((parts[0][0] + parts[1][0]) / 2)
    np.testing.assert_allclose(gradient[groups == 1], parts[1][1] / 2)
    assert not gradient[groups == 2].any()


# Every loss -----------------------------------------------------------------------------------


@pytest.mark.parametrize("module", EVERY, ids=repr)
def test_gradcheck(module):
    scores, y, _, _ = table(25, seed=3)
    assert torch.autograd.gradcheck(lambda s: module(s, y), (scores,), atol=1e-6)


@pytest.mark.parametrize("module", EVERY, ids=repr)
def test_second_derivatives_are_those_of_the_formulas(module):
    scores, y, weight, groups = table(12, seed=3)
    y[:2], groups[:] = torch.tensor([1, 0]), groups % 2
    weight = None if isinstance(module, PrecisionAtKLoss | NDCGHingeLoss) else weight
    for rest in ((None, None), (weight, groups)):
        check = torch.autograd.gradgradcheck
        assert check(lambda s, rest=rest: module(s, y, *rest), (scores,), atol=1e-6)


@pytest.mark.parametrize("module", EVERY, ids=repr)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_short_floats_give_the_same_to_their_digits(module, dtype):
    scores, y, _, _ = table(200, dtype=dtype)
    short = module(scores, y)
    exact = module(scores.detach().double(), y)
    assert short.dtype == torch.float32
    assert short.item() == pytest.approx(exact.item(), rel=1e-4)
    (gradient,) = torch.autograd.grad(short, scores)
    assert gradient.dtype == dtype
    assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("module", EVERY, ids=repr)
def test_float32_gradients_of_long_lists_keep_their_digits(module):
    scores, y, _, _ = table(20_000, dtype=torch.float32)
    exact = scores.detach().double().requires_grad_()
    (expected,) = torch.autograd.grad(module(exact, y), exact)
    (gradient,) = torch.autograd.grad(module(scores, y), scores)
    assert (gradient.double() - expected).abs().max() <= 1e-4 * expected.abs().max()


@pytest.mark.parametrize("module", EVERY, ids=repr)
@pytest.mark.parametrize("label", [0, 1])
def test_a_batch_of_one_class_costs_nothing(module, label):
    if isinstance(module, NDCGHingeLoss) and label:
        pytest.skip("a list of equal grades has a best order")
    scores = torch.randn(10, dtype=torch.float64, requires_grad=True)
    loss = module(scores, torch.full((10,), label))
    loss.backward()
    assert loss.item() == 0.0
    assert (scores.grad == 0).all()


@pytest.mark.parametrize("module", EVERY, ids=repr)
@pytest.mark.parametrize("spread", [1e-6, 30.0, 1e4])
def test_extreme_scores_stay_finite(module, spread):
    scores, y, _, _ = table(60, spread=spread)
    loss = module(scores, y)
    loss.backward()
    assert math.isfinite(loss.item())
    assert torch.isfinite(scores.grad).all()


# PyTorch's own tracing does what PyTorch then warns about
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.skipif(
    locale.getencoding().upper() not in ("UTF-8", "UTF8"),
    reason="torch.compile reads its own files, which are UTF-8, in the encoding of the locale",
)
@pytest.mark.parametrize(
    "module",
    [
        PushLoss(4, focus="both"),
        PushLoss(2, loss="squared_hinge"),
        IRPushLoss(),
        PairLoss("hinge"),
        PrecisionAtKLoss(5),
        PrecisionAtKLoss(0.5, surrogate="max"),
        NDCGHingeLoss(),
    ],
    ids=repr,
)
def test_compiled_losses_are_the_same_without_a_graph_break(module):
    torch.compiler.reset()
    scores, y, weight, groups = table(50)
    traced = torch.compile(module, backend="aot_eager", fullgraph=True)
    both = [(scores, y)]
    if isinstance(module, PushLoss | IRPushLoss | PairLoss):
        both.append((scores, y, weight, groups))
    for inputs in both:
        (expected,) = torch.autograd.grad(module(*inputs), scores)
        (gradient,) = torch.autograd.grad(traced(*inputs), scores)
        torch.testing.assert_close(gradient, expected)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("module", EVERY, ids=repr)
@pytest.mark.parametrize("n", [5, 200, 20_000])
def test_a_graphics_card_gives_what_the_processor_gives(module, n):
    scores, y, _, _ = table(n, dtype=torch.float32)
    y[:2] = torch.tensor([1, 0])
    exact = scores.detach().double().requires_grad_()
    (expected,) = torch.autograd.grad(module(exact, y), exact)
    there = scores.detach().cuda().requires_grad_()
    loss = module(there, y.cuda())
    (gradient,) = torch.autograd.grad(loss, there)
    assert loss.item() == pytest.approx(module(exact, y).item(), rel=1e-4, abs=1e-5)
    assert (gradient.cpu() - expected).abs().max() <= 1e-4 * expected.abs().max()


# Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [PrecisionAtKLoss(2), NDCGHingeLoss()], ids=repr)
def test_losses_that_count_rows_refuse_weights(module):
    scores, y, weight, _ = table()
    with pytest.raises(ValueError, match="has no row weights; leave weight out"):
        module(scores, y, weight)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PushLoss(p=0.5), "p must be a number ≥ 1"),
        (lambda: PushLoss(loss="cubic"), "loss must be"),
        (lambda: PushLoss(focus="middle"), "focus must be"),
        (lambda: PushLoss(bottom_weight=0.0), "bottom_weight must be above 0"),
        (lambda: IRPushLoss(loss="cubic"), "loss must be"),
        (lambda: PairLoss("exponential"), "loss must be"),
        (lambda: PrecisionAtKLoss(2, surrogate="best"), "surrogate must be"),
        (lambda: PrecisionAtKLoss(1.5), "k"),
        (lambda: PrecisionAtKLoss("ten"), "k must be a number"),
        (lambda: NDCGHingeLoss("cubic"), "gain must be"),
    ],
)
def test_bad_options_are_named(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_bad_batches_are_named():
    s, y = torch.zeros(3), torch.tensor([1, 0, 0])
    for scores, labels, message in (
        (s, y[:2], "y has 2 rows, but scores has 3"),
        (torch.zeros(3, 2), y, r"one number per row, got shape \(3, 2\)"),
        (s[:0], y[:0], "scores holds no row"),
        (y, y, "floating-point"),
        ([1.0, 2.0, 3.0], y, "scores must be a tensor"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            PushLoss()(scores, labels)
