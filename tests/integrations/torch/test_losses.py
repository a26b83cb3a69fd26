"""The PyTorch losses are the objectives of toprank, with gradients that gradcheck believes."""

import itertools
import locale
import math

import numpy as np
import pytest
import torch

from toprank.integrations.torch import (
    IRPushLoss,
    NDCGHingeLoss,
    PairLoss,
    PrecisionAtKLoss,
    PushLoss,
)
from toprank.objectives import PrecisionAtK, Push, ir_push, pnorm_push

LOSSES = ("exponential", "logistic", "hinge", "squared_hinge")
PUSHES = [
    (PushLoss(p, loss=loss, focus=focus, bottom_weight=0.5),
     pnorm_push(p, loss=loss, focus=focus, bottom_weight=0.5))
    for p, loss, focus in itertools.product((1.0, 3.5, math.inf), LOSSES, ("top", "bottom", "both"))
    if (p, focus) != (math.inf, "both")
] + [(IRPushLoss(loss=loss), ir_push(loss=loss)) for loss in LOSSES]  # fmt: skip
TOPS = [
    (PrecisionAtKLoss(k, surrogate=s), PrecisionAtK(k, s))
    for k, s in itertools.product((1, 7, 0.25, 1.0), ("avg", "max", "ramp", "struct"))
]
# one of each kind; the formulas themselves are compared in test_formulas.py
FEW = [*PUSHES[:12], *PUSHES[-4:], *TOPS[:8]]


def draw(n=80, seed=0, spread=2.0, dtype=torch.float64):
    random = torch.Generator().manual_seed(seed)
    scores = spread * torch.randn(n, generator=random, dtype=torch.float64)
    y = (torch.rand(n, generator=random) < 0.3).long()
    weight = torch.randint(0, 4, (n,), generator=random).double() / 2 + 0.5
    groups = torch.randint(0, 4, (n,), generator=random)
    return scores.to(dtype).requires_grad_(), y, weight, groups


def numbers(*tensors):
    return [None if t is None else t.detach().double().numpy() for t in tensors]


def assert_same(module, objective, scores, y, weight=None, groups=None, rtol=1e-9):
    rest = {} if weight is None and groups is None else {"weight": weight, "groups": groups}
    loss = module(scores, y, **rest)
    (gradient,) = torch.autograd.grad(loss, scores)
    s, labels, w, g = numbers(scores, y, weight, groups)
    value, expected = objective.value_and_gradient(s, labels, sample_weight=w, groups=g)
    assert loss.item() == pytest.approx(value, rel=rtol, abs=rtol)
    scale = np.abs(expected).max() + 1e-300
    np.testing.assert_allclose(gradient.double().numpy(), expected, atol=rtol * 10 * scale)


@pytest.mark.parametrize(("module", "objective"), [*PUSHES, *TOPS], ids=lambda x: repr(x)[:60])
def test_values_and_gradients_are_those_of_the_objectives(module, objective):
    scores, y, _, _ = draw()
    assert_same(module, objective, scores, y)


@pytest.mark.parametrize(("module", "objective"), FEW, ids=lambda x: repr(x)[:60])
@pytest.mark.parametrize("use", ["weight", "groups", "both"])
def test_weights_and_lists_are_those_of_the_objectives(module, objective, use):
    scores, y, weight, groups = draw()
    if isinstance(module, PrecisionAtKLoss) and use != "groups":
        weight = weight * torch.linspace(0.9, 1.1, weight.numel())  # no two j attain the maximum
    weight = None if use == "groups" else weight
    groups = None if use == "weight" else groups
    assert_same(module, objective, scores, y, weight, groups)


@pytest.mark.parametrize("loss", LOSSES[1:])
@pytest.mark.parametrize("lists", [False, True])
def test_pair_losses_are_means_over_all_pairs(loss, lists):
    scores, y, weight, groups = draw()
    groups = groups if lists else torch.zeros_like(groups)
    s, labels, w, g = numbers(scores, y, weight, groups)
    risk = Push(loss, price=1).risk(s, labels, sample_weight=w, groups=g)
    pairs = sum(
        w[(g == one) & (labels > 0)].sum() * w[(g == one) & (labels == 0)].sum()
        for one in np.unique(g)
    )
    value = PairLoss(loss)(scores, y, weight, groups if lists else None)
    assert value.item() == pytest.approx(risk / pairs, rel=1e-10)


EVERY = [
    PushLoss(4),
    PushLoss(2.5, focus="both"),
    *(PushLoss(2, loss=loss) for loss in LOSSES[1:]),
    *(IRPushLoss(loss=loss) for loss in LOSSES),
    *(PairLoss(loss) for loss in LOSSES[1:]),
    *(PrecisionAtKLoss(5, surrogate=s) for s in ("avg", "max", "ramp")),
    NDCGHingeLoss(),
]


@pytest.mark.parametrize("module", EVERY, ids=repr)
def test_gradcheck(module):
    scores, y, _, _ = draw(25, seed=3)
    assert torch.autograd.gradcheck(lambda s: module(s, y), (scores,), atol=1e-6)


@pytest.mark.parametrize("module", EVERY, ids=repr)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_short_floats_give_the_same_to_their_digits(module, dtype):
    scores, y, _, _ = draw(200, dtype=dtype)
    short = module(scores, y)
    exact = module(scores.detach().double(), y)
    assert short.dtype == torch.float32
    assert short.item() == pytest.approx(exact.item(), rel=1e-4)
    (gradient,) = torch.autograd.grad(short, scores)
    assert gradient.dtype == dtype
    assert torch.isfinite(gradient).all()


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
    scores, y, _, _ = draw(60, spread=spread)
    loss = module(scores, y)
    loss.backward()
    assert math.isfinite(loss.item())
    assert torch.isfinite(scores.grad).all()


@pytest.mark.parametrize("spread", [0.1, 10.0, 300.0])
def test_logistic_sums_are_exact_near_and_far(spread):
    scores, y, _, _ = draw(400, spread=spread)
    assert_same(PushLoss(2, loss="logistic"), pnorm_push(2, loss="logistic"), scores, y, rtol=1e-9)


def test_the_ndcg_hinge_takes_lists_and_no_weights():
    scores, y, weight, groups = draw()
    parts = [NDCGHingeLoss()(scores[groups == g], y[groups == g]).item() for g in range(4)]
    assert NDCGHingeLoss()(scores, y, groups=groups).item() == pytest.approx(sum(parts) / 4)
    with pytest.raises(ValueError, match="no row weights"):
        NDCGHingeLoss()(scores, y, weight)


# PyTorch's own tracing does what PyTorch then warns about
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.skipif(
    locale.getencoding().upper() not in ("UTF-8", "UTF8"),
    reason="torch.compile reads its own files, which are UTF-8, in the encoding of the locale",
)
@pytest.mark.parametrize(
    "module",
    [
        PushLoss(4),
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
    scores, y, weight, groups = draw(50)
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    both = [(scores, y)]
    if isinstance(module, PushLoss | IRPushLoss | PairLoss):
        both.append((scores, y, weight, groups))
    for inputs in both:
        (expected,) = torch.autograd.grad(module(*inputs), scores)
        (gradient,) = torch.autograd.grad(compiled(*inputs), scores)
        torch.testing.assert_close(gradient, expected)


needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@needs_cuda
@pytest.mark.parametrize("module", EVERY, ids=repr)
@pytest.mark.parametrize("n", [5, 200, 20_000])
def test_a_graphics_card_gives_what_the_processor_gives(module, n):
    scores, y, _, _ = draw(n, dtype=torch.float32)
    y[:2] = torch.tensor([1, 0])
    exact = scores.detach().double().requires_grad_()
    (expected,) = torch.autograd.grad(module(exact, y), exact)
    there = scores.detach().cuda().requires_grad_()
    loss = module(there, y.cuda())
    (gradient,) = torch.autograd.grad(loss, there)
    assert loss.item() == pytest.approx(module(exact, y).item(), rel=1e-4, abs=1e-5)
    assert (gradient.cpu() - expected).abs().max() <= 1e-4 * expected.abs().max()


# losses with kernels of their own on a CUDA device
FUSED = [
    *(
        PushLoss(p, focus=focus, bottom_weight=0.5)
        for p, focus in itertools.product((1.0, 3.5, math.inf), ("top", "bottom", "both"))
    ),
    IRPushLoss(),
    PairLoss("logistic"),
    PushLoss(2.5, loss="logistic", focus="both"),
    IRPushLoss(loss="logistic"),
]


@needs_cuda
@pytest.mark.parametrize("module", FUSED, ids=repr)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("use", ["nothing", "weight", "groups", "both"])
def test_kernels_equal_their_formulas(module, dtype, use):
    scores, y, weight, groups = draw(20_001)
    scores = scores.detach().to(dtype)
    scores[::7] = scores[0]  # ties
    weight = weight - 0.5 if use in {"weight", "both"} else None  # with weights of 0
    groups = groups if use in {"groups", "both"} else None
    exact = scores.double().requires_grad_()
    expected = module(exact, y, weight, groups)
    here = scores.cuda().requires_grad_()
    rest = [None if column is None else column.cuda() for column in (weight, groups)]
    loss = module(here, y.cuda(), *rest)
    digits = {torch.float64: 1e-9, torch.float32: 1e-5}.get(dtype, 1e-2)
    assert loss.item() == pytest.approx(expected.item(), rel=min(digits, 1e-5))
    (gradient,) = torch.autograd.grad(3.0 * loss, here)
    (wanted,) = torch.autograd.grad(3.0 * expected, exact)
    assert gradient.dtype == dtype
    assert (gradient.double().cpu() - wanted).abs().max() <= digits * wanted.abs().max()


@needs_cuda
@pytest.mark.parametrize("spread", [1e-6, 30.0, 300.0, 1e4, 1e8])
@pytest.mark.parametrize("module", FUSED[-4:], ids=repr)
def test_kernels_are_exact_near_and_far(module, spread):
    scores, y, _, _ = draw(3000, spread=spread)
    scores = scores.detach().float()
    exact = scores.double().requires_grad_()
    (wanted,) = torch.autograd.grad(module(exact, y), exact)
    here = scores.cuda().requires_grad_()
    (gradient,) = torch.autograd.grad(module(here, y.cuda()), here)
    assert (gradient.double().cpu() - wanted).abs().max() <= 1e-5 * wanted.abs().max()


@needs_cuda
@pytest.mark.parametrize("module", FUSED, ids=repr)
def test_kernels_give_the_same_bits_every_time(module):
    scores, y, weight, _ = draw(100_001, dtype=torch.float32)
    scores, y, weight = scores.detach().cuda().requires_grad_(), y.cuda(), weight.cuda()
    (first,) = torch.autograd.grad(module(scores, y, weight), scores)
    (again,) = torch.autograd.grad(module(scores, y, weight), scores)
    assert torch.equal(first, again)


SMOOTH = [
    PushLoss(4),
    PushLoss(2.5, focus="both"),
    PushLoss(2.5, loss="logistic"),
    PushLoss(2.0, loss="squared_hinge"),
    IRPushLoss(),
    IRPushLoss(loss="logistic"),
    PairLoss("logistic"),
]


@pytest.mark.parametrize("module", SMOOTH, ids=repr)
def test_second_derivatives_are_those_of_the_formulas(module):
    scores, y, weight, groups = draw(12, seed=3)
    y[:2], groups[:] = torch.tensor([1, 0]), groups % 2
    for rest in ((None, None), (weight, groups)):
        check = torch.autograd.gradgradcheck
        assert check(lambda s, rest=rest: module(s, y, *rest), (scores,), atol=1e-6)


@needs_cuda
@pytest.mark.parametrize("module", SMOOTH, ids=repr)
def test_second_derivatives_on_a_graphics_card(module):
    scores, y, weight, _ = draw(300, dtype=torch.float32)
    found = []
    for dtype, device in ((torch.float64, "cpu"), (torch.float32, "cuda")):
        here = scores.detach().to(device, dtype).requires_grad_()
        loss = module(here, y.to(device), weight.to(device))
        (gradient,) = torch.autograd.grad(loss, here, create_graph=True)
        (second,) = torch.autograd.grad((gradient**2).sum(), here)
        found.append(second.double().cpu())
    assert (found[0] - found[1]).abs().max() <= 1e-4 * found[0].abs().max()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")
@needs_cuda
@pytest.mark.parametrize("module", [PushLoss(4), IRPushLoss(), PairLoss("logistic")], ids=repr)
def test_kernels_are_the_same_when_compiled(module):
    torch.compiler.reset()
    scores, y, _, _ = draw(1000, dtype=torch.float32)
    scores, y = scores.detach().cuda().requires_grad_(), y.cuda()
    # the logistic loss reads a length back, which breaks the graph
    is_whole = not isinstance(module, PairLoss)
    compiled = torch.compile(module, backend="aot_eager", fullgraph=is_whole)
    (expected,) = torch.autograd.grad(module(scores, y), scores)
    (gradient,) = torch.autograd.grad(compiled(scores, y), scores)
    torch.testing.assert_close(gradient, expected)


# PyTorch captures on a stream of its own and warns about it
@pytest.mark.filterwarnings("ignore:The AccumulateGrad node's stream:UserWarning")
@needs_cuda
@pytest.mark.parametrize(
    "module",
    [PushLoss(4), IRPushLoss(), PairLoss("hinge"), PairLoss("logistic"), PrecisionAtKLoss(50)],
    ids=repr,
)
def test_losses_can_be_captured_in_a_cuda_graph(module):
    scores, y, _, _ = draw(1000, dtype=torch.float32)
    scores, y = scores.detach().cuda().requires_grad_(), y.cuda()
    graphed = torch.cuda.make_graphed_callables(module, (scores, y))
    (expected,) = torch.autograd.grad(module(scores, y), scores)
    (gradient,) = torch.autograd.grad(graphed(scores, y), scores)
    torch.testing.assert_close(gradient, expected)


def test_a_share_that_is_a_whole_number_is_not_rounded_up():
    scores = torch.linspace(3, -3, 300, dtype=torch.float64)
    y = torch.arange(300) % 3 == 0
    share, count = PrecisionAtKLoss(0.07), PrecisionAtKLoss(7)
    assert share(scores, y) == count(scores, y)


def test_bad_input_is_named():
    s, y = torch.zeros(3), torch.tensor([1, 0, 0])
    for options, message in (
        ({"p": 0.5}, "p must be a number ≥ 1"),
        ({"loss": "cubic"}, "loss must be one of"),
        ({"focus": "middle"}, "focus must be"),
        ({"bottom_weight": 0.0}, "bottom_weight must be above 0"),
    ):
        with pytest.raises(ValueError, match=message):
            PushLoss(**options)
    with pytest.raises(ValueError, match="y has 2 rows, but scores has 3"):
        PushLoss()(s, y[:2])
    with pytest.raises(ValueError, match=r"one number per row, got shape \(3, 2\)"):
        PushLoss()(torch.zeros(3, 2), y)
    with pytest.raises(ValueError, match="scores holds no row"):
        PushLoss()(s[:0], y[:0])
    with pytest.raises(TypeError, match="floating-point"):
        PushLoss()(y, y)
    with pytest.raises(TypeError, match="scores must be a tensor"):
        PushLoss()([1.0, 2.0, 3.0], y)
    with pytest.raises(ValueError, match="surrogate must be"):
        PrecisionAtKLoss(2, surrogate="best")
    for k in (0, 1.5, -1):
        with pytest.raises(ValueError, match="k"):
            PrecisionAtKLoss(k)
    with pytest.raises(TypeError, match="k must be a number"):
        PrecisionAtKLoss("ten")
    with pytest.raises(ValueError, match="gain must be"):
        NDCGHingeLoss("cubic")
    with pytest.raises(ValueError, match="loss must be one of"):
        PairLoss("exponential")
    with pytest.raises(ValueError, match="loss must be one of"):
        IRPushLoss(loss="cubic")


@pytest.mark.parametrize("module", EVERY, ids=repr)
def test_float32_gradients_of_long_lists_keep_their_digits(module):
    scores, y, _, _ = draw(20_000, dtype=torch.float32)
    exact = scores.detach().double().requires_grad_()
    (expected,) = torch.autograd.grad(module(exact, y), exact)
    (gradient,) = torch.autograd.grad(module(scores, y), scores)
    assert (gradient.double() - expected).abs().max() <= 1e-4 * expected.abs().max()
