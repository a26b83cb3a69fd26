"""A thousand days of a stream that drifts, and what a daily budget leaves unused."""

import numpy as np

from toprank.shortlists import DailyBudget

N_DAYS, BUDGET, MEAN_ROWS = 1_000, 25, 500


def day_of(rng, day: int):
    """Scores of a day: volume with a trend and a week, scores that move and jump."""
    weekly = 1.0 + 0.25 * (day % 7 < 5) - 0.1
    trend = 1.0 + 0.4 * np.sin(day / 150)
    n_rows = rng.poisson(MEAN_ROWS * weekly * trend)
    jump = 1.5 if 400 <= day < 430 else 0.0
    scores = rng.normal(size=n_rows) + np.sin(day / 60) + jump
    times = np.sort(rng.random(n_rows))
    return scores, times


def spent(*, with_clock: bool, n_batches: int | None = None) -> dict:
    """What is opened of rows that come one by one, or in batches of equal times."""
    rng = np.random.default_rng(5)
    stream = DailyBudget(BUDGET)
    unused, opened, quality = [], [], []
    for day in range(N_DAYS):
        scores, times = day_of(rng, day)
        ends = np.arange(1, scores.size + 1)
        if n_batches is not None:
            ends = np.searchsorted(times, np.arange(1, n_batches + 1) / n_batches)
        taken = np.concatenate(
            [
                stream.open_rows(
                    scores[start:end], day=day, elapsed=times[end - 1] if with_clock else None
                )
                for start, end in zip([0, *ends], ends, strict=False)
            ]
        )
        opened.append(int(taken.sum()))
        unused.append(1.0 - taken.sum() / BUDGET)
        least = np.sort(scores)[-BUDGET]
        quality.append(float(np.mean(scores[taken] >= least)) * taken.sum() / BUDGET)
    return {
        "most": max(opened),
        "unused": float(np.mean(unused)),
        "worst": float(np.max(unused)),
        "best": float(np.mean(quality)),
    }
