"""PyTorch losses beside a sort and a copy of the same tensor, and a network trained end to end.

Needs PyTorch alone, on a GPU where there is one::

    PYTHONPATH=src python benchmarks/torch_losses.py [largest number of scores, default 1e7]

``read + write`` is the time that reading scores and labels and writing gradients takes at the
bandwidth of a plain copy, measured in the same run.
"""

import platform
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path

SIZES = (10_000, 1_000_000, 10_000_000)
REPEATS = 10


def load():
    """Give the losses, also where the rest of toprank's dependencies is absent."""
    try:
        import lazy_loader  # noqa: F401
    except ImportError:
        package = types.ModuleType("toprank")
        package.__path__ = [str(Path(__file__).parents[1] / "src" / "toprank")]
        sys.modules["toprank"] = package
    from toprank.integrations import torch as losses

    return losses


def clock(device: str, run: Callable[[], object], repeats: int = REPEATS) -> float:
    """Shortest time of a run, after two to warm up."""
    import torch

    best = float("inf")
    for turn in range(repeats + 2):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        if device == "cuda":
            torch.cuda.synchronize()
        if turn > 1:
            best = min(best, time.perf_counter() - start)
    return best


def bandwidth(device: str) -> float:
    """Bytes a second of a plain copy."""
    import torch

    source = torch.empty(100_000_000 if device == "cuda" else 5_000_000, device=device)
    target = torch.empty_like(source)
    return 2 * source.numel() * 4 / clock(device, lambda: target.copy_(source))


def every(losses) -> dict[str, tuple[object, str]]:
    """All losses with what each is measured against: reading and writing, or a sort."""
    return {
        "push, exponential, p = 4": (losses.PushLoss(4), "copy"),
        "push, exponential, both ends": (losses.PushLoss(4, focus="both"), "copy"),
        "IR push": (losses.IRPushLoss(), "copy"),
        "push, hinge, p = 2": (losses.PushLoss(2, loss="hinge"), "sort"),
        "push, squared hinge, p = 2": (losses.PushLoss(2, loss="squared_hinge"), "sort"),
        "pairs, hinge": (losses.PairLoss("hinge"), "sort"),
        "pairs, squared hinge": (losses.PairLoss("squared_hinge"), "sort"),
        "pairs, logistic": (losses.PairLoss("logistic"), "sort"),
        "precision at k, avg": (losses.PrecisionAtKLoss(100), "sort"),
        "precision at k, max": (losses.PrecisionAtKLoss(100, surrogate="max"), "sort"),
        "precision at k, ramp": (losses.PrecisionAtKLoss(100, surrogate="ramp"), "sort"),
        "structured NDCG hinge": (losses.NDCGHingeLoss(), "sort"),
    }


def peers() -> dict[str, Callable]:
    """LibAUC's nearest losses, where it is installed."""
    try:
        from libauc.losses import AUCMLoss, pAUC_CVaR_Loss  # noqa: F401
    except ImportError:
        print("LibAUC is not installed; its losses are left out.")
        return {}
    return {"LibAUC AUCMLoss": lambda s, y: AUCMLoss()(s.sigmoid(), y.float())}


def step(loss: Callable, scores, y) -> Callable[[], None]:
    """One forward and backward pass."""

    def run() -> None:
        scores.grad = None
        loss(scores, y).backward()

    return run


def measure(device: str, largest: int) -> None:
    """Print one table a size."""
    import torch

    losses = load()
    speed = bandwidth(device)
    print(f"\ncopy bandwidth {speed / 1e9:,.0f} GB/s")
    for n in (size for size in SIZES if size <= largest):
        scores = torch.randn(n, device=device, requires_grad=True)
        y = torch.rand(n, device=device) < 0.05
        repeats = REPEATS if device == "cuda" or n <= 1_000_000 else 2
        plain = (4 + 1 + 4) * n / speed
        sort = clock(device, lambda s=scores: torch.sort(s.detach()), repeats)
        print(f"\n### {n:,} scores: forward and backward, milliseconds\n")
        print("| loss | eager | compiled | over read + write | over torch.sort |")
        print("|---|---|---|---|---|")
        print(f"| read + write | {1e3 * plain:.4f} | | 1 | {plain / sort:.2f} |")
        print(f"| torch.sort | {1e3 * sort:.4f} | | {sort / plain:.1f} | 1 |")
        for name, (loss, bound) in every(losses).items():
            eager = clock(device, step(loss, scores, y), repeats)
            # a sort cannot be fused with what is around it; compiling takes a while
            quick = compiled(device, loss, scores, y, repeats) if bound == "copy" else None
            best = min(eager, quick or eager)
            shown = "" if quick is None else f"{1e3 * quick:.4f}"
            row = f"| {name} | {1e3 * eager:.4f} | {shown} | {best / plain:.1f} |"
            print(f"{row} {best / sort:.2f} |", flush=True)
        for name, peer in peers().items():
            eager = clock(device, step(peer, scores, y), repeats)
            row = f"| {name} | {1e3 * eager:.4f} | | {eager / plain:.1f} |"
            print(f"{row} {eager / sort:.2f} |", flush=True)


def agree(device: str) -> None:
    """Print how far gradients on the device, in float32, are from those of a CPU in float64."""
    import torch

    print("\n### Largest difference from the CPU in float64, over the largest gradient\n")
    print("| loss | float32 | bfloat16 |\n|---|---|---|")
    random = torch.Generator().manual_seed(0)
    y = torch.rand(5000, generator=random) < 0.1
    for name, (loss, _) in every(load()).items():
        cells = []
        for dtype in (torch.float32, torch.bfloat16):
            scores = torch.randn(5000, generator=random).to(dtype)
            exact = scores.double().requires_grad_()
            loss(exact, y).backward()
            here = scores.to(device).requires_grad_()
            loss(here, y.to(device)).backward()
            gap = (here.grad.double().cpu() - exact.grad).abs().max() / exact.grad.abs().max()
            cells.append(f"{float(gap):.1e}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def compiled(device: str, loss, scores, y, repeats: int) -> float | None:
    """Time of the loss under torch.compile; None on a CPU or where it does not compile."""
    import torch

    if device != "cuda":
        return None
    try:
        return clock(device, step(torch.compile(loss, dynamic=False), scores, y), repeats)
    except Exception as error:  # noqa: BLE001, the table goes on
        print(f"<!-- {type(error).__name__}: {str(error)[:200]} -->")
        return None


def train(device: str, rows: int, epochs: int = 5) -> None:
    """A network with the push beside its twin with cross-entropy, from scratch."""
    import torch

    losses = load()
    random = torch.Generator(device=device).manual_seed(0)
    X = torch.randn(2 * rows, 32, generator=random, device=device)
    noise = torch.randn(2 * rows, generator=random, device=device)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + noise > 3.5).float()
    k = rows // 200
    print(f"\n### A network on {rows:,} rows, {float(y.mean()):.1%} positive, {epochs} epochs\n")
    print(f"| loss | seconds | precision at {k:,} of {rows:,} new rows |\n|---|---|---|")
    rivals = {"push, p = 4": losses.PushLoss(4), "cross-entropy": None}
    fit(X[:1000], y[:1000], None, 1, losses.ClassAwareBatchSampler)  # loads what is loaded once
    for name, loss in rivals.items():
        start = time.perf_counter()
        net = fit(X[:rows], y[:rows], loss, epochs, losses.ClassAwareBatchSampler)
        if device == "cuda":
            torch.cuda.synchronize()
        took = time.perf_counter() - start
        with torch.no_grad():
            top = net(X[rows:])[:, 0].topk(k).indices
        print(f"| {name} | {took:.2f} | {float(y[rows:][top].mean()):.4f} |", flush=True)


def fit(X, y, loss, epochs: int, sampler):
    """Adam on class-aware batches (push) or plain ones (cross-entropy)."""
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(X.shape[1], 128), torch.nn.ReLU(),
        torch.nn.Linear(128, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1),
    ).to(X.device)  # fmt: skip
    steps = torch.optim.Adam(net.parameters(), 1e-3)
    size = min(8192, y.numel() // 4)
    batches = sampler(y.cpu(), batch_size=size, positives=0.25)
    for _ in range(epochs):
        plain = torch.randperm(y.numel()).split(size)
        for batch in batches if loss is not None else plain:
            rows = torch.as_tensor(batch, device=X.device)
            scores = net(X[rows])[:, 0]
            if loss is None:
                cost = torch.nn.functional.binary_cross_entropy_with_logits(scores, y[rows])
            else:
                cost = loss(scores, y[rows])
            steps.zero_grad()
            cost.backward()
            steps.step()
    return net


def main(largest: float = 1e6) -> None:
    """Measure on the GPU if there is one, else on the CPU."""
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed; `make setup-torch` adds it.")
        return
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else platform.processor() or "a CPU"
    print(f"## PyTorch losses on {name}\n\nPyTorch {torch.__version__}, {device}")
    agree(device)
    measure(device, int(largest))
    train(device, 1_000_000 if device == "cuda" else 20_000)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1e7)
