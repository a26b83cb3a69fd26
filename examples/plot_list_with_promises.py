"""
A list that comes with promises
===============================

How many rows can be trusted, and how long a list pays? Both answers come from rows that the model
did not learn from.
"""

import matplotlib.pyplot as plt
import numpy as np

from toprank import PNormPush
from toprank.plots import value_curve
from toprank.shortlists import hits_at_least

rng = np.random.default_rng(0)


def customers(n_rows):
    """Rows of ten features, of which one in ten is positive."""
    y = rng.random(n_rows) < 0.1
    X = rng.normal(size=(n_rows, 10))
    X[y, :5] += 1.0
    return X, y


model = PNormPush(p=4).fit(*customers(3000)).calibrate(*customers(3000))
X, y = customers(2000)

# %%
# A list with at most 20 % false alarms, on average over lists. The labels are known here and show
# what the promise was worth.

found = model.shortlist(X, false_alarms=0.2)
print(found)
print(f"false alarms in this list: {np.mean(~y[found.rows]):.0%}")

# %%
# A positive is worth 10 and opening a row costs 1: the list ends where rows stop paying.

paying = model.shortlist(X, value=10, cost=1)
print(paying)
print(f"profit of this list: {10 * y[paying.rows].sum() - len(paying)}")

# %%
# Left: hits of every length, and the bound that holds for all lengths at once with 95 %
# confidence. Right: the profit of every length; the dashed line is where the list was ended.

scores = model.decision_function(X)
hits = np.cumsum(y[np.argsort(-scores)])
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
lengths = np.arange(1, 301)
left.plot(lengths, hits[:300], color="#0072B2", label="hits")
left.plot(
    lengths,
    hits_at_least(model.calibration_, scores)[:300],
    color="#D55E00",
    linestyle="--",
    label="at least, 95 % confidence",
)
left.set(xlabel="Rows in the shortlist", ylabel="Positives among them")
left.legend(frameon=False)
value_curve(y, scores, value=10, cost=1, max_k=1000, ax=right)
right.axvline(len(paying), color="#767676", linestyle="--", linewidth=1)
plt.show()
