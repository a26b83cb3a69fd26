"""
A cutoff for a stream
=====================

A shortlist of the best hundred rows needs the whole list. If rows arrive one by one, each must be
kept or skipped at once, by its score alone. ``cutoff`` gives the score above which to keep a row,
from a sample of similar rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from toprank import PNormPush

rng = np.random.default_rng(0)


def arrivals(n_rows):
    """Rows of ten features, of which 3 % are positive."""
    y = rng.random(n_rows) < 0.03
    X = rng.normal(size=(n_rows, 10))
    X[y, :4] += 1.0
    return X, y


model = PNormPush(p=4).fit(*arrivals(4000))

# %%
# A team can look at 40 of each day's 2,000 rows: 2 %. The cutoff is computed from last week's rows;
# their labels are not needed.

last_week, _ = arrivals(7 * 2000)
cut = model.cutoff(last_week, budget=0.02)
print(f"keep a row when its score is above {cut:.3f}")

# %%
# Over the next thirty days: how many rows are kept, and how many of them are positives?

kept, found = [], []
for _day in range(30):
    X, y = arrivals(2000)
    chosen = model.decision_function(X) > cut
    kept.append(chosen.sum())
    found.append(y[chosen].sum())
print(f"{np.mean(kept):.1f} rows per day, {np.sum(found) / np.sum(kept):.0%} of them positive")

fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
days = np.arange(1, 31)
ax.bar(days, kept, color="#56B4E9", label="rows kept")
ax.bar(days, found, color="#0072B2", label="positives among them")
ax.axhline(40, color="#767676", linewidth=1, label="the budget")
ax.set(xlabel="Day", ylabel="Rows")
ax.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.18))
plt.show()

# %%
# A cutoff keeps the budget on average, not on each day. If no day may exceed the budget, use
# :class:`toprank.shortlists.DailyBudget`. If the rows change with time, compute the cutoff from
# recent ones.
