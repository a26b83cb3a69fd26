"""PyTorch losses beside a sort and a copy of the same tensor.

On a GPU where there is one::

    PYTHONPATH=src python benchmarks/torch_losses.py [largest number of scores, default 1e7]

``read + write`` is the time that reading scores and labels and writing gradients takes at the
bandwidth of a plain copy, measured in the same run. ``eager`` and ``compiled`` are forward and
backward passes from the call until the device has finished; ``one thread`` is an eager pass that
autograd runs in the thread of its caller. ``graph``, like the copy and the sort, is what a pass
costs the device: replays of a CUDA graph of the faster of the two, one after another, between two
events on the device. ``launches`` are the kernels of that graph.
"""

import platform
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

SIZES = (10_000, 1_000_000, 10_000_000)
REPEATS = 10


def clock(device: str, run: Callable[[], object], repeats: int = REPEATS, warm: int = 2) -> float:
    """Shortest time of a run, after some to warm up."""
    import torch

    best = float("inf")
    for turn in range(repeats + warm):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        if device == "cuda":
            torch.cuda.synchronize()
        if turn >= warm:
            best = min(best, time.perf_counter() - start)
    return best


def device_clock(device: str, run: Callable[[], object], repeats: int = REPEATS) -> float:
    """Time on the device of one of many runs, one after another; on a CPU that of a single one."""
    import torch

    if device != "cuda":
        return clock(device, run, repeats)
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    best = float("inf")
    for _ in range(4):
        torch.cuda.synchronize()
        first.record()
        for _ in range(repeats):
            run()
        last.record()
        torch.cuda.synchronize()
        best = min(best, first.elapsed_time(last) / 1e3 / repeats)
    return best


def bandwidth(device: str) -> float:
    """Bytes per second of a plain copy."""
    import torch

    source = torch.empty(100_000_000 if device == "cuda" else 5_000_000, device=device)
    target = torch.empty_like(source)
    return 2 * source.numel() * 4 / device_clock(device, lambda: target.copy_(source))


class Entry(NamedTuple):
    """A loss, and whether a compiler helps it."""

    loss: object
    can_compile: bool = True


def every() -> dict[str, Entry]:
    """All losses; the exponential ones and the logistic one have kernels of their own."""
    from toprank.integrations import torch as ours

    return {
        "push, exponential, p = 4": Entry(ours.PushLoss(4), can_compile=False),
        "push, exponential, both ends": Entry(ours.PushLoss(4, focus="both"), can_compile=False),
        "IR push": Entry(ours.IRPushLoss(), can_compile=False),
        "push, hinge, p = 2": Entry(ours.PushLoss(2, loss="hinge")),
        "push, squared hinge, p = 2": Entry(ours.PushLoss(2, loss="squared_hinge")),
        "pairs, hinge": Entry(ours.PairLoss("hinge")),
        "pairs, squared hinge": Entry(ours.PairLoss("squared_hinge")),
        "pairs, logistic": Entry(ours.PairLoss("logistic"), can_compile=False),
        "precision at 100, avg": Entry(ours.PrecisionAtKLoss(100)),
        "precision at 100, max": Entry(ours.PrecisionAtKLoss(100, surrogate="max")),
        "precision at 100, ramp": Entry(ours.PrecisionAtKLoss(100, surrogate="ramp")),
        "precision at a quarter, avg": Entry(ours.PrecisionAtKLoss(0.25)),
        "structured NDCG hinge": Entry(ours.NDCGHingeLoss()),
    }


def peers(n: int) -> dict[str, Callable]:
    """LibAUC's nearest losses, as far as they go.

    AUCMLoss adds up the mask of the positives in Python, a kernel per row; PairwiseAUCLoss forms
    every pair.
    """
    try:
        from libauc.losses.auc import AUCMLoss, PairwiseAUCLoss
    except ImportError:
        print("LibAUC is not installed; its losses are left out.")
        return {}
    margin, squares, logistic = AUCMLoss(), PairwiseAUCLoss("squared_hinge"), PairwiseAUCLoss()
    found = {}
    if n <= 1_000_000:
        found["LibAUC AUCMLoss"] = lambda s, y: margin(s.sigmoid(), y.float())
    if n <= 10_000:
        found["LibAUC PairwiseAUCLoss, squared hinge"] = lambda s, y: squares(s, y.float())
        found["LibAUC PairwiseAUCLoss, logistic"] = lambda s, y: logistic(s, y.float())
    return found


def step(loss: Callable, scores, y) -> Callable[[], None]:
    """One forward and backward pass."""

    def run() -> None:
        scores.grad = None
        loss(scores, y).backward()

    return run


def graph_of(run: Callable[[], None]) -> Callable[[], None]:
    """Replay of a captured run."""
    import torch

    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def launches(run: Callable[[], None]) -> int:
    """Kernels that a run starts."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as seen:
        run()
        torch.cuda.synchronize()
    return sum(event.device_type == torch.autograd.DeviceType.CUDA for event in seen.events())


def measure(device: str, largest: int) -> None:
    """Print one table a size."""
    import torch

    speed = bandwidth(device)
    print(f"\ncopy bandwidth {speed / 1e9:,.0f} GB/s")
    for n in (size for size in SIZES if size <= largest):
        scores = torch.randn(n, device=device, requires_grad=True)
        y = torch.rand(n, device=device) < 0.05
        repeats = REPEATS if device == "cuda" or n <= 1_000_000 else 2
        plain = (4 + 1 + 4) * n / speed
        sort = device_clock(device, lambda s=scores: torch.sort(s.detach()), repeats)
        print(f"\n### {n:,} scores: forward and backward, milliseconds\n")
        print("| loss | eager | one thread | compiled | graph | launches | over rw | over sort |")
        print("|---|---|---|---|---|---|---|---|")
        print(f"| read + write | | | | {1e3 * plain:.4f} | | 1 | {plain / sort:.2f} |")
        print(f"| torch.sort | | | | {1e3 * sort:.4f} | | {sort / plain:.1f} | 1 |")
        least = Entry(lambda scores, _: scores.sum(), can_compile=False)
        for name, entry in {"scores.sum()": least, **every()}.items():
            times, count = timed(device, entry, scores, y, repeats)
            cells = " | ".join("" if time is None else f"{1e3 * time:.4f}" for time in times)
            best = min(time for time in times if time is not None)
            ratios = f"{best / plain:.1f} | {best / sort:.2f}"
            print(f"| {name} | {cells} | {count or ''} | {ratios} |", flush=True)
        for name, peer in peers(n).items():
            few = {"repeats": 1, "warm": 0} if n > 10_000 else {"repeats": 3, "warm": 1}
            took = clock(device, step(peer, scores, y), **few)
            row = f"| {name} | {1e3 * took:.4f} | | | | | {took / plain:.1f} |"
            print(f"{row} {took / sort:.2f} |", flush=True)


def timed(device: str, entry: Entry, scores, y, repeats: int):
    """Seconds eager, in one thread, compiled, and from a graph; and the graph's kernels."""
    import torch

    run = step(entry.loss, scores, y)
    plain = clock(device, run, 5 * repeats)
    with torch.autograd.set_multithreading_enabled(False):
        single = clock(device, run, 5 * repeats)
    if device != "cuda":
        return (plain, single, None, None), None
    compiled = None
    if entry.can_compile:
        torch.compiler.reset()
        run = step(torch.compile(entry.loss, dynamic=False, fullgraph=True), scores, y)
        compiled = clock(device, run, repeats)
    count = launches(run)
    return (plain, single, compiled, device_clock(device, graph_of(run), repeats)), count


def agree(device: str) -> None:
    """Print how far gradients on the device, in float32, are from those of a CPU in float64."""
    import torch

    print("\n### Largest difference from the CPU in float64, over the largest gradient\n")
    print("| loss | float32 | bfloat16 |\n|---|---|---|")
    random = torch.Generator().manual_seed(0)
    y = torch.rand(5000, generator=random) < 0.1
    for name, (loss, *_) in every().items():
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


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1e7)
