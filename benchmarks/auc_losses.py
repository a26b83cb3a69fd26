"""Pushes beside LibAUC's losses: a linear model until it ranks new rows as well, on the CPU.

LibAUC takes mini-batches; each holds as many positives as negatives, as its sampler has it. What is
timed are its steps, not the looks at new rows in between, with the fastest of three learning rates.
Its losses need ``pip install --no-deps
libauc tqdm omegaconf antlr4-python3-runtime==4.9.3`` and PyTorch; where they are absent the rows
say so.
"""

import time

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks.measure import absent, compared, seconds
from benchmarks.tables import linear_rows
from toprank import IRPush, PNormPush
from toprank.metrics import average_precision, partial_auc

ROWS, FEATURES, HALF, TURNS = 50_000, 20, 64, 3
RATES = (1e-3, 1e-2, 1e-1)
LOOK_EVERY, MOST_STEPS, CLOSE = 50, 4_000, 0.995
TASK = f"a linear model of {ROWS:,} × {FEATURES} float32, 5 % positives"


def steps_until(model, loss, optimizer, tables, judge, goal):
    """Seconds of training until the model ranks new rows as well as asked; also how it ends."""
    import torch

    X, y, X_new, y_new = tables
    rng = np.random.default_rng(0)
    positives, negatives = np.flatnonzero(y), np.flatnonzero(~y)
    rows, labels = torch.from_numpy(X), torch.from_numpy(y.astype(np.float32))
    taken, reached = 0.0, 0.0
    for step in range(MOST_STEPS):
        drawn = np.concatenate([rng.choice(positives, HALF), rng.choice(negatives, HALF)])
        start = time.perf_counter()
        at = torch.from_numpy(drawn)
        value = loss(model(rows[at]), labels[at], at)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        taken += time.perf_counter() - start
        if (step + 1) % LOOK_EVERY == 0:
            with torch.no_grad():
                reached = judge(y_new, model(torch.from_numpy(X_new)).numpy().ravel())
            if reached >= goal:
                break
    return taken, reached


def rivals(X, y):
    """Name, our ranker, the measure, and a maker of LibAUC's model, loss and optimiser."""
    import torch
    from libauc import losses, optimizers

    def partial(rate):
        torch.manual_seed(0)
        model = torch.nn.Linear(FEATURES, 1)
        loss = losses.pAUC_CVaR_Loss(data_len=len(y), pos_len=int(y.sum()), device="cpu")
        optimizer = optimizers.SOPA(model.parameters(), loss_fn=loss, mode="adam", lr=rate,
                                    eta=10, device="cpu")  # fmt: skip
        return model, loss, optimizer

    def average(rate):
        torch.manual_seed(0)
        model = torch.nn.Linear(FEATURES, 1)
        loss = losses.AveragePrecisionLoss(data_len=len(y), device="cpu")
        return model, loss, optimizers.SOAP(model.parameters(), mode="adam", lr=rate, device="cpu")

    return (
        ("PNormPush(p=8)", lambda: PNormPush(p=8).fit(X, y), "partial AUC", partial_auc,
         "LibAUC, pAUC_CVaR_Loss and SOPA", partial),
        ("IRPush()", lambda: IRPush().fit(X, y), "average precision", average_precision,
         "LibAUC, AveragePrecisionLoss and SOAP", average),
    )  # fmt: skip


def results():
    X, y = linear_rows(2 * ROWS, FEATURES, share=0.05)
    X = StandardScaler().fit_transform(X)
    tables = X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:]
    try:
        known = rivals(X[:ROWS], y[:ROWS])
    except ImportError as error:
        yield absent("training", TASK, "PNormPush, IRPush", "LibAUC", f"not here: {error}")
        return
    for ours, fit, measure, judge, peer, make in known:
        goal = judge(y[ROWS:], fit().decision_function(X[ROWS:]))

        def train(rate, make=make, judge=judge, goal=goal):
            return steps_until(*make(rate), tables, judge, CLOSE * goal)

        rate = min(RATES, key=lambda rate: train(rate)[0])
        mine, theirs = [], []
        for _ in range(TURNS):
            mine.append(seconds(fit))
            taken, reached = train(rate)
            theirs.append(taken)
        how = f"{measure} on new rows: ours {goal:.4f}, theirs {reached:.4f} (rate {rate:g})"
        if reached < CLOSE * goal:
            how += f", not reached in {MOST_STEPS:,} steps"
        task = f"{TASK}, to {CLOSE:.1%} of our {measure}"
        yield compared("training", task, (ours, mine), (peer, theirs), "s", how)
