"""PyTorch losses on a CPU: time and memory of a forward and a backward pass.

::

    PYTHONPATH=src:. python -m benchmarks.torch_losses

Batches of float32 scores with boolean labels, 5 % positive, in one thread. The memory is the peak
of a process of its own above what the scores, their gradients and the labels take.
"""

import multiprocessing
import time

from benchmarks.measure import peak_bytes

SIZES = (1_000, 10_000, 100_000, 1_000_000)
REPEATS = 5


def losses():
    """The losses by name, and beside them what a network learns from otherwise."""
    from torch.nn import BCEWithLogitsLoss

    from toprank.integrations import torch as ours

    cross_entropy = BCEWithLogitsLoss()
    return {
        "cross-entropy of PyTorch": lambda scores, y: cross_entropy(scores, y.float()),
        "push, exponential, p = 4": ours.PushLoss(4),
        "IR push": ours.IRPushLoss(),
        "push, hinge, p = 2": ours.PushLoss(2, loss="hinge"),
        "pairs, squared hinge": ours.PairLoss("squared_hinge"),
        "pairs, logistic": ours.PairLoss("logistic"),
        "precision at 100": ours.PrecisionAtKLoss(100),
        "precision at a quarter": ours.PrecisionAtKLoss(0.25),
        "structured NDCG hinge": ours.NDCGHingeLoss(),
    }


def batch(n):
    """Scores and labels."""
    import torch

    random = torch.Generator().manual_seed(0)
    scores = torch.randn(n, generator=random, requires_grad=True)
    return scores, torch.rand(n, generator=random) < 0.05


def seconds(loss, n):
    """Shortest time of a pass after one to warm up."""
    scores, y = batch(n)
    times = []
    for _ in range(REPEATS + 1):
        scores.grad = None
        start = time.perf_counter()
        loss(scores, y).backward()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def bytes_per_row(name, n):
    """Peak of a pass above its batch."""
    import torch

    torch.set_num_threads(1)
    loss = losses()[name]
    loss(*batch(1000)).backward()
    scores, y = batch(n)
    scores.grad = scores.detach().clone()
    return peak_bytes(lambda: loss(scores, y).backward()) / n


def main():
    """Print a line per loss."""
    import torch

    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}, one thread\n")
    heads = [f"{n:,} scores, ms" for n in SIZES]
    print(f"| loss | {' | '.join(heads)} | bytes per row |")
    print("|---|" + "---|" * (len(SIZES) + 1))
    for name, loss in losses().items():
        cells = [f"{1e3 * seconds(loss, n):.2f}" for n in SIZES]
        with multiprocessing.get_context("spawn").Pool(1) as own:
            held = own.apply(bytes_per_row, (name, SIZES[-1]))
        print(f"| {name} | {' | '.join(cells)} | {held:.0f} |", flush=True)


if __name__ == "__main__":
    main()
