"""A network with each loss: the same batches, the same seconds, five seeds, real tables.

On a GPU where there is one::

    PYTHONPATH=src:. TOPRANK_DATA=… python benchmarks/torch_networks.py [seconds [table …]]

For every seed the rows are halved at random, and a quarter of the first half is kept to choose by.
Batches of both kinds, plain and class-aware, are drawn once and stay on the device: every loss
learns from the very same ones, in the same order, for the same seconds. A network, its first
weights and the optimiser are the same for all; no option was tuned. On a GPU a step is replayed
from a CUDA graph; on a CPU seconds are processor time of one thread. A dozen times, the first ones
early, the network is judged by its precision on the rows kept, and the best one is judged on the
second half: no loss wins by being stopped at the right moment. The column of differences compares
with cross-entropy on the same batches and seeds; ± is a 95 % interval over the seeds (Student's t).
"""

import copy
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

SEEDS, BATCH, BATCHES, SHARE, LOOKS = 5, 4096, 1000, 0.25, 12
KINDS = ("plain", "class-aware")
FIRST = "cross-entropy"


class Rows(NamedTuple):
    """Features and labels."""

    X: Any
    y: Any

    def precision(self, net) -> float:
        """Share of positives among the hundredth part that a network puts first."""
        import torch

        with torch.no_grad():
            top = net(self.X)[:, 0].topk(self.y.numel() // 100).indices
        return float(self.y[top].float().mean())


def made_up():
    """A million rows to learn from and as many to judge by."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2_000_000, 32), dtype=np.float32)
    noise = rng.standard_normal(X.shape[0], dtype=np.float32)
    return X, X[:, 0] * X[:, 1] + X[:, 2] + noise > 3.5


def tables() -> dict[str, Callable]:
    """Features and labels by name."""
    from experiments import datasets

    return {
        "covtype, class 5": lambda: datasets.load_covtype(return_X_y=True),
        "bank marketing": lambda: datasets.load_bank_marketing(return_X_y=True),
        "adult": lambda: datasets.load_adult(return_X_y=True),
        "made up": made_up,
    }


def losses() -> dict[str, Callable]:
    """All losses; cross-entropy comes first."""
    import torch

    from toprank.integrations import torch as ours

    cross = torch.nn.BCEWithLogitsLoss()
    return {
        FIRST: lambda scores, y: cross(scores, y.float()),
        "push, p = 4": ours.PushLoss(4),
        "IR push": ours.IRPushLoss(),
        "pairs, logistic": ours.PairLoss("logistic"),
        "precision at a quarter": ours.PrecisionAtKLoss(0.25),
    }


def draw(y, kind: str, seed: int):
    """Row numbers of the batches, one batch per line."""
    import torch

    from toprank.integrations.torch import ClassAwareBatchSampler

    size, lines = min(BATCH, y.numel() // 8), []
    random = torch.Generator().manual_seed(seed)
    sampler = ClassAwareBatchSampler(y.cpu(), batch_size=size, positives=SHARE, seed=seed)
    while len(lines) < BATCHES:
        if kind == "plain":
            order = torch.randperm(y.numel(), generator=random)
            lines += order.split(size)[: y.numel() // size]
        else:
            lines += [torch.tensor(batch) for batch in sampler]
    return torch.stack(lines[:BATCHES]).to(y.device)


def fit(learn: Rows, choose: Rows, batches, loss: Callable, seconds: float, seed: int):
    """Adam for some seconds; the best network on the way, and the number of steps."""
    import torch

    from benchmarks.torch_losses import graph_of

    torch.manual_seed(seed)
    (X, y), rows = learn, batches[0].clone()
    net = torch.nn.Sequential(
        torch.nn.Linear(X.shape[1], 128), torch.nn.ReLU(),
        torch.nn.Linear(128, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1),
    ).to(X.device)  # fmt: skip
    steps = torch.optim.Adam(net.parameters(), 1e-3, capturable=X.is_cuda)

    def step() -> None:
        steps.zero_grad()
        loss(net(X[rows])[:, 0], y[rows]).backward()
        steps.step()

    run, count = graph_of(step) if X.is_cuda else step, 0
    best, kept = -1.0, net
    clock = time.perf_counter if X.is_cuda else time.process_time
    start = clock()
    for look in range(LOOKS):
        while clock() - start < seconds * 2.0 ** ((look + 1 - LOOKS) / 2):
            rows.copy_(batches[count % len(batches)])
            run()
            count += 1
            if X.is_cuda and count % 20 == 0:  # no work piles up behind the clock
                torch.cuda.synchronize()
        reached = choose.precision(net)
        if reached > best:
            best, kept = reached, copy.deepcopy(net)
    return kept, count


def parts(X, y, seed: int, device: str) -> list[Rows]:
    """Standardised rows to learn from, to choose by and to judge by."""
    import torch

    order = np.random.default_rng(seed).permutation(y.size)
    X, y = np.asarray(X, dtype=np.float32)[order], np.asarray(y)[order]
    quarter, half = 3 * y.size // 8, y.size // 2
    X = (X - X[:quarter].mean(axis=0)) / (X[:quarter].std(axis=0) + 1e-6)
    X, y = torch.from_numpy(X).to(device), torch.from_numpy(y).to(device)
    bounds = ((0, quarter), (quarter, half), (half, y.numel()))
    return [Rows(X[first:last], y[first:last]) for first, last in bounds]


def judged(name: str, load: Callable, seconds: float, device: str) -> None:
    """Print one table: precision of every loss on both kinds of batches."""
    X, y = load()
    found = {(kind, loss): [] for kind in KINDS for loss in losses()}
    for seed in range(SEEDS):
        learn, choose, new = parts(X, y, seed, device)
        for kind in KINDS:
            batches = draw(learn.y, kind, seed)
            for loss, formula in losses().items():
                net, count = fit(learn, choose, batches, formula, seconds, seed)
                found[kind, loss].append((new.precision(net), count))
    k = new.y.numel() // 100
    share = f"{float(np.mean(y)):.1%} positive"
    print(f"\n### {name}: {new.y.numel():,} new rows, {share}, precision at {k:,}\n")
    print(
        f"| batches | loss | steps | precision | difference from {FIRST} |\n|---|---|---|---|---|"
    )
    width = stats.t.ppf(0.975, SEEDS - 1) / np.sqrt(SEEDS)
    for (kind, loss), seen in found.items():
        values, counts = np.array(seen).T
        gaps = values - np.array(found[kind, FIRST])[:, 0]
        bold = "**" if abs(gaps.mean()) > width * gaps.std(ddof=1) else ""
        gap = f"{bold}{gaps.mean():+.4f}{bold} ± {width * gaps.std(ddof=1):.4f}"
        shown = f"{values.mean():.4f} | {'' if loss == FIRST else gap}"
        print(f"| {kind} | {loss} | {counts.mean():,.0f} | {shown} |", flush=True)


def main(seconds: float = 2.0, *only: str) -> None:
    """Measure on the GPU if there is one, else on the CPU."""
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed; `make setup-torch` adds it.")
        return
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        torch.set_num_threads(1)
    X = torch.randn(4096, 8, device=device)
    start = Rows(X, X[:, 0] > 1)
    for loss in losses().values():  # loads and compiles what is loaded and compiled once
        fit(start, start, torch.arange(4096, device=device)[None], loss, 0.2, 0)
    for name, load in tables().items():
        if not only or name in only:
            judged(name, load, seconds, device)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0, *sys.argv[2:])
